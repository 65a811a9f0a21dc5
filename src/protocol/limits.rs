//! How much one peer may make us keep.

/// Bounds on what a reply may hold; a reply beyond one of them is a [`Violation`](super::Violation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The longest value, in bytes. Default: 128 MiB.
    pub(crate) max_value_bytes: usize,
    /// The longest line without its end, in bytes. Default: 8 KiB.
    pub(crate) max_line: usize,
    /// What one list (stats, dumped keys) may take in memory, in bytes. Default: 64 MiB.
    pub(crate) max_list_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_value_bytes: 128 << 20, max_line: 8 << 10, max_list_bytes: 64 << 20 }
    }
}
