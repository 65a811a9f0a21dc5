//! The embedded server answers as the real memcached does, and its faults, clock and life cycle do what they say.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what goes wrong here fails the test")]

mod support;

#[path = "testing_server/wire.rs"]
mod wire;

#[path = "testing_server/agreement.rs"]
mod agreement;
#[path = "testing_server/chance.rs"]
mod chance;
#[path = "testing_server/contents.rs"]
mod contents;
#[path = "testing_server/faults.rs"]
mod faults;
#[path = "testing_server/life.rs"]
mod life;
#[path = "testing_server/proxy.rs"]
mod proxy;
#[path = "testing_server/real.rs"]
mod real;
#[path = "testing_server/transcripts.rs"]
mod transcripts;
