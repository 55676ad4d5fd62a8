//! What a person does to a job on the calendar beside moving its runs: one run more, and a wider or
//! narrower window in which each of them may start.
//!
//! Pure, as [`reschedule`](super::reschedule): nothing is saved here.

use super::reschedule::{Refusal, Rescheduled, Upshot, shown};
use super::{Exception, Schedule, Timing, duration_words, zone};
use crate::timeline::LONGEST_SPREAD_SECONDS;
use crate::{Almanac, Timestamp, Words};

/// One run more, at `at`: what copying a run to another time comes to. A job of any kind can have one.
pub fn copied(timing: &Timing, at: Timestamp, almanac: &Almanac, now: Timestamp) -> Result<Rescheduled, Refusal> {
    if at < now {
        return Err(Refusal::because(
            Words::new("that time has already passed", "该时间已经过去"),
            Words::new("choose a time that is still to come, or run the job now", "请选择将来的时间，或立即运行该任务"),
        ));
    }
    let compiled = timing.compile(almanac).map_err(|error| Refusal::of(&error))?;
    let stands_there = compiled.due_between(at.plus_millis(-1), Timestamp::MAX, 1);
    let place = i64::from(compiled.place_in_spread_seconds());
    if stands_there.first().is_some_and(|one| one.due == at.plus_seconds(place)) {
        return Err(Refusal::because(
            Words::new("the job runs at that time already", "该任务在此时已有运行"),
            Words::new("choose another time", "请选择其他时间"),
        ));
    }
    let exception = Exception::Added { at };
    let mut changed = timing.clone();
    changed.exceptions.push(exception);
    if changed.compile(almanac).map_err(|error| Refusal::of(&error))?.lapsed().contains(&exception) {
        return Err(Refusal::because(
            Words::new("the job is not in force at that time", "该任务在此时不在有效期内"),
            Words::new("choose a time at which it is", "请选择有效期内的时间"),
        ));
    }
    let told = told(&compiled.plan().zone().cloned(), at);
    Ok(Rescheduled {
        words: Words::new(format!("one run more: {}", told.en), format!("增加一次运行：{}", told.zh)),
        before: shown(timing, almanac, at)?,
        after: shown(&changed, almanac, at)?,
        warnings: Vec::new(),
        outcome: Upshot::Exception { exception, replaces: None },
    })
}

/// Another window in which each run of the job may start: what pulling the edge of a run comes to.
pub fn spread_over(timing: &Timing, seconds: u32, almanac: &Almanac, now: Timestamp) -> Result<Rescheduled, Refusal> {
    if seconds > LONGEST_SPREAD_SECONDS {
        return Err(Refusal::because(
            Words::new("a run may start a day after its time at the latest", "运行最迟在计划时间之后一天内开始"),
            Words::new("choose a shorter window", "请选择较短的窗口"),
        ));
    }
    if matches!(timing.schedule, Schedule::Manual) {
        return Err(Refusal::because(
            Words::new("a run that a person asks for starts at once", "手动运行会立即开始"),
            Words::new("give the job a schedule first", "请先为任务设置调度"),
        ));
    }
    let changed = Timing { spread_seconds: seconds, ..timing.clone() };
    let words = |seconds: u32| match seconds {
        0 => Words::new("at its time", "准时开始"),
        _ => {
            let window = duration_words(seconds);
            Words::new(format!("within {} of its time", window.en), format!("计划时间之后 {} 内开始", window.zh))
        }
    };
    let (old, new) = (words(timing.spread_seconds), words(seconds));
    Ok(Rescheduled {
        words: Words::new(format!("{} → {}", old.en, new.en), format!("{} → {}", old.zh, new.zh)),
        before: shown(timing, almanac, now)?,
        after: shown(&changed, almanac, now)?,
        warnings: Vec::new(),
        outcome: Upshot::NewSpread { spread_seconds: seconds },
    })
}

fn told(zone: &Option<super::Zone>, at: Timestamp) -> Words {
    match zone {
        Some(zone) => zone.words(at),
        None => {
            let words = zone::wall_words(at.millis());
            Words::new(format!("{} UTC", words.en), format!("{} UTC", words.zh))
        }
    }
}
