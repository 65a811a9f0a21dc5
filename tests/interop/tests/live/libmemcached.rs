//! libmemcached, and with it all that stand on it.

use mcpool::Placement;
use mcpool_interop_tests::dice::Letters;

use crate::cases::{Case, string};

const WEIGHTED: Case = Case {
    peer: "libmemcached",
    options: &[("ketama_weighted", "1")],
    settings: |builder| builder.placement(Placement::Ketama),
    plain: string,
    letters: Letters::Unicode,
    weighted: true,
};

#[test]
fn same_servers_weighted() {
    WEIGHTED.same_servers();
}

#[test]
fn same_servers_weighted_for_very_many_keys() {
    WEIGHTED.same_servers_for(100_000);
}

#[test]
fn counters() {
    WEIGHTED.counters(&string("40"));
}
