//! A cron expression in a sentence, as one would say it aloud, in English and Chinese.
//!
//! Said from what the fields come to, except that a step is said as a step where it really is
//! one all round the clock: `*/15` is every 15 minutes, `*/7` is a list of minutes.

use super::parse::{DAYS, Field, HOURS, Item, Kind, MINUTES, MONTHS, Parsed, SECONDS, WEEKDAYS, YEARS};
use crate::Words;
use crate::schedule::error::Joined;
use crate::schedule::phrase::{MONTHS_EN, and_list, spaced, zh_list};

/// More times of day than this are said by their fields.
const LISTED_TIMES: usize = 6;

const WEEKDAYS_EN: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const WEEKDAYS_ZH: [&str; 7] = ["周日", "周一", "周二", "周三", "周四", "周五", "周六"];

fn numbers(mask: u64) -> Vec<u32> {
    (0..64).filter(|number| mask & 1 << number != 0).collect()
}

/// Neighbours of three or more said as one: 1-5, 8 and 9.
fn runs(mask: u64) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers(mask) {
        match runs.last_mut() {
            Some((_, to)) if *to + 1 == number => *to = number,
            _ => runs.push((number, number)),
        }
    }
    runs.into_iter()
        .flat_map(|(from, to)| if to == from + 1 { vec![(from, from), (to, to)] } else { vec![(from, to)] })
        .collect()
}

fn said(mask: u64, en: impl Fn(u32) -> String, zh: impl Fn(u32) -> String) -> Words {
    let runs = runs(mask);
    let side = |say: &dyn Fn(u32) -> String, between: &dyn Fn(&str, &str) -> String| {
        runs.iter()
            .map(|(from, to)| match from == to {
                true => say(*from),
                false => between(&say(*from), &say(*to)),
            })
            .collect::<Vec<_>>()
    };
    Words::new(
        and_list(&side(&en, &|from, to| format!("{from} to {to}"))),
        zh_list(&side(&zh, &|from, to| spaced(&[from, "至", to]))),
    )
}

fn days_of_month(field: &Field) -> Words {
    let mask = field.mask(&DAYS);
    let (mut en, mut zh) = (Vec::new(), Vec::new());
    if mask != 0 {
        let word = if mask.count_ones() == 1 { "day" } else { "days" };
        let list = said(mask, |day| day.to_string(), |day| format!("{day} 日"));
        en.push(format!("{word} {}", list.en));
        zh.push(list.zh);
    }
    for item in field.of_the_month() {
        let words = counted_day(item);
        en.push(words.en);
        zh.push(words.zh);
    }
    Words::new(and_list(&en), zh_list(&zh))
}

/// A day of the month that is not told by its number.
fn counted_day(item: Item) -> Words {
    let from_end = |before: u32| match before {
        0 => Words::new("the last day", "最后一天"),
        _ => Words::new(format!("day {} from the end", before + 1), format!("倒数第 {} 天", before + 1)),
    };
    let nearest = |day: Words| {
        Words::new(
            format!("the day of Monday to Friday nearest to {}", day.en),
            spaced(&["离", &day.zh, "最近的周一至周五"]),
        )
    };
    match item {
        Item::Last { before } => from_end(before),
        Item::Near { day } => nearest(Words::new(format!("day {day}"), format!("{day} 日"))),
        Item::NearLast { before: 0 } => Words::new("the last day of Monday to Friday", "最后一个周一至周五的日子"),
        Item::NearLast { before } => nearest(from_end(before)),
        _ => Words::default(),
    }
}

/// `the last Friday`, `the third Friday`.
fn counted_weekday(item: Item) -> Option<Words> {
    const NTH_EN: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    const NTH_ZH: [&str; 5] = ["一", "二", "三", "四", "五"];
    match item {
        Item::LastOf { weekday } => {
            let day = weekday as usize;
            Some(Words::new(format!("the last {}", WEEKDAYS_EN[day]), format!("最后一个{}", WEEKDAYS_ZH[day])))
        }
        Item::Nth { weekday, nth } => {
            let (day, nth) = (weekday as usize, nth as usize - 1);
            Some(Words::new(
                format!("the {} {}", NTH_EN[nth], WEEKDAYS_EN[day]),
                format!("第{}个{}", NTH_ZH[nth], WEEKDAYS_ZH[day]),
            ))
        }
        _ => None,
    }
}

/// The days of an expression, whichever of its fields tells them.
pub(crate) fn days(parsed: &Parsed) -> Words {
    let counted = parsed.fields.weekdays.of_the_month().find_map(counted_weekday);
    counted.unwrap_or_else(|| days_of_month(&parsed.fields.days))
}

pub(crate) fn years(field: &Field) -> Words {
    const LISTED_RUNS: usize = 8;
    let mut numbers: Vec<u32> = field.numbers(&YEARS).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return Words::default() };
    if let [Item::Every { step } | Item::Onwards { step, .. } | Item::Range { step, .. }] = field.items[..]
        && step > 1
        && numbers.len() > 2
    {
        return Words::new(
            format!("every {step}{} year from {first} to {last}", ordinal(step)),
            format!("{first} 至 {last} 年间每 {step} 年"),
        );
    }
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for year in &numbers {
        match runs.last_mut() {
            Some((_, to)) if *to + 1 == *year => *to = *year,
            _ => runs.push((*year, *year)),
        }
    }
    let told = |between: &str, unit: &str| {
        let mut list: Vec<String> = runs
            .iter()
            .take(LISTED_RUNS)
            .map(|(from, to)| if from == to { format!("{from}{unit}") } else { format!("{from}{between}{to}{unit}") })
            .collect();
        if runs.len() > LISTED_RUNS {
            list.push("…".to_owned());
        }
        list
    };
    Words::new(and_list(&told(" to ", "")), zh_list(&told(" 至 ", " 年")))
}

pub(crate) fn months(field: &Field) -> Words {
    said(field.mask(&MONTHS), |month| MONTHS_EN[month as usize - 1].to_owned(), |month| format!("{month} 月"))
}

pub(crate) fn weekdays(mask: u8) -> Words {
    // The week begins on Monday when it is read out, so Sunday moves to the end.
    let from_monday = u64::from(mask >> 1 | (mask & 1) << 6);
    let name = |place: u32| ((place + 1) % 7) as usize;
    said(from_monday, |place| WEEKDAYS_EN[name(place)].to_owned(), |place| WEEKDAYS_ZH[name(place)].to_owned())
}

/// `on Mondays and Fridays`, `Monday to Friday`: spoken of as coming again and again.
fn each_weekday(mask: u8) -> Words {
    let list = weekdays(mask);
    let zh = spaced(&["每", &list.zh]);
    if list.en.contains(" to ") {
        return Words::new(list.en, zh);
    }
    let plural = list.en.split(' ').map(|word| match word.strip_suffix(',') {
        _ if word == "and" => word.to_owned(),
        Some(word) => format!("{word}s,"),
        None => format!("{word}s"),
    });
    Words::new(format!("on {}", plural.collect::<Vec<_>>().join(" ")), zh)
}

/// A time of day, or several, or a beat that goes on.
enum Time {
    Points(Words),
    Beat(Words),
}

pub(crate) fn phrase(parsed: &Parsed) -> Words {
    let words = phrase_of_any_year(parsed);
    match &parsed.fields.years {
        None => words,
        Some(field) => {
            let years = years(field);
            Words::new(format!("{}, in {}", words.en, years.en), format!("{}：{}", years.zh, words.zh))
        }
    }
}

fn phrase_of_any_year(parsed: &Parsed) -> Words {
    let day = day_phrase(parsed);
    match time_phrase(parsed) {
        Time::Points(time) => {
            let day = day.unwrap_or_else(|| Words::new("daily", "每天"));
            Words::new(format!("{} at {}", day.en, time.en), spaced(&[&day.zh, &time.zh]))
        }
        Time::Beat(time) => match day {
            None => time,
            Some(day) if day.en.starts_with("on ") || day.en.starts_with("in ") => {
                Words::new(format!("{} {}", time.en, day.en), format!("{}，{}", day.zh, time.zh))
            }
            Some(day) => Words::new(format!("{}, {}", time.en, day.en), format!("{}，{}", day.zh, time.zh)),
        },
    }
}

/// None: every day.
fn day_phrase(parsed: &Parsed) -> Option<Words> {
    let fields = &parsed.fields;
    let weekday_mask = parsed.weekday_mask();
    let named_months = (!fields.months.is_open()).then(|| months(&fields.months));
    let of_month = (!fields.days.is_open()).then(|| days_phrase(&fields.days, named_months.as_ref(), &fields.months));
    if let Some(day) = fields.weekdays.of_the_month().find_map(counted_weekday) {
        let (of, months_zh) = of_months(named_months.as_ref());
        return Some(Words::new(format!("on {} of {of}", day.en), spaced(&[&months_zh, &day.zh])));
    }
    let of_week = (weekday_mask != WEEKDAYS_ALL).then(|| each_weekday(weekday_mask));
    match (of_month, of_week, named_months) {
        (None, None, None) => None,
        (None, None, Some(months)) => {
            Some(Words::new(format!("every day in {}", months.en), spaced(&[&months.zh, "的每天"])))
        }
        (None, Some(week), None) => Some(week),
        (None, Some(week), Some(months)) => {
            Some(Words::new(format!("{} in {}", week.en, months.en), spaced(&[&months.zh, "的", &week.zh])))
        }
        (Some(days), None, _) => Some(days),
        (Some(days), Some(week), months) if parsed.either_day_suffices() => {
            let within = months.map_or(Words::default(), |months| {
                Words::new(format!(" in {}", months.en), format!("{}的", months.zh))
            });
            Some(Words::new(
                format!("{} and also {}{}", days.en, week.en, within.en),
                spaced(&[&days.zh, "以及", &within.zh, &week.zh]),
            ))
        }
        (Some(days), Some(_), _) => {
            let week = weekdays(weekday_mask);
            Some(Words::new(
                format!("{} where that is {}", days.en, week.en.replace(" and ", " or ")),
                spaced(&[&days.zh, "（且须是", &week.zh, "）"]),
            ))
        }
    }
}

fn of_months(months: Option<&Words>) -> (&str, String) {
    match months {
        None => ("each month", "每月".to_owned()),
        Some(months) => (&months.en, spaced(&[&months.zh, "的"])),
    }
}

fn days_phrase(days: &Field, months: Option<&Words>, months_field: &Field) -> Words {
    let (of, months_zh) = of_months(months);
    if let Some(step) = stepped(days, &DAYS) {
        return Words::new(
            format!("every {step} days from day 1 of {of}"),
            spaced(&[&months_zh, &format!("1 日起每 {step} 天")]),
        );
    }
    if let (Some(day), Some(month)) = (only(days, &DAYS), only(months_field, &MONTHS)) {
        return Words::new(
            format!("on {day} {} of every year", MONTHS_EN[month as usize - 1]),
            format!("每年 {month} 月 {day} 日"),
        );
    }
    let days = days_of_month(days);
    Words::new(format!("on {} of {of}", days.en), spaced(&[&months_zh, &days.zh]))
}

/// The step of `*/step`, of two or more.
fn stepped(field: &Field, kind: &Kind) -> Option<u32> {
    match field.items[..] {
        [Item::Every { step }] if step > 1 && step <= kind.last - kind.first => Some(step),
        _ => None,
    }
}

/// The step, where it divides the circle and so has the same length all the way round.
fn even_step(field: &Field, kind: &Kind) -> Option<u32> {
    let circle = kind.last + 1;
    match field.items[..] {
        [Item::Every { step } | Item::Onwards { from: 0, step }] if circle.is_multiple_of(step) && step < circle => {
            Some(step)
        }
        _ => None,
    }
}

fn only(field: &Field, kind: &Kind) -> Option<u32> {
    let mask = field.mask(kind);
    (mask.count_ones() == 1 && field.of_the_month().next().is_none()).then(|| mask.trailing_zeros())
}

fn one_run(mask: u64) -> Option<(u32, u32)> {
    let (from, to) = (mask.trailing_zeros(), 63 - mask.leading_zeros());
    (mask.count_ones() == to - from + 1 && from < to).then_some((from, to))
}

fn every(step: u32, en: &str, zh: &str) -> Words {
    match step {
        1 => Words::new(format!("every {en}"), format!("每{zh}")),
        _ => Words::new(format!("every {step} {en}s"), format!("每 {step} {zh}")),
    }
}

fn time_phrase(parsed: &Parsed) -> Time {
    let fields = &parsed.fields;
    let (minutes, hours) = (fields.minutes.mask(&MINUTES), fields.hours.mask(&HOURS));
    let seconds = fields.seconds.as_ref().map_or(1, |field| field.mask(&SECONDS));

    let times = seconds.count_ones() as usize * minutes.count_ones() as usize * hours.count_ones() as usize;
    if times <= LISTED_TIMES {
        let shown: Vec<String> = numbers(hours)
            .iter()
            .flat_map(|hour| numbers(minutes).into_iter().map(move |minute| (*hour, minute)))
            .flat_map(|(hour, minute)| numbers(seconds).into_iter().map(move |second| (hour, minute, second)))
            .map(|(hour, minute, second)| match second {
                0 => format!("{hour:02}:{minute:02}"),
                _ => format!("{hour:02}:{minute:02}:{second:02}"),
            })
            .collect();
        return Time::Points(Words::new(and_list(&shown), zh_list(&shown)));
    }

    let within_hours = hours_phrase(&fields.hours, minutes);
    let beat = match &fields.seconds {
        Some(field) if seconds != 1 => {
            let seconds_beat = beat_of(field, &SECONDS, "second", "秒");
            if fields.minutes.is_open() {
                seconds_beat
            } else {
                let minutes = said(minutes, |minute| minute.to_string(), |minute| minute.to_string());
                Words::new(
                    format!("{} in minute {} of the hour", seconds_beat.en, minutes.en),
                    format!("每小时的第 {} 分内{}", minutes.zh, seconds_beat.zh),
                )
            }
        }
        _ => match (only(&fields.minutes, &MINUTES), even_step(&fields.hours, &HOURS)) {
            // One minute in hours that form a beat of their own: every 2 hours at minute 5.
            (Some(minute), Some(step)) => {
                let hours = every(step, "hour", "小时");
                return Time::Beat(match minute {
                    0 => hours,
                    _ => {
                        Words::new(format!("{} at minute {minute}", hours.en), format!("{}的第 {minute} 分", hours.zh))
                    }
                });
            }
            (Some(minute), None) => match one_run(hours) {
                Some((from, to)) => {
                    return Time::Beat(Words::new(
                        format!("every hour from {from:02}:{minute:02} to {to:02}:{minute:02}"),
                        format!("{from:02}:{minute:02} 至 {to:02}:{minute:02} 每小时"),
                    ));
                }
                None => {
                    let shown: Vec<String> =
                        numbers(hours).iter().map(|hour| format!("{hour:02}:{minute:02}")).collect();
                    return Time::Points(Words::new(and_list(&shown), zh_list(&shown)));
                }
            },
            (None, _) => beat_of(&fields.minutes, &MINUTES, "minute", "分钟"),
        },
    };
    Time::Beat(match within_hours {
        None => beat,
        Some(hours) => Words::new(format!("{} {}", beat.en, hours.en), spaced(&[&hours.zh, &beat.zh])),
    })
}

/// Which hours a beat of minutes keeps to. None: all of them.
fn hours_phrase(field: &Field, minutes: u64) -> Option<Words> {
    let hours = field.mask(&HOURS);
    if hours == 0xff_ffff {
        return None;
    }
    if let Some(step) = even_step(field, &HOURS) {
        return Some(Words::new(
            format!("in every {step}{} hour from 00", ordinal(step)),
            format!("从 0 点起每 {step} 小时的第一个小时内"),
        ));
    }
    let last_minute = 63 - minutes.leading_zeros();
    if let Some((from, to)) = one_run(hours) {
        let first_minute = minutes.trailing_zeros();
        return Some(Words::new(
            format!("from {from:02}:{first_minute:02} to {to:02}:{last_minute:02}"),
            format!("{from:02}:{first_minute:02} 至 {to:02}:{last_minute:02}"),
        ));
    }
    let shown = said(hours, |hour| format!("{hour:02}"), |hour| format!("{hour} 点"));
    let word = if hours.count_ones() == 1 { "hour" } else { "hours" };
    Some(Words::new(format!("in {word} {}", shown.en), format!("{}内", shown.zh)))
}

fn ordinal(n: u32) -> &'static str {
    match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

fn beat_of(field: &Field, kind: &Kind, en: &str, zh: &str) -> Words {
    if let Some(step) = even_step(field, kind) {
        return every(step, en, zh);
    }
    let mask = field.mask(kind);
    let list = said(mask, |number| number.to_string(), |number| number.to_string());
    let word = if mask.count_ones() == 1 { en.to_owned() } else { format!("{en}s") };
    let (of_en, of_zh) = if en == "minute" { ("hour", "小时") } else { ("minute", "分钟") };
    Words::new(format!("at {word} {} of the {of_en}", list.en), spaced(&[&format!("每{of_zh}的第"), &list.zh, kind.zh]))
}

/// What is allowed and probably not meant.
pub(crate) fn warnings(parsed: &Parsed) -> Vec<Words> {
    let fields = &parsed.fields;
    let mut warnings = Vec::new();
    let circles = [
        (fields.seconds.as_ref(), &SECONDS, "minute", "一分钟"),
        (Some(&fields.minutes), &MINUTES, "hour", "一小时"),
        (Some(&fields.hours), &HOURS, "day", "一天"),
    ];
    for (field, kind, whole_en, whole_zh) in circles {
        let Some(field) = field else { continue };
        for item in &field.items {
            let (Item::Every { step } | Item::Onwards { step, .. }) = item else { continue };
            let circle = kind.last + 1;
            if *step >= circle {
                warnings.push(Words::new(
                    format!("a step of {step} is longer than the {whole_en} and never comes round: only the first {} is used", kind.en),
                    format!("步长 {step} 超过了{whole_zh}，因此只有第一个值有效"),
                ));
            } else if circle % step != 0 && matches!(item, Item::Every { .. }) {
                warnings.push(Words::new(
                    format!(
                        "{circle} is not a multiple of {step}, so the last step before the next {whole_en} is shorter"
                    ),
                    format!("{circle} 不是 {step} 的倍数，因此每{}末尾的间隔会短一些", &whole_zh[3..]),
                ));
            }
        }
    }
    if parsed.either_day_suffices() {
        warnings.push(Words::new(
            "both day fields are given: it runs on days that match either of them, not only on those that match both",
            "两个日期字段都已指定：只要符合其中一个就会运行，而不是同时符合才运行",
        ));
    }
    if let Some(Item::Nth { nth: 5, weekday }) = fields.weekdays.of_the_month().next() {
        let day = weekday as usize;
        warnings.push(Words::new(
            format!("months without a fifth {} are passed over", WEEKDAYS_EN[day]),
            format!("没有第五个{}的月份会被跳过", WEEKDAYS_ZH[day]),
        ));
    }
    let days = fields.days.mask(&DAYS);
    let counted_in_every_month = |item: Item| match item {
        Item::Last { before } | Item::NearLast { before } => before < 28,
        Item::Near { day } => day <= 28,
        _ => false,
    };
    let in_every_month = days & ((1 << 29) - 2) != 0 || fields.days.of_the_month().any(counted_in_every_month);
    if !in_every_month && parsed.weekday_mask() == WEEKDAYS_ALL {
        let list = days_of_month(&fields.days);
        warnings.push(
            Words::new("months without {days} are passed over", "没有 {days} 的月份会被跳过").joined("days", &list),
        );
    }
    warnings
}

const WEEKDAYS_ALL: u8 = ((1u16 << WEEKDAYS.last) - 1) as u8;
