//! At home on other clients' clusters: which client places, stores and names things how.
//!
//! [`Preset`] bundles codec, placement and key rules of a client. [`explain`] tells for one key where each of them
//! would look for it: the answer to "why does my PHP not see it".

mod explain;
mod preset;

pub use explain::{Explanation, Home, explain};
pub use preset::{Preset, PresetError};
