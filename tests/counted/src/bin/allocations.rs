//! Counts the heap allocations of each verb on a warm pool, and fails when one makes another number than it should.

use std::alloc::{GlobalAlloc, Layout, System};
use std::error::Error;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcpool::{CasOutcome, Client, Ttl};

/// The system's allocator, counting what is asked of it.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

#[expect(
    unsafe_code,
    reason = "allocations can only be counted in an allocator, and that trait is unsafe"
)]
// SAFETY: every method hands its arguments to the system's allocator as they are and returns what that returns.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Calls that are counted, behind as many that warm the buffers up.
const CALLS: u32 = 1000;

/// Prints how many allocations one call makes; whether it is as many as it should.
fn count(what: &str, expected: u64, call: impl FnMut() -> mcpool::Result<()>) -> Outcome<bool> {
    count_within(what, expected..=expected, call)
}

/// The same for a call whose number depends on the pieces in which the server sends its reply.
fn count_within(
    what: &str,
    expected: RangeInclusive<u64>,
    mut call: impl FnMut() -> mcpool::Result<()>,
) -> Outcome<bool> {
    for _ in 0..CALLS {
        call()?;
    }
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..CALLS {
        call()?;
    }
    let counted = ALLOCATIONS.load(Ordering::Relaxed) - before;
    let calls = u64::from(CALLS);
    let is_right = (expected.start() * calls..=expected.end() * calls).contains(&counted);
    let verdict = if is_right { "as it should be" } else { "WRONG" };
    let per_call = counted as f64 / f64::from(CALLS);
    println!("{what}: {per_call:.3} allocations a call, {expected:?} expected: {verdict}");
    Ok(is_right)
}

fn main() -> Outcome<()> {
    let server = std::env::args().nth(1).ok_or("usage: allocations SERVER")?;
    // No maintenance thread, so that only calls are counted.
    let client = Client::builder().servers(server).maintenance_interval(Duration::ZERO).build()?;
    let ttl = Ttl::NEVER;
    let text = "0123456789abcdef0123456789abcdef";
    let large = "x".repeat(500_000);
    client.set("text", text, ttl)?;
    client.set_raw("large", &large, 0, ttl)?;
    client.set("bytes", text.as_bytes(), ttl)?;
    client.set("number", &7, ttl)?;
    let mut buffer = Vec::new();
    let keys: Vec<String> = (0..100).map(|n| format!("key{n}")).collect();
    client.set_many(keys.iter().map(|key| (key, text)), ttl).into_result()?;
    let right = [
        count("set of a str", 0, || client.set("text", text, ttl))?,
        count("set of bytes", 0, || client.set("bytes", text.as_bytes(), ttl))?,
        count("set of a number", 0, || client.set("number", &7, ttl))?,
        count("set of a tuple as JSON", 0, || client.set("tuple", &(1, "a", 2.5), ttl))?,
        count("set_raw", 0, || client.set_raw("text", text, 0, ttl))?,
        count("set_raw of 500 KB", 0, || client.set_raw("large", &large, 0, ttl))?,
        count("add, not stored", 0, || client.add("text", text, ttl).map(drop))?,
        count("append", 0, || client.append("text", "").map(drop))?,
        count("get_raw_into", 0, || client.get_raw_into("text", &mut buffer).map(drop))?,
        count("get_raw_into of 500 KB", 0, || client.get_raw_into("large", &mut buffer).map(drop))?,
        count("get_raw_into, a miss", 0, || client.get_raw_into("none", &mut buffer).map(drop))?,
        count("get_raw", 1, || client.get_raw("text").map(drop))?,
        count("get of a String", 1, || client.get::<String>("text").map(drop))?,
        count("get of a Vec<u8>", 1, || client.get::<Vec<u8>>("bytes").map(drop))?,
        count("get of a number", 0, || client.get::<u64>("number").map(drop))?,
        // The one string in it.
        count("get of a tuple as JSON", 1, || client.get::<(u8, String, f64)>("tuple").map(drop))?,
        count("get, a miss", 0, || client.get::<String>("none").map(drop))?,
        // The values, and lists of which each holds something of every key.
        count_within("get_many of 100 Strings", 100..=130, || {
            let found = client.get_many::<String, _>(&keys).into_result()?;
            assert!(found.iter().all(|(_, value)| value.is_some()));
            Ok(())
        })?,
        count("contains_key", 0, || client.contains_key("text").map(drop))?,
        count("touch", 0, || client.touch("text", ttl).map(drop))?,
        count("delete, a miss", 0, || client.delete("none").map(drop))?,
        count("incr", 0, || client.incr("number", 1).map(drop))?,
        count("gets and cas", 0, || {
            let Some(item) = client.gets::<u64>("number")? else { return Ok(()) };
            let outcome = client.cas("number", &item.value, ttl, &item.cas)?;
            assert_eq!(outcome, CasOutcome::Stored);
            Ok(())
        })?,
    ];
    if right.contains(&false) {
        return Err("a verb makes another number of allocations than it should".into());
    }
    Ok(())
}
