//! What befalls one of those who travel together is not told to the others as theirs.

use std::thread;

use mcpool::{ErrorKind, Ttl};

use crate::scene::{Scene, done};

#[test]
fn a_value_that_is_too_large_is_the_error_of_its_own_reader_and_of_nobody_else() {
    let scene = Scene::new(|b| b.max_value_bytes(1000));
    scene.server.put("large", vec![b'x'; 2000], 0);
    scene.server.put("small", "value", 0);
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let small = scene.gather(scope, |c| c.get::<String>("small"));
        let large = scene.gather(scope, |c| c.get::<String>("large"));
        let missing = scene.gather(scope, |c| c.get::<String>("nobody"));
        let versioned = scene.gather(scope, |c| c.gets::<String>("small"));
        let count = scene.gather(scope, |c| c.incr("n", 1));
        scene.release(first).expect("answered");
        assert_eq!(done(count).expect("what changes something goes first"), Some(2));
        assert_eq!(done(small).expect("read").as_deref(), Some("value"));
        let error = done(large).expect_err("too large");
        assert_eq!(error.kind(), ErrorKind::ValueTooLarge, "{error}");
        assert_eq!(done(missing).expect("asked again"), None);
        assert_eq!(
            done(versioned).expect("asked again").map(|i| i.value).as_deref(),
            Some("value")
        );
    });
}

#[test]
fn a_value_that_is_too_large_is_the_error_of_its_reader_also_when_nobody_else_reads() {
    let scene = Scene::new(|b| b.max_value_bytes(1000));
    scene.server.put("large", vec![b'x'; 2000], 0);
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let store = scene.gather(scope, |c| c.set("s", "x", Ttl::NEVER));
        let large = scene.gather(scope, |c| c.get::<String>("large"));
        let versioned = scene.gather(scope, |c| c.gets::<u32>("n"));
        scene.release(first).expect("answered");
        let error = done(large).expect_err("too large");
        assert_eq!(error.kind(), ErrorKind::ValueTooLarge, "{error}");
        done(store).expect("stored");
        assert_eq!(done(versioned).expect("asked again").map(|i| i.value), Some(1));
    });
    let reads = scene.server.commands().iter().filter(|c| *c == "get large").count();
    assert_eq!(reads, 1, "it is not asked for twice");
}

#[test]
fn a_buffer_to_read_into_keeps_its_room_also_when_another_caller_brings_the_value() {
    const ROOM: usize = 100_000;
    let scene = Scene::new(|b| b);
    scene.server.put("k", "value", 7);
    thread::scope(|scope| {
        let first = scene.occupy(scope, |_| {});
        let leader = scene.gather(scope, |c| c.get::<String>("nobody"));
        let read = scene.gather(scope, |c| {
            let mut buffer = Vec::with_capacity(ROOM);
            (c.get_raw_into("k", &mut buffer), buffer)
        });
        scene.release(first).expect("answered");
        assert_eq!(done(leader).expect("answered"), None);
        let (outcome, buffer) = done(read);
        assert_eq!(outcome.expect("read"), Some(7));
        assert_eq!(buffer, b"value");
        assert!(buffer.capacity() >= ROOM, "{}", buffer.capacity());
    });
}
