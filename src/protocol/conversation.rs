//! Reads the replies to one batch after another, and decides whether the connection may be used again.

use super::batch::{Batch, kept};
use super::event::{Event, Head};
use super::part::Part;
use super::violation::excerpt;
use super::{Limits, Reply, Value, Violation, text};
use std::mem;

/// The reading side of one connection.
///
/// Replies are matched to requests by their order, and by key where they carry one. A value with the
/// right key at its place proves that the connection was in step until there. When the peer breaks a
/// rule, answers up to the last such proof are kept and the others are withdrawn, since each may be
/// the answer to something else; of a read under way its whole values stand, each by its own key. After a refusal that [leaves the rest in doubt](super::Refusal::ends_conversation)
/// the answers before it are kept.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    limits: Limits,
    /// The number of requests in the batch.
    expected: usize,
    /// Those complete, in order; `None` once taken.
    replies: Vec<Option<Reply>>,
    /// How many of them are proven.
    proven: usize,
    /// Nothing more on this connection is believed.
    over: bool,
    /// Of the first reply that is not complete.
    part: Part,
    /// What a direct read brought behind its value.
    spill: Vec<u8>,
}

impl Conversation {
    /// The conversation of a fresh connection.
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Turns to a batch whose bytes are about to be sent.
    ///
    /// From here until the last reply is complete, the connection is not reusable. If it was not
    /// [reusable](Self::reusable) before, it never will be, and no reply is read.
    pub(crate) fn begin(&mut self, batch: &Batch<'_>) {
        self.over = !self.reusable();
        self.expected = batch.len();
        self.replies.clear();
        self.replies = kept(mem::take(&mut self.replies));
        self.spill = kept(mem::take(&mut self.spill));
        self.proven = 0;
    }

    /// Reads what came in and returns how many bytes of it are done with. The others, the start of a
    /// line, must come again in front of what follows them; they are never more than a line's limit.
    ///
    /// `written` is how many bytes of the batch the kernel has taken. After an error [`Self::take`]
    /// still gives the replies that are beyond doubt.
    ///
    /// # Errors
    /// What the peer did wrong. The connection must be closed.
    pub(crate) fn feed(
        &mut self,
        batch: &mut Batch<'_>,
        written: usize,
        input: &[u8],
    ) -> Result<usize, Violation> {
        if let Some(body) = self.part.body() {
            body.settle(&mut self.spill);
        }
        let result = if self.spill.is_empty() {
            self.read(batch, written, input)
        } else {
            self.read_behind_spill(batch, written, input)
        };
        if result.is_err() {
            self.over = true;
            self.replies.truncate(self.proven);
        }
        result
    }

    /// In the middle of a large value: where to append bytes straight from the connection.
    ///
    /// As many as there is room for may be appended; [`Self::feed`], with or without further input,
    /// goes on behind them. Only of use when all earlier input has been fed.
    pub(crate) fn body(&mut self) -> Option<&mut Vec<u8>> {
        self.part.body()?.direct()
    }

    /// Whether nothing more is to be read for this batch.
    pub(crate) fn is_done(&self) -> bool {
        self.over || self.replies.len() == self.expected
    }

    /// The reply to request `i`, once. `None` when it has not come, or is not to be believed: the
    /// request may or may not have been carried out.
    pub(crate) fn take(&mut self, i: usize) -> Option<Reply> {
        self.replies.get_mut(i)?.take()
    }

    /// What is known of the first reply that is not complete, once the exchange has failed: the part of a read of
    /// keys that is beyond doubt, with the place of its request.
    pub(crate) fn take_part(&mut self, batch: &Batch<'_>) -> Option<(usize, Reply)> {
        let i = self.replies.len();
        let sent = batch.sent(i).filter(|sent| sent.verb.reads_keys())?;
        Some((i, self.part.give_up(sent.keys, self.over)?))
    }

    /// The verdict: is the connection in step, so that it may serve another batch?
    pub(crate) fn reusable(&self) -> bool {
        !self.over && self.replies.len() == self.expected
    }

    /// As [`Self::feed`], when bytes from a direct read stand before the input.
    fn read_behind_spill(
        &mut self,
        batch: &mut Batch<'_>,
        written: usize,
        input: &[u8],
    ) -> Result<usize, Violation> {
        let mut whole = mem::take(&mut self.spill);
        whole.extend_from_slice(input);
        let used = self.read(batch, written, &whole)?;
        whole.drain(..used.min(whole.len()));
        self.spill = whole;
        Ok(input.len())
    }

    fn read(
        &mut self,
        batch: &mut Batch<'_>,
        written: usize,
        input: &[u8],
    ) -> Result<usize, Violation> {
        let mut rest = input;
        while !self.is_done() {
            if let Some(mut body) = self.part.body() {
                rest = body.fill(rest);
                if !body.is_whole() || rest.len() < text::TERMINATOR.len() {
                    break;
                }
                rest = rest.strip_prefix(text::TERMINATOR).ok_or_else(|| {
                    Violation::NoTerminator { declared: body.declared, found: excerpt(rest) }
                })?;
                self.part.end_body();
                continue;
            }
            let Some(sent) = batch.sent(self.replies.len()) else { break };
            if let Some((head, behind)) = text::head(sent.verb, rest, &self.limits) {
                rest = behind;
                self.head(batch, written, &head)?;
                continue;
            }
            let Some((line, used)) = text::line(sent.verb, rest, &self.limits)? else { break };
            rest = rest.get(used..).unwrap_or_default();
            self.line(batch, written, line)?;
        }
        if self.over {
            return Ok(input.len());
        }
        if self.is_done() && !rest.is_empty() {
            return Err(Violation::Surplus { found: excerpt(rest) });
        }
        Ok(input.len() - rest.len())
    }

    /// Takes in what stands before a value of the reply to the first unanswered request.
    #[inline]
    fn head(
        &mut self,
        batch: &mut Batch<'_>,
        written: usize,
        head: &Head<'_>,
    ) -> Result<(), Violation> {
        let i = self.replies.len();
        let (wire, Some(sent)) = (batch.wire(), batch.sent(i)) else { return Ok(()) };
        let (verb, keys) = (sent.verb, sent.keys);
        if !self.part.is_asked(batch, i, written) {
            return Err(Violation::Premature { verb, line: excerpt(head.line) });
        }
        let Some(index) = self.part.answer(sent, wire, head.key) else {
            return Err(Violation::WrongKey { verb, line: excerpt(head.line) });
        };
        self.proven = i;
        let limit = self.limits.max_value_bytes;
        let Some(declared) = usize::try_from(head.len).ok().filter(|len| *len <= limit) else {
            self.part.refuse_value(index);
            return Err(Violation::ValueTooLarge { declared: head.len, limit });
        };
        // Only a read of one key has a buffer.
        let bytes = if keys == 1 { batch.take_buffer(i) } else { Vec::new() };
        let value = Value { index, flags: head.flags, cas: head.cas, bytes };
        self.part.add_value(value, declared, keys);
        Ok(())
    }

    /// Takes in one line of the reply to the first unanswered request.
    fn line(
        &mut self,
        batch: &mut Batch<'_>,
        written: usize,
        line: &[u8],
    ) -> Result<(), Violation> {
        let i = self.replies.len();
        let (wire, Some(sent)) = (batch.wire(), batch.sent(i)) else { return Ok(()) };
        let verb = sent.verb;
        let limit = self.limits.max_list_bytes;
        let too_long = Violation::ListTooLong { verb, limit };
        let sent_whole = self.part.is_asked(batch, i, written);
        let reply = match text::event(verb, line)? {
            Event::Refused(refusal) => {
                // A server that did not wait for the whole request will not be in step with us.
                self.over = !sent_whole || refusal.ends_conversation(verb);
                self.part.refuse(sent, wire, refusal, self.over)
            }
            _ if !sent_whole => return Err(Violation::Premature { verb, line: excerpt(line) }),
            Event::Pair { name, figure } => {
                self.part.add_pair(name, figure, limit).then_some(None).ok_or(too_long)?
            }
            Event::Line(line) => self.part.add_line(line, limit).then_some(None).ok_or(too_long)?,
            Event::End => self.part.end(sent, wire),
            Event::Whole(_) if self.part.has_list() => {
                return Err(Violation::UnexpectedReply { verb, line: excerpt(line) });
            }
            Event::Whole(reply) => Some(reply),
        };
        if reply.is_some() {
            self.replies.push(reply);
            if self.part.is_matched() {
                self.proven = self.replies.len();
            }
            self.part.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
