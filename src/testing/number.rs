//! Numbers as memcached reads them, which is how C's `strtoull` and `strtoll` do.

/// An unsigned number; a negative one is none.
pub(super) fn unsigned(text: &[u8]) -> Option<u64> {
    u64::try_from(integer(text)?).ok()
}

/// A signed number.
pub(super) fn signed(text: &[u8]) -> Option<i64> {
    i64::try_from(integer(text)?).ok()
}

/// White space, a sign, digits, and then the end, white space or a NUL behind which anything may stand.
fn integer(text: &[u8]) -> Option<i128> {
    let text = text.get(text.iter().position(|byte| !is_space(*byte))?..)?;
    let (negative, text) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let (digits, tail) =
        text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count());
    if digits.is_empty() || !tail.first().is_none_or(|byte| is_space(*byte) || *byte == 0) {
        return None;
    }
    let mut magnitude = 0_i128;
    for digit in digits {
        magnitude = magnitude.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
    }
    Some(if negative { -magnitude } else { magnitude })
}

/// What C's `isspace` takes for white space.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}
