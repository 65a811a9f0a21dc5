//! The `stats` command and its arguments.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::time::Duration;

use super::store::{Counters, Store};
use super::{VERSION, dump};

/// memcached's page of memory, from which chunks are cut.
const PAGE: usize = 1024 * 1024;
/// memcached's own defaults; told, not enforced.
const MAX_BYTES: usize = 64 * PAGE;
const MAX_CONNECTIONS: usize = 1024;

/// What `stats` tells of the server beside its items.
#[derive(Debug)]
pub(super) struct Status {
    pub(super) uptime: Duration,
    pub(super) connections: usize,
    pub(super) accepted: u64,
    pub(super) address: String,
}

/// The reply to `stats` with these arguments; none when the first of them is not known here.
pub(super) fn reply(
    store: &mut Store,
    args: &[Vec<u8>],
    status: &Status,
    now: Duration,
) -> Option<Vec<u8>> {
    let Some((topic, rest)) = args.split_first() else { return Some(general(store, status, now)) };
    match topic.as_slice() {
        b"settings" => Some(settings(store, status)),
        b"items" => Some(items(store, now)),
        b"slabs" => Some(slabs(store, now)),
        b"sizes" => Some(Lines::default().stat("sizes_status", "disabled").end()),
        b"cachedump" => Some(dump::cachedump(store, rest, now)),
        b"reset" => {
            store.counters =
                Counters { total_items: store.counters.total_items, ..Counters::default() };
            Some(b"RESET\r\n".to_vec())
        }
        _ => None,
    }
}

fn general(store: &mut Store, status: &Status, now: Duration) -> Vec<u8> {
    let bytes: usize = store.live(now).iter().map(|(key, item)| item.size(key)).sum();
    let items = store.live(now).len();
    let counters = &store.counters;
    Lines::default()
        .stat("pid", std::process::id())
        .stat("uptime", status.uptime.as_secs())
        .stat("time", now.as_secs())
        .stat("version", VERSION)
        .stat("pointer_size", usize::BITS)
        .stat("max_connections", MAX_CONNECTIONS)
        .stat("curr_connections", status.connections)
        .stat("total_connections", status.accepted)
        .stat("rejected_connections", 0)
        .stat("cmd_get", counters.cmd_get)
        .stat("cmd_set", counters.cmd_set)
        .stat("cmd_flush", counters.cmd_flush)
        .stat("cmd_touch", counters.cmd_touch)
        .stat("cmd_meta", 0)
        .stat("get_hits", counters.get_hits)
        .stat("get_misses", counters.get_misses)
        .stat("delete_misses", counters.delete_misses)
        .stat("delete_hits", counters.delete_hits)
        .stat("incr_misses", counters.incr_misses)
        .stat("incr_hits", counters.incr_hits)
        .stat("decr_misses", counters.decr_misses)
        .stat("decr_hits", counters.decr_hits)
        .stat("cas_misses", counters.cas_misses)
        .stat("cas_hits", counters.cas_hits)
        .stat("cas_badval", counters.cas_badval)
        .stat("touch_hits", counters.touch_hits)
        .stat("touch_misses", counters.touch_misses)
        .stat("store_too_large", counters.store_too_large)
        .stat("store_no_memory", 0)
        .stat("auth_cmds", 0)
        .stat("auth_errors", 0)
        .stat("limit_maxbytes", MAX_BYTES)
        .stat("accepting_conns", 1)
        .stat("threads", status.connections)
        .stat("bytes", bytes)
        .stat("curr_items", items)
        .stat("total_items", counters.total_items)
        .stat("evictions", 0)
        .end()
}

fn settings(store: &Store, status: &Status) -> Vec<u8> {
    let (inter, socket) = match status.address.strip_prefix("unix:") {
        Some(path) => ("NULL", path),
        None => (status.address.rsplit_once(':').map_or("", |(host, _)| host), "NULL"),
    };
    let port =
        status.address.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(0_u16);
    Lines::default()
        .stat("maxbytes", MAX_BYTES)
        .stat("maxconns", MAX_CONNECTIONS)
        .stat("tcpport", port)
        .stat("udpport", 0)
        .stat("inter", inter)
        .stat("verbosity", 0)
        .stat("evictions", "off")
        .stat("domain_socket", socket)
        .stat("cas_enabled", "yes")
        .stat("binding_protocol", "ascii")
        .stat("auth_enabled_sasl", "no")
        .stat("auth_enabled_ascii", "no")
        .stat("item_size_max", store.max_item_size())
        .stat("flush_enabled", "yes")
        .stat("dump_enabled", "yes")
        .stat("ssl_enabled", "no")
        .end()
}

fn items(store: &mut Store, now: Duration) -> Vec<u8> {
    let mut lines = Lines::default();
    for (id, class) in classes(store, now) {
        let name = |what| format!("items:{id}:{what}");
        lines = lines
            .stat(name("number"), class.items)
            .stat(name("age"), class.age.as_secs())
            .stat(name("mem_requested"), class.bytes)
            .stat(name("evicted"), 0)
            .stat(name("outofmemory"), 0);
    }
    lines.end()
}

fn slabs(store: &mut Store, now: Duration) -> Vec<u8> {
    let classes = classes(store, now);
    let (mut lines, active) = (Lines::default(), classes.len());
    let mut malloced = 0;
    for (id, class) in classes {
        let per_page = PAGE / class.chunk;
        let pages = class.items.div_ceil(per_page);
        malloced += pages * PAGE;
        let name = |what| format!("{id}:{what}");
        lines = lines
            .stat(name("chunk_size"), class.chunk)
            .stat(name("chunks_per_page"), per_page)
            .stat(name("total_pages"), pages)
            .stat(name("total_chunks"), pages * per_page)
            .stat(name("used_chunks"), class.items)
            .stat(name("free_chunks"), pages * per_page - class.items)
            .stat(name("free_chunks_end"), 0);
    }
    lines.stat("active_slabs", active).stat("total_malloced", malloced).end()
}

/// The items of one size class, summed up.
#[derive(Debug, Default)]
struct Class {
    chunk: usize,
    items: usize,
    bytes: usize,
    age: Duration,
}

fn classes(store: &mut Store, now: Duration) -> BTreeMap<u64, Class> {
    let mut classes: BTreeMap<u64, Class> = BTreeMap::new();
    for (key, item) in store.live(now) {
        let size = item.size(key);
        let (id, chunk) = dump::class_of(size);
        let class = classes.entry(id).or_default();
        class.chunk = chunk;
        class.items += 1;
        class.bytes += size;
        class.age = class.age.max(now.saturating_sub(item.accessed));
    }
    classes
}

/// `STAT` lines and the `END` behind them.
#[derive(Debug, Default)]
struct Lines(String);

impl Lines {
    fn stat(mut self, name: impl Display, value: impl Display) -> Self {
        _ = write!(self.0, "STAT {name} {value}\r\n");
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.0.push_str("END\r\n");
        self.0.into_bytes()
    }
}
