//! How far something is, where a person sees it: a bar that is drawn again and again on a terminal, a line now and then
//! elsewhere, nothing for programs.

use std::collections::VecDeque;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::session::Session;

const BAR: usize = 24;

/// Elsewhere than on a terminal: a line for so much more, or after so long.
const STEP: f64 = 0.1;
const AT_LEAST_EVERY: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Drawn,
    Lines,
    Silent,
}

pub struct Line {
    how: How,
    /// Places that are drawn on.
    drawn: usize,
    said: Option<(f64, Instant)>,
}

impl Line {
    pub fn new(session: &Session) -> Line {
        let how = match session.is_for_programs() {
            true => How::Silent,
            false if std::io::stderr().is_terminal() => How::Drawn,
            false => How::Lines,
        };
        Line { how, drawn: 0, said: None }
    }

    /// `part` is from 0 to 1.
    pub fn show(&mut self, part: f64, text: &str) {
        match self.how {
            How::Silent => {}
            How::Drawn => {
                let line = format!("{} {text}", bar(part));
                let places = line.chars().count();
                let rest = " ".repeat(self.drawn.saturating_sub(places));
                eprint!("\r{line}{rest}");
                // It is drawn again in a moment.
                let _ = std::io::stderr().flush();
                self.drawn = places;
            }
            How::Lines => {
                let now = Instant::now();
                let due = self.said.is_none_or(|(before, at)| {
                    part - before >= STEP || (part >= 1.0 && before < 1.0) || now - at >= AT_LEAST_EVERY
                });
                if due {
                    eprintln!("{text}");
                    self.said = Some((part, now));
                }
            }
        }
    }

    /// What is drawn stays, and what comes next stands below it.
    pub fn end(&mut self) {
        if self.drawn > 0 {
            eprintln!();
            self.drawn = 0;
        }
        self.said = None;
    }

    pub fn say(&mut self, text: &str) {
        self.end();
        if self.how != How::Silent {
            eprintln!("{text}");
        }
    }
}

fn bar(part: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "for showing"
    )]
    let full = (part.clamp(0.0, 1.0) * BAR as f64).floor() as usize;
    format!("[{}{}]", "#".repeat(full), ".".repeat(BAR - full))
}

/// How fast something grows, by what was seen of late.
pub struct Pace {
    over: Duration,
    seen: VecDeque<(Instant, u64)>,
}

impl Pace {
    pub fn new(over: Duration) -> Pace {
        Pace { over, seen: VecDeque::new() }
    }

    pub fn add(&mut self, at: Instant, done: u64) {
        self.seen.push_back((at, done));
        while self.seen.len() > 2 && self.seen.front().is_some_and(|(first, _)| at - *first > self.over) {
            self.seen.pop_front();
        }
    }

    /// A second; none where too little was seen to tell.
    pub fn rate(&self) -> Option<f64> {
        let ((first, before), (last, after)) = (self.seen.front()?, self.seen.back()?);
        let seconds = (*last - *first).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "for showing")]
        let grown = after.saturating_sub(*before) as f64;
        (seconds >= 0.5 && grown > 0.0).then(|| grown / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills_with_its_part() {
        assert_eq!(bar(0.0), format!("[{}]", ".".repeat(BAR)));
        assert_eq!(bar(0.5), format!("[{}{}]", "#".repeat(BAR / 2), ".".repeat(BAR / 2)));
        assert_eq!(bar(7.0), format!("[{}]", "#".repeat(BAR)));
    }

    #[test]
    fn a_rate_is_that_of_late() {
        let mut pace = Pace::new(Duration::from_secs(10));
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        pace.add(at(0), 0);
        assert_eq!(pace.rate(), None);
        pace.add(at(2), 200);
        assert_eq!(pace.rate(), Some(100.0));
        pace.add(at(20), 2_000);
        pace.add(at(22), 2_020);
        assert_eq!(pace.rate(), Some(10.0));
        let mut still = Pace::new(Duration::from_secs(10));
        still.add(at(0), 5);
        still.add(at(9), 5);
        assert_eq!(still.rate(), None);
    }
}
