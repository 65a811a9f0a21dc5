//! What is here of the reply that is being read.

use super::batch::{Batch, Sent};
use super::body::Body;
use super::text::Asked;
use super::{Hits, Refusal, Reply, Rest, Value, Verb};
use std::mem;

/// The parts of one reply, gathered until it is complete. Between replies it is empty.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// The line of keys being answered; `None` until it is looked at.
    asked: Option<Asked>,
    /// The place of that line's first key among the request's keys.
    first_key: u32,
    /// Which line a value came for last, by the place of its first key: all before that is proven.
    proven: Option<u32>,
    /// The place of a key whose value is too large, which ends the exchange.
    too_large: Option<u32>,
    hits: Hits,
    /// How many bytes the last of those values has, while some are still to come.
    declared: Option<usize>,
    pairs: Vec<(String, String)>,
    lines: Vec<Vec<u8>>,
    /// What the two lists above take in memory.
    list_bytes: usize,
}

impl Part {
    /// Whether the kernel took all of what is being answered: a read's present line, of others the whole request.
    #[inline]
    pub(super) fn is_asked(&mut self, batch: &Batch<'_>, i: usize, written: usize) -> bool {
        batch.sent_whole(i, written)
            || batch.sent(i).filter(|sent| sent.verb.reads_keys()).is_some_and(|sent| {
                sent.written_to(self.asked(sent, batch.wire()).next_line(), written)
            })
    }

    /// The line of keys that is being answered.
    #[inline]
    pub(super) fn asked(&mut self, sent: &Sent, wire: &[u8]) -> &mut Asked {
        self.asked.get_or_insert_with(|| Asked::by_line(sent.verb, wire, sent.start))
    }

    /// The place among the request's keys of one that is answered now, if it may be.
    #[inline]
    pub(super) fn answer(&mut self, sent: &Sent, wire: &[u8], key: &[u8]) -> Option<u32> {
        let number = self.asked(sent, wire).answer(wire, key)?;
        self.proven = Some(self.first_key);
        Some(self.first_key + number)
    }

    /// Adds a value whose bytes, of which there will be `declared`, are to come; one of at most `keys`.
    #[inline]
    pub(super) fn add_value(&mut self, value: Value, declared: usize, keys: usize) {
        if self.hits.values.is_empty() {
            self.hits.values.reserve(keys);
        }
        self.hits.values.push(value);
        self.declared = Some(declared);
        if let Some(mut body) = self.body() {
            body.make_room();
        }
    }

    /// The bytes of the value under way.
    #[inline]
    pub(super) fn body(&mut self) -> Option<Body<'_>> {
        let declared = self.declared?;
        self.hits.values.last_mut().map(|value| Body { bytes: &mut value.bytes, declared })
    }

    /// The value under way is complete.
    pub(super) fn end_body(&mut self) {
        self.declared = None;
    }

    /// The value of the key at `index` will not be read.
    pub(super) fn refuse_value(&mut self, index: u32) {
        self.too_large = Some(index);
    }

    /// What is known of a read that will not be completed: its whole values, and the misses and refusals of the
    /// lines that were answered to their end; after a `violation` only of those that a later line's value proves.
    pub(super) fn give_up(&mut self, keys: usize, violation: bool) -> Option<Reply> {
        let mut hits = mem::take(&mut self.hits);
        if self.declared.take().is_some() {
            hits.values.pop();
        }
        let from = if violation { self.proven.unwrap_or(0) } else { self.first_key };
        if keys == 1 {
            return hits.values.pop().map(|value| Reply::Value(Some(value)));
        }
        if hits.values.is_empty() && from == 0 && self.too_large.is_none() {
            return None;
        }
        hits.refused.retain(|(keys, _)| keys.end <= from);
        hits.rest = Some(Rest { from, too_large: self.too_large });
        Some(Reply::Values(Box::new(hits)))
    }

    /// Adds a named figure, unless the list would take more than `limit` bytes.
    #[must_use]
    pub(super) fn add_pair(&mut self, name: &[u8], figure: &[u8], limit: usize) -> bool {
        let fits = self.count_list(name.len() + figure.len(), limit);
        if fits {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            self.pairs.push((text(name), text(figure)));
        }
        fits
    }

    /// Adds a raw line, unless the list would take more than `limit` bytes.
    #[must_use]
    pub(super) fn add_line(&mut self, line: &[u8], limit: usize) -> bool {
        let fits = self.count_list(line.len(), limit);
        if fits {
            self.lines.push(line.to_vec());
        }
        fits
    }

    /// Whether entries of a list are here.
    pub(super) fn has_list(&self) -> bool {
        self.list_bytes > 0
    }

    /// Whether a value came for the line of keys that is being answered.
    pub(super) fn is_matched(&self) -> bool {
        self.proven == Some(self.first_key)
    }

    /// Ends the list, or the line of keys; the reply, if that was the last one.
    pub(super) fn end(&mut self, sent: &Sent, wire: &[u8]) -> Option<Reply> {
        match sent.verb {
            Verb::Stats | Verb::StatsOrder => Some(Reply::Pairs(mem::take(&mut self.pairs))),
            Verb::DumpKeys => Some(Reply::Lines(mem::take(&mut self.lines))),
            _ => self.end_line(sent, wire),
        }
    }

    /// Ends the reply, or the line of keys, with a "no"; with `finally` no further line is answered.
    pub(super) fn refuse(
        &mut self,
        sent: &Sent,
        wire: &[u8],
        refusal: Refusal,
        finally: bool,
    ) -> Option<Reply> {
        if !sent.verb.reads_keys() {
            return Some(Reply::Refused(refusal));
        }
        let end = if finally { count(sent) } else { self.line_end(sent, wire) };
        self.hits.refused.push((self.first_key..end, refusal));
        if finally { Some(self.reply(count(sent))) } else { self.end_line(sent, wire) }
    }

    /// Makes room for the next reply; the buffers stay.
    pub(super) fn clear(&mut self) {
        self.asked = None;
        self.first_key = 0;
        self.proven = None;
        self.too_large = None;
        self.hits.values.clear();
        self.hits.refused.clear();
        self.pairs.clear();
        self.lines.clear();
        self.list_bytes = 0;
    }

    fn end_line(&mut self, sent: &Sent, wire: &[u8]) -> Option<Reply> {
        if sent.keys == 1 {
            return Some(self.reply(1));
        }
        let end = self.line_end(sent, wire);
        if end >= count(sent) {
            return Some(self.reply(count(sent)));
        }
        let next = self.asked(sent, wire).next_line();
        self.asked = Some(Asked::by_line(sent.verb, wire, next));
        self.first_key = end;
        None
    }

    /// The place behind the line's last key among the request's keys.
    fn line_end(&mut self, sent: &Sent, wire: &[u8]) -> u32 {
        self.first_key + self.asked(sent, wire).count(wire)
    }

    /// The reply to a read of so many keys.
    fn reply(&mut self, keys: u32) -> Reply {
        if keys == 1 {
            // The list of one stays here, so that a read of one key allocates the value alone.
            return match (self.hits.values.pop(), self.hits.refused.pop()) {
                (None, Some((_, refusal))) => Reply::Refused(refusal),
                (value, _) => Reply::Value(value),
            };
        }
        let mut hits = mem::take(&mut self.hits);
        let refused: u32 = hits.refused.iter().map(|(keys, _)| keys.end - keys.start).sum();
        match hits.refused.pop() {
            Some((_, refusal)) if refused == keys && hits.values.is_empty() => {
                Reply::Refused(refusal)
            }
            last => {
                hits.refused.extend(last);
                Reply::Values(Box::new(hits))
            }
        }
    }

    /// Counts an entry of a list, with what its buffers cost beside the bytes.
    fn count_list(&mut self, bytes: usize, limit: usize) -> bool {
        const PER_ENTRY: usize = 64;
        self.list_bytes = self.list_bytes.saturating_add(bytes + PER_ENTRY);
        self.list_bytes <= limit
    }
}

/// How many keys a request reads.
fn count(sent: &Sent) -> u32 {
    u32::try_from(sent.keys).unwrap_or(u32::MAX)
}
