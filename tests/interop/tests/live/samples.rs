//! Values of every kind: the edges, and some by chance.

use mcpool_interop_tests::dice::{Dice, Letters};
use mcpool_interop_tests::value::Value;
use serde_json::json;

/// How many of each kind come by chance.
const BY_CHANCE: usize = 20;

/// All of them, the same in each run with the same seed.
pub(crate) fn all() -> Vec<Value> {
    let mut dice = Dice::new("values");
    let mut values = vec![Value::Null, Value::Bool(true), Value::Bool(false)];
    values.extend([0, 1, -1, 40, i64::from(i32::MAX), i64::from(i32::MIN)].map(Value::Int));
    values.extend([i64::from(u32::MAX), i64::MAX, i64::MIN].map(Value::Int));
    values.extend([1 << 63, u64::MAX].map(Value::Big));
    values.extend([0, 1, -1, i8::MAX, i8::MIN].map(Value::I8));
    values.extend([0, 1, -1, i16::MAX, i16::MIN].map(Value::I16));
    values.extend([0, 1, -1, 0x1234, i32::MAX, i32::MIN].map(Value::I32));
    values.extend(floats().map(Value::Float));
    values.extend([0.0, -0.0, 1.5, 0.1, f32::MAX, f32::MIN_POSITIVE, f32::NAN].map(Value::F32));
    values.extend(['a', 'é', '一'].map(Value::Char));
    values.extend(texts(&mut dice).into_iter().map(Value::Text));
    values.extend(byte_strings(&mut dice).into_iter().map(Value::Bytes));
    values.extend([0, 1_234_567_890_123, -1].map(Value::Date));
    values.push(Value::Object("an object".to_owned()));
    values.extend(structures().map(Value::Json));
    for _ in 0..BY_CHANCE {
        values.push(Value::Int(dice.bits().cast_signed() >> dice.between(0, 60)));
        let length = dice.between(1, 300);
        values.push(Value::Text(dice.text(Letters::Unicode, length)));
        let float = f64::from_bits(dice.bits());
        // Whether a NaN keeps its payload is not asked.
        values.push(Value::Float(if float.is_nan() { f64::NAN } else { float }));
    }
    values
}

/// Those that JSON and every language's own text have.
fn floats() -> [f64; 17] {
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        0.1 + 0.2,
        1.0 / 3.0,
        1e-7,
        -1e-7,
        123_456_789.123,
        1e21,
        1e100,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ]
}

fn texts(dice: &mut Dice) -> Vec<String> {
    let mut texts: Vec<String> =
        ["", "a", "12345", "-7", "1.5", "true", "null", " ", "N;", "{}"].map(str::to_owned).into();
    texts.extend(
        ["héllo 😀", "two\r\nlines", "VALUE k 0 1\r\nx\r\nEND\r\n", "\0nul"].map(str::to_owned),
    );
    texts.push("0123456789".repeat(30_000));
    texts.push(dice.text(Letters::Unicode, 5000));
    texts
}

fn byte_strings(dice: &mut Dice) -> Vec<Vec<u8>> {
    let every: Vec<u8> = (0..=u8::MAX).collect();
    let mut strings = vec![vec![], vec![0xff], vec![0, 0xff, b'\r', b'\n', 0x80], every];
    strings.push(vec![0; 100_000]);
    strings.push(dice.bytes(60_000));
    strings
}

fn structures() -> [serde_json::Value; 6] {
    [
        json!([1, 2, 3]),
        json!(["a", null, true, -1, 0.5]),
        json!({"name": "Ann", "tags": ["x", "y"], "age": 41, "ratio": 0.25}),
        json!({"deep": {"er": {"still": [[["in"]]]}}, "é": "ü"}),
        json!([{"id": 1}, {"id": 2}]),
        json!({"long": "0123456789".repeat(3000)}),
    ]
}
