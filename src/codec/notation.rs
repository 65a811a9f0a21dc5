//! Floats as the other languages write them: one shortest set of digits, set out by a table of rules.

/// One language's rules.
#[derive(Debug)]
pub(super) struct Notation {
    /// The point's place, counted from the first digit, at or below which an exponent is written.
    pub(super) small: i32,
    /// The place above which an exponent is written; it may depend on the number of digits.
    pub(super) large: fn(usize) -> usize,
    /// Whether a digit stands before and behind every point: `0.5` and `1.0`, not `.5` and `1`.
    pub(super) full: Full,
    /// How many digits an exponent has at least.
    pub(super) exponent: usize,
    /// Whether an exponent above zero has a sign, too.
    pub(super) plus: bool,
    /// Infinity and not-a-number; nothing where the language's reader has no word for them.
    pub(super) words: Option<(&'static str, &'static str)>,
}

/// Where zeros are put around the point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Full {
    pub(super) before: bool,
    pub(super) behind: bool,
    /// Behind the point of a number with an exponent.
    pub(super) mantissa: bool,
}

/// php-memcached.
pub(super) const PHP_MEMCACHED: Notation = Notation {
    small: -4,
    large: |digits| digits + 5,
    full: Full { before: false, behind: false, mantissa: false },
    exponent: 2,
    plus: true,
    words: Some(("Infinity", "NaN")),
};

/// PHP's `%.14g`, which pecl memcache uses; ours has all the digits there are.
pub(super) const PECL_MEMCACHE: Notation = Notation {
    small: -4,
    large: |_| 14,
    full: Full { before: true, behind: false, mantissa: true },
    exponent: 1,
    plus: true,
    words: None,
};

/// Python's `repr`.
pub(super) const PYTHON: Notation = Notation {
    small: -4,
    large: |_| 16,
    full: Full { before: true, behind: true, mantissa: false },
    exponent: 2,
    plus: true,
    words: Some(("inf", "nan")),
};

/// Ruby's `Marshal`.
pub(super) const MARSHAL: Notation = Notation {
    small: -4,
    large: |digits| digits,
    full: Full { before: true, behind: false, mantissa: false },
    exponent: 1,
    plus: false,
    words: Some(("inf", "nan")),
};

impl Notation {
    /// Appends the text of a float; `false` if there is none.
    pub(super) fn push(&self, value: f64, out: &mut Vec<u8>) -> bool {
        if value.is_finite() {
            out.extend_from_slice(self.finite(value).as_bytes());
            return true;
        }
        let Some((infinity, nan)) = self.words else { return false };
        if value.is_sign_negative() && !value.is_nan() {
            out.push(b'-');
        }
        out.extend_from_slice(if value.is_nan() { nan } else { infinity }.as_bytes());
        true
    }

    fn finite(&self, value: f64) -> String {
        // Rust's shortest form: digits with a point behind the first, `e`, the exponent.
        let scientific = format!("{:e}", value.abs());
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let digits = mantissa.replace('.', "");
        let place = exponent.parse::<i32>().unwrap_or(0) + 1;
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let is_zero = value == 0.0;
        let large = i32::try_from((self.large)(digits.len())).unwrap_or(i32::MAX);
        if !is_zero && (place <= self.small || place > large) {
            return format!("{sign}{}", self.with_exponent(&digits, place - 1));
        }
        format!("{sign}{}", self.plain(&digits, place))
    }

    fn with_exponent(&self, digits: &str, exponent: i32) -> String {
        let (first, rest) = digits.split_at(1);
        let behind = match rest {
            "" if self.full.mantissa => ".0".to_owned(),
            "" => String::new(),
            rest => format!(".{rest}"),
        };
        let sign = match exponent {
            ..0 => "-",
            _ if self.plus => "+",
            _ => "",
        };
        format!("{first}{behind}e{sign}{:0width$}", exponent.abs(), width = self.exponent)
    }

    fn plain(&self, digits: &str, place: i32) -> String {
        let Ok(place @ 1..) = usize::try_from(place) else {
            let zeros = usize::try_from(place.unsigned_abs()).unwrap_or(0);
            let before = if self.full.before { "0" } else { "" };
            return format!("{before}.{}{digits}", "0".repeat(zeros));
        };
        match digits.split_at_checked(place) {
            Some((whole, behind)) if !behind.is_empty() => format!("{whole}.{behind}"),
            _ => {
                let behind = if self.full.behind { ".0" } else { "" };
                format!("{digits:0<place$}{behind}")
            }
        }
    }
}
