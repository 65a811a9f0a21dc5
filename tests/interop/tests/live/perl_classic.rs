//! Perl's Cache::Memcached.

use mcpool_interop_tests::value::Value;

use crate::case::Case;
use crate::perl_fast::{seen, stored};

const PERL: Case<'_> =
    Case { peer: "perl_classic", preset: "perl_cache_memcached", weighted: true, ..Case::PLAIN };

#[test]
fn reads_its_values() {
    PERL.reads_its_values(stored);
}

#[test]
fn its_reads_of_our_values() {
    PERL.its_reads_of_our_values(seen);
}

#[test]
fn compressed_values() {
    Case { options: &[("compress_threshold", "1000")], ..PERL }.compressed_values();
}

#[test]
fn counters() {
    PERL.counters(&Value::Text("40".to_owned()));
}

#[test]
fn same_servers() {
    PERL.same_servers();
}

#[test]
fn same_servers_with_a_namespace() {
    Case { options: &[("namespace", "site:")], prefix: "site:", ..PERL }.same_servers();
}
