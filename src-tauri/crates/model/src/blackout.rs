//! Blackout windows: ranges in which nothing fires, once or again and again.
//!
//! A window has a name and is the workspace's, for everything or for the jobs with its tags, tenants
//! or names; a job can name one, or have one of its own. What falls inside is the launcher's to
//! decide, by the job's misfire policy. What people start by hand starts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::job::JobSpec;
use crate::schedule::{Plan, Schedule, ScheduleError};
use crate::{Almanac, Timestamp, Words};

pub const MOST_BLACKOUTS: usize = 200;
pub const LONGEST_BLACKOUT_SECONDS: u32 = 31 * 86_400;

/// Windows that follow each other without a gap are one; more than these are not looked at.
const MOST_IN_A_ROW: usize = 100;

/// When it is: `from` and `until`, or `schedule` and `durationSeconds`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub struct Window {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// The first moment at which things fire again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// When it begins, again and again …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// … and how long it lasts each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<u32>,
}

/// A window of the workspace. With neither tags, tenants nor jobs it is for everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Blackout {
    pub window: Window,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenants: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<String>,
}

/// What a job says of windows: the name of one of the workspace's, or one of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum JobBlackout {
    Named(String),
    Own(Window),
}

/// The windows of the workspace, by name.
pub type Blackouts = BTreeMap<String, Blackout>;

impl Blackout {
    pub fn is_for_everything(&self) -> bool {
        self.tags.is_empty() && self.tenants.is_empty() && self.jobs.is_empty()
    }

    /// Whether a job is among those that it is for, named by the job or not.
    pub fn is_for(&self, name: &str, spec: &JobSpec) -> bool {
        let named = spec.blackouts.iter().any(|own| matches!(own, JobBlackout::Named(named) if named == name));
        self.is_for_everything()
            || named
            || self.jobs.contains(&spec.name)
            || spec.tags.iter().any(|tag| self.tags.contains(tag))
            || spec.tenant.as_ref().is_some_and(|tenant| self.tenants.contains(tenant))
    }
}

impl Window {
    pub fn compile(&self, almanac: &Almanac) -> Result<CompiledWindow, ScheduleError> {
        match (&self.schedule, self.duration_seconds, self.from, self.until) {
            (None, None, Some(from), Some(until)) if from < until => Ok(CompiledWindow::Once { from, until }),
            (None, None, Some(_), Some(_)) => {
                Err(ScheduleError::field("until", "it ends before it begins", "结束早于开始"))
            }
            (Some(schedule), Some(seconds), None, None) => {
                if !matches!(schedule, Schedule::Repeat(_) | Schedule::Cron(_) | Schedule::FixedRate(_)) {
                    return Err(ScheduleError::field(
                        "schedule",
                        "a window comes back by repeat, cron or fixedRate",
                        "重复时段只能使用 repeat、cron 或 fixedRate",
                    ));
                }
                if !(1..=LONGEST_BLACKOUT_SECONDS).contains(&seconds) {
                    return Err(ScheduleError::field(
                        "durationSeconds",
                        format!("is {seconds}; it can be 1 to {LONGEST_BLACKOUT_SECONDS}"),
                        format!("为 {seconds}；可用范围是 1 到 {LONGEST_BLACKOUT_SECONDS}"),
                    ));
                }
                let starts = schedule.plan(almanac, Timestamp::EPOCH)?;
                Ok(CompiledWindow::Recurring { starts, millis: i64::from(seconds) * 1000 })
            }
            _ => Err(ScheduleError::field(
                "window",
                "give from and until, or schedule and durationSeconds",
                "请给出 from 和 until，或 schedule 和 durationSeconds",
            )),
        }
    }

    pub fn words(&self, almanac: &Almanac) -> Words {
        let utc = almanac.zone("UTC").ok();
        let told = |at: Option<Timestamp>| match (at, &utc) {
            (Some(at), Some(utc)) => utc.words(at),
            _ => Words::default(),
        };
        match (&self.schedule, self.duration_seconds) {
            (Some(schedule), Some(seconds)) => {
                let (schedule, lasts) = (schedule.words(almanac), crate::schedule::duration_words(seconds));
                Words::new(format!("{}, for {}", schedule.en, lasts.en), format!("{}，持续 {}", schedule.zh, lasts.zh))
            }
            _ => {
                let (from, until) = (told(self.from), told(self.until));
                Words::new(format!("{} to {} UTC", from.en, until.en), format!("{} 至 {} UTC", from.zh, until.zh))
            }
        }
    }
}

#[derive(Clone, Debug)]
pub enum CompiledWindow {
    Once { from: Timestamp, until: Timestamp },
    Recurring { starts: Plan, millis: i64 },
}

impl CompiledWindow {
    /// The end of the window that holds `at`.
    pub fn end_at(&self, at: Timestamp) -> Option<Timestamp> {
        match self {
            CompiledWindow::Once { from, until } => (*from <= at && at < *until).then_some(*until),
            CompiledWindow::Recurring { starts, millis } => {
                // The latest of those that hold it ends last.
                let mut end = None;
                let mut after = at.plus_millis(-millis);
                for _ in 0..MOST_IN_A_ROW {
                    match starts.next_after(after).filter(|start| *start <= at) {
                        Some(start) => {
                            end = Some(start.plus_millis(*millis));
                            after = start;
                        }
                        None => break,
                    }
                }
                end
            }
        }
    }

    /// The windows that touch [from, until), at most `limit`.
    pub fn between(&self, from: Timestamp, until: Timestamp, limit: usize) -> Vec<(Timestamp, Timestamp)> {
        match self {
            CompiledWindow::Once { from: begins, until: ends } => {
                (*begins < until && from < *ends).then_some((*begins, *ends)).into_iter().collect()
            }
            CompiledWindow::Recurring { starts, millis } => {
                let mut found = Vec::new();
                let mut after = from.plus_millis(-millis);
                while found.len() < limit
                    && let Some(start) = starts.next_after(after).filter(|start| *start < until)
                {
                    found.push((start, start.plus_millis(*millis)));
                    after = start;
                }
                found
            }
        }
    }
}

/// All windows that one job is under.
#[derive(Clone, Debug, Default)]
pub struct JobWindows(Vec<(String, CompiledWindow)>);

/// A window that holds a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Of the workspace; none: the job's own.
    pub name: Option<String>,
    /// The first moment that no window holds.
    pub until: Timestamp,
}

impl Hit {
    pub fn words(&self) -> Words {
        match &self.name {
            Some(name) => Words::new(format!("blackout window {name}"), format!("禁止执行时段“{name}”")),
            None => Words::new("the job's own blackout window", "任务自己的禁止执行时段"),
        }
    }
}

impl JobWindows {
    /// Those of the workspace that are for the job, and its own. One that cannot be told any more is no window.
    pub fn of(spec: &JobSpec, blackouts: &Blackouts, almanac: &Almanac) -> JobWindows {
        let shared = blackouts.iter().filter(|(name, blackout)| blackout.is_for(name, spec));
        let shared = shared.map(|(name, blackout)| (name.clone(), &blackout.window));
        let own = spec.blackouts.iter().filter_map(|own| match own {
            JobBlackout::Own(window) => Some((String::new(), window)),
            JobBlackout::Named(_) => None,
        });
        let compiled = shared.chain(own).filter_map(|(name, window)| Some((name, window.compile(almanac).ok()?)));
        JobWindows(compiled.collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What holds `at`, and until when: windows that touch each other are one.
    pub fn hit(&self, at: Timestamp) -> Option<Hit> {
        let mut hit: Option<Hit> = None;
        for _ in 0..MOST_IN_A_ROW {
            let until = hit.as_ref().map_or(at, |hit| hit.until);
            let next = self.0.iter().find_map(|(name, window)| Some((name, window.end_at(until)?)));
            let Some((name, until)) = next else { break };
            let name = hit.map_or_else(|| (!name.is_empty()).then(|| name.clone()), |hit| hit.name);
            hit = Some(Hit { name, until });
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn spec(changes: &Value) -> JobSpec {
        let mut document = json!({"name": "report", "processor": "shell", "schedule": {"kind": "manual"}});
        for (key, value) in changes.as_object().expect("an object") {
            document[key.as_str()] = value.clone();
        }
        serde_json::from_value(document).expect("a job")
    }

    fn night() -> Value {
        json!({
            "schedule": {"kind": "cron", "expression": "0 22 * * *", "timeZone": "Europe/Berlin"},
            "durationSeconds": 28_800,
        })
    }

    /// Until when a moment is blacked out, and by which.
    fn check(blackouts: &Value, job: &Value, moment: &str, expected: Option<(&str, &str)>) {
        let blackouts: Blackouts = serde_json::from_value(blackouts.clone()).expect("blackouts");
        let windows = JobWindows::of(&spec(job), &blackouts, &Almanac::bundled());
        let hit = windows.hit(at(moment));
        let told = hit.as_ref().map(|hit| (hit.name.as_deref().unwrap_or("own"), hit.until));
        assert_eq!(told, expected.map(|(name, until)| (name, at(until))), "{moment}");
    }

    #[test]
    fn a_moment_is_inside_from_the_beginning_to_before_the_end() {
        let once = json!({"move": {"window": {"from": "2026-12-01T08:00:00Z", "until": "2026-12-01T10:00:00Z"}}});
        check(&once, &json!({}), "2026-12-01T07:59:59Z", None);
        check(&once, &json!({}), "2026-12-01T08:00:00Z", Some(("move", "2026-12-01T10:00:00Z")));
        check(&once, &json!({}), "2026-12-01T09:59:59Z", Some(("move", "2026-12-01T10:00:00Z")));
        check(&once, &json!({}), "2026-12-01T10:00:00Z", None);
        let again = json!({"night": {"window": night()}});
        check(&again, &json!({}), "2026-12-01T20:59:00Z", None);
        check(&again, &json!({}), "2026-12-02T03:00:00Z", Some(("night", "2026-12-02T05:00:00Z")));
        // The clocks go back: it begins by the clock on the wall and lasts as long as it says.
        check(&again, &json!({}), "2026-10-24T20:00:00Z", Some(("night", "2026-10-25T04:00:00Z")));
        check(&again, &json!({}), "2026-10-25T20:30:00Z", None);
    }

    #[test]
    fn a_window_is_for_everything_or_for_those_it_names() {
        let tagged = json!({"night": {"window": night(), "tags": ["finance"], "tenants": ["acme"], "jobs": ["a"]}});
        let inside = "2026-12-02T03:00:00Z";
        let hit = Some(("night", "2026-12-02T05:00:00Z"));
        check(&tagged, &json!({}), inside, None);
        check(&tagged, &json!({"tags": ["x", "finance"]}), inside, hit);
        check(&tagged, &json!({"tenant": "acme"}), inside, hit);
        check(&tagged, &json!({"name": "a"}), inside, hit);
        check(&tagged, &json!({"blackouts": ["night"]}), inside, hit);
        check(&json!({}), &json!({"blackouts": [night()]}), inside, Some(("own", "2026-12-02T05:00:00Z")));
        check(&json!({}), &json!({"blackouts": ["gone"]}), inside, None);
    }

    #[test]
    fn windows_that_touch_are_one() {
        let both = json!({
            "night": {"window": night()},
            "morning": {"window": {"from": "2026-12-02T05:00:00Z", "until": "2026-12-02T07:00:00Z"}},
        });
        check(&both, &json!({}), "2026-12-02T03:00:00Z", Some(("night", "2026-12-02T07:00:00Z")));
    }

    #[test]
    fn a_window_that_makes_no_sense_names_its_field() {
        let table = [
            (json!({"from": 2000, "until": 1000}), "until"),
            (json!({"from": 2000}), "window"),
            (json!({}), "window"),
            (json!({"schedule": {"kind": "manual"}, "durationSeconds": 60}), "schedule"),
            (json!({"schedule": {"kind": "cron", "expression": "0 0 * * *"}, "durationSeconds": 0}), "durationSeconds"),
            (json!({"schedule": {"kind": "cron", "expression": "0 25 * * *"}, "durationSeconds": 60}), "expression"),
        ];
        for (window, field) in table {
            let read: Window = serde_json::from_value(window.clone()).expect("a window");
            let error = read.compile(&Almanac::bundled()).expect_err("it makes no sense");
            assert_eq!(error.at(), field, "{window}");
        }
    }
}
