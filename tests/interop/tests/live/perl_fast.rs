//! Perl's Cache::Memcached::Fast.

use mcpool::Placement;
use mcpool_interop_tests::dice::Letters;

use crate::cases::{Case, string};

const FAST: Case = Case {
    peer: "perl_fast",
    options: &[],
    settings: |builder| builder.placement(Placement::NewCompat),
    plain: string,
    letters: Letters::Unicode,
    weighted: true,
};

#[test]
fn same_servers() {
    FAST.same_servers();
}

#[test]
fn counters() {
    FAST.counters(&string("40"));
}
