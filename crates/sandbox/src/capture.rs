//! Keeps the head and the tail of an output in bounded memory.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read};

use crate::Captured;

/// An output being read from a non-blocking pipe.
pub(crate) struct Capture {
    pipe: Option<File>,
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Capture {
    /// Keeps at most `limit` bytes of what comes out of `pipe`.
    pub(crate) fn new(pipe: File, limit: usize) -> Self {
        let (head, tail) = (Vec::new(), VecDeque::new());
        Self {
            pipe: Some(pipe),
            half: limit.div_ceil(2),
            head,
            tail,
            dropped: 0,
        }
    }

    /// The pipe, until its end was seen.
    pub(crate) fn pipe(&self) -> Option<&File> {
        self.pipe.as_ref()
    }

    /// Reads what is there now, at most `rounds` buffers of it.
    pub(crate) fn drain(&mut self, rounds: usize) {
        let mut buffer = [0; 1 << 16];
        for _ in 0..rounds {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => self.push(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.dropped += excess as u64;
    }

    /// What was kept.
    pub(crate) fn finish(mut self) -> Captured {
        // The writers are gone: what the pipe holds is all that will come. A pipe holds at most
        // 1 MiB without privileges (pipe(7)), so the bound cuts nothing off.
        self.drain(64);
        Captured {
            head: self.head,
            tail: self.tail.into(),
            dropped: self.dropped,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn capture(limit: usize) -> Capture {
        Capture::new(File::open("/dev/null").unwrap(), limit)
    }

    #[test]
    fn short_output_is_kept_whole_in_the_head() {
        let mut capture = capture(10);
        capture.push(b"abc");
        let captured = capture.finish();
        assert_eq!(
            (captured.head, captured.tail, captured.dropped),
            (b"abc".to_vec(), vec![], 0)
        );
    }

    #[test]
    fn long_output_keeps_both_ends_and_counts_the_rest() {
        let mut capture = capture(6);
        for chunk in [&b"01"[..], b"2345", b"6789"] {
            capture.push(chunk);
        }
        let captured = capture.finish();
        assert_eq!(captured.head, b"012");
        assert_eq!(captured.tail, b"789");
        assert_eq!(captured.dropped, 4);
        assert_eq!(captured.text(), "012\n[4 bytes dropped]\n789");
    }
}
