//! Searching what tasks wrote.
//!
//! A search reads page by page, looks at so much and no more, and says where to go on: whoever asked may
//! have gone meanwhile, and a log of many megabytes must not keep anyone waiting.

use std::collections::VecDeque;

use campanile_engine::logs::LogLine;
use campanile_model::{Code, Fault, TaskId, Words};

use crate::moments::Told;
use crate::views::*;
use crate::{Api, CallContext};

/// Lines before and after what was found.
const AROUND: usize = 2;

const HITS: u32 = 100;
const MOST_HITS: u32 = 500;

const LINES_AT_ONCE: usize = 5_000;

/// Text that one question looks through.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

const LONGEST_NEEDLE: usize = 1_000;

impl Api {
    pub(crate) async fn search_log(&self, ask: SearchLog, cx: &CallContext) -> Result<LogHits, Fault> {
        let told = self.told(cx)?;
        if ask.text.is_empty() || ask.text.len() > LONGEST_NEEDLE {
            let reason = Words::new(
                format!("search for 1 to {LONGEST_NEEDLE} bytes of text"),
                format!("请输入 1 到 {LONGEST_NEEDLE} 字节的搜索内容"),
            );
            return Err(Code::BadRequest.fault().with_words("reason", &reason).at("text"));
        }
        let not_found = || Code::TaskNotFound.fault().with("task", &ask.task).at("task");
        let id: TaskId = ask.task.parse().map_err(|_| not_found())?;
        let task = self.store().tasks(&[id]).await?.pop().ok_or_else(not_found)?;
        let attempt = ask.attempt.unwrap_or(task.attempt());
        let most = ask.limit.unwrap_or(HITS).clamp(1, MOST_HITS) as usize;

        let mut found = Found::new(&ask.text, ask.exact, most);
        let mut from = ask.from.unwrap_or(0);
        let mut searched = 0;
        let next = loop {
            let place = i64::try_from(from).unwrap_or(i64::MAX);
            let page = self.logs.read(id, attempt, place, LINES_AT_ONCE).await?;
            let stopped = page.starts.iter().zip(&page.lines).find_map(|(start, line)| {
                searched += line.text.len() as u64;
                found.look(*start, line)
            });
            if stopped.is_some() {
                break stopped;
            }
            if page.at_end || page.lines.is_empty() {
                break None;
            }
            from = page.next;
            if searched >= MOST_BYTES {
                break Some(from);
            }
        };
        let view = |line: &LogLine| line_view(line, &told);
        let hits = found.hits.iter().map(|hit| LogHit {
            offset: hit.start,
            before: hit.before.iter().map(view).collect(),
            line: view(&hit.line),
            after: hit.after.iter().map(view).collect(),
        });
        Ok(LogHits { attempt, hits: hits.collect(), next, searched_bytes: searched })
    }
}

pub(crate) fn line_view(line: &LogLine, told: &Told) -> LogLineView {
    LogLineView {
        at: line.at,
        time: told.time_of_day(line.at),
        stream: line.stream.name().to_owned(),
        text: line.text.clone(),
    }
}

struct Hit {
    start: u64,
    before: Vec<LogLine>,
    line: LogLine,
    after: Vec<LogLine>,
}

struct Found {
    needle: String,
    exact: bool,
    most: usize,
    before: VecDeque<LogLine>,
    hits: Vec<Hit>,
}

impl Found {
    fn new(text: &str, exact: bool, most: usize) -> Found {
        let needle = if exact { text.to_owned() } else { text.to_lowercase() };
        Found { needle, exact, most, before: VecDeque::new(), hits: Vec::new() }
    }

    /// Takes one line in; hands back where to go on once there is enough.
    fn look(&mut self, start: u64, line: &LogLine) -> Option<u64> {
        let matches = match self.exact {
            true => line.text.contains(&self.needle),
            false => line.text.to_lowercase().contains(&self.needle),
        };
        let full = self.hits.len() >= self.most;
        if full && (matches || self.hits.last().is_some_and(|hit| hit.after.len() >= AROUND)) {
            return Some(start);
        }
        for hit in self.hits.iter_mut().rev().take(AROUND + 1).filter(|hit| hit.after.len() < AROUND) {
            hit.after.push(line.clone());
        }
        if matches {
            let before = self.before.iter().cloned().collect();
            self.hits.push(Hit { start, before, line: line.clone(), after: Vec::new() });
        }
        self.before.push_back(line.clone());
        if self.before.len() > AROUND {
            self.before.pop_front();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use campanile_engine::logs::LogStream;
    use campanile_model::Timestamp;

    use super::*;

    fn looked(texts: &[&str], needle: &str, exact: bool, most: usize) -> (Vec<String>, Option<u64>) {
        let mut found = Found::new(needle, exact, most);
        let next = texts.iter().enumerate().find_map(|(at, text)| {
            let line = LogLine { at: Timestamp::EPOCH, stream: LogStream::Stdout, text: (*text).to_owned() };
            found.look(at as u64, &line)
        });
        let told = |lines: &[LogLine]| lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>().join(",");
        let hits = found.hits.iter();
        (
            hits.map(|hit| format!("{}:{}|{}|{}", hit.start, told(&hit.before), hit.line.text, told(&hit.after)))
                .collect(),
            next,
        )
    }

    #[test]
    fn what_is_found_stands_between_its_neighbours() {
        let lines = ["a", "b", "Error one", "c", "error two", "d", "e", "f"];
        assert_eq!(
            looked(&lines, "error", false, 10),
            (vec!["2:a,b|Error one|c,error two".into(), "4:Error one,c|error two|d,e".into()], None)
        );
        assert_eq!(looked(&lines, "error", true, 10).0.len(), 1);
        assert_eq!(looked(&lines, "nothing", false, 10), (vec![], None));
    }

    #[test]
    fn with_enough_found_it_says_where_to_go_on() {
        let lines = ["x", "x", "a", "b", "c", "x"];
        assert_eq!(looked(&lines, "x", true, 1), (vec!["0:|x|".into()], Some(1)));
        assert_eq!(looked(&lines, "x", true, 2), (vec!["0:|x|x,a".into(), "1:x|x|a,b".into()], Some(4)));
    }
}
