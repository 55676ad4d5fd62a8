//! From the bytes that a program writes to lines that can be kept.
//!
//! Memory is bounded whatever is written: a line is cut at 64 KiB with a visible
//! mark and a count of what was cut, and bytes that are not UTF-8 become
//! replacement characters. It reads nothing and sends nothing itself.

use campanile_proto::{MAX_LINE_BYTES, v1};

/// Where a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
    /// Said by the processor or by the executor.
    Log,
}

impl From<Stream> for v1::LogStream {
    fn from(stream: Stream) -> Self {
        match stream {
            Stream::Stdout => v1::LogStream::Stdout,
            Stream::Stderr => v1::LogStream::Stderr,
            Stream::Log => v1::LogStream::Log,
        }
    }
}

/// One line, ready to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    /// How many bytes were cut off its end; the text says so too.
    pub cut_bytes: u64,
}

impl Line {
    pub fn from_bytes(bytes: &[u8]) -> Line {
        let mut splitter = LineSplitter::default();
        splitter.keep(bytes);
        splitter.take()
    }
}

/// Cuts a flow of bytes into lines, holding at most one line's worth of them.
#[derive(Debug, Default)]
pub struct LineSplitter {
    kept: Vec<u8>,
    cut: u64,
}

impl LineSplitter {
    /// Takes what was read and gives the lines that it completes. Ends of line are
    /// `\n` or `\r\n`.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.keep(&rest[..end]);
            lines.push(self.take());
            rest = &rest[end + 1..];
        }
        self.keep(rest);
        lines
    }

    /// What is left when nothing more comes: the last line, if it had no end.
    pub fn finish(&mut self) -> Option<Line> {
        (!self.kept.is_empty()).then(|| self.take())
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE_BYTES.saturating_sub(self.kept.len());
        let fits = bytes.len().min(room);
        self.kept.extend_from_slice(&bytes[..fits]);
        self.cut += (bytes.len() - fits) as u64;
    }

    fn take(&mut self) -> Line {
        let mut cut = std::mem::take(&mut self.cut);
        let kept = std::mem::take(&mut self.kept);
        let line = kept.strip_suffix(b"\r").unwrap_or(&kept);
        // A character that the cut split in two is cut whole, not shown as broken.
        let line = match std::str::from_utf8(line) {
            Err(broken) if cut > 0 && broken.error_len().is_none() => {
                cut += (line.len() - broken.valid_up_to()) as u64;
                &line[..broken.valid_up_to()]
            }
            _ => line,
        };
        let mut text = String::from_utf8_lossy(line).into_owned();
        // Replacement characters are longer than the bytes they stand for.
        if text.len() > MAX_LINE_BYTES {
            let end = (0..=MAX_LINE_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            cut += text[end..].chars().count() as u64;
            text.truncate(end);
        }
        if cut > 0 {
            text.push_str(&format!(" … [{cut} bytes cut · 已截断 {cut} 字节]"));
        }
        Line { text, cut_bytes: cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Line> {
        let mut splitter = LineSplitter::default();
        let mut lines: Vec<_> = pieces.iter().flat_map(|piece| splitter.push(piece)).collect();
        lines.extend(splitter.finish());
        lines
    }

    fn texts(pieces: &[&[u8]]) -> Vec<String> {
        lines(pieces).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_line_may_come_in_pieces_and_the_last_one_without_an_end() {
        assert_eq!(texts(&[b"one\ntw", b"o\r\n\nthree"]), ["one", "two", "", "three"]);
        assert_eq!(texts(&["时".as_bytes().split_at(1).0, "时".as_bytes().split_at(1).1]), ["时"]);
    }

    #[test]
    fn bytes_that_are_not_text_become_replacement_characters() {
        assert_eq!(texts(&[b"a\xff\xfeb\n"]), ["a\u{fffd}\u{fffd}b"]);
    }

    #[test]
    fn a_line_of_five_megabytes_is_cut_and_the_next_one_is_whole() {
        let mut splitter = LineSplitter::default();
        for _ in 0..5 * 1024 {
            assert_eq!(splitter.push(&[b'x'; 1024]), []);
            assert!(splitter.kept.len() <= MAX_LINE_BYTES);
        }
        let lines = splitter.push(b"\nnext\n");
        assert_eq!(lines[0].cut_bytes, 5 * 1024 * 1024 - 64 * 1024);
        assert!(lines[0].text.ends_with("[5177344 bytes cut · 已截断 5177344 字节]"));
        assert_eq!(lines[1], Line { text: "next".into(), cut_bytes: 0 });
    }

    #[test]
    fn a_line_of_nothing_but_broken_bytes_stays_within_the_bound_too() {
        let line = Line::from_bytes(&vec![0xff; MAX_LINE_BYTES]);
        assert!(line.text.len() < MAX_LINE_BYTES + 100 && line.cut_bytes > 0);
    }

    #[test]
    fn the_cut_does_not_split_a_character() {
        let long = "时".repeat(MAX_LINE_BYTES);
        let line = Line::from_bytes(long.as_bytes());
        assert!(!line.text.contains('\u{fffd}'));
        assert_eq!(line.cut_bytes as usize, long.len() - MAX_LINE_BYTES / 3 * 3);
    }
}
