//! What the tests beside other clients share: their processes, clusters of real memcacheds, values, chance.

pub mod cluster;
pub mod dice;
pub mod peer;
pub mod proxy;
pub mod value;

// The same helpers as those of the library's own tests; each uses a part.
#[allow(dead_code)]
#[path = "../../support/binary.rs"]
mod binary;
#[allow(dead_code)]
#[path = "../../support/memcached.rs"]
mod memcached;
#[allow(dead_code)]
#[path = "../../support/ports.rs"]
mod ports;
