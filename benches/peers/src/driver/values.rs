//! What is stored: text of any length, a small struct, a map of a hundred of them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// The struct of the published comparisons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Element {
    id: i32,
    name: String,
    score: f64,
    active: bool,
}

pub(super) type Map = HashMap<String, Element>;

impl Element {
    pub(super) fn new(number: u32) -> Self {
        Self {
            id: i32::try_from(number).unwrap_or(i32::MAX),
            name: format!("element number {number}"),
            score: f64::from(number) * 1.5,
            active: number.is_multiple_of(2),
        }
    }
}

/// A hundred of them.
pub(super) fn map() -> Map {
    (0..100).map(|n| (format!("key{n}"), Element::new(n))).collect()
}

/// So many letters and digits.
pub(super) fn text(len: usize) -> String {
    "0123456789abcdef".chars().cycle().take(len).collect()
}
