//! The times that a schedule plans, found by trying every second: slow, plain, and written without a
//! look at how the product does it. Knows the shapes that the simulated worlds use, in UTC.

use campanile_model::Timestamp;
use campanile_model::schedule::{RepeatLevel, Schedule};

const SECOND: i64 = 1000;

/// All planned times in (from, to], earliest first. None: they depend on more than the clock.
pub fn planned(schedule: &Schedule, saved_at: Timestamp, from: Timestamp, to: Timestamp) -> Option<Vec<Timestamp>> {
    let rule = Rule::of(schedule, saved_at.millis())?;
    let mut found = Vec::new();
    // The first moment of the rule's own second after `from`.
    let mut at = from.millis() + 1;
    at += (rule.phase - at).rem_euclid(SECOND);
    while at <= to.millis() {
        if at >= saved_at.millis() && (rule.fires)(at) {
            found.push(Timestamp::from_millis(at));
        }
        at += SECOND;
    }
    Some(found)
}

struct Rule {
    /// The millisecond of a second at which it can fire.
    phase: i64,
    fires: Box<dyn Fn(i64) -> bool>,
}

impl Rule {
    fn of(schedule: &Schedule, saved_at: i64) -> Option<Rule> {
        let every = |start: i64, period: i64| Rule {
            phase: start,
            fires: Box::new(move |at| at >= start && (at - start) % period == 0),
        };
        match schedule {
            Schedule::FixedRate(rate) => {
                let start = rate.start_time.map_or(saved_at, Timestamp::millis);
                Some(every(start, i64::from(rate.every_seconds) * SECOND))
            }
            Schedule::Repeat(repeat) => {
                let hours = match repeat.repeat_level {
                    RepeatLevel::Hour => 1,
                    RepeatLevel::Day => 24,
                    other => panic!("the simulation has no repeat of level {other:?}"),
                };
                assert_eq!(repeat.time_zone, "UTC", "days have 24 hours here");
                Some(every(repeat.start_time.millis(), i64::from(repeat.repeat_interval) * hours * 3600 * SECOND))
            }
            Schedule::Once(once) => {
                let time = once.at.millis();
                Some(Rule { phase: time, fires: Box::new(move |at| at == time) })
            }
            Schedule::Cron(cron) => {
                assert_eq!(cron.time_zone, "UTC", "the fields are read off the day's seconds");
                let fields: Vec<Field> = cron.expression.split(' ').map(Field::of).collect();
                assert_eq!(fields.len(), 6, "seconds first");
                assert!(fields[3..].iter().all(|field| *field == Field::Every(1)), "every day");
                let [second, minute, hour] = [fields[0], fields[1], fields[2]];
                Some(Rule {
                    phase: 0,
                    fires: Box::new(move |at| {
                        let seconds = at / SECOND;
                        second.names(seconds % 60) && minute.names(seconds / 60 % 60) && hour.names(seconds / 3600 % 24)
                    }),
                })
            }
            // No clock plans what runs after others.
            Schedule::Manual | Schedule::After(_) => Some(Rule { phase: 0, fires: Box::new(|_| false) }),
            Schedule::FixedDelay(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Field {
    /// `*` or `*/n`
    Every(i64),
    One(i64),
}

impl Field {
    fn of(text: &str) -> Field {
        let number = |text: &str| text.parse().expect("a number");
        match text.split_once('/') {
            Some(("*", step)) => Field::Every(number(step)),
            None if text == "*" => Field::Every(1),
            _ => Field::One(number(text)),
        }
    }

    fn names(self, value: i64) -> bool {
        match self {
            Field::Every(step) => value % step == 0,
            Field::One(only) => value == only,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use campanile_model::schedule::{Cron, Dialect, FixedRate};

    fn seconds(schedule: &Schedule, saved_at: i64, from: i64, to: i64) -> Vec<i64> {
        let at = Timestamp::from_millis;
        let times = planned(schedule, at(saved_at), at(from), at(to)).expect("a clock's schedule");
        times.into_iter().map(Timestamp::millis).collect()
    }

    #[test]
    fn what_it_plans_can_be_counted_on_fingers() {
        let mut cron = Cron::unix("*/20 * * * * *", "UTC");
        cron.dialect = Some(Dialect::Seconds);
        assert_eq!(seconds(&Schedule::Cron(cron), 0, 20_000, 60_000), [40_000, 60_000]);

        let rate = FixedRate { every_seconds: 3, start_time: Some(Timestamp::from_millis(1500)) };
        assert_eq!(seconds(&Schedule::FixedRate(rate), 2000, 0, 8000), [4500, 7500]);
    }
}
