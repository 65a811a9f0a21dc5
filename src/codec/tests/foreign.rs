//! Other languages' own formats: what is plain in them is read as the type asked for, the rest is named.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_bytes::ByteBuf;
use serde_json::{Value, json};

use super::{Codec, Transcoder, read, transcoder, unreadable};
use crate::codec::DecodeErrorKind;

fn php() -> Transcoder {
    transcoder(Codec::PhpMemcached, false)
}

/// A value that PHP serialized, as `T`.
fn from_php<T: serde::de::DeserializeOwned>(text: &str) -> T {
    read(&php(), &(4, text.as_bytes().to_vec())).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[derive(Debug, PartialEq, Deserialize)]
struct User {
    id: u32,
    name: String,
    #[serde(default)]
    nick: Option<String>,
    tags: Vec<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Shape {
    Dot,
    Circle(f64),
    Box { a: i8 },
}

#[test]
fn php_arrays_are_lists_maps_and_structures_as_the_type_wants() {
    let list = "a:3:{i:0;i:1;i:1;i:-2;i:2;i:3;}";
    assert_eq!(from_php::<Vec<i64>>(list), [1, -2, 3]);
    assert_eq!(from_php::<(u8, i8, u64)>(list), (1, -2, 3));
    assert_eq!(from_php::<[i32; 3]>(list), [1, -2, 3]);
    assert_eq!(from_php::<BTreeMap<u8, i8>>(list), BTreeMap::from([(0, 1), (1, -2), (2, 3)]));
    assert_eq!(from_php::<Value>(list), json!([1, -2, 3]));
    let user =
        r#"a:4:{s:2:"id";i:7;s:4:"name";s:4:"Zoé";s:4:"nick";N;s:4:"tags";a:1:{i:0;s:1:"x";}}"#;
    let zoe = User { id: 7, name: "Zoé".to_owned(), nick: None, tags: vec!["x".to_owned()] };
    assert_eq!(from_php::<User>(user), zoe);
    assert_eq!(from_php::<Option<User>>(user), Some(zoe));
    // A field that is not asked for, with everything in it.
    let more = r#"a:4:{s:2:"id";i:7;s:4:"name";s:1:"n";s:1:"z";a:1:{i:0;a:0:{}}s:4:"tags";a:0:{}}"#;
    assert!(from_php::<User>(more).tags.is_empty());
    let numbered = r#"a:2:{i:5;s:4:"five";s:2:"-x";b:1;}"#;
    assert_eq!(from_php::<Value>(numbered), json!({"5": "five", "-x": true}));
    let keyed = from_php::<BTreeMap<i32, f64>>(r#"a:2:{i:5;d:0.5;s:2:"07";d:1.0E+25;}"#);
    assert_eq!(keyed, BTreeMap::from([(5, 0.5), (7, 1e25)]));
    assert_eq!(from_php::<Vec<String>>("a:0:{}"), Vec::<String>::new());
    assert_eq!(from_php::<BTreeMap<String, u8>>("a:0:{}"), BTreeMap::new());
}

#[test]
fn php_scalars_enums_and_bytes_are_read() {
    let mixed =
        from_php::<Value>(r#"a:2:{i:0;a:2:{i:0;a:0:{}i:2;i:1;}i:1;a:1:{i:0;a:1:{s:1:"k";i:1;}}}"#);
    assert_eq!(mixed, json!([{"0": [], "2": 1}, [{"k": 1}]]));
    assert_eq!(from_php::<Option<u8>>("N;"), None);
    assert_eq!(from_php::<Value>("N;"), Value::Null);
    assert!(from_php::<bool>("b:1;"));
    assert_eq!(from_php::<i64>("i:-9223372036854775808;"), i64::MIN);
    assert_eq!(from_php::<f64>("d:-INF;"), f64::NEG_INFINITY);
    assert!(from_php::<f64>("d:NAN;").is_nan());
    assert_eq!(from_php::<f64>("i:3;"), 3.0);
    assert_eq!(from_php::<String>("s:5:\"a\";}\"\";"), "a\";}\"");
    assert_eq!(from_php::<Vec<u8>>("s:2:\"ab\";"), b"ab");
    let bytes: Vec<ByteBuf> = read(&php(), &(4, b"a:1:{i:0;s:2:\"\xff\0\";}".to_vec())).unwrap();
    assert_eq!(bytes, [ByteBuf::from(vec![0xff, 0])]);
    assert_eq!(from_php::<Shape>("s:3:\"Dot\";"), Shape::Dot);
    assert_eq!(from_php::<Shape>("a:1:{s:6:\"Circle\";d:0.5;}"), Shape::Circle(0.5));
    assert_eq!(from_php::<Shape>("a:1:{s:3:\"Box\";a:1:{s:1:\"a\";i:-1;}}"), Shape::Box { a: -1 });
}

#[test]
fn php_objects_enums_and_references_are_named_wherever_they_stand() {
    for object in [
        "O:8:\"stdClass\":0:{}",
        "a:1:{i:0;O:8:\"stdClass\":1:{s:1:\"a\";i:1;}}",
        "E:11:\"Suit:Hearts\";",
        "a:2:{i:0;i:1;i:1;R:2;}",
        "a:2:{i:0;i:1;i:1;r:2;}",
        "C:1:\"X\":0:{}",
    ] {
        let error = unreadable::<Value>(&php(), 4, object.as_bytes());
        assert_eq!(error.kind(), DecodeErrorKind::PhpObject, "{error}");
    }
    // Inside a string it is text.
    assert_eq!(from_php::<String>("s:12:\"O:1:\"X\":0:{}\";"), "O:1:\"X\":0:{}");
}

#[test]
fn malformed_php_is_a_mismatch_and_costs_no_memory() {
    let deep = "a:1:{i:0;".repeat(129) + "i:1;" + &"}".repeat(129);
    for text in [
        "",
        "i:5",
        "i:;",
        "i:9223372036854775808;",
        "b:2;",
        "d:abc;",
        "s:5:\"abc\";",
        "s:-1:\"\";",
        "s:18446744073709551615:\"\";",
        "s:3:abc;",
        "a:1:{i:0;}",
        "a:2:{i:0;i:1;}",
        "a:1:{i:0;i:1;i:2;}",
        "a:1:{N;i:1;}",
        "a:1:{d:0.5;i:1;}",
        "a:4294967296:{",
        "i:5;i:6;",
        "x:5;",
        &deep,
    ] {
        let error = unreadable::<Value>(&php(), 4, text.as_bytes());
        assert_eq!(error.kind(), DecodeErrorKind::Mismatch, "{text:.40} {error}");
    }
    let deepest = "a:1:{i:0;".repeat(100) + "i:1;" + &"}".repeat(100);
    assert!(read::<Value>(&php(), &(4, deepest.into_bytes())).is_ok());
}

#[test]
fn a_php_array_that_is_not_what_was_asked_for_is_a_mismatch() {
    let mismatch = |error: crate::codec::DecodeError| {
        assert_eq!(error.kind(), DecodeErrorKind::Mismatch, "{error}");
    };
    mismatch(unreadable::<Vec<i32>>(&php(), 4, b"a:1:{i:1;i:5;}"));
    mismatch(unreadable::<Vec<i32>>(&php(), 4, b"a:1:{s:1:\"a\";i:5;}"));
    mismatch(unreadable::<(i32,)>(&php(), 4, b"a:2:{i:0;i:5;i:1;i:6;}"));
    mismatch(unreadable::<[i32; 3]>(&php(), 4, b"a:2:{i:0;i:5;i:1;i:6;}"));
    mismatch(unreadable::<Vec<u8>>(&php(), 4, b"a:1:{i:0;i:256;}"));
    mismatch(unreadable::<String>(&php(), 4, b"a:0:{}"));
    mismatch(unreadable::<i32>(&php(), 4, b"s:1:\"5\";"));
    mismatch(unreadable::<User>(&php(), 4, b"a:0:{}"));
    mismatch(unreadable::<Shape>(&php(), 4, b"a:2:{s:3:\"Dot\";N;s:1:\"x\";N;}"));
}

#[test]
fn pickles_of_any_protocol_are_read_when_plain_and_named_when_not() {
    let python = transcoder(Codec::Pymemcache, false);
    for (pickle, value) in [
        (&b"N."[..], json!(null)),
        (b"\x80\x02N.", json!(null)),
        (b"I01\n.", json!(true)),
        (b"\x80\x02\x88.", json!(true)),
        (b"\x80\x03\x89.", json!(false)),
        (b"F-0.25\n.", json!(-0.25)),
        (b"\x80\x02G?\xe0\0\0\0\0\0\0.", json!(0.5)),
        (b"\x80\x04\x95\x0a\0\0\0\0\0\0\0G?\xe0\0\0\0\0\0\0.", json!(0.5)),
    ] {
        assert_eq!(read::<Value>(&python, &(1, pickle.to_vec())).unwrap(), value, "{pickle:?}");
    }
    for pickle in [
        &b""[..],
        b"N",
        b"NN.",
        b"\x80",
        b"I02\n.",
        b"\x80\x05]\x94.",
        b"cos\nsystem\n(S'true'\ntR.",
        b"G?\xe0.",
        b"Fabc\n.",
        b"\x80\x05\x95\x0a\0\0\0\0\0\0\0",
    ] {
        let error = unreadable::<Value>(&python, 1, pickle);
        assert_eq!(error.kind(), DecodeErrorKind::Pickle, "{error}");
    }
}

#[test]
fn rubys_dumps_are_read_when_plain_and_named_when_not() {
    let ruby = transcoder(Codec::Dalli, false);
    for (dump, value) in [
        (&b"\x04\x08i\x00"[..], json!(0)),
        (b"\x04\x08i\x7f", json!(122)),
        (b"\x04\x08i\x01\x7b", json!(123)),
        (b"\x04\x08i\xff\x00", json!(-256)),
        (b"\x04\x08i\x04\xff\xff\xff\x3f", json!(0x3fff_ffff)),
        (b"\x04\x08l+\x07\0\0\0\x40", json!(0x4000_0000)),
        (b"\x04\x08l-\x07\0\0\0\x80", json!(-0x8000_0000_i64)),
        (b"\x04\x08f\x0a-1e-7", json!(-1e-7)),
        (b"\x04\x08I\"\x07hi\x06:\x06EF", json!("hi")),
        (b"\x04\x08:\x08abc", json!("abc")),
        (b"\x04\x08\"\x06\xff", json!([255])),
        (b"[1,2]", json!([1, 2])),
    ] {
        assert_eq!(read::<Value>(&ruby, &(1, dump.to_vec())).unwrap(), value, "{dump:?}");
    }
    for dump in [
        &b"\x04\x08"[..],
        b"\x04\x08i",
        b"\x04\x08i\x02\x01",
        b"\x04\x08i\x06\x00",
        b"\x04\x08l+\x0f\x01",
        b"\x04\x08\"\x0aab",
        b"\x04\x08\"\xfa\x61",
        b"\x04\x08I\"\x06\xe9\x06:\x0dencoding\"\x0fISO-8859-1",
        b"\x04\x08[\x06i\x06",
        b"\x04\x08{\x00",
        b"\x04\x08o:\x0bObject\x00",
        b"\x04\x08f\x08abc",
    ] {
        let error = unreadable::<Value>(&ruby, 1, dump);
        assert_eq!(error.kind(), DecodeErrorKind::Marshal, "{error}");
    }
    assert_eq!(
        ruby.decode_counter(1, b"\x04\x08i\x0a".to_vec()).unwrap_err().kind(),
        DecodeErrorKind::BinaryCounter
    );
}
