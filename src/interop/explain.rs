//! Where each client would look for a key, and why it may not find it.

use std::fmt;

use super::preset::Preset;
use crate::codec::Codec;
use crate::ring::Ring;
use crate::types::{Server, ServerError, ServerList, ToKey};

/// Tells for one key where each known client would look for it, and what flags mean to each.
///
/// The answer to "why does my PHP not see it": another server, another key, or flags that it reads otherwise.
/// Nothing is connected to.
///
/// ```
/// use mcpool::interop;
/// let explanation = interop::explain("user:42", ["10.0.0.1", "10.0.0.2", "10.0.0.3?weight=2"])?;
/// for home in explanation.homes() {
///     println!("{}: {:?}", home.preset(), home.server());
/// }
/// // Flags 4: to PHP a serialized array, to pylibmc a number.
/// for (codec, meaning) in explanation.flags(4) {
///     println!("{codec:?}: {meaning:?}");
/// }
/// # Ok::<(), mcpool::ServerError>(())
/// ```
///
/// # Errors
/// An address that cannot be used. What a single client could not do with the key or the servers is in its [`Home`].
pub fn explain(
    key: impl ToKey,
    servers: impl Into<ServerList>,
) -> Result<Explanation, ServerError> {
    let servers = servers.into().0.into_iter().collect::<Result<Vec<_>, _>>()?;
    servers.iter().try_for_each(Server::check)?;
    let homes = Preset::all().map(|preset| Home::of(preset, &key, &servers)).collect();
    Ok(Explanation { key: key.to_key().bytes.to_vec(), homes })
}

/// What [`explain`] has found out; written, it is two tables.
#[derive(Debug, Clone)]
pub struct Explanation {
    key: Vec<u8>,
    homes: Vec<Home>,
}

/// Where one client would look for the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    preset: Preset,
    found: Result<Found, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    wire: Vec<u8>,
    /// In the order in which they are tried.
    servers: Vec<String>,
}

impl Explanation {
    /// Each client's answer, in the order of [`Preset::all`].
    pub fn homes(&self) -> &[Home] {
        &self.homes
    }

    /// One client's answer; there is one for each preset.
    pub fn home(&self, preset: Preset) -> Option<&Home> {
        self.homes.iter().find(|home| home.preset == preset)
    }

    /// Every codec but [`Codec::Raw`], which looks at no flags, each with what some flags say to it: `None` where it does not know them.
    ///
    /// [`Codec::legend`] has all that a codec knows.
    pub fn flags(&self, flags: u32) -> Vec<(Codec, Option<String>)> {
        codecs().map(|codec| (codec.clone(), codec.meaning(flags))).collect()
    }
}

/// Every codec to which flags say something.
fn codecs() -> impl Iterator<Item = Codec> {
    Codec::SHIPPED.into_iter().filter(|codec| codec.name() != Codec::Raw.name())
}

impl Home {
    fn of(preset: Preset, key: &impl ToKey, servers: &[Server]) -> Self {
        let found = || {
            let key = key.to_key();
            let bundle = preset.bundle();
            let wire = bundle.key_rules().wire(key.bytes).map_err(|e| e.to_string())?;
            let ring = Ring::of(bundle.placement, servers).map_err(|e| e.to_string())?;
            let place = key.place(wire.as_bytes(), 0);
            let order = ring.candidates(place, key.hash).filter_map(|node| servers.get(node));
            let servers = order.map(|server| server.name().to_owned()).collect();
            Ok(Found { wire: wire.as_bytes().to_vec(), servers })
        };
        Self { preset, found: found() }
    }

    /// The client.
    pub fn preset(&self) -> Preset {
        self.preset
    }

    /// The server it would ask; `None` when it could not, see [`problem`](Self::problem).
    pub fn server(&self) -> Option<&str> {
        self.servers().first().map(String::as_str)
    }

    /// Every server, in the order in which this crate tries them with the client's preset.
    pub fn servers(&self) -> &[String] {
        self.found.as_ref().map_or(&[], |found| &found.servers)
    }

    /// The key as it would send it, without any prefix; `None` when it could not.
    pub fn wire_key(&self) -> Option<&[u8]> {
        self.found.as_ref().ok().map(|found| &found.wire[..])
    }

    /// Why the preset has no server for the key.
    pub fn problem(&self) -> Option<&str> {
        self.found.as_ref().err().map(String::as_str)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = shown(&self.key);
        writeln!(f, "{plain}\n")?;
        writeln!(f, "{:26}{:26}key", "client", "server")?;
        for home in &self.homes {
            match &home.found {
                Err(problem) => writeln!(f, "{:26}- ({problem})", home.preset)?,
                Ok(found) => {
                    let server = home.server().unwrap_or("-");
                    let wire = shown(&found.wire);
                    let wire = if wire == plain { "as it is" } else { &wire };
                    writeln!(f, "{:26}{server:26}{wire}", home.preset)?;
                }
            }
        }
        writeln!(f, "\n{:26}flags", "values of")?;
        for codec in codecs() {
            let meanings: Vec<_> = codec.legend().iter().map(ToString::to_string).collect();
            writeln!(f, "{:26}{}", codec.name(), meanings.join(", "))?;
        }
        Ok(())
    }
}

/// Text without anything that could disturb a terminal.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).escape_debug().to_string()
}
