//! JSON, cut into its items as it is read: `[[1, 2], [3]]` is levels of items, `[1, 2]` items of one level, and values
//! one after another (a line each, or not) are items of one level too.
//!
//! Items are kept as they were written, letter by letter, but for line breaks between their tokens.

use std::io::{BufRead, BufReader, Read};

use campanile_model::Words;
use campanile_model::sharding::data::{LARGEST_ITEM, in_one_line};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::Options;
use crate::separated::broken;
use crate::table::shown;
use crate::taking::{Halt, ReadError, Taking, level_of, no_level, too_large, went};
use crate::text::{Text, named};
use crate::watched::Opened;

pub(crate) fn read(opened: &Opened, options: &Options, taking: &mut Taking<'_, '_>) -> Result<(), ReadError> {
    let encoding = options.encoding.as_deref().and_then(named);
    let text = Text::new(opened.hashed(taking.reading)?, encoding, false, u64::MAX);
    let mut cutter = Cutter { text: BufReader::with_capacity(1 << 16, text), line: 1, given: 0 };
    let outcome = cutter.all(options, taking);
    taking.about().encoding = Some(cutter.text.get_ref().encoding().name().to_owned());
    went(outcome)?;
    // For the hash, where the end was not reached.
    let mut rest = cutter.text;
    std::io::copy(&mut rest, &mut std::io::sink()).map_err(|error| broken(&error)).map(|_| ())
}

struct Cutter<R: Read> {
    text: BufReader<Text<R>>,
    line: u64,
    /// Bytes of it that were looked at.
    given: u64,
}

/// A value as it stands there, or what is wrong with it.
enum Cut {
    Value(String),
    TooLarge,
}

/// Where an item stands.
#[derive(Clone, Copy)]
struct At {
    row: u64,
    level: u32,
}

impl<R: Read> Cutter<R> {
    fn all(&mut self, options: &Options, taking: &mut Taking<'_, '_>) -> Result<(), Halt> {
        match self.next()? {
            None => Ok(()),
            Some(b'[') => self.list(options, taking),
            Some(_) => self.values(options, taking),
        }
    }

    fn values(&mut self, options: &Options, taking: &mut Taking<'_, '_>) -> Result<(), Halt> {
        while self.next()?.is_some() {
            let at = At { row: self.line, level: 0 };
            self.item(at, options, taking)?;
        }
        Ok(())
    }

    fn list(&mut self, options: &Options, taking: &mut Taking<'_, '_>) -> Result<(), Halt> {
        self.pass();
        let mut row = 0;
        let mut level = 0;
        let mut of_levels = None;
        self.elements(taking, &mut |cutter, next, taking| {
            let of_levels = *of_levels.get_or_insert(next == b'[');
            if !of_levels {
                row += 1;
                return cutter.item(At { row, level: 0 }, options, taking);
            }
            if next != b'[' {
                let words = Words::new(
                    format!("it stands after level {level} and is no list of items"),
                    format!("位于第 {level} 层之后，但不是项的列表"),
                );
                taking.fault(row + 1, words);
                return Err(Halt::Here);
            }
            if options.level.is_some() {
                let words = Words::new(
                    "the file has levels of its own; no field can say them",
                    "文件自带层级，不能再由字段指定层级",
                );
                taking.fault(row + 1, words);
                return Err(Halt::Here);
            }
            cutter.pass();
            cutter.elements(taking, &mut |cutter, _, taking| {
                row += 1;
                cutter.item(At { row, level }, options, taking)
            })?;
            level += 1;
            Ok(())
        })?;
        match self.next()? {
            None => Ok(()),
            Some(_) => {
                taking.fault(row + 1, Words::new("something stands after the end of the list", "列表结束后还有内容"));
                Err(Halt::Here)
            }
        }
    }

    /// Up to the end of a list whose beginning was passed.
    fn elements(
        &mut self,
        taking: &mut Taking<'_, '_>,
        each: &mut dyn FnMut(&mut Self, u8, &mut Taking<'_, '_>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let mut first = true;
        loop {
            let next = self.next()?;
            if next == Some(b']') && first {
                self.pass();
                return Ok(());
            }
            first = false;
            let Some(next) = next else { return self.wrong(taking) };
            each(self, next, taking)?;
            match self.next()? {
                Some(b',') => self.pass(),
                Some(b']') => {
                    self.pass();
                    return Ok(());
                }
                _ => return self.wrong(taking),
            }
        }
    }

    fn wrong(&self, taking: &mut Taking<'_, '_>) -> Result<(), Halt> {
        let line = self.line;
        let row = taking.about().items + 1;
        taking.fault(row, Words::new(format!("it is no JSON at line {line}"), format!("第 {line} 行不是有效的 JSON")));
        Err(Halt::Here)
    }

    fn item(&mut self, at: At, options: &Options, taking: &mut Taking<'_, '_>) -> Result<(), Halt> {
        let line = self.line;
        let cut = self.value()?;
        if self.text.get_ref().row_ends(self.given) {
            let encoding = self.text.get_ref().encoding().name();
            let words =
                Words::new(format!("it is not {encoding} throughout"), format!("含有无法按 {encoding} 解读的内容"));
            taking.fault(at.row, words);
            return Ok(());
        }
        let text = match cut {
            Cut::Value(text) => in_one_line(&text),
            Cut::TooLarge => {
                taking.fault(at.row, too_large());
                return Ok(());
            }
        };
        if let Err(error) = serde_json::from_str::<IgnoredAny>(&text) {
            let words = Words::new(
                format!("it is no JSON (line {line}): {error}"),
                format!("不是有效的 JSON（第 {line} 行）：{error}"),
            );
            taking.fault(at.row, words);
            // Where the next one begins can only be guessed.
            return Err(Halt::Here);
        }
        let wants_fields = options.level.is_some() || taking.wants_first();
        let fields: Option<Map<String, Value>> = if wants_fields { serde_json::from_str(&text).ok() } else { None };
        let level = match &options.level {
            None => at.level,
            Some(field) => match fields.as_ref().and_then(|fields| level_of(fields.get(field.trim())?)) {
                Some(level) => level,
                None => {
                    taking.fault(at.row, no_level(field));
                    return Ok(());
                }
            },
        };
        if taking.wants_first() {
            if taking.about().first.is_empty() {
                taking.about().columns = fields.iter().flat_map(Map::keys).cloned().collect();
            }
            let columns = taking.about().columns.clone();
            match fields {
                Some(fields) if !columns.is_empty() => {
                    let cell = |column: &String| fields.get(column).map(shown).unwrap_or_default();
                    taking.show(at.row, level, columns.iter().map(cell));
                }
                _ => taking.show(at.row, level, [text.clone()]),
            }
        }
        taking.item(at.row, level, text)
    }

    /// The value that begins here, up to where it ends or must have ended.
    fn value(&mut self) -> Result<Cut, Halt> {
        let mut text = Vec::new();
        let mut length = 0_usize;
        let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
        loop {
            let piece = self.text.fill_buf().map_err(|error| broken(&error))?;
            if piece.is_empty() {
                break;
            }
            let mut ended = false;
            let mut used = 0;
            for byte in piece {
                if quoted {
                    (quoted, escaped) = match byte {
                        _ if escaped => (true, false),
                        b'\\' => (true, true),
                        b'"' => (false, false),
                        _ => (true, false),
                    };
                    ended = !quoted && depth == 0;
                } else {
                    match byte {
                        b'"' if depth == 0 && length + used > 0 => {
                            ended = true;
                            break;
                        }
                        b'"' => quoted = true,
                        b'[' | b'{' if depth == 0 && length + used > 0 => {
                            ended = true;
                            break;
                        }
                        b'[' | b'{' => depth += 1,
                        b']' | b'}' | b',' if depth == 0 => {
                            ended = true;
                            break;
                        }
                        b']' | b'}' => {
                            depth -= 1;
                            ended = depth == 0;
                        }
                        b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => {
                            ended = true;
                            break;
                        }
                        _ => {}
                    }
                }
                used += 1;
                if ended {
                    break;
                }
            }
            let taken = &piece[..used];
            self.line += taken.iter().filter(|byte| **byte == b'\n').count() as u64;
            length += used;
            if length <= LARGEST_ITEM {
                text.extend_from_slice(taken);
            } else {
                text = Vec::new();
            }
            self.text.consume(used);
            self.given += used as u64;
            if ended {
                break;
            }
        }
        if length > LARGEST_ITEM {
            return Ok(Cut::TooLarge);
        }
        Ok(Cut::Value(String::from_utf8_lossy(&text).into_owned()))
    }

    /// The next byte that is no space, which stays.
    fn next(&mut self) -> Result<Option<u8>, Halt> {
        loop {
            let piece = self.text.fill_buf().map_err(|error| broken(&error))?;
            if piece.is_empty() {
                return Ok(None);
            }
            let spaces = piece.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
            self.line += piece[..spaces].iter().filter(|byte| **byte == b'\n').count() as u64;
            let next = piece.get(spaces).copied();
            self.text.consume(spaces);
            self.given += spaces as u64;
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    fn pass(&mut self) {
        self.text.consume(1);
        self.given += 1;
    }
}
