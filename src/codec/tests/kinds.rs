//! Every kind of value that serde knows comes back equal, through every general codec.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::fmt::Debug;
use std::net::IpAddr;
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::{ByteArray, ByteBuf, Bytes};
use serde_json::{Value, json};

use super::{Transcoder, encode, every, general, read, stored};

fn back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T) {
    back_with(every(), value);
}

fn back_with<T: Serialize + DeserializeOwned + PartialEq + Debug>(
    codecs: impl IntoIterator<Item = Transcoder>,
    value: T,
) {
    for codec in codecs {
        let payload = match encode(&codec, &value) {
            Ok(payload) => payload,
            // Java's and PHP's integers end at i64.
            Err(error) if error.to_string().contains(" is beyond ") => continue,
            Err(error) => panic!("{error}"),
        };
        match read::<T>(&codec, &payload) {
            Ok(read) => assert_eq!(read, value, "{codec:?} stored {payload:?}"),
            Err(error) => panic!("{value:?} with {codec:?}: {error}"),
        }
    }
}

macro_rules! back {
    ($($value:expr),+ $(,)?) => {$( back($value); )+};
}

/// For what a client without a sign for bytes, or with one for `null` only, cannot tell apart.
macro_rules! back_if_told {
    ($($value:expr),+ $(,)?) => {$( back_with(general(), $value); )+};
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Unit;
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Empty {}
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct New<T>(T);
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Transparent {
    inner: u8,
}
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Pair(u8, u8);
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Mixed(u8, String);
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct User {
    id: u64,
    name: String,
    photo: Vec<u8>,
    nick: Option<String>,
    ratio: f64,
}
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Flat {
    a: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct FlatStruct {
    #[serde(flatten)]
    user: User,
    extra: bool,
}
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Skips {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    maybe: Option<u8>,
    #[serde(rename = "type")]
    kind: String,
}
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct BytesField {
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
}
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum External {
    Unit,
    New(u8),
    Tuple(u8, u8),
    Struct { a: u8, b: String },
    Bytes(Vec<u8>),
    Nothing(Option<u8>),
}
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t")]
enum Internal {
    Unit,
    New(Empty),
    Struct { a: u8, f: f64 },
}
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    New(u8),
    Tuple(u8, u8),
    Struct { a: u8 },
}
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Float(f64),
    Flag(bool),
    Text(String),
    Bytes(Vec<u8>),
    Texts(Vec<String>),
    Struct { a: u8 },
    Nothing(()),
}
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
enum Colour {
    Red,
}
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Tree {
    leaf: i32,
    children: Vec<Tree>,
    boxed: Option<Box<Tree>>,
}

fn user() -> User {
    User {
        id: u64::MAX,
        name: "Zoë \"q\" \u{0} \u{1F600}\r\nEND\r\n".to_owned(),
        photo: vec![0, 255, 1],
        nick: None,
        ratio: 0.1 + 0.2,
    }
}

#[test]
fn primitives_come_back_equal() {
    back![true, false, i8::MIN, -1_i8, i8::MAX, i16::MIN, i16::MAX, i32::MIN, 0_i32, i32::MAX];
    back![
        i64::MIN,
        i64::MAX,
        0_u8,
        u8::MAX,
        u16::MAX,
        u32::MAX,
        i64::MAX as u64,
        5_usize,
        -5_isize
    ];
    back![i128::MIN, i128::MAX, u128::MAX, 7_i128, 0_u128, NonZeroU64::MIN];
    back![0.0_f32, 0.1_f32, f32::MIN_POSITIVE, f32::MAX, 1e-45_f32, 16_777_216.0_f32];
    back![0.0_f64, 0.1 + 0.2, f64::MAX, f64::MIN, 5e-324, 1e300, 1.0, 1.7976931348623157e308];
    back!['a', '0', ' ', '\0', 'é', '中', '\u{ffff}', '😀', '"'];
    for codec in general() {
        let minus = read::<f64>(&codec, &stored(&codec, &-0.0)).unwrap();
        assert!(minus == 0.0 && minus.is_sign_negative(), "{codec:?}");
    }
}

#[test]
fn floats_come_back_to_the_last_bit_alone_and_inside() {
    let mut bits = 1_u64;
    for _ in 0..20_000 {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        let double = f64::from_bits(bits);
        #[expect(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
        let single = f32::from_bits(bits as u32);
        if double.is_finite() && single.is_finite() {
            back![double, single, (double, single)];
        }
    }
}

#[test]
fn strings_come_back_equal_whatever_they_hold() {
    for text in ["", "a", "null", "5", "true", "[1]", "{}", "\"", " blank ", "NaN", "END\r\n", "\0"]
    {
        back![text.to_owned(), New(text.to_owned()), Some(text.to_owned()), Cow::Borrowed(text)];
        back![Value::from(text), vec![text.to_owned()], Untagged::Text(text.to_owned())];
    }
    back!["x".repeat(1_000_000), Box::<str>::from("boxed"), PathBuf::from("/etc/hosts")];
    back!["10.0.0.1".parse::<IpAddr>().unwrap(), "::1".parse::<IpAddr>().unwrap()];
}

#[test]
fn byte_sequences_come_back_equal_in_every_dress() {
    back![vec![0_u8, 1, 255], vec![5_u8], Vec::<u8>::new(), b"{\"a\":1}".to_vec(), b"abc".to_vec()];
    back![[1_u8, 2, 3, 4], [7_u8; 32], [0_u8; 1], (1_u8, 2_u8), Pair(1, 2)];
    back![ByteBuf::from(vec![0, 255]), ByteBuf::new(), ByteArray::new([1_u8; 40])];
    back![
        Some(vec![1_u8]),
        New(vec![1_u8, 2]),
        New(ByteBuf::from(vec![9])),
        Some(Some(vec![0_u8]))
    ];
    back![VecDeque::from([1_u8, 2]), LinkedList::from([3_u8]), BTreeSet::from([4_u8, 5])];
    back![HashSet::from([6_u8]), Box::<[u8]>::from([1, 2]), Transparent { inner: 3 }];
    back![vec![New(1_u8), New(2)], vec![Transparent { inner: 3 }], vec![Some(1_u8), Some(2)]];
    back![(0..1_000_000_u32).map(|i| i.to_le_bytes()[1]).collect::<Vec<u8>>()];
}

#[test]
fn sequences_that_only_begin_with_bytes_lose_nothing() {
    back![vec![Some(1_u8), None], vec![None, Some(1_u8)], vec![None::<u8>]];
    back![(1_u8, "two".to_owned()), (1_u8, 2_u8, 3_i32), Mixed(1, "two".to_owned()), (1_u8, ())];
    for bytes in [1, 511, 512, 513, 1024] {
        let mut mixed = vec![Some(7_u8); bytes];
        mixed.push(None);
        mixed.extend([Some(8), None, Some(9)]);
        back(mixed);
    }
}

#[test]
fn collections_come_back_equal() {
    back![vec![1_i32, -2], vec![300_u16], vec![1_i8, -1], vec![true], vec![0.5], vec!['a', '"']];
    back![
        Vec::<String>::new(),
        Vec::<User>::new(),
        vec![String::new()],
        vec![vec![1_u8, 2], vec![]]
    ];
    back![[1_i64, 2], [0_u32; 0], ["a".to_owned(), "b".to_owned()], ((), ()), (1_i32,)];
    back![vec![()], vec![Unit, Unit], vec![Colour::Red], vec![user()], vec![(1_u8, 2_u8)]];
    back![HashMap::from([("k".to_owned(), 1)]), BTreeMap::from([(1_u8, "one".to_owned())])];
    back![
        BTreeMap::from([(-5_i64, 0.25)]),
        BTreeMap::from([(true, 1)]),
        BTreeMap::from([('c', 1)])
    ];
    back![BTreeMap::from([(Colour::Red, vec![1_u8])]), BTreeMap::<String, u8>::new()];
    back![BTreeMap::from([(String::new(), ByteBuf::from(vec![1, 2]))]), HashMap::<u64, ()>::new()];
    back![BTreeMap::from([(u128::MAX, i128::MIN)]), vec![u128::MAX], vec![vec![vec![1_u8]]]];
}

#[test]
fn structures_come_back_equal() {
    back![user(), Unit, Empty {}, (), New(()), New(user()), New(New(5_u16)), New('c'), New(true)];
    let rest = BTreeMap::from([("x".to_owned(), json!([1, null, "s"]))]);
    back![Flat { a: 1, rest }, Flat { a: 1, rest: BTreeMap::new() }];
    back![FlatStruct { user: user(), extra: true }, BytesField { bytes: vec![0, 255] }];
    back![
        Skips { maybe: None, kind: "k".to_owned() },
        Skips { maybe: Some(0), kind: String::new() }
    ];
    let leaf = || Tree { leaf: 1, children: vec![], boxed: None };
    back![Tree { leaf: 0, children: vec![leaf(), leaf()], boxed: Some(Box::new(leaf())) }];
    back![Duration::new(5, 6), UNIX_EPOCH + Duration::new(1, 2), Range { start: 1, end: 5 }];
    back![SystemTime::UNIX_EPOCH, Ok::<u8, String>(1), Err::<u8, String>("no".to_owned())];
}

#[test]
fn enums_of_all_representations_come_back_equal() {
    back![External::Unit, External::New(5), External::Tuple(1, 2), External::Nothing(None)];
    back![External::Struct { a: 1, b: "x".to_owned() }, External::Bytes(vec![1, 2])];
    back![Internal::Unit, Internal::New(Empty {}), Internal::Struct { a: 1, f: 0.3 }];
    back![Adjacent::Unit, Adjacent::New(5), Adjacent::Tuple(1, 2), Adjacent::Struct { a: 9 }];
    back![Untagged::Struct { a: 1 }, Untagged::Texts(vec!["a".to_owned()]), Untagged::Nothing(())];
    back_if_told![Untagged::Bytes(b"abc".to_vec()), Untagged::Bytes(vec![200])];
    back![Colour::Red];
    let plain = &general()[..1];
    for codec in plain {
        for value in [Untagged::Number(-5), Untagged::Float(0.5), Untagged::Flag(true)] {
            assert_eq!(read::<Untagged>(codec, &stored(codec, &value)).unwrap(), value);
        }
    }
}

#[test]
fn json_values_come_back_equal() {
    back![json!(null), json!({"a": [1, 2.5, null, {"b": "c"}]}), json!([1, "a"]), json!(["a"])];
    back![json!([1, 2, 3]), json!({}), json!("text"), json!([null])];
    back_if_told![json!([])];
    for codec in [super::json(), super::whalin()] {
        for value in [json!(5), json!(-5), json!(i64::MAX), json!(2.5), json!(true)] {
            assert_eq!(read::<Value>(&codec, &stored(&codec, &value)).unwrap(), value);
        }
    }
    let strings = &general()[1];
    assert_eq!(read::<Value>(strings, &stored(strings, &5)).unwrap(), json!("5"));
}

#[test]
fn a_stored_none_is_a_value_of_its_own() {
    back![None::<u32>, Some(5_u32), None::<String>, None::<Vec<u8>>, None::<User>, Some(user())];
    back_if_told![Some(()), None::<()>, Some(Unit), Some(json!(null)), None::<Value>];
    back![New(None::<u8>), New(Some(1_u8))];
    back![Some(Colour::Red), Some(String::new()), Some(false)];
    for codec in general() {
        let none = stored(&codec, &None::<u32>);
        assert!(none.1.is_empty());
        assert_eq!(read::<Value>(&codec, &none).unwrap(), Value::Null);
        assert!(read::<u32>(&codec, &none).is_err());
        assert!(read::<String>(&codec, &none).is_err());
        // What says null in JSON is None for those who cannot take it as a value.
        assert_eq!(read::<Option<u32>>(&codec, &stored(&codec, &())).unwrap(), None);
    }
}

#[test]
fn unsized_and_borrowed_values_are_stored_like_their_owners() {
    for codec in general() {
        assert_eq!(stored(&codec, "text"), stored(&codec, &"text".to_owned()));
        assert_eq!(stored(&codec, &[1_u8, 2][..]), stored(&codec, &vec![1_u8, 2]));
        assert_eq!(stored(&codec, &[1_u8, 2][..]), stored(&codec, Bytes::new(&[1, 2])));
        assert_eq!(stored(&codec, &&&5_i32), stored(&codec, &5_i32));
        let text = stored(&codec, &format_args!("{}-{}", 1, 2));
        assert_eq!(read::<String>(&codec, &text).unwrap(), "1-2");
    }
}
