//! With the feature `compression`: gzip and zlib both ways, FastLZ read, all under a limit.

use std::io::{Read, Write};

use flate2::bufread::GzDecoder;
use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Compression, Decompress, FlushDecompress, Status};

use super::{Form, fastlz};
use crate::codec::error::Unreadable;

/// How a gzip member begins.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The room for a first piece of plain bytes; it doubles as they come.
const FIRST: usize = 4096;

pub(super) fn unpack(form: Form, bytes: &[u8], most: usize) -> Result<Vec<u8>, Unreadable> {
    match form {
        // xmemcached stores zlib under the mark of gzip when told to: the first bytes tell.
        Form::Gzip | Form::Zlib if bytes.starts_with(&GZIP_MAGIC) => gunzip(bytes, most),
        Form::Gzip | Form::Zlib => inflate(form, bytes, most),
        Form::SizedZlib => {
            let (size, stream) = sized(form, bytes, most)?;
            let plain = inflate(form, stream, size).map_err(|_| corrupt(form))?;
            if plain.len() == size { Ok(plain) } else { Err(corrupt(form)) }
        }
        Form::FastLz => {
            let (size, block) = sized(form, bytes, most)?;
            fastlz::inflate(block, size).ok_or_else(|| corrupt(form))
        }
        Form::Zstd => Err(Unreadable::Compressed(form)),
    }
}

pub(super) fn pack(form: Form, plain: &[u8]) -> Option<Vec<u8>> {
    let level = Compression::default();
    match form {
        Form::Gzip => finish(GzEncoder::new(Vec::new(), level), plain, GzEncoder::finish),
        Form::Zlib => finish(ZlibEncoder::new(Vec::new(), level), plain, ZlibEncoder::finish),
        Form::SizedZlib => {
            let size = u32::try_from(plain.len()).ok()?.to_le_bytes().to_vec();
            finish(ZlibEncoder::new(size, level), plain, ZlibEncoder::finish)
        }
        Form::FastLz | Form::Zstd => None,
    }
}

/// Writing to memory does not fail; if it did, the value would stay plain.
fn finish<E: Write>(
    mut encoder: E,
    plain: &[u8],
    end: impl FnOnce(E) -> std::io::Result<Vec<u8>>,
) -> Option<Vec<u8>> {
    encoder.write_all(plain).and_then(|()| end(encoder)).ok()
}

/// The plain length that stands first, if it is not too large, and the rest.
fn sized(form: Form, bytes: &[u8], most: usize) -> Result<(usize, &[u8]), Unreadable> {
    let (size, rest) = bytes.split_first_chunk::<4>().ok_or_else(|| corrupt(form))?;
    let size = usize::try_from(u32::from_le_bytes(*size)).unwrap_or(usize::MAX);
    if size > most { Err(Unreadable::TooLarge(most)) } else { Ok((size, rest)) }
}

fn gunzip(bytes: &[u8], most: usize) -> Result<Vec<u8>, Unreadable> {
    let mut decoder = GzDecoder::new(bytes);
    let mut plain = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let read = decoder.by_ref().take(limit).read_to_end(&mut plain);
    if plain.len() > most {
        return Err(Unreadable::TooLarge(most));
    }
    let whole = read.is_ok() && decoder.into_inner().is_empty();
    if whole { Ok(plain) } else { Err(corrupt(Form::Gzip)) }
}

fn inflate(form: Form, bytes: &[u8], most: usize) -> Result<Vec<u8>, Unreadable> {
    let mut stream = Decompress::new(true);
    let mut plain = Vec::with_capacity(FIRST);
    let mut left = bytes;
    loop {
        let (read, written) = (stream.total_in(), plain.len());
        let status = stream
            .decompress_vec(left, &mut plain, FlushDecompress::None)
            .map_err(|_| corrupt(form))?;
        if plain.len() > most {
            return Err(Unreadable::TooLarge(most));
        }
        let used = usize::try_from(stream.total_in() - read).unwrap_or(usize::MAX);
        left = left.get(used..).unwrap_or_default();
        if status == Status::StreamEnd {
            return if left.is_empty() { Ok(plain) } else { Err(corrupt(form)) };
        }
        if plain.len() == plain.capacity() {
            // At most one byte beyond the limit, by which it shows.
            plain.reserve_exact(plain.len().min(most - plain.len()).saturating_add(1));
        } else if used == 0 && plain.len() == written {
            return Err(corrupt(form));
        }
    }
}

fn corrupt(form: Form) -> Unreadable {
    Unreadable::Corrupt(form)
}
