//! What is written for a person: the language, tables, and faults.

use std::fmt::Write as _;

use campanile_model::{Fault, Words};
use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Lang {
    En,
    Zh,
}

impl Lang {
    /// By the variables that every program goes by.
    pub fn of_environment() -> Lang {
        let said = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        match said {
            Some(said) if said.starts_with("zh") => Lang::Zh,
            _ => Lang::En,
        }
    }

    /// `--lang` wherever it stands, before the line is understood: its help is in that language too.
    pub fn of_line(arguments: &[String]) -> Lang {
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let value = match argument.as_str() {
                "--lang" => arguments.next().map(String::as_str),
                other => other.strip_prefix("--lang="),
            };
            match value {
                Some("zh") => return Lang::Zh,
                Some("en") => return Lang::En,
                _ => {}
            }
        }
        Lang::of_environment()
    }

    pub fn of(self, words: &Words) -> &str {
        match self {
            Lang::En => &words.en,
            Lang::Zh => &words.zh,
        }
    }

    pub fn choose<'a>(self, en: &'a str, zh: &'a str) -> &'a str {
        match self {
            Lang::En => en,
            Lang::Zh => zh,
        }
    }
}

/// `code: message`, the field, and what to do about it.
pub fn fault(fault: &Fault, lang: Lang) -> String {
    let mut text = format!("{}: {}", fault.code, lang.of(&fault.message));
    if let Some(field) = &fault.field {
        let _ = write!(text, " ({field})");
    }
    if let Some(hint) = &fault.hint {
        let _ = write!(text, "\n  {}", lang.of(hint));
    }
    text
}

/// Columns in line, whatever the width of their letters.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(lang: Lang, head: &[(&str, &str)]) -> Table {
        Table { rows: vec![head.iter().map(|(en, zh)| lang.choose(en, zh).to_owned()).collect()] }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        // A line break would tear the table apart.
        self.rows.push(cells.into_iter().map(|cell| cell.replace(['\n', '\r'], " ")).collect());
    }

    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest: Vec<usize> = (0..columns)
            .map(|column| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, widest) in row.iter().zip(&widest) {
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', widest - width(cell) + 2));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Places on the screen; Chinese, Japanese and Korean letters and most emoji take two.
fn width(text: &str) -> usize {
    text.chars()
        .map(|letter| match letter as u32 {
            0x0300..=0x036f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
            0x1100..=0x115f
            | 0x2e80..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe4f
            | 0xff00..=0xff60
            | 0xffe0..=0xffe6
            | 0x1f300..=0x1faff
            | 0x20000..=0x3fffd => 2,
            _ => 1,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_line_in_both_scripts() {
        let mut table = Table::new(Lang::Zh, &[("NAME", "名称"), ("STATE", "状态")]);
        table.row(vec!["nightly".into(), "成功".into()]);
        table.row(vec!["数据同步".into(), "failed".into()]);
        let text = table.text();
        let places: Vec<usize> = text
            .lines()
            .map(|line| {
                let second = line.rfind("  ").map(|at| at + 2).expect("two columns");
                width(&line[..second])
            })
            .collect();
        assert_eq!(places, [10, 10, 10], "{text}");
    }

    #[test]
    fn the_language_is_the_one_asked_for() {
        let line = |words: &[&str]| Lang::of_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(line(&["jobs", "--lang", "zh"]), Lang::Zh);
        assert_eq!(line(&["--lang=en", "jobs"]), Lang::En);
    }
}
