//! Server addresses: what a user writes, parsed into where to connect, weight and name.

use std::ffi::OsStr;
use std::fmt;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

const DEFAULT_PORT: u16 = 11211;
/// An address is cut here in an error.
const SHOWN: usize = 100;
/// The longest path that fits into a `sockaddr_un` with its final zero.
const MAX_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
/// Weights above this would only make rings and bucket lists huge.
const MAX_WEIGHT: u32 = 10_000;

/// One memcached server: where it is, how much of the keys it takes, and its name on the ring.
///
/// Text forms: `host`, `host:port`, `[v6]:port`, `unix:/path`, `memcache://host:port`, each with
/// `?weight=N&name=…`. A link-local IPv6 address takes its zone, as in `[fe80::1%eth0]:port`. The port is 11211 unless given, the weight 1, the name the address as written
/// (`host:port`, without scheme and parameters).
///
/// ```
/// use mcpool::Server;
/// let server: Server = "10.0.0.2:11211?weight=2&name=cache-b".parse()?;
/// assert_eq!((server.weight(), server.name()), (2, "cache-b"));
/// # Ok::<(), mcpool::ServerError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Server {
    endpoint: Endpoint,
    address: String,
    /// What it is called besides its address.
    name: Option<String>,
    weight: u32,
}

/// Where to connect.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Endpoint {
    /// An address that needs no resolver.
    Literal(SocketAddr),
    /// A name to be resolved at each connect.
    Named { host: String, port: u16 },
    /// A unix socket.
    Unix(PathBuf),
}

impl Server {
    /// Parses an address; the same as `text.parse()`.
    ///
    /// # Errors
    /// What is wrong with the text, named in [`ServerError`].
    pub fn new(text: &str) -> Result<Self, ServerError> {
        text.parse()
    }

    /// Sets the weight: how many times the share of keys of a server with weight 1 it takes (1 to 10 000).
    ///
    /// A weight out of range is reported when the client is built.
    #[must_use]
    pub fn with_weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// Sets the name under which the server stands on the ring.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The name in results, errors and log lines, and on the ring: its own, else its address.
    ///
    /// On the rings of other clients a server without a name of its own has another one, as they write it; see
    /// [`NameForm`](crate::NameForm).
    pub fn name(&self) -> &str {
        self.own_name().unwrap_or(&self.address)
    }

    /// The name that was given to it, if any.
    pub(crate) fn own_name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The address without parameters, e.g. `10.0.0.1:11211` or `unix:/run/memcached.sock`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The weight; 1 unless given.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The first server that has the name or the address of one before it.
    pub(crate) fn repeated(servers: &[Self]) -> Option<&Self> {
        let is_same = |a: &Self, b: &Self| a.name() == b.name() || a.endpoint == b.endpoint;
        let repeats = |(i, server): &(usize, &Self)| {
            servers.iter().take(*i).any(|before| is_same(before, server))
        };
        servers.iter().enumerate().find(repeats).map(|(_, server)| server)
    }

    /// Checks what the setters could have made wrong.
    pub(crate) fn check(&self) -> Result<(), ServerError> {
        if !(1..=MAX_WEIGHT).contains(&self.weight) {
            return Err(ServerError::new(
                &self.address,
                format!("weight {} is not within 1 to {MAX_WEIGHT}", self.weight),
            ));
        }
        if self.name().is_empty() {
            return Err(ServerError::new(&self.address, "the name is empty"));
        }
        Ok(())
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<SocketAddr> for Server {
    fn from(addr: SocketAddr) -> Self {
        let address = addr.to_string();
        Self { endpoint: Endpoint::Literal(addr), name: None, address, weight: 1 }
    }
}

impl FromStr for Server {
    type Err = ServerError;

    fn from_str(text: &str) -> Result<Self, ServerError> {
        let fail = |why: String| ServerError::new(text, why);
        // Before anything is quoted: a password may have a question mark in it.
        if has_user_info(text) {
            return Err(ServerError::user_info(text));
        }
        let (place, parameters) = match text.trim().split_once('?') {
            Some((place, parameters)) => (place, Some(parameters)),
            None => (text.trim(), None),
        };
        let (endpoint, address) = parse_place(place.trim_end()).map_err(fail)?;
        let mut server = Self { endpoint, name: None, address, weight: 1 };
        let mut seen = Vec::new();
        for pair in parameters.into_iter().flat_map(|p| p.split('&')).filter(|p| !p.is_empty()) {
            let parameter = pair.split('=').next().unwrap_or(pair);
            if seen.contains(&parameter) {
                return Err(fail(format!("parameter `{parameter}` is there twice")));
            }
            seen.push(parameter);
            match pair.split_once('=') {
                Some(("weight", n)) => {
                    server.weight = n
                        .parse()
                        .map_err(|_| fail(format!("weight `{n}` is not a whole number")))?;
                }
                Some(("name", n)) => server.name = Some(n.to_owned()),
                _ => {
                    return Err(fail(format!(
                        "unknown parameter `{parameter}`; known are weight and name"
                    )));
                }
            }
        }
        server.check().map_err(|e| fail(e.why))?;
        Ok(server)
    }
}

/// Whether a text has an `@` elsewhere than in the path of a unix socket or in a server's name.
fn has_user_info(text: &str) -> bool {
    let (place, parameters) = text.split_once('?').unwrap_or((text, ""));
    let is_suspect = |parameter: &str| parameter.contains('@') && !parameter.starts_with("name=");
    !text.trim_start().starts_with("unix:/")
        && (place.contains('@') || parameters.split('&').any(is_suspect))
}

/// The endpoint and the address as it will be shown.
fn parse_place(place: &str) -> Result<(Endpoint, String), String> {
    // A host may be called `unix`; then digits follow.
    let is_port = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    if let Some(path) = place.strip_prefix("unix:").filter(|rest| !is_port(rest)) {
        // Also the form unix:///path.
        let name = path.trim_start_matches('/');
        if !path.starts_with('/') || name.is_empty() || path.chars().any(char::is_control) {
            return Err(
                "a unix socket needs an absolute path, as in unix:/run/memcached.sock".into()
            );
        }
        let path = format!("/{name}");
        if path.len() > MAX_PATH {
            return Err(format!("a path of more than {MAX_PATH} bytes is too long for a socket"));
        }
        return Ok((Endpoint::Unix(path.clone().into()), format!("unix:{path}")));
    }
    if place.starts_with('/') {
        return Err("the path of a unix socket is written behind `unix:`".into());
    }
    let place = match place.split_once("://") {
        Some(("memcache" | "memcached", rest)) => rest.strip_suffix('/').unwrap_or(rest),
        Some((scheme, _)) => {
            return Err(format!("unknown scheme `{scheme}`; known are memcache: and unix:"));
        }
        None => place,
    };
    let (host, port) = split_port(place)?;
    let port = match port {
        None => DEFAULT_PORT,
        Some(port) => match port.parse() {
            // `parse` takes a sign too.
            Ok(n) if n != 0 && port.bytes().all(|b| b.is_ascii_digit()) => n,
            _ => return Err(format!("port `{port}` is not within 1 to 65535")),
        },
    };
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let ip = bare.unwrap_or(host);
    if let Ok(ip) = ip.parse() {
        let addr = SocketAddr::new(ip, port);
        return Ok((Endpoint::Literal(addr), addr.to_string()));
    }
    if is_zoned(ip) {
        // The system's resolver knows the interfaces that zones are named after.
        return Ok((Endpoint::Named { host: ip.to_owned(), port }, format!("[{ip}]:{port}")));
    }
    if bare.is_some() {
        return Err(format!("`{host}` is not an IPv6 address"));
    }
    if host.is_empty() || !host.chars().all(is_of_name) {
        return Err(format!("`{host}` is not a host name"));
    }
    Ok((Endpoint::Named { host: host.to_owned(), port }, format!("{host}:{port}")))
}

/// Whether it is an IPv6 address with a zone, as in `fe80::1%eth0` (RFC 4007, section 11).
fn is_zoned(ip: &str) -> bool {
    ip.split_once('%').is_some_and(|(ip, zone)| {
        ip.parse::<Ipv6Addr>().is_ok() && !zone.is_empty() && zone.chars().all(is_of_name)
    })
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// Host and port; a bare IPv6 address has no port.
fn split_port(place: &str) -> Result<(&str, Option<&str>), String> {
    if place.starts_with('[') {
        let end = place.find(']').ok_or("the bracket of an IPv6 address is not closed")?;
        let (host, rest) = place.split_at(end + 1);
        return match rest {
            "" => Ok((host, None)),
            _ => rest
                .strip_prefix(':')
                .map(|port| (host, Some(port)))
                .ok_or_else(|| format!("`{rest}` behind an IPv6 address")),
        };
    }
    match place.matches(':').count() {
        0 => Ok((place, None)),
        1 => Ok(place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port)))),
        _ => Ok((place, None)),
    }
}

/// An address that cannot be used; says which and why. User info is never shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    address: String,
    why: String,
}

impl ServerError {
    fn user_info(text: &str) -> Self {
        Self::new(text, "user and password in an address are not supported")
    }

    pub(crate) fn new(address: &str, why: impl Into<String>) -> Self {
        // Whatever stands before the last @ may be a secret.
        let (mask, address) = match address.rsplit_once('@') {
            Some((_, rest)) => ("***@", rest),
            None => ("", address),
        };
        let shown = address.chars().take(SHOWN).flat_map(char::escape_debug);
        let address = mask.chars().chain(shown).collect();
        Self { address, why: why.into() }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server address `{}`: {}", self.address, self.why)
    }
}

impl std::error::Error for ServerError {}

/// Servers as the builder takes them: one text, several texts, or parsed [`Server`]s.
///
/// A single text may hold several addresses, separated by commas or blanks, as `MEMCACHED_SERVERS` does. What is wrong
/// with an address is said when the client is built.
///
/// ```
/// let client = mcpool::Client::new("10.0.0.1, 10.0.0.2:11212?weight=2")?;
/// # let _ = client;
/// # Ok::<(), mcpool::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ServerList(pub(crate) Vec<Result<Server, ServerError>>);

impl ServerList {
    /// The servers named in the environment variable `MEMCACHED_SERVERS`, separated by commas or blanks.
    ///
    /// `None` when it is not set or names nothing. Examples and tools use this; a wrong address is
    /// reported when the client is built.
    ///
    /// ```
    /// let servers = mcpool::ServerList::from_env().unwrap_or("127.0.0.1:11211".into());
    /// let client = mcpool::Client::new(servers)?;
    /// # let _ = client;
    /// # Ok::<(), mcpool::Error>(())
    /// ```
    pub fn from_env() -> Option<Self> {
        Self::named(&std::env::var_os("MEMCACHED_SERVERS")?)
    }

    /// What a variable names; text that is not UTF-8 becomes an address that cannot be used.
    fn named(variable: &OsStr) -> Option<Self> {
        let list = Self::from(&*variable.to_string_lossy());
        (!list.0.is_empty()).then_some(list)
    }

    fn parse(&mut self, text: &str) {
        let split = |c: char| c == ',' || c.is_ascii_whitespace();
        let addresses = || text.split(split).filter(|t| !t.is_empty());
        if addresses().any(has_user_info) {
            // A password may have what separates addresses in it.
            return self.0.push(Err(ServerError::user_info(text)));
        }
        self.0.extend(addresses().map(str::parse));
    }
}

impl From<&str> for ServerList {
    fn from(text: &str) -> Self {
        let mut list = Self::default();
        list.parse(text);
        list
    }
}

impl From<String> for ServerList {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&String> for ServerList {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<Server> for ServerList {
    fn from(server: Server) -> Self {
        Self(vec![Ok(server)])
    }
}

impl From<SocketAddr> for ServerList {
    fn from(addr: SocketAddr) -> Self {
        Server::from(addr).into()
    }
}

impl<T: Into<Self>> From<Vec<T>> for ServerList {
    fn from(list: Vec<T>) -> Self {
        Self(list.into_iter().flat_map(|item| item.into().0).collect())
    }
}

impl<T: Into<Self> + Clone> From<&[T]> for ServerList {
    fn from(list: &[T]) -> Self {
        Self(list.iter().cloned().flat_map(|item| item.into().0).collect())
    }
}

impl<T: Into<Self>, const N: usize> From<[T; N]> for ServerList {
    fn from(list: [T; N]) -> Self {
        Self(list.into_iter().flat_map(|item| item.into().0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_documented_form_is_read() {
        for (text, address, weight, name) in [
            ("cache", "cache:11211", 1, "cache:11211"),
            ("cache:11212", "cache:11212", 1, "cache:11212"),
            ("10.0.0.1", "10.0.0.1:11211", 1, "10.0.0.1:11211"),
            ("[::1]:11213", "[::1]:11213", 1, "[::1]:11213"),
            ("::1", "[::1]:11211", 1, "[::1]:11211"),
            ("unix", "unix:11211", 1, "unix:11211"),
            ("unix:7", "unix:7", 1, "unix:7"),
            ("unix:/run/m.sock?name=local", "unix:/run/m.sock", 1, "local"),
            ("unix:///run/m.sock", "unix:/run/m.sock", 1, "unix:/run/m.sock"),
            ("memcache://10.0.0.1:1/?weight=3", "10.0.0.1:1", 3, "10.0.0.1:1"),
            ("a:1?weight=2&name=n", "a:1", 2, "n"),
        ] {
            let server: Server = text.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(
                (server.address(), server.weight(), server.name()),
                (address, weight, name),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_secrets_are_not() {
        for (text, word) in [
            ("a:1?wieght=2", "wieght"),
            ("a:1?weight=0", "weight 0"),
            ("a:1?weight=x", "weight `x`"),
            ("a:1?weight=1&weight=2", "`weight` is there twice"),
            ("a:+1", "port `+1`"),
            ("a:0", "port `0`"),
            ("a:99999", "99999"),
            ("", "not a host name"),
            ("a b", "not a host name"),
            ("[::1", "bracket"),
            ("[zz]:1", "IPv6"),
            ("unix:rel", "absolute"),
            ("http://a", "http"),
            ("a?name=", "name is empty"),
        ] {
            let error = Server::new(text).expect_err(text).to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
        for list in [
            "memcache://bob:hunter2@a:1",
            "b:1, bob:hunter2@a:1",
            "bob:hunter2?weight=2@a:1",
            "bob:hunter2,hunter2@a:1",
            "bob: hunter2 hunter2@a:1",
            "hunter2@hunter2@a:1",
            "unix:/run/m.sock, bob:hunter2@a:1",
        ] {
            let errors: Vec<_> =
                ServerList::from(list).0.into_iter().map(Result::unwrap_err).collect();
            let told = format!("{errors:?} {}", errors[0]);
            assert!(!told.contains("hunter2") && told.contains("***@a:1"), "{list}: {told}");
        }
        let list = ServerList::from("unix:/run/memcached@1/sock a:1?name=cache@eu");
        let names: Vec<_> =
            list.0.into_iter().map(|s| s.expect("no user").name().to_owned()).collect();
        assert_eq!(names, ["unix:/run/memcached@1/sock", "cache@eu"]);
    }

    #[test]
    fn the_environment_names_servers_or_nothing() {
        use std::os::unix::ffi::OsStrExt;
        for nothing in ["", "  ", " , ,"] {
            assert!(ServerList::named(OsStr::new(nothing)).is_none(), "{nothing:?}");
        }
        let list = ServerList::named(OsStr::new(" a:1, b:2?weight=3\n")).expect("two servers");
        let found: Vec<_> = list.0.into_iter().map(|s| s.expect("an address")).collect();
        assert_eq!(found, ["a:1", "b:2?weight=3"].map(|s| s.parse().expect("an address")));
        let list = ServerList::named(OsStr::from_bytes(b"a:1,b\xff:2")).expect("two servers");
        assert!(list.0[0].is_ok() && list.0[1].is_err(), "{list:?}");
    }
}
