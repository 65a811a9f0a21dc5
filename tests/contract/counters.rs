//! Counters.

use mcpool::{Codec, ErrorKind, Ttl};

use crate::stand::Stand;

pub(crate) fn incr_and_decr_count_what_set_stored(stand: &Stand) {
    let client = stand.client();
    assert_eq!(client.incr("n", 1).unwrap(), None);
    assert_eq!(client.decr("n", 1).unwrap(), None);
    client.set("n", &5_u64, Ttl::NEVER).unwrap();
    assert_eq!(client.incr("n", 37).unwrap(), Some(42));
    assert_eq!(client.decr("n", 2).unwrap(), Some(40));
    assert_eq!(client.get::<u64>("n").unwrap(), Some(40));
    for codec in [Codec::Json, Codec::Whalin, Codec::Raw] {
        let client = client.with_codec(codec);
        client.set_counter("c", 7, Ttl::NEVER).unwrap();
        assert_eq!(client.incr("c", 1).unwrap(), Some(8));
        assert_eq!(client.counter("c").unwrap(), Some(8));
    }
}

pub(crate) fn counters_wrap_up_and_stop_at_zero(stand: &Stand) {
    let client = stand.client();
    client.set_counter("n", u64::MAX, Ttl::NEVER).unwrap();
    assert_eq!(client.counter("n").unwrap(), Some(u64::MAX));
    assert_eq!(client.incr("n", 2).unwrap(), Some(1));
    assert_eq!(client.decr("n", 5).unwrap(), Some(0));
    assert_eq!(client.counter("n").unwrap(), Some(0));
}

pub(crate) fn a_counter_that_is_no_number_is_a_typed_error(stand: &Stand) {
    let client = stand.client();
    client.set("text", "abc", Ttl::NEVER).unwrap();
    let error = client.incr("text", 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotANumber, "{error}");
    assert!(error.to_string().contains("set_counter"), "the remedy is named: {error}");
    assert_eq!(client.counter("text").unwrap_err().kind(), ErrorKind::Decode);
    // An integer in Whalin's binary form is no number to the server.
    let whalin = client.with_codec(Codec::Whalin);
    whalin.set("binary", &7_i32, Ttl::NEVER).unwrap();
    assert_eq!(whalin.incr("binary", 1).unwrap_err().kind(), ErrorKind::NotANumber);
    let error = whalin.counter("binary").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_eq!(error.raw_value(), Some((&[0, 0, 0, 7][..], 4)));
    assert_eq!(client.status().servers[0].dials, 1, "refusals cost no connection");
}

pub(crate) fn text_that_only_looks_like_a_number_is_not_counted(stand: &Stand) {
    let client = stand.client();
    for text in ["", "-1", "1.5", "0x1", "18446744073709551616", "123456789012345678901"] {
        client.set_raw("n", text, 0, Ttl::NEVER).unwrap();
        for error in [client.incr("n", 1).unwrap_err(), client.decr("n", 1).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::NotANumber, "{text:?}: {error}");
            assert_eq!((error.key(), error.server()), (Some(&b"n"[..]), Some(stand.address())));
            assert!(!error.may_have_been_applied(), "{text:?}");
        }
        let error = client.incr_or_init("n", 1, 1, Ttl::NEVER).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotANumber, "{text:?}: {error}");
        assert_eq!(client.counter("n").unwrap_err().kind(), ErrorKind::Decode, "{text:?}");
        assert_eq!(client.get_raw("n").unwrap().unwrap().bytes, text.as_bytes(), "it is kept");
    }
}

pub(crate) fn incr_or_init_starts_at_the_initial_value(stand: &Stand) {
    let client = stand.client();
    assert_eq!(client.incr_or_init("n", 5, 100, Ttl::NEVER).unwrap(), Some(100));
    assert_eq!(client.incr_or_init("n", 5, 100, Ttl::NEVER).unwrap(), Some(105));
    assert_eq!(client.decr_or_init("m", 5, 100, Ttl::NEVER).unwrap(), Some(100));
    assert_eq!(client.decr_or_init("m", 5, 100, Ttl::NEVER).unwrap(), Some(95));
}

pub(crate) fn a_counter_is_read_with_the_blanks_that_decr_leaves(stand: &Stand) {
    let client = stand.client();
    client.set("n", &10, Ttl::NEVER).unwrap();
    assert_eq!(client.decr("n", 1).unwrap(), Some(9));
    assert_eq!(client.get_raw("n").unwrap().unwrap().bytes, b"9 ", "as the server pads it");
    assert_eq!(client.counter("n").unwrap(), Some(9));
    assert_eq!(client.get::<u8>("n").unwrap(), Some(9));
    assert_eq!(client.incr("n", 1).unwrap(), Some(10));
}
