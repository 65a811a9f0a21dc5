//! A peer with its settings and ours that match: what each peer's own file says of it.

use mcpool::{Client, ClientBuilder, Codec};
use mcpool_interop_tests::cluster::{Place, client};
use mcpool_interop_tests::dice::Letters;
use mcpool_interop_tests::peer::Peer;

/// A host, and the name of a server on it by its port.
pub(crate) type Host = (&'static str, fn(u16) -> String);

/// A peer with its settings, and ours that match them.
pub(crate) struct Case<'a> {
    /// The name of the driver.
    pub(crate) peer: &'a str,
    pub(crate) options: &'a [(&'a str, &'a str)],
    /// The names of ours that match: the preset, and the placement where the peer's is another.
    pub(crate) preset: &'a str,
    pub(crate) placement: Option<&'a str>,
    /// The codec where the peer's values are not the preset's.
    pub(crate) codec: Option<Codec>,
    /// What stands before its keys on the servers.
    pub(crate) prefix: &'a str,
    /// Whether the prefix counts where a key chooses its server, if not as the preset says.
    pub(crate) hash_prefix: Option<bool>,
    /// What its keys may be made of.
    pub(crate) letters: Letters,
    /// Whether its servers get weights.
    pub(crate) weighted: bool,
    /// What the peer is told in place of an IP address, and the name of that server on its ring.
    pub(crate) host: Option<Host>,
}

impl Case<'_> {
    /// With nothing special; a start for the cases of a peer.
    pub(crate) const PLAIN: Self = Self {
        peer: "",
        options: &[],
        preset: "",
        placement: None,
        codec: None,
        prefix: "",
        hash_prefix: None,
        letters: Letters::Unicode,
        weighted: false,
        host: None,
    };

    /// Our client on these servers, with settings that match.
    pub(crate) fn ours(&self, servers: &[Place]) -> Client {
        client(servers, |builder| self.set_up(builder))
    }

    /// Settings that match.
    pub(crate) fn set_up(&self, builder: ClientBuilder) -> ClientBuilder {
        let mut builder = set_up(builder, self.preset, self.placement).key_prefix(self.prefix);
        if let Some(on) = self.hash_prefix {
            builder = builder.hash_prefix(on);
        }
        match &self.codec {
            Some(codec) => builder.codec(codec.clone()),
            None => builder,
        }
    }

    /// Our client and the peer on the same servers.
    pub(crate) fn both(&self, servers: &[Place]) -> (Client, Peer) {
        let mut peer = Peer::start(self.peer);
        peer.open(servers, self.options);
        (self.ours(servers), peer)
    }
}

/// Settings by their names.
pub(crate) fn set_up(
    builder: ClientBuilder,
    preset: &str,
    placement: Option<&str>,
) -> ClientBuilder {
    let builder = builder.preset(preset.parse().unwrap_or_else(|e| panic!("{e}")));
    match placement.map(str::parse) {
        Some(placement) => builder.placement(placement.unwrap_or_else(|e| panic!("{e}"))),
        None => builder,
    }
}
