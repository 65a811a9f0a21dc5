//! What other languages store as objects of their own: the plain values among them are read, the rest is named.

pub(super) mod marshal;
pub(super) mod php;
pub(super) mod pickle;
