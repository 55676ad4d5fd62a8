//! Whatever is typed is answered: a plan that keeps its promises, or a refusal that marks a part of what was typed.

use proptest::prelude::*;

use crate::schedule::{Cron, Dialect, Schedule, ScheduleError};
use crate::{Almanac, Timestamp};

const SEEDS: [&str; 14] = [
    "*/15 9-17 * * 1-5",
    "0 2 * * *",
    "0 0 29 2 *",
    "@daily",
    "5,35 23 28-31 FEB,Dec *",
    "0 0 12 L-3W * ?",
    "0 0/7 9-17 ? * 6#3 2024-2030",
    "50-10/10 /20 9 ? NOV-FEB FRI-MON",
    "0 0 12 15W,LW,L 1,7 ? 2026/2",
    "0 0 0 ? * 6L *",
    "*/20 30 8 * * *",
    "59 59 23 31 12 ? 2199",
    "0 0 0 1W 1 ? 1970",
    "* * * * * ? *",
];

const LETTERS: &str = "0123456789*/-,?LW#@ \tABCDEFGHIJKLMNOPRSTUVYabcz.+每日٣½\u{0}\u{200b}";

fn dialects() -> impl Strategy<Value = Option<Dialect>> {
    prop_oneof![Just(None), Just(Some(Dialect::Unix)), Just(Some(Dialect::Seconds)), Just(Some(Dialect::Quartz))]
}

/// What a slip of the hand makes of an expression.
fn mutated() -> impl Strategy<Value = String> {
    let letters: Vec<char> = LETTERS.chars().collect();
    let slip = (0..4u8, any::<prop::sample::Index>(), prop::sample::select(letters));
    (prop::sample::select(&SEEDS[..]), prop::collection::vec(slip, 1..6)).prop_map(|(seed, slips)| {
        let mut text: Vec<char> = seed.chars().collect();
        for (kind, place, letter) in slips {
            let at = place.index(text.len() + 1);
            match kind {
                0 => text.insert(at, letter),
                1 if at < text.len() => text[at] = letter,
                2 if at < text.len() => {
                    text.remove(at);
                }
                _ => text.extend_from_within(at.min(text.len())..),
            }
        }
        text.into_iter().collect()
    })
}

fn typed() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => mutated(),
        2 => prop::collection::vec(prop::sample::select(LETTERS.chars().collect::<Vec<_>>()), 0..40)
            .prop_map(|letters| letters.into_iter().collect()),
        1 => any::<String>(),
        1 => prop::collection::vec(any::<u8>(), 0..60).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    ]
}

fn check(expression: &str, dialect: Option<Dialect>, from: i64) {
    let almanac = Almanac::bundled();
    let cron = Cron { dialect, ..Cron::unix(expression, "Europe/Berlin") };
    let schedule = Schedule::Cron(cron);
    let words = schedule.words(&almanac);
    assert!(!words.en.is_empty() && !words.zh.is_empty());
    let from = Timestamp::from_millis(from);
    let plan = match schedule.plan(&almanac, from) {
        Ok(plan) => plan,
        Err(error) => {
            let length = expression.chars().count();
            if let Some((first, end)) = error.span() {
                assert!(first <= end && end <= length, "{expression:?}: marks {first} to {end} of {length}");
            }
            let said = error.words();
            assert!(
                !said.en.is_empty() && said.zh.chars().any(|letter| letter > '\u{2e80}'),
                "{expression:?}: {said:?}"
            );
            assert!(!matches!(error, ScheduleError::UnknownZone { .. }));
            return;
        }
    };
    // What was accepted is said without a hole in it.
    assert!(!words.en.contains("cron '") && !words.en.contains("  "), "{expression:?}: {}", words.en);
    let mut after = from.plus_millis(-1);
    for _ in 0..4 {
        let Some(next) = plan.next_after(after) else { break };
        assert!(next > after);
        assert_eq!(plan.last_before(next.plus_millis(1)), Some(next), "{expression:?}");
        assert_eq!(plan.count_between(after.plus_millis(1), next.plus_millis(1)), 1, "{expression:?}");
        after = next;
    }
}

fn config() -> ProptestConfig {
    let soak = std::env::var_os("CAMPANILE_SOAK").is_some();
    ProptestConfig { cases: if soak { 400_000 } else { 1500 }, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_is_typed_is_answered(
        expression in typed(),
        dialect in dialects(),
        from in 0i64..4_000_000_000_000,
    ) {
        check(&expression, dialect, from);
    }

    #[test]
    fn whatever_a_document_says_is_answered(
        text in prop_oneof![
            any::<String>(),
            prop::sample::select(&[
                "{kind: cron, expression: '0 2 * * *', dialect: quartz}",
                "{repeatLevel: month, repeatDays: [-1, 31], startTime: 0, repeatInterval: 2}",
                "{kind: fixedRate, everySeconds: 90, startTime: 2026-01-01T00:00:00Z}",
                "{kind: after, jobs: [a, b], on: done, need: all}",
            ][..]).prop_map(str::to_owned),
        ],
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 0..4),
    ) {
        let mut letters: Vec<char> = text.chars().collect();
        for (place, letter) in places {
            let at = place.index(letters.len() + 1);
            letters.insert(at, letter);
        }
        let text: String = letters.into_iter().collect();
        let Ok(document) = serde_saphyr::from_str::<serde_json::Value>(&text) else { return Ok(()) };
        if let Ok(schedule) = Schedule::from_document(&document) {
            let _ = schedule.words(&Almanac::bundled());
            let again = serde_json::to_value(&schedule).unwrap();
            prop_assert_eq!(Schedule::from_document(&again).unwrap(), schedule);
        }
    }
}
