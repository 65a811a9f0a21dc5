//! Without the feature `compression`: nothing is compressed, and a compressed value is named as such.

use super::Form;
use crate::codec::error::Unreadable;

pub(super) fn unpack(form: Form, _bytes: &[u8], _most: usize) -> Result<Vec<u8>, Unreadable> {
    Err(Unreadable::Compressed(form))
}

pub(super) fn pack(_form: Form, _plain: &[u8]) -> Option<Vec<u8>> {
    None
}
