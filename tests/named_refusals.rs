//! A server's "no" names the server, in calls for one key and for many.

use std::time::Duration;

use mcpool::testing::{Fault, TestServer, When};
use mcpool::{Client, Error, ErrorKind, Ttl};

fn assert_named(error: &Error, server: &TestServer) {
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    assert_eq!(error.server(), Some(server.address().as_str()), "{error}");
}

#[test]
fn a_refusal_names_the_server_that_refused() {
    let server = TestServer::start().expect("a server");
    let client = Client::new(server.address()).expect("a client");
    server.fault(Fault::Reply("SERVER_ERROR out of memory\r\n".into()), When::always());
    let minute = Duration::from_secs(60);
    assert_named(&client.get::<String>("k").expect_err("refused"), &server);
    assert_named(&client.set("k", "v", minute).expect_err("refused"), &server);
    assert_named(&client.set_raw("k", "v", 0, minute).expect_err("refused"), &server);
    assert_named(&client.delete("k").expect_err("refused"), &server);
    assert_named(&client.incr("k", 1).expect_err("refused"), &server);
    let read = client.get_many::<String, _>(["k", "l"]).into_result();
    assert_named(&read.expect_err("refused"), &server);
    let stored = client.set_many([("k", "v"), ("l", "v")], Ttl::NEVER).into_result();
    assert_named(&stored.expect_err("refused"), &server);
}
