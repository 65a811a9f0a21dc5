//! The classic text dialect: its words, both ways.

mod decode;
mod encode;
mod keys;

pub(super) use decode::{TERMINATOR, event, head, line};
pub(super) use encode::encode;
pub(super) use keys::Asked;

#[cfg(test)]
mod tests;
