//! Beside each other client: values, servers, keys, compression, both ways. One module a peer.

mod case;
mod samples;
mod servers;
mod values;

mod bmemcached;
mod dalli;
mod gomemcache;
mod libmemcached;
mod paper;
mod pecl_memcache;
mod perl_classic;
mod perl_fast;
mod php_memcached;
mod pylibmc;
mod pymemcache;
mod python_memcached;
mod rust_memcache;
mod spymemcached;
mod twemproxy;
