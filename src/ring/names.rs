//! The name of a server on a ring, as each client makes it from host, address and port.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::RingError;
use super::named::{Named, named};
use crate::types::{Endpoint, Server};

const DEFAULT_PORT: u16 = 11211;

/// How a client writes a server's name where it hashes servers.
///
/// It is used for servers that have no name of their own: what stands behind `?name=`, or was given to
/// [`Server::with_name`], is hashed as it is. The text forms are the names in brackets.
///
/// | form | `cache1:11211` | `10.0.0.1:11212` | unix socket |
/// |---|---|---|---|
/// | `Address` | `cache1:11211` | `10.0.0.1:11212` | `unix:/path` |
/// | `HostPort` | `cache1:11211` | `10.0.0.1:11212` | `/path` |
/// | `Pecl` | `cache1:11211` | `10.0.0.1:11212` | `unix:///path:0` |
/// | `Bmemcached` | `cache1:11211_None_None` | `10.0.0.1:11212_None_None` | `/path_None_None` |
/// | `Short` | `cache1` | `10.0.0.1:11212` | `/path:0` |
/// | `Twemproxy` | `cache1` | `10.0.0.1:11212` | `/path:` |
/// | `Slashed` | `/cache1:11211` | `/10.0.0.1:11212` | `//path:0` |
/// | `Ip` | its IP address is needed | `10.0.0.1:11212` | – |
/// | `Java` | its IP address is needed | `/10.0.0.1:11212` | – |
/// | `JavaBare` | its IP address is needed | `10.0.0.1:11212` | – |
///
/// No name is looked up for this: where a form needs the IP address behind a host name, a client whose servers are
/// given by host names without names of their own is an error when it is built. [`format`](Self::format) makes
/// the name from what you know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NameForm {
    /// The address as this crate writes it (`address`): `host:port`, `[v6]:port`, `unix:/path`.
    Address,
    /// `host:port` without brackets, the path of a unix socket (`host_port`).
    HostPort,
    /// As the PHP extension memcache (`pecl`): `HostPort` but for unix sockets.
    Pecl,
    /// As python-binary-memcached without user and password, of servers given with their port (`bmemcached`).
    Bmemcached,
    /// As libmemcached (`short`): without the port if that is 11211.
    Short,
    /// As libmemcached's compatibility mode for spymemcached (`slashed`): `/host:port`.
    Slashed,
    /// As twemproxy (`twemproxy`): `Short` but for unix sockets.
    Twemproxy,
    /// As xmemcached's nginx mode (`ip`): the IP address, with its port unless that is 11211.
    Ip,
    /// As Java prints a socket address (`java`): `host/ip:port`, `/ip:port` without a host name; for xmemcached.
    ///
    /// xmemcached looks up the host names of IP addresses unless `resolveInetAddresses` is off; then its names are
    /// `host/ip:port`, or `ip/ip:port` where there is no host name, and have to be given here.
    Java,
    /// As spymemcached (`java_bare`): the same without a slash in front.
    JavaBare,
}

impl Named for NameForm {
    const WHAT: &'static str = "form of names";
    const NAMES: &'static [(Self, &'static str)] = &[
        (Self::Address, "address"),
        (Self::HostPort, "host_port"),
        (Self::Pecl, "pecl"),
        (Self::Bmemcached, "bmemcached"),
        (Self::Short, "short"),
        (Self::Slashed, "slashed"),
        (Self::Twemproxy, "twemproxy"),
        (Self::Ip, "ip"),
        (Self::Java, "java"),
        (Self::JavaBare, "java_bare"),
    ];
}

named!(NameForm);

impl NameForm {
    /// The name of a server with this host name (empty: known by its address only), IP address and port;
    /// `None` where the form needs an IP address and there is none.
    ///
    /// ```
    /// use mcpool::{NameForm, Server};
    /// let ip = "10.0.0.1".parse()?;
    /// let name = NameForm::JavaBare.format("cache1", Some(ip), 11211).expect("an address");
    /// assert_eq!(name, "cache1/10.0.0.1:11211");
    /// let server = Server::new("cache1:11211")?.with_name(name);
    /// # let _ = server;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn format(self, host: &str, ip: Option<IpAddr>, port: u16) -> Option<String> {
        let literal = ip.map(|ip| ip.to_string()).unwrap_or_default();
        let place = if host.is_empty() { &literal } else { host };
        let short = |place: &str| match port {
            DEFAULT_PORT => place.to_owned(),
            _ => format!("{place}:{port}"),
        };
        match self {
            Self::Address if place.contains(':') => Some(format!("[{place}]:{port}")),
            Self::Address | Self::HostPort | Self::Pecl => Some(format!("{place}:{port}")),
            Self::Bmemcached => {
                Self::Address.format(host, ip, port).map(|address| address + "_None_None")
            }
            Self::Short | Self::Twemproxy => Some(short(place)),
            Self::Slashed => Some(format!("/{place}:{port}")),
            Self::Ip => ip.map(|_| short(&literal)),
            Self::Java => ip.map(|ip| format!("{host}/{}:{port}", java_literal(ip))),
            Self::JavaBare if host.is_empty() => {
                ip.map(|ip| format!("{}:{port}", java_literal(ip)))
            }
            Self::JavaBare => Self::Java.format(host, ip, port),
        }
    }

    /// The name of `server` on a ring: its own, or one in this form.
    pub(super) fn of(self, server: &Server) -> Result<String, RingError> {
        if let Some(name) = server.own_name() {
            return Ok(name.to_owned());
        }
        let name = match server.endpoint() {
            Endpoint::Literal(addr) => self.format("", Some(addr.ip()), addr.port()),
            Endpoint::Named { host, port } => self.format(host, None, *port),
            Endpoint::Unix(path) => self.of_unix(&path.to_string_lossy()),
        };
        name.ok_or_else(|| RingError::NeedsName { server: server.address().to_owned(), form: self })
    }

    fn of_unix(self, path: &str) -> Option<String> {
        match self {
            Self::Address => Some(format!("unix:{path}")),
            Self::HostPort => Some(path.to_owned()),
            Self::Pecl => Some(format!("unix://{path}:0")),
            Self::Bmemcached => Some(format!("{path}_None_None")),
            Self::Short => Some(format!("{path}:0")),
            Self::Slashed => Some(format!("/{path}:0")),
            Self::Twemproxy => Some(format!("{path}:")),
            Self::Ip | Self::Java | Self::JavaBare => None,
        }
    }
}

/// Java writes IPv6 addresses in full and in brackets.
fn java_literal(ip: IpAddr) -> String {
    let IpAddr::V6(ip) = ip else { return ip.to_string() };
    let mut text = String::from("[");
    for (i, segment) in ip.segments().into_iter().enumerate() {
        let colon = if i == 0 { "" } else { ":" };
        // Writing to memory cannot fail.
        let _ = write!(text, "{colon}{segment:x}");
    }
    text + "]"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(form: NameForm, address: &str) -> Option<String> {
        form.of(&Server::new(address).expect("an address")).ok()
    }

    #[test]
    fn the_forms_are_as_in_their_table() {
        use NameForm::{
            Address, Bmemcached, HostPort, Ip, Java, JavaBare, Pecl, Short, Slashed, Twemproxy,
        };
        for (address, names) in [
            (
                "cache1",
                [
                    (Address, "cache1:11211"),
                    (HostPort, "cache1:11211"),
                    (Pecl, "cache1:11211"),
                    (Bmemcached, "cache1:11211_None_None"),
                    (Short, "cache1"),
                    (Twemproxy, "cache1"),
                    (Slashed, "/cache1:11211"),
                    (Ip, ""),
                    (Java, ""),
                    (JavaBare, ""),
                ],
            ),
            (
                "10.0.0.1:11212",
                [
                    (Address, "10.0.0.1:11212"),
                    (HostPort, "10.0.0.1:11212"),
                    (Pecl, "10.0.0.1:11212"),
                    (Bmemcached, "10.0.0.1:11212_None_None"),
                    (Short, "10.0.0.1:11212"),
                    (Twemproxy, "10.0.0.1:11212"),
                    (Slashed, "/10.0.0.1:11212"),
                    (Ip, "10.0.0.1:11212"),
                    (Java, "/10.0.0.1:11212"),
                    (JavaBare, "10.0.0.1:11212"),
                ],
            ),
            (
                "[::1]:11211",
                [
                    (Address, "[::1]:11211"),
                    (HostPort, "::1:11211"),
                    (Pecl, "::1:11211"),
                    (Bmemcached, "[::1]:11211_None_None"),
                    (Short, "::1"),
                    (Twemproxy, "::1"),
                    (Slashed, "/::1:11211"),
                    (Ip, "::1"),
                    (Java, "/[0:0:0:0:0:0:0:1]:11211"),
                    (JavaBare, "[0:0:0:0:0:0:0:1]:11211"),
                ],
            ),
            (
                "unix:/run/m.sock",
                [
                    (Address, "unix:/run/m.sock"),
                    (HostPort, "/run/m.sock"),
                    (Pecl, "unix:///run/m.sock:0"),
                    (Bmemcached, "/run/m.sock_None_None"),
                    (Short, "/run/m.sock:0"),
                    (Twemproxy, "/run/m.sock:"),
                    (Slashed, "//run/m.sock:0"),
                    (Ip, ""),
                    (Java, ""),
                    (JavaBare, ""),
                ],
            ),
        ] {
            for (form, expected) in names {
                assert_eq!(name(form, address).unwrap_or_default(), expected, "{form} {address}");
            }
        }
    }

    #[test]
    fn a_name_of_its_own_is_taken_as_it_is() {
        for (form, _) in NameForm::NAMES {
            let found = name(*form, "10.0.0.1:11211?name=cache-b:11211");
            assert_eq!(found.as_deref(), Some("cache-b:11211"));
        }
    }
}
