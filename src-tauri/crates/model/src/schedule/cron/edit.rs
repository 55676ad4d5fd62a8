//! Writes a cron expression anew so that one of its runs, and with it all, comes at another time.
//!
//! Only where the expression's own fields can say it: one time of day, and a day that is named.

use super::parse::{DAYS, Field, HOURS, Kind, MINUTES, MONTHS, Parsed, SECONDS, canonical, parse};
use super::{Cron, Dialect};
use crate::Words;
use crate::schedule::civil::{HOUR, MINUTE, SECOND, Wall, date_of, split, weekday};
use crate::schedule::reschedule::Refusal;

impl Cron {
    /// The same expression with the run that the wall clock shows at `from` put at `to`.
    pub(crate) fn moved(&self, from: Wall, to: Wall) -> Result<Cron, Refusal> {
        let text = canonical(&self.expression);
        let parsed = parse(&text, self.dialect).map_err(|error| Refusal::of(&error))?;
        let mut edits = time_edits(&parsed, to)?;
        edits.extend(day_edits(&parsed, from, to)?);
        // From behind, so that the places of those before stay right.
        edits.sort_by_key(|(span, _)| std::cmp::Reverse(*span));
        let mut letters: Vec<char> = text.chars().collect();
        for ((from, to), field) in edits {
            letters.splice(from..to, field.chars());
        }
        Ok(Cron { expression: letters.into_iter().collect(), ..self.clone() })
    }
}

type Edit = ((usize, usize), String);

fn time_edits(parsed: &Parsed, to: Wall) -> Result<Vec<Edit>, Refusal> {
    let fields = &parsed.fields;
    let is_one = |field: &Field, kind: &Kind| field.mask(kind).count_ones() == 1 && !field.starred;
    let seconds_are_one = fields.seconds.as_ref().is_none_or(|field| is_one(field, &SECONDS));
    if !seconds_are_one || !is_one(&fields.minutes, &MINUTES) || !is_one(&fields.hours, &HOURS) {
        return Err(Refusal::because(
            Words::new("the expression names more than one time of day", "该表达式在一天中不止一个时间"),
            Words::new("move only this run, or edit the expression", "请只移动这一次，或直接编辑表达式"),
        ));
    }
    let (_, time) = split(to);
    let unit = if fields.seconds.is_some() { SECOND } else { MINUTE };
    if time % unit != 0 {
        return Err(match parsed.dialect {
            Dialect::Unix => Refusal::because(
                Words::new("this expression knows whole minutes only", "该表达式只能精确到分钟"),
                Words::new("choose a whole minute", "请选择整分钟"),
            ),
            Dialect::Seconds | Dialect::Quartz => Refusal::because(
                Words::new("this expression knows whole seconds only", "该表达式只能精确到秒"),
                Words::new("choose a whole second", "请选择整秒"),
            ),
        });
    }
    let mut edits =
        vec![(fields.minutes.span, (time / MINUTE % 60).to_string()), (fields.hours.span, (time / HOUR).to_string())];
    if let Some(seconds) = &fields.seconds {
        edits.push((seconds.span, (time / SECOND % 60).to_string()));
    }
    Ok(edits)
}

fn day_edits(parsed: &Parsed, from: Wall, to: Wall) -> Result<Vec<Edit>, Refusal> {
    let (from_day, to_day) = (split(from).0, split(to).0);
    if from_day == to_day {
        return Ok(Vec::new());
    }
    let fields = &parsed.fields;
    if fields.days.of_the_month().chain(fields.weekdays.of_the_month()).next().is_some() {
        return Err(Refusal::because(
            Words::new("the day is counted within each month", "日期是按每个月推算的"),
            Words::new("move only this run, or edit the expression", "请只移动这一次，或直接编辑表达式"),
        ));
    }
    let week_named = parsed.weekday_mask() != 0x7f;
    match (!fields.days.is_open(), week_named) {
        (false, false) => Err(Refusal::every_day_is_a_run()),
        (true, true) => Err(Refusal::because(
            Words::new("the expression names days of the month and of the week", "该表达式同时指定了日和星期"),
            Words::new("move only this run, or edit the expression", "请只移动这一次，或直接编辑表达式"),
        )),
        (false, true) => {
            let sunday_0 = |day| (weekday(day) + 1) % 7;
            let first = if parsed.dialect == Dialect::Quartz { 1 } else { 0 };
            let days = replaced(
                &fields.weekdays,
                u64::from(parsed.weekday_mask()),
                sunday_0(from_day),
                sunday_0(to_day),
                first,
            )?;
            Ok(vec![(fields.weekdays.span, days)])
        }
        (true, false) => {
            let ((from_year, from_month, from_date), (to_year, to_month, to_date)) =
                (date_of(from_day), date_of(to_day));
            let days = replaced(&fields.days, fields.days.mask(&DAYS), from_date, to_date, 0);
            if (from_year, from_month) == (to_year, to_month) {
                return Ok(vec![(fields.days.span, days?)]);
            }
            let once_a_year =
                fields.months.mask(&MONTHS).count_ones() == 1 && fields.days.mask(&DAYS).count_ones() == 1;
            if !once_a_year || from_year != to_year {
                return Err(Refusal::because(
                    Words::new("a run of each month cannot be moved into another month", "每月的运行不能移到另一个月"),
                    Words::new(
                        "move only this run, or choose a day of the same month",
                        "请只移动这一次，或选择同月的日期",
                    ),
                ));
            }
            Ok(vec![(fields.days.span, to_date.to_string()), (fields.months.span, to_month.to_string())])
        }
    }
}

/// The field as a list, with one number in place of another; each is written as so many more than it is here.
fn replaced(field: &Field, mask: u64, from: u32, to: u32, more: u32) -> Result<String, Refusal> {
    if field.starred {
        return Err(Refusal::because(
            Words::new("the days follow a step and not a list", "日期按步长而不是按列表给出"),
            Words::new("move only this run, or edit the expression", "请只移动这一次，或直接编辑表达式"),
        ));
    }
    if from != to && mask & 1 << to != 0 {
        return Err(Refusal::already_a_run());
    }
    let mask = mask & !(1 << from) | 1 << to;
    let numbers: Vec<String> =
        (0..64).filter(|number| mask & 1u64 << number != 0).map(|n| (n + more).to_string()).collect();
    Ok(numbers.join(","))
}
