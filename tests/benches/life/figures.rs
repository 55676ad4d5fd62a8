//! How much is done, and what was measured in words.

use std::fmt;

/// So much of `most` as SCALE says, and `least` at least.
pub fn scaled(most: usize, least: usize) -> usize {
    let scale = std::env::var("SCALE").ok().and_then(|scale| scale.parse::<f64>().ok()).unwrap_or(0.01);
    ((most as f64 * scale) as usize).max(least)
}

/// A rate that such a build can carry: one without optimisation about a twentieth.
pub fn bearable(per_second: usize) -> usize {
    if cfg!(debug_assertions) { per_second / 20 } else { per_second }
}

/// Spans of time, in milliseconds.
pub struct Spans(Vec<i64>);

impl Spans {
    pub fn of(spans: impl IntoIterator<Item = i64>) -> Spans {
        let mut spans: Vec<i64> = spans.into_iter().collect();
        spans.sort_unstable();
        Spans(spans)
    }

    fn at(&self, share: f64) -> i64 {
        let place = (self.0.len() as f64 * share).ceil() as usize;
        self.0.get(place.saturating_sub(1)).copied().unwrap_or(0)
    }
}

impl fmt::Display for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing measured");
        }
        let (half, most, all) = (self.at(0.5), self.at(0.99), self.0.len());
        write!(f, "p50 {half} ms, p99 {most} ms, most {} ms, of {all}", self.0[all - 1])
    }
}
