//! Finding lines and numbers in bytes.

use super::Violation;

/// The first line, with whatever stands before its `\n`, and the number of bytes up to and with the `\n`;
/// `None` if its end has not come yet.
///
/// # Errors
/// [`Violation::LineTooLong`] as soon as it is sure that the line is longer than `limit` and a `\r`.
pub(super) fn line(input: &[u8], limit: usize) -> Result<Option<(&[u8], usize)>, Violation> {
    let end = memchr::memchr(b'\n', input);
    if end.unwrap_or(input.len()) > limit + 1 {
        return Err(Violation::LineTooLong { limit });
    }
    Ok(end.and_then(|end| Some((input.get(..end)?, end + 1))))
}

/// A decimal number of digits only that fits into 64 bits.
pub(super) fn number(text: &[u8]) -> Option<u64> {
    leading_number(text).and_then(|(number, rest)| rest.is_empty().then_some(number))
}

/// The same at the start of the text, and what stands behind it.
#[inline]
pub(super) fn leading_number(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut rest) = (0_u64, text);
    while let Some((digit, behind)) = rest.split_first().filter(|(b, _)| b.is_ascii_digit()) {
        number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        rest = behind;
    }
    (rest.len() < text.len()).then_some((number, rest))
}

/// Flags and what stands behind them: a number of 32 bits; one that a server shows as negative is the same bits
/// without a sign.
#[inline]
pub(super) fn leading_flags(text: &[u8]) -> Option<(u32, &[u8])> {
    match text.strip_prefix(b"-") {
        None => {
            let (number, rest) = leading_number(text)?;
            Some((u32::try_from(number).ok()?, rest))
        }
        Some(digits) => {
            let (size, rest) = leading_number(digits)?;
            let signed = i32::try_from(-i64::try_from(size).ok()?).ok()?;
            Some((u32::from_ne_bytes(signed.to_ne_bytes()), rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_only_and_never_wrap() {
        for (text, value) in [("0", 0), ("007", 7), ("42", 42), ("18446744073709551615", u64::MAX)]
        {
            assert_eq!(number(text.as_bytes()), Some(value), "{text}");
        }
        for text in
            ["", " 1", "1 ", "+1", "-1", "1a", "0x1", "1.0", "18446744073709551616", "٣", "/", ":"]
        {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn flags_fill_32_bits_and_negative_ones_wrap() {
        for (text, value) in [
            ("0", 0),
            ("4294967295", u32::MAX),
            ("-1", u32::MAX),
            ("-2147483648", 1 << 31),
            ("2147483648", 1 << 31),
        ] {
            let behind = format!("{text} 5");
            assert_eq!(leading_flags(behind.as_bytes()), Some((value, &b" 5"[..])), "{text}");
        }
        for text in ["", "-", "--1", "4294967296", "-2147483649", "-9223372036854775808", "x"] {
            assert_eq!(leading_flags(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_line_is_refused_as_soon_as_it_is_too_long_wherever_it_is_cut() {
        assert_eq!(line(b"ab", 3), Ok(None));
        assert_eq!(line(b"abc\r", 3), Ok(None));
        assert_eq!(line(b"abc\r\nx", 3), Ok(Some((&b"abc\r"[..], 5))));
        let too_long = Err(Violation::LineTooLong { limit: 3 });
        assert_eq!(line(b"abcd\r", 3), too_long);
        assert_eq!(line(b"abcd\r\n", 3), too_long);
    }
}
