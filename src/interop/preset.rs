//! Named bundles of codec, placement and key rules: what another client's cluster needs.

use std::fmt;
use std::str::FromStr;

use crate::codec::Codec;
use crate::ring::Placement;
use crate::types::{KeyRules, LongKeys};

/// Another client whose cluster is to be shared; see [`ClientBuilder::preset`](crate::ClientBuilder::preset).
///
/// The servers have to be the same as there, in the same order and with the same weights; on a ring their names
/// count, too, as [`NameForm`](crate::NameForm) says. The text forms are the names in brackets:
///
/// ```
/// use mcpool::Preset;
/// assert_eq!("php_memcached_ketama".parse(), Ok(Preset::PhpMemcachedKetama));
/// assert_eq!(Preset::Whalin.to_string(), "whalin");
/// for preset in Preset::all() {
///     println!("{preset}: {}", preset.placement());
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// Greg Whalin's Java client, 2.0.1 to 3.0.2, with its defaults (`whalin`): its flags and layouts, native hashing,
    /// URL-encoded keys.
    Whalin,
    /// spymemcached with its defaults (`spymemcached`): `ARRAY_MOD` and `NATIVE_HASH`.
    Spymemcached,
    /// spymemcached with its `KetamaConnectionFactory`, or locator `CONSISTENT` and `KETAMA_HASH`
    /// (`spymemcached_ketama`).
    SpymemcachedKetama,
    /// xmemcached with its defaults (`xmemcached`).
    Xmemcached,
    /// xmemcached with its `KetamaMemcachedSessionLocator` (`xmemcached_ketama`).
    XmemcachedKetama,
    /// The same in its nginx mode (`xmemcached_ketama_nginx`).
    XmemcachedKetamaNginx,
    /// The same in its gwhalin mode (`xmemcached_ketama_gwhalin`).
    XmemcachedKetamaGwhalin,
    /// xmemcached with its `LibmemcachedMemcachedSessionLocator` (`xmemcached_libmemcached`).
    XmemcachedLibmemcached,
    /// xmemcached with its `PHPMemcacheSessionLocator` (`xmemcached_php`).
    XmemcachedPhp,
    /// xmemcached with its `ElectionMemcachedSessionLocator` (`xmemcached_election`).
    XmemcachedElection,
    /// A C program with libmemcached and its defaults (`libmemcached`). Its values are bytes; the codec is left as it is.
    Libmemcached,
    /// The same with `DISTRIBUTION_CONSISTENT` or `KETAMA` (`libmemcached_consistent`).
    LibmemcachedConsistent,
    /// The same with `KETAMA_WEIGHTED` (`libmemcached_ketama`).
    LibmemcachedKetama,
    /// PHP's `Memcached` with its defaults (`php_memcached`).
    PhpMemcached,
    /// PHP's `Memcached` with `OPT_DISTRIBUTION` set to `DISTRIBUTION_CONSISTENT` (`php_memcached_consistent`).
    PhpMemcachedConsistent,
    /// PHP's `Memcached` with `OPT_LIBKETAMA_COMPATIBLE` (`php_memcached_ketama`).
    PhpMemcachedKetama,
    /// PHP's `Memcache` with its defaults, `hash_strategy=consistent` and crc32 (`pecl_memcache`).
    ///
    /// Keys that it would rewrite (blanks to `_`) or cut (above 250 bytes) are errors here, since different keys could
    /// meet.
    PeclMemcache,
    /// PHP's `Memcache` with `hash_strategy=standard` (`pecl_memcache_standard`).
    PeclMemcacheStandard,
    /// pylibmc with its defaults (`pylibmc`).
    Pylibmc,
    /// pylibmc with the behaviour `ketama` (`pylibmc_consistent`).
    PylibmcConsistent,
    /// pylibmc with the behaviour `ketama_weighted` (`pylibmc_ketama`).
    PylibmcKetama,
    /// pymemcache's `HashClient` with `pickle_serde` or `compressed_serde` (`pymemcache`). Without a serde it is
    /// this with [`Codec::Gomemcache`].
    Pymemcache,
    /// python-memcached (`python_memcached`) from 1.60 on; before that one key in 32 768 has another server, see
    /// [`Placement::PythonMemcached159`].
    PythonMemcached,
    /// python-binary-memcached's `DistributedClient` (`python_binary_memcached`).
    PythonBinaryMemcached,
    /// Perl's `Cache::Memcached`, and `Cache::Memcached::Fast` without `ketama_points` (`perl_cache_memcached`).
    PerlCacheMemcached,
    /// Ruby's dalli with its defaults (`dalli`); its `namespace: "ns"` is the prefix `ns:` here.
    Dalli,
    /// Go's gomemcache (`gomemcache`).
    Gomemcache,
    /// Servers behind the proxy twemproxy with its defaults, asked directly (`twemproxy`). A proxy leaves
    /// values alone; the codec is left as it is.
    Twemproxy,
    /// The same with `distribution: modula` (`twemproxy_modula`).
    TwemproxyModula,
    /// The Rust crate `memcache` (`rust_memcache`).
    RustMemcache,
}

/// What a preset sets.
#[derive(Debug, Clone)]
pub(crate) struct Bundle {
    name: &'static str,
    /// `None`: the client has no types, and whatever codec its users agree on stays.
    pub(crate) codec: Option<Codec>,
    pub(crate) placement: Placement,
    pub(crate) sanitize_keys: bool,
    /// Whether a prefix takes part in choosing the server.
    pub(crate) hash_prefix: bool,
    pub(crate) long_keys: LongKeys,
}

impl Preset {
    const ALL: [Self; 30] = [
        Self::Whalin,
        Self::Spymemcached,
        Self::SpymemcachedKetama,
        Self::Xmemcached,
        Self::XmemcachedKetama,
        Self::XmemcachedKetamaNginx,
        Self::XmemcachedKetamaGwhalin,
        Self::XmemcachedLibmemcached,
        Self::XmemcachedPhp,
        Self::XmemcachedElection,
        Self::Libmemcached,
        Self::LibmemcachedConsistent,
        Self::LibmemcachedKetama,
        Self::PhpMemcached,
        Self::PhpMemcachedConsistent,
        Self::PhpMemcachedKetama,
        Self::PeclMemcache,
        Self::PeclMemcacheStandard,
        Self::Pylibmc,
        Self::PylibmcConsistent,
        Self::PylibmcKetama,
        Self::Pymemcache,
        Self::PythonMemcached,
        Self::PythonBinaryMemcached,
        Self::PerlCacheMemcached,
        Self::Dalli,
        Self::Gomemcache,
        Self::Twemproxy,
        Self::TwemproxyModula,
        Self::RustMemcache,
    ];

    /// Every preset.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }

    /// Where its client has keys.
    pub fn placement(self) -> Placement {
        self.bundle().placement
    }

    /// How its client stores values; `None` where it knows bytes only and the choice is the user's.
    pub fn codec(self) -> Option<Codec> {
        self.bundle().codec
    }

    pub(crate) fn bundle(self) -> Bundle {
        use crate::ring::NameForm;
        use Codec as C;
        use Placement as P;
        let php = |name, placement| bundle(name, C::PhpMemcached, placement).prefix_apart();
        match self {
            Self::Whalin => bundle("whalin", C::Whalin, P::Native).sanitized(),
            Self::Spymemcached => bundle("spymemcached", C::Spymemcached, P::SpymemcachedArray),
            Self::SpymemcachedKetama => {
                bundle("spymemcached_ketama", C::Spymemcached, P::SpymemcachedKetama)
            }
            Self::Xmemcached => bundle("xmemcached", C::Xmemcached, P::XmemcachedArray),
            Self::XmemcachedKetama => {
                bundle("xmemcached_ketama", C::Xmemcached, P::XmemcachedKetama)
            }
            Self::XmemcachedKetamaNginx => bundle(
                "xmemcached_ketama_nginx",
                C::Xmemcached,
                P::XmemcachedKetama.with_names(NameForm::Ip),
            ),
            Self::XmemcachedKetamaGwhalin => bundle(
                "xmemcached_ketama_gwhalin",
                C::Xmemcached,
                P::XmemcachedKetama.with_names(NameForm::HostPort),
            ),
            Self::XmemcachedLibmemcached => {
                bundle("xmemcached_libmemcached", C::Xmemcached, P::XmemcachedLibmemcached)
            }
            Self::XmemcachedPhp => bundle("xmemcached_php", C::Xmemcached, P::XmemcachedPhp),
            Self::XmemcachedElection => {
                bundle("xmemcached_election", C::Xmemcached, P::XmemcachedElection)
            }
            Self::Libmemcached => {
                bundle("libmemcached", None, P::LibmemcachedModula).prefix_apart()
            }
            Self::LibmemcachedConsistent => {
                bundle("libmemcached_consistent", None, P::LibmemcachedConsistent).prefix_apart()
            }
            Self::LibmemcachedKetama => {
                bundle("libmemcached_ketama", None, P::Ketama).prefix_apart()
            }
            Self::PhpMemcached => php("php_memcached", P::LibmemcachedModula),
            Self::PhpMemcachedConsistent => {
                php("php_memcached_consistent", P::LibmemcachedConsistent)
            }
            Self::PhpMemcachedKetama => php("php_memcached_ketama", P::Ketama),
            Self::PeclMemcache => bundle("pecl_memcache", C::PeclMemcache, P::PeclConsistent),
            Self::PeclMemcacheStandard => {
                bundle("pecl_memcache_standard", C::PeclMemcache, P::PeclStandard)
            }
            Self::Pylibmc => bundle("pylibmc", C::Pylibmc, P::LibmemcachedModula),
            Self::PylibmcConsistent => {
                bundle("pylibmc_consistent", C::Pylibmc, P::LibmemcachedConsistent)
            }
            Self::PylibmcKetama => bundle("pylibmc_ketama", C::Pylibmc, P::Ketama),
            Self::Pymemcache => bundle("pymemcache", C::Pymemcache, P::Rendezvous).prefix_apart(),
            Self::PythonMemcached => {
                bundle("python_memcached", C::PythonMemcached, P::PythonMemcached)
            }
            Self::PythonBinaryMemcached => bundle(
                "python_binary_memcached",
                C::PythonBinaryMemcached,
                P::Uhashring.with_names(NameForm::Bmemcached),
            ),
            Self::PerlCacheMemcached => {
                bundle("perl_cache_memcached", C::PerlCacheMemcached, P::Perl).prefix_apart()
            }
            Self::Dalli => bundle("dalli", C::Dalli, P::Dalli).digested(),
            Self::Gomemcache => bundle("gomemcache", C::Gomemcache, P::Gomemcache),
            Self::Twemproxy => bundle("twemproxy", None, P::TwemproxyKetama),
            Self::TwemproxyModula => bundle("twemproxy_modula", None, P::TwemproxyModula),
            Self::RustMemcache => bundle("rust_memcache", C::RustMemcache, P::RustMemcache),
        }
    }
}

fn bundle(name: &'static str, codec: impl Into<Option<Codec>>, placement: Placement) -> Bundle {
    Bundle {
        name,
        codec: codec.into(),
        placement,
        sanitize_keys: false,
        hash_prefix: true,
        long_keys: LongKeys::Refuse,
    }
}

impl Bundle {
    fn sanitized(self) -> Self {
        Self { sanitize_keys: true, ..self }
    }

    fn prefix_apart(self) -> Self {
        Self { hash_prefix: false, ..self }
    }

    fn digested(self) -> Self {
        Self { long_keys: LongKeys::Md5, ..self }
    }

    /// The client's way with keys, without a prefix.
    pub(super) fn key_rules(&self) -> KeyRules {
        KeyRules {
            prefix: Vec::new(),
            hash_without_prefix: !self.hash_prefix,
            sanitize: self.sanitize_keys,
            long: self.long_keys,
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.bundle().name)
    }
}

impl FromStr for Preset {
    type Err = PresetError;

    fn from_str(name: &str) -> Result<Self, PresetError> {
        let named = Self::all().find(|preset| preset.bundle().name == name);
        named.ok_or_else(|| PresetError(name.to_owned()))
    }
}

/// A name that no preset has; the message lists those there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresetError(String);

impl fmt::Display for PresetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = Preset::all().map(|preset| preset.bundle().name).collect();
        write!(f, "no preset is called `{}`; known are {}", self.0, known.join(", "))
    }
}

impl std::error::Error for PresetError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_read_and_written_by_a_name_of_its_own() {
        for preset in Preset::all() {
            assert_eq!(preset.to_string().parse(), Ok(preset));
            let twins = Preset::all().filter(|other| other.to_string() == preset.to_string());
            assert_eq!(twins.count(), 1, "{preset}");
        }
        assert_eq!(Preset::ALL.len(), Preset::RustMemcache as usize + 1, "the last variant");
        let error = "memcache".parse::<Preset>().expect_err("no such preset").to_string();
        assert!(error.contains("`memcache`") && error.contains("php_memcached, "), "{error}");
    }
}
