//! Which memcached the tests run: the one that is named, or the first that is installed.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// Where it may be installed beside the directories of PATH; a user's PATH often lacks those of the system's servers.
const PLACES: [&str; 4] = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

/// The program; panics with what to type when there is none.
pub(crate) fn memcached() -> PathBuf {
    let found = find(env::var_os("MCPOOL_MEMCACHED"), env::var_os("PATH"), &PLACES);
    found.unwrap_or_else(|why| panic!("{why}"))
}

/// The file `named`, or the first called memcached in the directories of `path` and in `places`. The error says what
/// to do.
pub(crate) fn find(
    named: Option<OsString>,
    path: Option<OsString>,
    places: &[&str],
) -> Result<PathBuf, String> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        let file = PathBuf::from(named);
        let missing = format!("MCPOOL_MEMCACHED={} is not a program", file.display());
        return if file.is_file() { Ok(file) } else { Err(missing) };
    }
    let path = path.unwrap_or_default();
    let mut places = env::split_paths(&path).chain(places.iter().map(PathBuf::from));
    let found =
        places.find_map(|place| Some(place.join("memcached")).filter(|file| file.is_file()));
    found.ok_or_else(|| format!("there is no memcached; type: {}", remedy()))
}

/// The one command that installs it here.
fn remedy() -> String {
    let managers = [
        ("/usr/bin/apt-get", "apt-get install -y memcached"),
        ("/usr/bin/dnf", "dnf install -y memcached"),
        ("/sbin/apk", "apk add memcached"),
    ];
    let found = managers.into_iter().find(|(manager, _)| Path::new(manager).exists());
    // Where there is none of them, Homebrew is what people have; it wants no root.
    let Some((_, command)) = found else { return "brew install memcached".to_owned() };
    if geteuid().is_root() { command.to_owned() } else { format!("sudo {command}") }
}
