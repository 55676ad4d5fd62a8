//! How often someone has shown a wrong token: after a few, nobody from there is asked for a minute.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong ones within a span, before the rest of it is closed.
const MOST: u32 = 10;

const SPAN: Duration = Duration::from_secs(60);

/// Addresses that are remembered; beyond them all are forgotten, rather than memory filled.
const MOST_ADDRESSES: usize = 10_000;

#[derive(Default)]
pub(crate) struct Tries(Mutex<HashMap<IpAddr, (Instant, u32)>>);

impl Tries {
    pub fn are_too_many(&self, from: IpAddr) -> bool {
        self.are_too_many_at(from, Instant::now())
    }

    pub fn one_more(&self, from: IpAddr) {
        self.one_more_at(from, Instant::now());
    }

    fn are_too_many_at(&self, from: IpAddr, now: Instant) -> bool {
        let tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tries.get(&from).is_some_and(|(since, wrong)| now.duration_since(*since) < SPAN && *wrong >= MOST)
    }

    fn one_more_at(&self, from: IpAddr, now: Instant) {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tries.len() >= MOST_ADDRESSES && !tries.contains_key(&from) {
            tries.clear();
        }
        let (since, wrong) = tries.entry(from).or_insert((now, 0));
        if now.duration_since(*since) >= SPAN {
            (*since, *wrong) = (now, 0);
        }
        *wrong += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_ten_wrong_ones_an_address_is_closed_for_the_rest_of_the_minute() {
        let tries = Tries::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let began = Instant::now();
        for _ in 0..10 {
            assert!(!tries.are_too_many_at(one, began));
            tries.one_more_at(one, began);
        }
        assert!(tries.are_too_many_at(one, began + Duration::from_secs(59)));
        assert!(!tries.are_too_many_at(other, began));
        assert!(!tries.are_too_many_at(one, began + SPAN));
        tries.one_more_at(one, began + SPAN);
        assert!(!tries.are_too_many_at(one, began + SPAN));
    }
}
