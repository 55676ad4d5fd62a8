//! Text as UTF-8, whatever it was written in, and where in it something was no text.
//!
//! What begins with a byte order mark is what that says. Else a file is UTF-8, or, where it cannot be that, GB 18030,
//! of which GBK and GB 2312 are parts: what a Chinese Excel writes. That is decided at the first letter beyond ASCII, so
//! that a file is read once, however late that letter comes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding, GB18030, UTF_8};

/// Read at once.
const PIECE: usize = 64 * 1024;

/// Looked at to decide what a file is written in.
const WINDOW: usize = 16 * 1024;

/// Places that are remembered until somebody asks.
const MOST_BAD: usize = 100;

pub(crate) struct Text<R> {
    inner: R,
    /// None while everything is ASCII.
    decoder: Option<Decoder>,
    encoding: Option<&'static Encoding>,
    /// Line ends become `\n`, and the last line has one.
    lines: bool,
    raw: Vec<u8>,
    raw_ended: bool,
    /// Decoded, and not yet handed out.
    out: Vec<u8>,
    at: usize,
    /// Of the byte before: a `\r` whose `\n` may follow.
    after_return: bool,
    last: u8,
    ended: bool,
    /// Bytes that were put into `out` so far.
    made: u64,
    /// Where in what is handed out something stood that is no text.
    bad: RefCell<VecDeque<u64>>,
    /// Where the row began that is read, and how long it may be: a quote that nobody closes must not take the memory.
    row_began: Cell<u64>,
    longest_row: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("a row is too long")]
pub(crate) struct RowTooLong;

impl<R: Read> Text<R> {
    pub(crate) fn new(inner: R, encoding: Option<&'static Encoding>, lines: bool, longest_row: u64) -> Text<R> {
        Text {
            inner,
            decoder: None,
            encoding,
            lines,
            raw: Vec::new(),
            raw_ended: false,
            out: Vec::new(),
            at: 0,
            after_return: false,
            last: b'\n',
            ended: false,
            made: 0,
            bad: RefCell::default(),
            row_began: Cell::new(0),
            longest_row,
        }
    }

    /// As far as it is known.
    pub(crate) fn encoding(&self) -> &'static Encoding {
        self.encoding.unwrap_or(UTF_8)
    }

    /// What comes next, and stays.
    pub(crate) fn peek(&mut self) -> io::Result<&[u8]> {
        self.fill()?;
        Ok(&self.out[self.at..])
    }

    /// The row ends there. Whether something in it was no text.
    pub(crate) fn row_ends(&self, at: u64) -> bool {
        self.row_began.set(at);
        let mut bad = self.bad.borrow_mut();
        let before = bad.len();
        while bad.front().is_some_and(|first| *first < at) {
            bad.pop_front();
        }
        bad.len() < before
    }

    fn read_more(&mut self) -> io::Result<()> {
        let before = self.raw.len();
        self.raw.resize(before + PIECE, 0);
        let read = self.inner.read(&mut self.raw[before..]);
        self.raw.truncate(before + read.as_ref().copied().unwrap_or(0));
        self.raw_ended = read? == 0;
        Ok(())
    }

    /// Until something is there, or nothing comes any more.
    fn fill(&mut self) -> io::Result<()> {
        while self.at == self.out.len() && !self.ended {
            self.out.clear();
            self.at = 0;
            let is_first = self.made == 0 && self.decoder.is_none();
            self.read_more()?;
            if is_first {
                self.take_mark();
            }
            if self.decoder.is_none() && !self.decides()? {
                let raw = std::mem::take(&mut self.raw);
                self.put(&raw);
            } else {
                self.decode();
            }
            if self.raw_ended && self.raw.is_empty() {
                self.ended = true;
                if self.lines && self.last != b'\n' {
                    self.put(b"\n");
                }
            }
        }
        Ok(())
    }

    fn take_mark(&mut self) {
        match Encoding::for_bom(&self.raw) {
            Some((encoding, length)) => {
                self.raw.drain(..length);
                self.encoding = Some(encoding);
            }
            None if self.encoding.is_none() => return,
            None => {}
        }
        self.decoder = self.encoding.map(Encoding::new_decoder_without_bom_handling);
    }

    /// What it is written in, where that can be seen by now.
    fn decides(&mut self) -> io::Result<bool> {
        let Some(first) = self.raw.iter().position(|byte| !byte.is_ascii()) else { return Ok(false) };
        while self.raw.len() - first < WINDOW && !self.raw_ended {
            self.read_more()?;
        }
        let encoding = if looks_like_utf8(&self.raw[first..]) { UTF_8 } else { GB18030 };
        self.encoding = Some(encoding);
        self.decoder = Some(encoding.new_decoder_without_bom_handling());
        Ok(true)
    }

    fn decode(&mut self) {
        let Some(mut decoder) = self.decoder.take() else { return };
        let raw = std::mem::take(&mut self.raw);
        let mut rest = raw.as_slice();
        let mut piece = vec![0; PIECE];
        loop {
            let (result, read, written) = decoder.decode_to_utf8_without_replacement(rest, &mut piece, self.raw_ended);
            rest = &rest[read..];
            self.put(&piece[..written]);
            match result {
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(_, _) => {
                    let mut bad = self.bad.borrow_mut();
                    if bad.len() < MOST_BAD {
                        bad.push_back(self.made);
                    }
                    drop(bad);
                    self.put("\u{fffd}".as_bytes());
                }
            }
        }
        self.decoder = Some(decoder);
    }

    fn put(&mut self, text: &[u8]) {
        let before = self.out.len();
        if self.lines && (self.after_return || text.contains(&b'\r')) {
            for byte in text {
                match byte {
                    b'\n' if self.after_return => {}
                    b'\r' => self.out.push(b'\n'),
                    other => self.out.push(*other),
                }
                self.after_return = *byte == b'\r';
            }
        } else {
            self.out.extend_from_slice(text);
        }
        self.made += (self.out.len() - before) as u64;
        if let Some(last) = self.out.last() {
            self.last = *last;
        }
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let there = &self.out[self.at..];
        let given = self.made - there.len() as u64;
        if given.saturating_sub(self.row_began.get()) > self.longest_row {
            return Err(io::Error::other(RowTooLong));
        }
        let n = there.len().min(buffer.len());
        buffer[..n].copy_from_slice(&there[..n]);
        self.at += n;
        Ok(n)
    }
}

/// Whether it can be UTF-8; a few broken letters among many do not make it another encoding.
fn looks_like_utf8(bytes: &[u8]) -> bool {
    let (mut letters, mut broken) = (0, 0);
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        letters += chunk.valid().chars().filter(|letter| !letter.is_ascii()).count();
        let is_cut = chunks.peek().is_none() && chunk.invalid().len() < 4 && chunk.invalid().first() >= Some(&0xc2);
        broken += usize::from(!chunk.invalid().is_empty() && !is_cut);
    }
    broken == 0 || letters > 10 * broken
}

/// What somebody calls an encoding.
pub(crate) fn named(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.trim().as_bytes()).map(|found| if found == encoding_rs::GBK { GB18030 } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], lines: bool) -> (String, &'static str, usize) {
        let mut text = Text::new(bytes, None, lines, u64::MAX);
        let mut all = String::new();
        text.read_to_string(&mut all).expect("it is text");
        let bad = text.bad.borrow().len();
        (all, text.encoding().name(), bad)
    }

    #[test]
    fn what_a_file_is_written_in_is_found() {
        let table: &[(&[u8], &str, &str, usize)] = &[
            (b"a,b", "a,b", "UTF-8", 0),
            ("客户".as_bytes(), "客户", "UTF-8", 0),
            (b"\xef\xbb\xbf\xe5\xae\xa2", "客", "UTF-8", 0),
            (b"\xbf\xcd\xbb\xa7", "客户", "gb18030", 0),
            (b"\xff\xfea\0\xa2\x5b", "a客", "UTF-16LE", 0),
            (b"\xfe\xff\x5b\xa2", "客", "UTF-16BE", 0),
            (b"", "", "UTF-8", 0),
        ];
        for (bytes, expected, encoding, bad) in table {
            assert_eq!(read(bytes, false), ((*expected).to_owned(), *encoding, *bad), "{bytes:?}");
        }
    }

    #[test]
    fn the_first_letter_beyond_ascii_decides_however_late_it_comes() {
        let mut late = vec![b'x'; 3 * PIECE + 5];
        late.extend_from_slice(b"\xbf\xcd\xbb\xa7");
        let (text, encoding, _) = read(&late, false);
        assert!(text.ends_with("x客户"));
        assert_eq!(encoding, "gb18030");
        // A letter of UTF-8 that two pieces share.
        let mut cut = vec![b'x'; PIECE - 1];
        cut.extend_from_slice("客".as_bytes());
        let (text, encoding, bad) = read(&cut, false);
        assert!(text.ends_with("x客"));
        assert_eq!((encoding, bad), ("UTF-8", 0));
    }

    #[test]
    fn a_broken_letter_among_many_is_remembered_by_its_place() {
        let mut bytes = "客户".repeat(50).into_bytes();
        bytes.push(0xff);
        bytes.extend_from_slice(b"z");
        let (text, encoding, bad) = read(&bytes, false);
        assert!(text.ends_with("户\u{fffd}z"));
        assert_eq!((encoding, bad), ("UTF-8", 1));
    }

    #[test]
    fn every_line_ends_alike() {
        for (bytes, expected) in
            [("a\r\nb", "a\nb\n"), ("a\rb\r", "a\nb\n"), ("a\n", "a\n"), ("", ""), ("\r\n\r\n", "\n\n")]
        {
            assert_eq!(read(bytes.as_bytes(), true).0, expected, "{bytes:?}");
        }
    }
}
