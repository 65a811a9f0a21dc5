//! The classic text dialect: its words, both ways.

mod decode;
mod encode;
mod keys;

pub(super) use decode::{Line, TERMINATOR, line};
pub(super) use encode::encode;
pub(super) use keys::Asked;

#[cfg(test)]
mod tests;
