//! Names that move, have several addresses or cannot be looked up, with a resolver that obeys the test.
//!
//! The program's own `getaddrinfo` stands before the system's.

#[path = "../../support/mod.rs"]
mod support;

use std::ffi::{CStr, c_char};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mcpool::testing::TestServer;
use mcpool::{BackOff, Client, ClientBuilder, NodeState, Ttl};
use support::blackhole::blackhole;

const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

/// What the names stand for; a name that is not here does not exist.
static NAMES: Mutex<Vec<(String, Vec<IpAddr>)>> = Mutex::new(Vec::new());
/// How long a look-up takes, in milliseconds.
static SLOW: AtomicU64 = AtomicU64::new(0);

fn name(name: &str, addresses: &[IpAddr]) {
    let mut names = NAMES.lock().expect("no panic");
    names.retain(|(n, _)| n != name);
    names.push((name.to_owned(), addresses.to_vec()));
}

// SAFETY: it has the signature of the system's function and keeps its promises to the only caller, std.
#[unsafe(no_mangle)]
unsafe extern "C" fn getaddrinfo(
    host: *const c_char,
    _service: *const c_char,
    hints: *const libc::addrinfo,
    result: *mut *mut libc::addrinfo,
) -> libc::c_int {
    std::thread::sleep(Duration::from_millis(SLOW.load(Ordering::SeqCst)));
    // SAFETY: std passes a C string.
    let host = unsafe { CStr::from_ptr(host) }.to_string_lossy();
    // SAFETY: std passes hints.
    let kind = unsafe { (*hints).ai_socktype };
    let names = NAMES.lock().expect("no panic");
    let Some((_, addresses)) = names.iter().find(|(name, _)| *name == host) else {
        return libc::EAI_NONAME;
    };
    let mut list = std::ptr::null_mut();
    for address in addresses.iter().rev() {
        // SAFETY: all zeros is a valid addrinfo: null pointers and numbers.
        let mut info: libc::addrinfo = unsafe { std::mem::zeroed() };
        info.ai_socktype = kind;
        (info.ai_addr, info.ai_addrlen) = raw(*address);
        info.ai_next = list;
        list = Box::into_raw(Box::new(info));
    }
    // SAFETY: std passes room for a pointer.
    unsafe { *result = list };
    0
}

/// The address as the system has it, in memory that `freeaddrinfo` gives back.
fn raw(address: IpAddr) -> (*mut libc::sockaddr, libc::socklen_t) {
    // SAFETY: all zeros is a valid storage.
    let mut storage: Box<libc::sockaddr_storage> = Box::new(unsafe { std::mem::zeroed() });
    let place = &raw mut *storage;
    let len = match address {
        IpAddr::V4(ip) => {
            // SAFETY: a storage has room and alignment for every kind of address.
            let v4 = unsafe { &mut *place.cast::<libc::sockaddr_in>() };
            v4.sin_family = libc::sa_family_t::try_from(libc::AF_INET).expect("a small number");
            v4.sin_addr.s_addr = u32::from_ne_bytes(ip.octets());
            size_of::<libc::sockaddr_in>()
        }
        IpAddr::V6(ip) => {
            // SAFETY: as above.
            let v6 = unsafe { &mut *place.cast::<libc::sockaddr_in6>() };
            v6.sin6_family = libc::sa_family_t::try_from(libc::AF_INET6).expect("a small number");
            v6.sin6_addr.s6_addr = ip.octets();
            size_of::<libc::sockaddr_in6>()
        }
    };
    (Box::into_raw(storage).cast(), len.try_into().expect("a small number"))
}

// SAFETY: as above.
#[unsafe(no_mangle)]
unsafe extern "C" fn freeaddrinfo(mut list: *mut libc::addrinfo) {
    while !list.is_null() {
        // SAFETY: `getaddrinfo` above made it from a box, and std gives each list back once.
        let info = unsafe { Box::from_raw(list) };
        // SAFETY: as above; the box was one of a storage.
        drop(unsafe { Box::from_raw(info.ai_addr.cast::<libc::sockaddr_storage>()) });
        list = info.ai_next;
    }
}

fn settings(servers: impl Into<mcpool::ServerList>) -> ClientBuilder {
    let settings = Client::builder().servers(servers).min_connections(0);
    settings.timeout(Duration::from_secs(10)).connect_timeout(Duration::from_secs(2))
}

fn server(address: IpAddr, port: u16) -> TestServer {
    TestServer::builder().bind(SocketAddr::new(address, port)).start().expect("a server")
}

fn port(server: &TestServer) -> u16 {
    server.addr().expect("TCP").port()
}

#[test]
fn f180_every_address_of_a_name_is_tried_within_the_limit() {
    let good = server(V4, 0);
    name("refused.first.test", &[V6, V4]);
    let client = settings(format!("refused.first.test:{}", port(&good))).build().expect("a client");
    client.set("k", "v", Ttl::NEVER).expect("the second address listens");

    let hole = blackhole();
    let good = server(V6, hole.addr().port());
    name("swallowed.first.test", &[V4, V6]);
    let client =
        settings(format!("swallowed.first.test:{}", port(&good))).build().expect("a client");
    let started = Instant::now();
    client.set("k", "v", Ttl::NEVER).expect("the second address listens");
    assert!(started.elapsed() < client.timeout(), "{:?}", started.elapsed());
    assert_eq!(client.status().servers[0].state, NodeState::Up);
}

#[test]
fn f184_a_server_that_comes_back_under_another_address_is_found() {
    let old = server(V4, 0);
    let new = server(V6, port(&old));
    name("moving.test", &[V4]);
    let back_off = Duration::from_millis(50);
    let client = settings(format!("moving.test:{}", port(&old)))
        .back_off(BackOff::new(back_off, back_off))
        .build()
        .expect("a client");
    client.set("k", "old", Ttl::NEVER).expect("stored");
    assert_eq!(old.item("k").map(|item| item.0), Some(b"old".to_vec()));
    old.stop();
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(300) {
        assert!(client.get::<String>("k").is_err(), "nobody is at the old address");
    }
    name("moving.test", &[V6]);
    let moved = Instant::now();
    while client.set("k", "new", Ttl::NEVER).is_err() {
        assert!(moved.elapsed() < Duration::from_secs(5), "{:?}", client.status());
        std::thread::yield_now();
    }
    assert_eq!(new.item("k").map(|item| item.0), Some(b"new".to_vec()));
}

#[test]
fn f184_a_resolver_that_fails_or_is_slow_leaves_the_last_addresses_in_use() {
    let good = server(V4, 0);
    name("steady.test", &[V4]);
    let client = settings(format!("steady.test:{}", port(&good)))
        .connect_timeout(Duration::from_millis(800))
        .build()
        .expect("a client");
    client.set("k", "v", Ttl::NEVER).expect("stored");
    // Reads are asked again on a fresh connection, which needs the name.
    NAMES.lock().expect("no panic").clear();
    good.close_connections();
    assert_eq!(client.get::<String>("k").expect("by the last address").as_deref(), Some("v"));
    SLOW.store(3_000, Ordering::SeqCst);
    good.close_connections();
    let started = Instant::now();
    assert_eq!(client.get::<String>("k").expect("by the last address").as_deref(), Some("v"));
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    // Without any address, the call ends with the time it has for connecting.
    let client = settings("unknown.test:1").connect_timeout(Duration::from_millis(100));
    let started = Instant::now();
    let error = client.build().expect("a client").get::<String>("k").expect_err("no address");
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(error.phase(), Some(mcpool::Phase::Resolve), "{error}");
    SLOW.store(0, Ordering::SeqCst);
}

#[test]
fn f185_a_server_that_changes_its_address_keeps_its_keys() {
    let servers = [server(V4, 0), server(V4, 0), server(V4, 0)];
    let texts: Vec<String> =
        servers.iter().enumerate().map(|(n, s)| format!("node{n}.test:{}", port(s))).collect();
    let client = settings(texts.as_slice()).build().expect("a client");
    let map = |client: &Client| -> Vec<String> {
        (0..500).map(|n| client.server_for(format!("key{n}")).expect("a good key")).collect()
    };
    for n in 0..3 {
        name(&format!("node{n}.test"), &[V4]);
    }
    let before = map(&client);
    let moved = server(V6, port(&servers[1]));
    name("node1.test", &[V6]);
    servers[1].stop();
    let mut keys = (0..).map(|n| format!("key{n}"));
    let key = keys.find(|k| client.server_for(k).expect("a good key") == texts[1]);
    client.set(key.expect("it has keys"), "v", Ttl::NEVER).expect("stored");
    assert_eq!(moved.commands().len(), 1, "its keys are at its new address");
    assert_eq!(map(&client), before);
    assert_eq!(map(&settings(texts.as_slice()).build().expect("a client")), before);
}
