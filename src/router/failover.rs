//! The rules of going on: which request may be sent again, and whether to the same node or another.

use crate::error::Fate;
use crate::net::Trouble;
use crate::pool::PoolError;
use crate::protocol::{Verb, Violation};

/// What happens to a call whose server fails.
///
/// The price of `NextServer`: while a server is out, its keys live on others, and after it returns,
/// what it held before is visible again. Where old values must never be seen, use `Off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Failover {
    /// The same call goes on to the next server in the key's order, within its deadline (the default,
    /// as in Whalin's client, spymemcached and xmemcached).
    #[default]
    NextServer,
    /// The call fails, and its error names the server.
    Off,
}

/// What to do after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Once more on a fresh connection to the same node.
    Repeat,
    /// The next candidate, if the failover policy has one.
    MoveOn,
    /// Report the error.
    GiveUp,
}

/// Decides after a failure; `again` says that this node has had its second attempt.
///
/// A request that surely was not carried out may be sent again whatever it is. Once its last byte
/// went out, only those that can be repeated without harm are.
pub(super) fn next(verb: Verb, error: &PoolError, again: bool) -> Next {
    let harmless = verb.is_repeatable() || error.fate() == Fate::NotApplied;
    match error {
        PoolError::Down(_) => Next::MoveOn,
        PoolError::Exhausted | PoolError::Closed | PoolError::Forked => Next::GiveUp,
        PoolError::Net(_) if !harmless => Next::GiveUp,
        PoolError::Net(e) if e.is_own_shortage() => Next::GiveUp,
        PoolError::Net(e) if e.is_dial() => Next::MoveOn,
        PoolError::Net(e) => match &e.trouble {
            Trouble::TimedOut { .. } | Trouble::Hurried => Next::MoveOn,
            Trouble::Violation(Violation::ValueTooLarge { .. }) => Next::GiveUp,
            // The server has not hung up and may still come to the first copy, after a later write of the same caller.
            Trouble::Violation(_) | Trouble::Doubt if e.sent && !verb.is_read() => Next::GiveUp,
            _ if !again => Next::Repeat,
            Trouble::Eof | Trouble::Io(_) => Next::MoveOn,
            Trouble::Violation(_) | Trouble::Doubt => Next::GiveUp,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Phase;
    use crate::net::NetError;
    use std::time::Duration;

    fn net(phase: Phase, trouble: Trouble, sent: bool) -> PoolError {
        PoolError::Net(NetError { phase, trouble, sent })
    }

    fn silent() -> Trouble {
        Trouble::TimedOut { silent: Duration::from_secs(1) }
    }

    #[test]
    fn a_lost_connection_is_replaced_once_and_then_another_node_is_tried() {
        let lost = net(Phase::Read, Trouble::Eof, true);
        assert_eq!(next(Verb::Get, &lost, false), Next::Repeat);
        assert_eq!(next(Verb::Get, &lost, true), Next::MoveOn);
    }

    #[test]
    fn a_counter_whose_bytes_went_out_is_never_sent_again() {
        for trouble in [Trouble::Eof, silent(), Trouble::Doubt] {
            let error = net(Phase::Read, trouble, true);
            for verb in [Verb::Incr, Verb::Append, Verb::Delete, Verb::Add, Verb::Cas] {
                assert_eq!(next(verb, &error, false), Next::GiveUp, "{verb}");
            }
        }
    }

    #[test]
    fn what_surely_was_not_carried_out_goes_on_whatever_it_is() {
        let refused =
            net(Phase::Connect, Trouble::Io(std::io::ErrorKind::ConnectionRefused.into()), false);
        assert_eq!(next(Verb::Incr, &refused, false), Next::MoveOn);
        assert_eq!(next(Verb::Incr, &net(Phase::Write, Trouble::Eof, false), false), Next::Repeat);
        assert_eq!(next(Verb::Incr, &PoolError::Down(None), false), Next::MoveOn);
    }

    #[test]
    fn a_silent_node_is_left_and_not_asked_twice() {
        assert_eq!(next(Verb::Get, &net(Phase::Read, silent(), true), false), Next::MoveOn);
    }

    #[test]
    fn exhaustion_moves_no_key() {
        assert_eq!(next(Verb::Get, &PoolError::Exhausted, false), Next::GiveUp);
        assert_eq!(next(Verb::Get, &PoolError::Closed, false), Next::GiveUp);
        let no_descriptor = std::io::Error::from(rustix::io::Errno::MFILE);
        let own = net(Phase::Connect, Trouble::Io(no_descriptor), false);
        assert_eq!(next(Verb::Get, &own, false), Next::GiveUp);
    }

    #[test]
    fn a_peer_that_breaks_the_protocol_gets_one_fresh_connection() {
        let wrong = net(Phase::Read, Trouble::Doubt, true);
        assert_eq!(next(Verb::Get, &wrong, false), Next::Repeat);
        assert_eq!(next(Verb::Get, &wrong, true), Next::GiveUp);
    }

    #[test]
    fn no_store_is_sent_again_while_the_server_may_still_come_to_the_first_copy() {
        for verb in [Verb::Set, Verb::Touch] {
            let sent = |trouble, sent| next(verb, &net(Phase::Read, trouble, sent), false);
            assert_eq!(sent(Trouble::Doubt, true), Next::GiveUp);
            assert_eq!(sent(Trouble::Doubt, false), Next::Repeat);
            assert_eq!(sent(Trouble::Eof, true), Next::Repeat, "it hung up");
        }
    }
}
