//! Beside each other client: values, servers, keys, compression, both ways. One module a peer.

mod cases;
mod samples;

mod libmemcached;
mod perl_fast;
