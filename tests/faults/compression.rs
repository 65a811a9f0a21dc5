//! What another client compressed is read where decompression is built in; else, and when damaged, it is named.

use mcpool::{Codec, DecodeError, DecodeErrorKind, ErrorKind, Ttl};

use crate::stand::Stand;

/// `hello` as gzip, zlib and raw deflate.
const HELLO: [&[u8]; 3] = [
    b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0",
    b"\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15",
    b"\xcb\x48\xcd\xc9\xc9\x07\0",
];

#[test]
fn f158_compressed_values_of_others_are_a_typed_error_with_the_bytes() {
    let built_in = cfg!(feature = "compression");
    let marked = if built_in { DecodeErrorKind::Corrupt } else { DecodeErrorKind::Compressed };
    // Bit 1 is Whalin's mark of gzip.
    for (codec, flags, kind) in [
        (Codec::Whalin, 2 + 32, marked),
        (Codec::Whalin, 2, marked),
        (Codec::Json, 2, marked),
        (Codec::Json, 1 << 4, DecodeErrorKind::UnknownFlags),
    ] {
        for stand in [Stand::embedded(), Stand::real()] {
            let client = stand.builder().codec(codec.clone()).build().unwrap();
            client.set("good", "v", Ttl::NEVER).unwrap();
            let mut broken = HELLO[0].to_vec();
            broken[12] ^= 1;
            let long = [HELLO[0], b"junk"].concat();
            let cut = &HELLO[0][..11];
            for bytes in HELLO.into_iter().chain([&b""[..], b"\x1f", cut, &broken, &long]) {
                client.set_raw("k", bytes, flags, Ttl::NEVER).unwrap();
                let whole = bytes == HELLO[0] || bytes == HELLO[1];
                if built_in && whole && kind == marked {
                    assert_eq!(client.get::<String>("k").unwrap().as_deref(), Some("hello"));
                    continue;
                }
                let error = client.get::<String>("k").unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
                assert_eq!(error.raw_value(), Some((bytes, flags)));
                let source = std::error::Error::source(&error).unwrap();
                assert_eq!(source.downcast_ref::<DecodeError>().map(DecodeError::kind), Some(kind));
                assert_eq!(client.get::<String>("good").unwrap().as_deref(), Some("v"));
            }
            assert_eq!(client.status().servers[0].dials, 1);
        }
    }
}

#[test]
fn f166_large_text_is_stored_as_it_is_under_flags_that_any_reader_takes() {
    let text = "compressible ".repeat(8000);
    for stand in [Stand::embedded(), Stand::real()] {
        let client = stand.client();
        client.set("t", &text, Ttl::NEVER).unwrap();
        client.set("b", text.as_bytes(), Ttl::NEVER).unwrap();
        let raw = client.get_raw("t").unwrap().unwrap();
        assert!(raw.bytes == text.as_bytes() && raw.flags == 0, "flags {}", raw.flags);
        assert!(client.get_raw("b").unwrap().unwrap().bytes == text.as_bytes());
    }
}
