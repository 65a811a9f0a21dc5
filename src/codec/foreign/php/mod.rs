//! PHP's `serialize` of scalars and arrays; objects, enums and references are named and not read.

mod deserialize;
mod scan;

pub(in crate::codec) use deserialize::Php;
pub(in crate::codec) use scan::check;

/// `null`.
pub(in crate::codec) const NULL: &[u8] = b"N;";
