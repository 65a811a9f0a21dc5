//! The door for codecs of the user's own, at the level of bytes.

use std::error::Error;
use std::fmt::Debug;

use crate::types::Payload;

/// Changes bytes and flags on their way to the server and back: encryption, another compression,
/// flags of another program.
///
/// Values reach it as [`Codec::Json`](crate::Codec::Json) stores them. Counters pass it by, since the
/// server must be able to count in them.
///
/// ```
/// use std::error::Error;
/// use mcpool::{CustomCodec, Payload};
///
/// /// Marks our values, so that those of other programs are refused.
/// #[derive(Debug)]
/// struct Marked;
///
/// const MARK: u32 = 1 << 14;
///
/// impl CustomCodec for Marked {
///     fn encode(&self, plain: Payload) -> Result<Payload, Box<dyn Error + Send + Sync>> {
///         Ok(Payload { flags: plain.flags | MARK, ..plain })
///     }
///
///     fn decode(&self, stored: &Payload) -> Result<Payload, Box<dyn Error + Send + Sync>> {
///         if stored.flags & MARK == 0 {
///             return Err("not stored by this program".into());
///         }
///         Ok(Payload { bytes: stored.bytes.clone(), flags: stored.flags & !MARK })
///     }
/// }
/// ```
pub trait CustomCodec: Send + Sync + Debug {
    /// Makes what is stored of what the JSON codec made.
    ///
    /// # Errors
    /// Whatever hinders it; the call fails before anything is sent, with this error as its source.
    fn encode(&self, plain: Payload) -> Result<Payload, Box<dyn Error + Send + Sync>>;

    /// Makes what the JSON codec reads of what is stored.
    ///
    /// # Errors
    /// Whatever hinders it; the call fails with this error as its source and the stored bytes attached.
    fn decode(&self, stored: &Payload) -> Result<Payload, Box<dyn Error + Send + Sync>>;
}
