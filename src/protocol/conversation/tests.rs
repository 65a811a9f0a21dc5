//! Replies as literal bytes, cut everywhere; peers that lie, repeat themselves or never stop.

use super::super::{
    Batch, Hits, Limits, Refusal, RefusalKind, Reply, Request, StatsArgument, StoreVerb, Value,
    Violation,
};
use super::Conversation;

/// What came of one conversation.
#[derive(Debug, PartialEq)]
struct Outcome {
    replies: Vec<Option<Reply>>,
    error: Option<Violation>,
    reusable: bool,
}

const GET: Request<'static, 'static> = Request::Get { keys: &[b"a"], cas: false };
const GETS: Request<'static, 'static> = Request::Get { keys: &[b"a"], cas: true };
const GET_3: Request<'static, 'static> = Request::Get { keys: &[b"a", b"b", b"c"], cas: false };
const SET: Request<'static, 'static> =
    Request::Store { verb: StoreVerb::Set, key: b"a", flags: 0, exptime: 0, value: b"x" };
const DELETE: Request<'static, 'static> = Request::Delete { key: b"a" };
const INCR: Request<'static, 'static> = Request::Incr { key: b"a", by: 1 };
const STATS: Request<'static, 'static> = Request::Stats { argument: None };

fn store(verb: StoreVerb) -> Request<'static, 'static> {
    Request::Store { verb, key: b"a", flags: 0, exptime: 0, value: b"x" }
}

/// Feeds the pieces as a reader would: what is not done with comes again in front of the next piece.
fn feed(conversation: &mut Conversation, batch: &mut Batch<'_>, pieces: &[&[u8]]) -> Outcome {
    conversation.begin(batch);
    let written = batch.wire_len();
    let mut kept = Vec::new();
    let mut error = None;
    for piece in pieces {
        kept.extend_from_slice(piece);
        match conversation.feed(batch, written, &kept) {
            Ok(used) => drop(kept.drain(..used)),
            Err(violation) => {
                error = Some(violation);
                break;
            }
        }
        assert!(!conversation.reusable() || kept.is_empty(), "reusable with bytes left");
    }
    let replies = (0..batch.len()).map(|i| conversation.take(i)).collect();
    Outcome { replies, error, reusable: conversation.reusable() }
}

fn hear_pieces(requests: &[Request<'_, '_>], pieces: &[&[u8]]) -> Outcome {
    let mut batch = Batch::new();
    requests.iter().for_each(|request| batch.push(request));
    feed(&mut Conversation::new(Limits::default()), &mut batch, pieces)
}

/// The outcome of a reply, which must be the same wherever the network cuts it.
fn hear(requests: &[Request<'_, '_>], input: &[u8]) -> Outcome {
    let whole = hear_pieces(requests, &[input]);
    for at in 0..=input.len() {
        let (first, second) = input.split_at(at);
        let cut = hear_pieces(requests, &[first, second]);
        assert_same(&cut, &whole, &format!("{} | {}", first.escape_ascii(), second.escape_ascii()));
    }
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_same(&hear_pieces(requests, &bytes), &whole, "byte by byte");
    whole
}

/// The same but for the excerpt in an error, which shows no more than has come.
fn assert_same(cut: &Outcome, whole: &Outcome, place: &str) {
    let kind = |outcome: &Outcome| outcome.error.as_ref().map(std::mem::discriminant);
    assert_eq!(cut.replies, whole.replies, "{place}");
    assert_eq!(cut.reusable, whole.reusable, "{place}");
    assert_eq!(kind(cut), kind(whole), "{place}");
}

fn value(index: u32, flags: u32, cas: Option<u64>, bytes: &[u8]) -> Value {
    Value { index, flags, cas, bytes: bytes.to_vec() }
}

fn hit(index: u32, bytes: &[u8]) -> Value {
    value(index, 0, None, bytes)
}

fn hits(values: Vec<Value>) -> Reply {
    Reply::Values(Box::new(Hits { values, ..Hits::default() }))
}

fn refused(kind: RefusalKind, text: &str) -> Reply {
    Reply::Refused(refusal(kind, text))
}

fn refusal(kind: RefusalKind, text: &str) -> Refusal {
    Refusal { kind, text: text.to_owned() }
}

/// Whole replies, all believed, that leave the connection in step.
fn assert_in_step(requests: &[Request<'_, '_>], input: &[u8], replies: &[Reply]) {
    let expected = Outcome {
        replies: replies.iter().cloned().map(Some).collect(),
        error: None,
        reusable: true,
    };
    assert_eq!(hear(requests, input), expected, "{}", input.escape_ascii());
}

#[test]
fn every_verb_understands_every_reply_it_may_get() {
    use StoreVerb::{Add, Append, Cas, Prepend, Replace, Set};
    let touch = Request::Touch { key: b"a", exptime: 1 };
    let decr = Request::Decr { key: b"a", by: 1 };
    let flush = Request::FlushAll { delay: None };
    let gat = Request::GetAndTouch { keys: &[b"a"], exptime: 7, cas: false };
    let gats = Request::GetAndTouch { keys: &[b"a"], exptime: 7, cas: true };
    let found = |flags, cas, bytes| Reply::Value(Some(value(0, flags, cas, bytes)));
    for verb in [Set, Add, Replace, Append, Prepend, Cas(1)] {
        assert_in_step(&[store(verb)], b"STORED\r\n", &[Reply::Stored]);
    }
    for verb in [Add, Replace, Append, Prepend] {
        assert_in_step(&[store(verb)], b"NOT_STORED\r\n", &[Reply::NotStored]);
    }
    for (request, bytes, reply) in [
        (store(Cas(1)), &b"EXISTS\r\n"[..], Reply::Exists),
        (store(Cas(1)), b"NOT_FOUND\r\n", Reply::NotFound),
        (GET, b"END\r\n", Reply::Value(None)),
        (GET, b"VALUE a 0 0\r\n\r\nEND\r\n", found(0, None, b"")),
        (GET, b"VALUE a 4294967295 3\r\nxyz\r\nEND\r\n", found(u32::MAX, None, b"xyz")),
        (GET, b"VALUE a -1 3\r\nxyz\r\nEND\r\n", found(u32::MAX, None, b"xyz")),
        (GET, b"VALUE a 0 9\r\n\r\nEND\r\n\r\n\r\nEND\r\n", found(0, None, b"\r\nEND\r\n\r\n")),
        (GET, b"VALUE a 0 1 7\r\nx\r\nEND\r\n", found(0, Some(7), b"x")),
        (GETS, b"END\r\n", Reply::Value(None)),
        (GETS, b"VALUE a 5 1 18446744073709551615\r\nx\r\nEND\r\n", found(5, Some(u64::MAX), b"x")),
        (gat, b"VALUE a 5 1\r\nx\r\nEND\r\n", found(5, None, b"x")),
        (gat, b"END\r\n", Reply::Value(None)),
        (gats, b"VALUE a 5 1 9\r\nx\r\nEND\r\n", found(5, Some(9), b"x")),
        (touch, b"TOUCHED\r\n", Reply::Touched),
        (touch, b"NOT_FOUND\r\n", Reply::NotFound),
        (DELETE, b"DELETED\r\n", Reply::Deleted),
        (DELETE, b"NOT_FOUND\r\n", Reply::NotFound),
        (INCR, b"18446744073709551615\r\n", Reply::Number(u64::MAX)),
        (INCR, b"NOT_FOUND\r\n", Reply::NotFound),
        (decr, b"9 \r\n", Reply::Number(9)),
        (decr, b"0                   \r\n", Reply::Number(0)),
        (Request::Version, b"VERSION 1.6.18\r\n", Reply::Version("1.6.18".into())),
        (flush, b"OK\r\n", Reply::Done),
        (Request::Verbosity { level: 1 }, b"OK\r\n", Reply::Done),
    ] {
        assert_in_step(&[request], bytes, &[reply]);
    }
}

#[test]
fn statistics_are_pairs_whatever_their_words() {
    let pairs = |list: &[(&str, &str)]| {
        Reply::Pairs(list.iter().map(|(n, f)| ((*n).to_owned(), (*f).to_owned())).collect())
    };
    let argument = StatsArgument::new("reset");
    assert_in_step(&[STATS], b"END\r\n", &[pairs(&[])]);
    assert_in_step(
        &[STATS],
        b"STAT pid 7\r\nSTAT libevent 2.1.12-stable x\r\nSTAT empty \r\nSTAT bare\r\nEND\r\n",
        &[pairs(&[("pid", "7"), ("libevent", "2.1.12-stable x"), ("empty", ""), ("bare", "")])],
    );
    assert_in_step(
        &[STATS],
        b"ITEM key [1 b; 0 s]\r\nPREFIX a get 1 hit 1\r\nEND\r\n",
        &[pairs(&[("key", "[1 b; 0 s]"), ("a", "get 1 hit 1")])],
    );
    assert_in_step(&[Request::Stats { argument }], b"RESET\r\n", &[Reply::Done]);
    assert_in_step(&[STATS], b"ERROR\r\n", &[refused(RefusalKind::UnknownCommand, "ERROR")]);
}

#[test]
fn a_key_dump_is_its_lines_with_and_without_carriage_returns() {
    assert_in_step(
        &[Request::DumpKeys],
        b"key=a%20b exp=-1 cls=1 size=61\nkey=c exp=5\r\nEND\r\n",
        &[Reply::Lines(vec![b"key=a%20b exp=-1 cls=1 size=61".to_vec(), b"key=c exp=5".to_vec()])],
    );
    assert_in_step(
        &[Request::DumpKeys],
        b"BUSY currently processing crawler request\r\n",
        &[refused(RefusalKind::Busy, "BUSY currently processing crawler request")],
    );
}

#[test]
fn an_error_line_is_a_whole_reply_and_the_connection_goes_on() {
    for (request, line, kind) in [
        (SET, "SERVER_ERROR object too large for cache", RefusalKind::TooLarge),
        (SET, "SERVER_ERROR out of memory storing object", RefusalKind::OutOfMemory),
        (GET, "SERVER_ERROR", RefusalKind::Server),
        (GET, "SERVER_ERROR temporary failure", RefusalKind::Server),
        (GET, "CLIENT_ERROR bad command line format", RefusalKind::Client),
        (GET, "ERROR", RefusalKind::UnknownCommand),
        (
            INCR,
            "CLIENT_ERROR cannot increment or decrement non-numeric value",
            RefusalKind::NotANumber,
        ),
        (Request::Version, "ERROR", RefusalKind::UnknownCommand),
    ] {
        let input = format!("{line}\r\nDELETED\r\n");
        assert_in_step(
            &[request, DELETE],
            input.as_bytes(),
            &[refused(kind, line), Reply::Deleted],
        );
    }
}

#[test]
fn after_a_refused_store_line_nothing_later_is_believed() {
    for line in ["ERROR", "CLIENT_ERROR bad data chunk"] {
        let input = format!("DELETED\r\n{line}\r\nDELETED\r\nNOT_FOUND\r\nWAT\r\n");
        let outcome = hear(&[DELETE, SET, DELETE, DELETE], input.as_bytes());
        assert!(matches!(
            outcome.replies[..],
            [Some(Reply::Deleted), Some(Reply::Refused(_)), None, None]
        ));
        assert_eq!((outcome.error, outcome.reusable), (None, false));
    }
}

#[test]
fn a_full_servers_greeting_is_told_from_an_answer_and_ends_the_connection() {
    let outcome = hear(&[GET, DELETE], b"ERROR Too many open connections\r\n");
    let first = refused(RefusalKind::TooManyConnections, "ERROR Too many open connections");
    assert_eq!(outcome, Outcome { replies: vec![Some(first), None], error: None, reusable: false });
    let outcome = hear(&[GET], b"ERROR: shutdown not enabled\r\n");
    let first = refused(RefusalKind::Unusual, "ERROR: shutdown not enabled");
    assert_eq!(outcome, Outcome { replies: vec![Some(first)], error: None, reusable: false });
}

#[test]
fn values_of_several_keys_are_matched_by_key_in_any_order() {
    assert_in_step(&[GET_3], b"END\r\n", &[hits(vec![])]);
    assert_in_step(&[GET_3], b"VALUE b 0 2\r\nB1\r\nEND\r\n", &[hits(vec![hit(1, b"B1")])]);
    assert_in_step(
        &[GET_3, GET],
        b"VALUE c 0 1\r\nC\r\nVALUE a 0 1\r\nA\r\nEND\r\nVALUE a 0 1\r\nZ\r\nEND\r\n",
        &[hits(vec![hit(2, b"C"), hit(0, b"A")]), Reply::Value(Some(hit(0, b"Z")))],
    );
}

/// 150 keys `k0` … `k149`, which go out in two lines.
fn many_keys<R>(then: impl FnOnce(Request<'_, '_>) -> R) -> R {
    let keys: Vec<String> = (0..150).map(|n| format!("k{n}")).collect();
    let keys: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
    then(Request::Get { keys: &keys, cas: false })
}

#[test]
fn a_split_read_is_one_reply() {
    let input =
        b"VALUE k0 0 1\r\nA\r\nVALUE k99 0 1\r\nB\r\nEND\r\nVALUE k149 0 1\r\nC\r\nEND\r\nOK\r\n";
    let flush = Request::FlushAll { delay: None };
    let all = hits(vec![hit(0, b"A"), hit(99, b"B"), hit(149, b"C")]);
    many_keys(|get| assert_in_step(&[get, flush], input, &[all, Reply::Done]));
}

#[test]
fn a_key_of_the_other_line_is_a_wrong_key() {
    let outcome = many_keys(|get| hear(&[get], b"VALUE k100 0 1\r\nA\r\nEND\r\nEND\r\n"));
    assert!(matches!(outcome.error, Some(Violation::WrongKey { .. })), "{outcome:?}");
}

#[test]
fn an_error_to_one_line_of_a_split_read_refuses_only_its_unanswered_keys() {
    let text = "SERVER_ERROR out of memory writing get response";
    let out_of_memory = || refusal(RefusalKind::OutOfMemory, text);
    let first = format!("VALUE k1 0 1\r\nA\r\n{text}\r\nVALUE k120 0 1\r\nB\r\nEND\r\nOK\r\n");
    let second = format!("VALUE k1 0 1\r\nA\r\nEND\r\n{text}\r\nOK\r\n");
    let both = format!("{text}\r\nERROR\r\nOK\r\n");
    let flush = Request::FlushAll { delay: None };
    many_keys(|get| {
        let values = vec![hit(1, b"A"), hit(120, b"B")];
        let reply = Reply::Values(Box::new(Hits {
            values,
            refused: vec![(0..100, out_of_memory())],
            rest: None,
        }));
        assert_in_step(&[get, flush], first.as_bytes(), &[reply, Reply::Done]);
        let values = vec![hit(1, b"A")];
        let reply = Reply::Values(Box::new(Hits {
            values,
            refused: vec![(100..150, out_of_memory())],
            rest: None,
        }));
        assert_in_step(&[get, flush], second.as_bytes(), &[reply, Reply::Done]);
        let outcome = hear(&[get, flush], both.as_bytes());
        assert!(matches!(outcome.replies[..], [Some(Reply::Refused(_)), Some(Reply::Done)]));
        let outcome = hear(&[get, flush], b"END\r\nERROR going down\r\n");
        let [Some(Reply::Values(hits)), None] = &outcome.replies[..] else {
            panic!("{outcome:?}");
        };
        assert!(hits.values.is_empty() && hits.refused[0].0 == (100..150) && !outcome.reusable);
        // No answer to the second line will ever come: its keys are no misses.
        let outcome = hear(&[get, flush], b"ERROR going down\r\n");
        assert!(matches!(outcome.replies[..], [Some(Reply::Refused(_)), None]), "{outcome:?}");
        assert!(!outcome.reusable);
    });
}

#[test]
fn values_in_front_of_an_error_line_are_kept() {
    let text = "SERVER_ERROR out of memory writing get response";
    let input = format!("VALUE b 0 1\r\nB\r\n{text}\r\n");
    let refused = vec![(0..3, refusal(RefusalKind::OutOfMemory, text))];
    let reply = Reply::Values(Box::new(Hits { values: vec![hit(1, b"B")], refused, rest: None }));
    assert_in_step(&[GET_3], input.as_bytes(), &[reply]);
    let input = format!("VALUE a 0 1\r\nA\r\n{text}\r\n");
    assert_in_step(&[GET], input.as_bytes(), &[Reply::Value(Some(hit(0, b"A")))]);
}

#[test]
fn replies_that_do_not_fit_their_request_end_the_connection() {
    let stats_2 = Request::Stats { argument: StatsArgument::new("reset") };
    for (request, input, name) in [
        (GET, &b"VALUE b 0 1\r\nB\r\nEND\r\n"[..], "WrongKey"),
        (GET, b"VALUE a 0 1\r\nA\r\nVALUE a 0 1\r\nA\r\nEND\r\n", "WrongKey"),
        (GET, b"VALUE aa 0 1\r\nB\r\nEND\r\n", "WrongKey"),
        (GET, b"VALUE  0 1\r\nB\r\nEND\r\n", "WrongKey"),
        (GET_3, b"VALUE b 0 1\r\nB\r\nVALUE b 0 1\r\nB\r\n", "WrongKey"),
        (GET, b"VALUE a\r\n", "BadNumber"),
        (GET, b"VALUE a 0\r\n", "BadNumber"),
        (GET, b"VALUE a 0 -1\r\n", "BadNumber"),
        (GET, b"VALUE a 0 99999999999999999999\r\n", "BadNumber"),
        (GET, b"VALUE a 4294967296 1\r\n", "BadNumber"),
        (GET, b"VALUE a x 1\r\n", "BadNumber"),
        (GET, b"VALUE a 0 1 x\r\n", "BadNumber"),
        (GET, b"VALUE a 0 1 \r\n", "BadNumber"),
        (GET, b"VALUE a 0 1 2 3\r\n", "BadNumber"),
        (GET, b"VALUE a  0 1\r\n", "BadNumber"),
        (GETS, b"VALUE a 0 1\r\nA\r\nEND\r\n", "BadNumber"),
        (GET, b"VALUE a 0 134217729\r\n", "ValueTooLarge"),
        (GET, b"VALUE a 0 18446744073709551615\r\n", "ValueTooLarge"),
        (GET, b"VALUE a 0 3\r\nabcdef\r\nEND\r\n", "NoTerminator"),
        (GET, b"VALUE a 0 3\r\nabcXYEND\r\n", "NoTerminator"),
        (GET, b"VALUE a 0 10\r\nabc\r\nEND\r\nxy", "NoTerminator"),
        (GET, b"STORED\r\n", "UnexpectedReply"),
        (GET, b"\r\n", "UnexpectedReply"),
        (GET, b"END\n", "UnexpectedReply"),
        (GET, b"ENDS\r\n", "UnexpectedReply"),
        (GET, b"ERRORS\r\n", "UnexpectedReply"),
        (GET, b"SERVER_ERROR_X\r\n", "UnexpectedReply"),
        (GET, b"WAT 1 2 3\r\nVALUE a 0 1\r\nZ\r\nEND\r\n", "UnexpectedReply"),
        (GET, b"BUSY\r\n", "UnexpectedReply"),
        (SET, b"NOT_STORED\r\n", "UnexpectedReply"),
        (SET, b"END\r\n", "UnexpectedReply"),
        (store(StoreVerb::Add), b"EXISTS\r\n", "UnexpectedReply"),
        (store(StoreVerb::Cas(1)), b"NOT_STORED\r\n", "UnexpectedReply"),
        (DELETE, b"TOUCHED\r\n", "UnexpectedReply"),
        (DELETE, b"5\r\n", "UnexpectedReply"),
        (INCR, b"18446744073709551616\r\n", "BadNumber"),
        (INCR, b"5x\r\n", "BadNumber"),
        (INCR, b" 5\r\n", "UnexpectedReply"),
        (INCR, b"-1\r\n", "UnexpectedReply"),
        (Request::Version, b"OK\r\n", "UnexpectedReply"),
        (STATS, b"STAT a 1\r\nVALUE a 0 1\r\n", "UnexpectedReply"),
        (stats_2, b"STAT a 1\r\nRESET\r\n", "UnexpectedReply"),
        (Request::DumpKeys, b"STAT a 1\r\n", "UnexpectedReply"),
        (GET, b"\x80\x00\xff\xfe\r\n", "UnexpectedReply"),
        (GET, b"\x16\x03\x01\x00\n", "UnexpectedReply"),
    ] {
        let outcome = hear(&[request], input);
        let shown = format!("{:?}", outcome.error);
        assert!(shown.starts_with(&format!("Some({name}")), "{}: {shown}", input.escape_ascii());
        assert_eq!((outcome.replies, outcome.reusable), (vec![None], false));
    }
}

#[test]
fn surplus_bytes_leave_only_answers_that_carry_their_key() {
    let a = || Some(Reply::Value(Some(hit(0, b"A"))));
    for (requests, input, replies) in [
        // The first line may be the answer to something older.
        (&[SET][..], &b"STORED\r\nSTORED\r\n"[..], vec![None]),
        (&[GET], b"END\r\nVALUE a 0 1\r\nA\r\nEND\r\n", vec![None]),
        (&[GET], b"VALUE a 0 1\r\nA\r\nEND\r\nEND\r\n", vec![a()]),
        (&[GET], b"VALUE a 0 1\r\nA\r\nEND\r\n\x00", vec![a()]),
        // A hit in its place proves what came before it, not what came after.
        (
            &[DELETE, GET, DELETE],
            b"DELETED\r\nVALUE a 0 1\r\nA\r\nEND\r\nDELETED\r\nNOT_FOUND\r\n",
            vec![Some(Reply::Deleted), a(), None],
        ),
    ] {
        let outcome = hear(requests, input);
        assert!(matches!(outcome.error, Some(Violation::Surplus { .. })), "{outcome:?}");
        assert_eq!((outcome.replies, outcome.reusable), (replies, false));
    }
}

#[test]
fn a_shifted_stream_gives_no_answer_of_another_request() {
    // An old DELETED lies in front of the real answers, which are all one place late.
    let outcome = hear(&[DELETE, DELETE, INCR], b"DELETED\r\nNOT_FOUND\r\nNOT_STORED\r\n");
    assert_eq!((outcome.replies, outcome.reusable), (vec![None, None, None], false));
}

#[test]
fn a_misses_end_in_the_second_line_is_not_proven_by_a_hit_in_the_first() {
    let input = b"VALUE k1 0 1\r\nA\r\nEND\r\nEND\r\nEND\r\n";
    let outcome = many_keys(|get| hear(&[DELETE, get], &[b"DELETED\r\n", &input[..]].concat()));
    assert_eq!(outcome.replies, [Some(Reply::Deleted), None]);
}

#[test]
fn an_answer_before_its_question_is_not_believed() {
    let large = vec![b'x'; 10_000];
    let set =
        Request::Store { verb: StoreVerb::Set, key: b"a", flags: 0, exptime: 0, value: &large };
    for (request, missing, input, premature) in [
        (set, 1, &b"STORED\r\n"[..], true),
        (set, 0, b"STORED\r\n", false),
        (GET, 1, b"VALUE a 0 1\r\nA\r\nEND\r\n", true),
        (GET, 7, b"END\r\n", true),
    ] {
        let mut batch = Batch::new();
        batch.push(&request);
        let mut conversation = Conversation::new(Limits::default());
        conversation.begin(&batch);
        let written = batch.wire_len() - missing;
        let result = conversation.feed(&mut batch, written, input);
        assert_eq!(matches!(result, Err(Violation::Premature { .. })), premature, "{result:?}");
        assert_eq!(conversation.reusable(), !premature);
        assert_eq!(conversation.take(0).is_none(), premature);
    }
}

#[test]
fn a_server_that_refuses_a_value_before_it_is_sent_is_heard_but_not_used_again() {
    let large = vec![b'x'; 10_000];
    let mut batch = Batch::new();
    batch.push(&Request::Store {
        verb: StoreVerb::Set,
        key: b"a",
        flags: 0,
        exptime: 0,
        value: &large,
    });
    let mut conversation = Conversation::new(Limits::default());
    conversation.begin(&batch);
    let line = "SERVER_ERROR object too large for cache";
    let input = format!("{line}\r\n");
    assert_eq!(conversation.feed(&mut batch, 100, input.as_bytes()), Ok(input.len()));
    assert!(conversation.is_done() && !conversation.reusable());
    assert_eq!(conversation.take(0), Some(refused(RefusalKind::TooLarge, line)));
}

#[test]
fn answers_to_the_first_lines_of_a_split_read_may_come_while_the_last_is_being_sent() {
    many_keys(|get| {
        let mut batch = Batch::new();
        batch.push(&get);
        let mut conversation = Conversation::new(Limits::default());
        conversation.begin(&batch);
        let written = batch.wire_len() - 1;
        assert_eq!(conversation.feed(&mut batch, written, b"END\r\n"), Ok(5));
        let result = conversation.feed(&mut batch, written, b"END\r\n");
        assert!(matches!(result, Err(Violation::Premature { .. })), "{result:?}");
    });
}

#[test]
fn endless_lines_and_lists_are_cut_off() {
    let limits = Limits { max_value_bytes: 100, max_line: 50, max_list_bytes: 10_000 };
    let long = [b'x'; 52];
    let stat = b"STAT name figure\r\n".repeat(200);
    let key = b"key=a exp=-1\n".repeat(200);
    for (request, input, expected) in [
        (GET, &long[..], Violation::LineTooLong { limit: 50 }),
        (GET, b"VALUE a 0 101\r\n", Violation::ValueTooLarge { declared: 101, limit: 100 }),
        (STATS, &stat, Violation::ListTooLong { verb: STATS.verb(), limit: 10_000 }),
        (
            Request::DumpKeys,
            &key,
            Violation::ListTooLong { verb: Request::DumpKeys.verb(), limit: 10_000 },
        ),
    ] {
        let mut batch = Batch::new();
        batch.push(&request);
        let mut conversation = Conversation::new(limits);
        let outcome = feed(&mut conversation, &mut batch, &[input]);
        assert_eq!(
            outcome,
            Outcome { replies: vec![None], error: Some(expected), reusable: false }
        );
    }
}

#[test]
fn a_huge_declared_length_takes_no_memory_until_bytes_come() {
    let mut batch = Batch::new();
    batch.push(&GET);
    let mut conversation = Conversation::new(Limits::default());
    conversation.begin(&batch);
    let written = batch.wire_len();
    conversation.feed(&mut batch, written, b"VALUE a 0 134217728\r\nabc").expect("within limits");
    let body = conversation.body().expect("a large value is on its way");
    assert_eq!(body, b"abc");
    assert!(body.capacity() <= 2 << 20, "{} bytes reserved", body.capacity());
}

/// Reads as a connection does that fills the spare room of a large value directly, `step` bytes at a time.
fn hear_directly(batch: &mut Batch<'_>, input: &[u8], step: usize) -> Vec<Option<Reply>> {
    let mut conversation = Conversation::new(Limits::default());
    conversation.begin(batch);
    let written = batch.wire_len();
    let (mut kept, mut rest) = (Vec::new(), input);
    while !rest.is_empty() {
        let most = step.min(rest.len());
        let taken = match conversation.body() {
            Some(body) => {
                assert!(kept.is_empty(), "input was left in front of a direct read");
                let room = body.capacity() - body.len();
                assert!(room > 0, "no room to read to");
                let taken = most.min(room);
                body.extend_from_slice(&rest[..taken]);
                taken
            }
            None => {
                kept.extend_from_slice(&rest[..most]);
                most
            }
        };
        rest = &rest[taken..];
        let used = conversation.feed(batch, written, &kept).expect("a sound reply");
        kept.drain(..used);
    }
    assert!(conversation.reusable() && kept.is_empty());
    (0..batch.len()).map(|i| conversation.take(i)).collect()
}

#[test]
fn a_large_value_is_read_in_place_wherever_its_reads_end() {
    let large: Vec<u8> =
        (0..3_000_000_u32).map(|n| n.to_le_bytes()[usize::from(n % 7 == 0)]).collect();
    let mut input = b"DELETED\r\nVALUE a 3 3000000\r\n".to_vec();
    input.extend_from_slice(&large);
    input.extend_from_slice(b"\r\nEND\r\nVALUE b 0 1\r\nB\r\nEND\r\nSTORED\r\n");
    for step in [997, 4096, 65_536, 1 << 20, 3_000_030, usize::MAX] {
        // With a buffer larger than the value a direct read brings all replies behind it.
        for lent in [0, 4 << 20] {
            let mut batch = Batch::new();
            batch.push(&DELETE);
            batch.push_read_into(&GET, Vec::with_capacity(lent));
            batch.push(&Request::Get { keys: &[b"b"], cas: false });
            batch.push(&SET);
            let replies = hear_directly(&mut batch, &input, step);
            let [Some(Reply::Deleted), Some(Reply::Value(Some(a))), b, c] = &replies[..] else {
                panic!("step {step}, lent {lent}");
            };
            assert!(a.bytes == large && a.flags == 3, "step {step}, lent {lent}");
            assert_eq!(b, &Some(Reply::Value(Some(hit(0, b"B")))));
            assert_eq!(c, &Some(Reply::Stored));
        }
    }
}

#[test]
fn a_direct_read_may_end_anywhere_in_the_replies_behind_its_value() {
    let behind = b"\r\nEND\r\nDELETED\r\nVALUE a 0 2\r\nA2\r\nEND\r\n";
    for end in 0..=behind.len() {
        let mut batch = Batch::new();
        [GET, DELETE, GET].iter().for_each(|request| batch.push(request));
        let written = batch.wire_len();
        let mut conversation = Conversation::new(Limits::default());
        conversation.begin(&batch);
        conversation.feed(&mut batch, written, b"VALUE a 0 9000\r\n").expect("a value's head");
        let body = conversation.body().expect("a large value is on its way");
        assert!(body.capacity() >= 9000 + b"\r\nEND\r\n".len(), "one read cannot bring it all");
        body.extend_from_slice(&[b'x'; 9000]);
        body.extend_from_slice(&behind[..end]);
        conversation.feed(&mut batch, written, b"").expect("a sound value");
        let mut kept = Vec::new();
        for byte in &behind[end..] {
            assert!(!conversation.is_done());
            assert_eq!(conversation.body(), None);
            kept.push(*byte);
            let used = conversation.feed(&mut batch, written, &kept).expect("a sound reply");
            kept.drain(..used);
        }
        let replies: Vec<_> = (0..3).map(|i| conversation.take(i)).collect();
        let expected = [
            Some(Reply::Value(Some(hit(0, &[b'x'; 9000])))),
            Some(Reply::Deleted),
            Some(Reply::Value(Some(hit(0, b"A2")))),
        ];
        assert_eq!(replies, expected, "{end} bytes behind the value");
        assert!(conversation.reusable());
    }
}

#[test]
fn a_lent_buffer_is_used_for_a_hit_and_given_back_on_a_miss() {
    let lend = || {
        let mut buffer = Vec::with_capacity(1000);
        buffer.extend_from_slice(b"old");
        buffer
    };
    let mut batch = Batch::new();
    batch.push_read_into(&GET, lend());
    let mut conversation = Conversation::new(Limits::default());
    let outcome = feed(&mut conversation, &mut batch, &[b"VALUE a 0 3\r\nnew\r\nEND\r\n"]);
    let [Some(Reply::Value(Some(value)))] = &outcome.replies[..] else { panic!("{outcome:?}") };
    assert_eq!((&value.bytes[..], value.bytes.capacity()), (&b"new"[..], 1000));
    assert_eq!(batch.take_buffer(0).capacity(), 0);

    let mut batch = Batch::new();
    batch.push_read_into(&GET, lend());
    let outcome = feed(&mut conversation, &mut batch, &[b"END\r\n"]);
    assert_eq!(outcome.replies, [Some(Reply::Value(None))]);
    let buffer = batch.take_buffer(0);
    assert_eq!((buffer.len(), buffer.capacity()), (0, 1000));
}

#[test]
fn a_connection_serves_batch_after_batch_until_it_is_in_doubt() {
    let mut conversation = Conversation::new(Limits::default());
    let mut batch = Batch::new();
    batch.push(&GET_3);
    batch.push(&DELETE);
    for round in 0..3 {
        let input = b"VALUE c 0 1\r\nC\r\nEND\r\nDELETED\r\n";
        let outcome = feed(&mut conversation, &mut batch, &[input]);
        let replies = vec![Some(hits(vec![hit(2, b"C")])), Some(Reply::Deleted)];
        assert_eq!(outcome, Outcome { replies, error: None, reusable: true }, "round {round}");
    }
    conversation.begin(&batch);
    assert!(!conversation.reusable() && !conversation.is_done(), "replies are outstanding");
    // The caller gives up; whoever used the connection again would hear the old answers.
    let outcome = feed(&mut conversation, &mut batch, &[b"END\r\nDELETED\r\n"]);
    assert_eq!(outcome, Outcome { replies: vec![None, None], error: None, reusable: false });
}

#[test]
fn bytes_that_nobody_asked_for_spoil_an_idle_connection() {
    let mut conversation = Conversation::new(Limits::default());
    assert!(conversation.reusable());
    let mut batch = Batch::new();
    assert_eq!(conversation.feed(&mut batch, 0, b""), Ok(0));
    assert!(conversation.reusable());
    let result = conversation.feed(&mut batch, 0, b"STORED\r\n");
    assert!(matches!(result, Err(Violation::Surplus { .. })), "{result:?}");
    assert!(!conversation.reusable());
}

/// A stream of numbers that looks random and is the same in each run (xorshift).
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(n).expect("fits")).expect("fits")
    }
}

#[test]
fn garbage_never_leaves_a_reusable_connection_with_bytes_on_it_nor_a_key_answered_twice() {
    const WORDS: [&[u8]; 24] = [
        b"VALUE ",
        b"a",
        b"b",
        b"k",
        b" ",
        b"0",
        b"1",
        b"3 ",
        b"99999999999",
        b"-",
        b"\r\n",
        b"\r",
        b"\n",
        b"END",
        b"STORED",
        b"DELETED",
        b"NOT_FOUND",
        b"ERROR",
        b"SERVER_ERROR x",
        b"STAT ",
        b"key=",
        b"VALUE a 0 1\r\n",
        b"VALUE b 0 1\r\nB\r\n",
        b"END\r\n",
    ];
    let dump = [Request::DumpKeys];
    let mixed = [GET, DELETE, GET_3, SET, INCR];
    let batches: [&[Request<'_, '_>]; 7] =
        [&[GET], &[GETS], &[GET_3], &[SET], &[STATS], &dump, &mixed];
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut reused = 0;
    for _ in 0..30_000 {
        let requests = batches[noise.below(batches.len())];
        let mut input = Vec::new();
        for _ in 0..noise.below(12) {
            match noise.below(8) {
                0 => input.push(u8::try_from(noise.below(256)).expect("fits")),
                _ => input.extend_from_slice(WORDS[noise.below(WORDS.len())]),
            }
        }
        let (first, second) = input.split_at(noise.below(input.len() + 1));
        // `feed` asserts that no byte is left on a reusable connection.
        let outcome = hear_pieces(requests, &[first, second]);
        let whole = outcome.replies.iter().all(Option::is_some);
        assert!(!outcome.reusable || (whole && outcome.error.is_none()), "{outcome:?}");
        reused += usize::from(outcome.reusable);
        for reply in outcome.replies.iter().flatten() {
            let Reply::Values(hits) = reply else { continue };
            let mut indexes: Vec<u32> = hits.values.iter().map(|value| value.index).collect();
            indexes.sort_unstable();
            indexes.dedup();
            assert!(indexes.len() == hits.values.len() && indexes.iter().all(|i| *i < 3));
        }
    }
    assert!(reused > 100, "the garbage held only {reused} sound replies");
}

/// What is kept of a read that was given up: values, the line refused, where the answers end, the value too large.
type Kept = (Vec<u32>, Option<std::ops::Range<u32>>, u32, Option<u32>);

/// Feeds the beginning of a reply to a read of 150 keys in two lines, and gives up.
fn kept_of(input: &str) -> Option<Kept> {
    many_keys(|get| {
        let mut batch = Batch::new();
        batch.push(&get);
        let mut conversation =
            Conversation::new(Limits { max_value_bytes: 9, ..Limits::default() });
        conversation.begin(&batch);
        let written = batch.wire_len();
        _ = conversation.feed(&mut batch, written, input.as_bytes());
        assert!(!conversation.reusable());
        let (0, Reply::Values(hits)) = conversation.take_part(&batch)? else { panic!("{input}") };
        let rest = hits.rest.expect("it has no end");
        let values = hits.values.iter().map(|value| value.index).collect();
        let refused = hits.refused.into_iter().map(|(keys, _)| keys).next();
        Some((values, refused, rest.from, rest.too_large))
    })
}

#[test]
fn of_a_read_without_an_end_whole_values_and_lines_are_kept() {
    let (a, b, z) = ("VALUE k0 0 1\r\nA\r\n", "VALUE k120 0 1\r\nB\r\n", "VALUE k120 0 10\r\n");
    let sorry = "SERVER_ERROR no\r\n";
    for (input, kept) in [
        (String::new(), None),
        (a.to_owned(), Some((vec![0], None, 0, None))),
        (a[..a.len() - 1].to_owned(), None),
        ("END\r\n".to_owned(), Some((vec![], None, 100, None))),
        (sorry.to_owned(), Some((vec![], Some(0..100), 100, None))),
        (format!("{a}END\r\n{b}"), Some((vec![0, 120], None, 100, None))),
        // Behind garbage only what a later value proves.
        ("WAT\r\n".to_owned(), None),
        ("END\r\nWAT\r\n".to_owned(), None),
        (format!("{sorry}WAT\r\n"), None),
        (format!("{a}WAT\r\n"), Some((vec![0], None, 0, None))),
        (format!("{a}END\r\nWAT\r\n"), Some((vec![0], None, 0, None))),
        (format!("{a}{sorry}WAT\r\n"), Some((vec![0], None, 0, None))),
        (format!("{sorry}{b}WAT\r\n"), Some((vec![120], Some(0..100), 100, None))),
        (format!("{a}{a}"), Some((vec![0], None, 0, None))),
        // A value that is too large has its key, too.
        (format!("END\r\n{z}"), Some((vec![], None, 100, Some(120)))),
        (format!("{a}VALUE k1 0 10\r\n"), Some((vec![0], None, 0, Some(1)))),
    ] {
        assert_eq!(kept_of(&input), kept, "{input:?}");
    }
}

#[test]
fn a_whole_value_of_a_single_read_is_kept_without_its_end() {
    let mut batch = Batch::new();
    batch.push(&GET);
    let mut conversation = Conversation::new(Limits::default());
    conversation.begin(&batch);
    let written = batch.wire_len();
    let feed = conversation.feed(&mut batch, written, b"VALUE a 0 1\r\nA\r\nEN");
    feed.expect("no wrong so far");
    let kept = conversation.take_part(&batch);
    assert_eq!(kept, Some((0, Reply::Value(Some(hit(0, b"A"))))));
}

#[test]
fn only_a_stats_that_orders_something_is_answered_by_a_word() {
    for (argument, word, is_answer) in [
        (None, "OK", false),
        (None, "RESET", false),
        (StatsArgument::new("items"), "RESET", false),
        (StatsArgument::new("resetting"), "RESET", false),
        (StatsArgument::new("reset"), "RESET", true),
        (StatsArgument::new("detail on"), "OK", true),
    ] {
        let outcome = hear(&[Request::Stats { argument }], format!("{word}\r\n").as_bytes());
        assert_eq!(outcome.replies, [is_answer.then_some(Reply::Done)], "{argument:?} {word}");
        assert_eq!(outcome.reusable, is_answer, "{argument:?} {word}");
    }
}
