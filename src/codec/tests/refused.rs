//! What a codec cannot hold is refused before anything is sent, with a text that names it.

use std::collections::BTreeMap;

use serde::ser::{Error as _, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};

use super::{Codec, Transcoder, encode, general, json, raw, read, stored, transcoder, whalin};

fn why<T: Serialize + ?Sized>(codec: &Transcoder, value: &T) -> String {
    encode(codec, value).expect_err("must be refused").to_string()
}

#[test]
fn nan_and_infinity_are_refused_by_json_also_deep_inside() {
    #[derive(Serialize)]
    struct Deep {
        a: Vec<Option<(u8, f32)>>,
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(why(&json(), &bad).contains("primitives_as_strings"));
        for codec in general() {
            for error in [
                why(&codec, &vec![1.0, bad]),
                why(&codec, &Some((1_u8, bad))),
                why(&codec, &BTreeMap::from([("k", bad)])),
            ] {
                assert!(error.contains("JSON has no number for"), "{error}");
            }
        }
    }
    let error = why(&json(), &Deep { a: vec![None, Some((1, f32::NAN))] });
    assert!(error.contains("Deep") && error.contains("NaN"), "{error}");
}

#[test]
fn a_lone_nan_or_infinity_is_kept_by_whalin_and_by_primitives_as_strings() {
    for codec in [transcoder(Codec::Json, true), whalin(), transcoder(Codec::Whalin, true)] {
        for value in [f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(read::<f64>(&codec, &stored(&codec, &value)).unwrap(), value);
        }
        assert!(read::<f64>(&codec, &stored(&codec, &f64::NAN)).unwrap().is_nan());
        assert!(read::<f32>(&codec, &stored(&codec, &f32::NAN)).unwrap().is_nan());
    }
    assert_eq!(stored(&transcoder(Codec::Json, true), &f64::NAN), (0, b"NaN".to_vec()));
}

#[test]
fn maps_with_keys_that_json_cannot_hold_are_refused() {
    for codec in general() {
        assert!(why(&codec, &BTreeMap::from([((1, 2), 3)])).contains("key must be a string"));
        assert!(why(&codec, &BTreeMap::from([(vec![1_u8], 3)])).contains("key must be a string"));
        assert!(encode(&codec, &BTreeMap::from([(None::<u8>, 3)])).is_err());
    }
}

#[test]
fn a_u64_beyond_javas_long_is_refused_in_binary_form_only() {
    let error = why(&whalin(), &u64::MAX);
    assert!(error.contains("18446744073709551615") && error.contains("primitives_as_strings"));
    let text = stored(&transcoder(Codec::Whalin, true), &u64::MAX);
    assert_eq!(text, (32, b"18446744073709551615".to_vec()));
}

#[test]
fn raw_takes_strings_and_bytes_and_names_what_takes_the_rest() {
    assert_eq!(stored(&raw(), "text"), (0, b"text".to_vec()));
    assert_eq!(stored(&raw(), &vec![0_u8, 255]), (0, vec![0, 255]));
    assert_eq!(stored(&raw(), &[1_u8, 2]), (0, vec![1, 2]));
    assert_eq!(stored(&raw(), ""), (0, vec![]));
    for error in [
        why(&raw(), &5),
        why(&raw(), &true),
        why(&raw(), &'c'),
        why(&raw(), &()),
        why(&raw(), &None::<String>),
        why(&raw(), &vec!["a"]),
        why(&raw(), &(1_u8, 2_u16)),
        why(&raw(), &BTreeMap::from([("a", 1)])),
        why(&raw(), &1.5),
    ] {
        assert!(error.contains("strings and bytes only"), "{error}");
    }
    assert_eq!(read::<String>(&raw(), &(0, b"5".to_vec())).unwrap(), "5");
    assert_eq!(read::<Vec<u8>>(&raw(), &(77, vec![0, 255])).unwrap(), [0, 255]);
    assert!(read::<u32>(&raw(), &(0, b"5".to_vec())).is_err());
    assert!(read::<Vec<u32>>(&raw(), &(0, b"[5]".to_vec())).is_err());
    assert!(read::<String>(&raw(), &(0, vec![255])).is_err());
}

/// Fails after it has written something.
struct FailsLate;

impl Serialize for FailsLate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut half = serializer.serialize_struct("FailsLate", 2)?;
        half.serialize_field("a", "some text")?;
        Err(S::Error::custom("gave up"))
    }
}

/// A sequence with a wrong length, whose second element fails.
struct FailsInside;

impl Serialize for FailsInside {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut half = serializer.serialize_seq(Some(usize::MAX))?;
        half.serialize_element(&1_u8)?;
        half.serialize_element(&FailsLate)?;
        half.end()
    }
}

#[test]
fn the_users_own_error_is_told_and_leaves_no_bytes_behind() {
    for codec in general() {
        assert!(why(&codec, &FailsLate).contains("gave up"));
        assert!(why(&codec, &FailsInside).contains("gave up"));
        assert!(why(&codec, &vec![FailsLate]).contains("gave up"));
        assert!(why(&codec, &Some(FailsLate)).contains("FailsLate"));
    }
}

/// An iterator that lies about its length.
struct Liar(u8);

impl Iterator for Liar {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        self.0 = self.0.checked_sub(1)?;
        Some(self.0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

impl Serialize for Liar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(Liar(self.0))
    }
}

#[test]
fn a_size_hint_is_not_believed() {
    assert_eq!(stored(&json(), &Liar(3)), (36864, vec![2, 1, 0]));
}
