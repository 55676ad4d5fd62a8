//! iCalendar (RFC 5545), as far as calendars of days off use it.
//!
//! Programs mark a working day in different ways: by a word in the summary (`上班(补春节假期)`), by a tag
//! (`春节(班)`), by `X-APPLE-SPECIAL-DAY`. Where a file marks its days off too, an entry without any mark is a
//! festival on which work is done, and is passed over; else every entry that is not a working day is a day off.

use super::{LAST_REPEATED_YEAR, Reading, told_by_name};
use crate::Words;
use crate::calendar::{Date, DayKind, WorkingDays};

/// One `NAME;PARAMETER=value:value`.
struct Property<'a> {
    line: usize,
    name: String,
    value: &'a str,
}

#[derive(Default)]
struct Event {
    line: usize,
    starts: Option<Date>,
    /// The last day, itself included.
    ends: Option<Date>,
    days: Option<i64>,
    summary: String,
    apple: Option<DayKind>,
    yearly: Option<Yearly>,
    cancelled: bool,
    broken: bool,
}

#[derive(Clone, Copy)]
struct Yearly {
    interval: i64,
    until: Option<Date>,
    count: Option<i64>,
}

pub(super) fn read(text: &str, reading: &mut Reading) {
    let lines = unfolded(text);
    if !lines.first().is_some_and(|(_, line)| line.trim().eq_ignore_ascii_case("BEGIN:VCALENDAR")) {
        reading.fault(1, "an .ics file begins with BEGIN:VCALENDAR", ".ics 文件应以 BEGIN:VCALENDAR 开头");
        return;
    }
    let mut open: Vec<(String, usize)> = Vec::new();
    let mut event = None;
    let mut events = Vec::new();
    for (line, text) in &lines {
        if text.trim().is_empty() {
            continue;
        }
        let Some(property) = property(*line, text) else {
            reading.fault(*line, "this is not a line of an .ics file: it has no ':'", "这不是 .ics 文件的行：缺少“:”");
            continue;
        };
        let block = property.value.trim().to_ascii_uppercase();
        match property.name.as_str() {
            "BEGIN" => {
                if block == "VEVENT" {
                    event = Some(Event { line: *line, ..Event::default() });
                }
                open.push((block, *line));
            }
            "END" => {
                if open.pop().is_none_or(|(begun, _)| begun != block) {
                    let text = format!("END:{block}");
                    reading.fault(*line, format!("{text} ends what has not begun"), format!("{text} 没有对应的 BEGIN"));
                    return;
                }
                if block == "VEVENT" {
                    events.extend(event.take());
                }
            }
            "X-WR-CALNAME" | "NAME" if open.len() == 1 => reading.title = Some(plain(property.value)),
            // An alarm within an event has properties of the same names.
            _ if open.last().is_some_and(|(block, _)| block == "VEVENT") => {
                if let Some(event) = &mut event {
                    event.take(&property, reading);
                }
            }
            _ => {}
        }
    }
    if let Some((block, line)) = open.pop() {
        reading.fault(
            line,
            format!("BEGIN:{block} has no end: the file is cut off"),
            format!("BEGIN:{block} 没有结束：文件不完整"),
        );
        return;
    }
    put(events, reading);
}

fn put(events: Vec<Event>, reading: &mut Reading) {
    let told: Vec<_> = events
        .into_iter()
        .filter(|event| !event.cancelled && !event.broken)
        .map(|event| {
            let (by_name, name) = told_by_name(&event.summary);
            (event.apple.or(by_name), name, event)
        })
        .collect();
    let marks_days_off = told.iter().any(|(kind, ..)| *kind == Some(DayKind::Off));
    for (kind, name, event) in told {
        let Some(starts) = event.starts else {
            reading.fault(event.line, "this entry has no DTSTART", "该条目没有 DTSTART");
            continue;
        };
        let kind = match kind {
            Some(kind) => kind,
            None if marks_days_off => {
                reading.passed_over += 1;
                continue;
            }
            None => DayKind::Off,
        };
        let ends = event.ends.or_else(|| event.days.map(|days| starts.plus_days(days - 1))).unwrap_or(starts);
        let name = Some(name).filter(|name| !name.is_empty()).map(|name| Words::new(name.clone(), name));
        for (first, last) in event.occurrences(starts, ends) {
            reading.mark(event.line, first, last, kind, name.as_ref());
        }
    }
}

impl Event {
    fn take(&mut self, property: &Property<'_>, reading: &mut Reading) {
        let line = property.line;
        let value = property.value.trim();
        match property.name.as_str() {
            "SUMMARY" => self.summary = plain(property.value),
            "STATUS" => self.cancelled = value.eq_ignore_ascii_case("CANCELLED"),
            "X-APPLE-SPECIAL-DAY" => match value.to_ascii_uppercase().as_str() {
                "WORK-HOLIDAY" => self.apple = Some(DayKind::Off),
                "ALTERNATE-WORKDAY" => self.apple = Some(DayKind::Work),
                _ => {}
            },
            "DTSTART" => match moment(value) {
                Ok((date, _)) => self.starts = Some(date),
                Err(wrong) => self.refuse(line, wrong, value, reading),
            },
            "DTEND" => match moment(value) {
                // The end is the first moment that is no longer meant.
                Ok((date, at_midnight)) => self.ends = Some(if at_midnight { date.plus_days(-1) } else { date }),
                Err(wrong) => self.refuse(line, wrong, value, reading),
            },
            "DURATION" => match duration_days(value) {
                Some(days) => self.days = Some(days),
                None => self.refuse(line, Wrong::Duration, value, reading),
            },
            "RRULE" => match yearly(value) {
                Some(yearly) => self.yearly = Some(yearly),
                None => self.refuse(line, Wrong::Rule, value, reading),
            },
            "RDATE" | "EXDATE" | "RECURRENCE-ID" => self.refuse(line, Wrong::Rule, value, reading),
            _ => {}
        }
        // A day of 24 hours that ends where it begins.
        if let (Some(starts), Some(ends)) = (self.starts, self.ends)
            && ends == starts.plus_days(-1)
        {
            self.ends = Some(starts);
        }
    }

    fn refuse(&mut self, line: usize, wrong: Wrong, value: &str, reading: &mut Reading) {
        self.broken = true;
        let value: String = value.chars().take(40).collect();
        let (en, zh) = match wrong {
            Wrong::NoDate => ("is not a date", "不是有效的日期"),
            Wrong::Utc => (
                "is a moment in UTC, and which day that is depends on the zone; export the calendar with whole days",
                "是 UTC 时刻，无法确定是哪一天；请以全天事件导出",
            ),
            Wrong::Duration => ("is not a number of days or weeks", "不是以天或周计的时长"),
            Wrong::Rule => (
                "repeats in a way that a calendar of days cannot tell; only FREQ=YEARLY is read",
                "的重复规则无法识别；仅支持 FREQ=YEARLY",
            ),
        };
        reading.fault(line, format!("'{value}' {en}"), format!("“{value}”{zh}"));
    }

    fn occurrences(&self, starts: Date, ends: Date) -> Vec<(Date, Date)> {
        let Some(rule) = self.yearly else { return vec![(starts, ends)] };
        let in_year = |year: i64| {
            let text = starts.to_string();
            let mut parts = text.split('-').skip(1).filter_map(|part| part.parse::<u32>().ok());
            Date::new(year, parts.next()?, parts.next()?)
        };
        let length = ends.day() - starts.day();
        let last_year = LAST_REPEATED_YEAR.max(starts.year());
        (starts.year()..=last_year)
            .step_by(usize::try_from(rule.interval).unwrap_or(1))
            .filter_map(in_year)
            .take_while(|first| rule.until.is_none_or(|until| *first <= until))
            .take(rule.count.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX)))
            .map(|first| (first, first.plus_days(length)))
            .collect()
    }
}

#[derive(Clone, Copy)]
enum Wrong {
    NoDate,
    Utc,
    Duration,
    Rule,
}

/// The date, and whether the moment is its beginning.
fn moment(value: &str) -> Result<(Date, bool), Wrong> {
    let (date, time) = value.split_once(['T', 't']).unwrap_or((value, ""));
    if time.ends_with(['Z', 'z']) {
        return Err(Wrong::Utc);
    }
    let is_date = date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = time.is_empty() || (matches!(time.len(), 4 | 6) && time.bytes().all(|byte| byte.is_ascii_digit()));
    match date.parse() {
        Ok(date) if is_date && is_time => Ok((date, time.bytes().all(|byte| byte == b'0'))),
        _ => Err(Wrong::NoDate),
    }
}

/// `P3D`, `P1W`; a part of a day is that day.
fn duration_days(value: &str) -> Option<i64> {
    let value = value.trim_start_matches('+');
    let (days, time) = value.strip_prefix('P')?.split_once('T').unwrap_or((value.strip_prefix('P')?, ""));
    let number = |text: &str| text.parse::<i64>().ok().filter(|days| (0..=366).contains(days));
    let whole = match (days.strip_suffix('D'), days.strip_suffix('W')) {
        (Some(days), _) => number(days)?,
        (_, Some(weeks)) => number(weeks)? * 7,
        _ if days.is_empty() && !time.is_empty() => 0,
        _ => return None,
    };
    Some((whole + i64::from(!time.is_empty())).max(1))
}

fn yearly(rule: &str) -> Option<Yearly> {
    let mut yearly = Yearly { interval: 1, until: None, count: None };
    let mut is_yearly = false;
    for part in rule.split(';').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=')?;
        match name.to_ascii_uppercase().as_str() {
            "FREQ" => is_yearly = value.eq_ignore_ascii_case("YEARLY"),
            "INTERVAL" => yearly.interval = value.parse().ok().filter(|n| (1..=100).contains(n))?,
            "COUNT" => yearly.count = Some(value.parse().ok().filter(|n| *n > 0)?),
            "UNTIL" => yearly.until = Some(value.get(..8)?.parse().ok()?),
            "WKST" => {}
            _ => return None,
        }
    }
    is_yearly.then_some(yearly)
}

/// Lines that begin with a space go on from the one before; each keeps the number of its first.
fn unfolded(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(more), Some((_, last))) => last.push_str(more),
            _ => lines.push((index + 1, line.to_owned())),
        }
    }
    lines
}

fn property(line: usize, text: &str) -> Option<Property<'_>> {
    let mut quoted = false;
    let colon = text.char_indices().find(|(_, letter)| {
        quoted ^= *letter == '"';
        *letter == ':' && !quoted
    })?;
    let (head, value) = (&text[..colon.0], &text[colon.0 + 1..]);
    let name = head.split(';').next().unwrap_or(head);
    let name = name.trim().to_ascii_uppercase();
    (!name.is_empty()).then_some(Property { line, name, value })
}

/// Text with its escapes taken out.
fn plain(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n' | 'N') => text.push(' '),
                Some(other) => text.push(other),
                None => {}
            },
            _ => text.push(letter),
        }
    }
    text.trim().to_owned()
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => escaped.push_str("\\n"),
            '\\' | ';' | ',' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// Lines end in CRLF and have at most 75 bytes.
fn put_line(file: &mut String, line: &str) {
    let mut width = 0;
    for letter in line.chars() {
        if width + letter.len_utf8() > 73 {
            file.push_str("\r\n ");
            width = 0;
        }
        width += letter.len_utf8();
        file.push(letter);
    }
    file.push_str("\r\n");
}

pub(super) fn write(calendar: &WorkingDays, days: &[(Date, DayKind, Option<Words>)], zh: bool) -> String {
    let pick = |words: &Words| if zh { words.zh.clone() } else { words.en.clone() };
    let mut file = String::new();
    for line in ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Campanile//Working days//EN", "CALSCALE:GREGORIAN"] {
        put_line(&mut file, line);
    }
    put_line(&mut file, &format!("X-WR-CALNAME:{}", escaped(&pick(calendar.label()))));
    let mut place = 0;
    while let Some((first, kind, name)) = days.get(place) {
        let mut last = *first;
        while let Some((next, next_kind, next_name)) = days.get(place + 1)
            && *next == last.plus_days(1)
            && (next_kind, next_name) == (kind, name)
        {
            last = *next;
            place += 1;
        }
        place += 1;
        let compact = |date: Date| date.to_string().replace('-', "");
        let (tag, apple) = match (kind, zh) {
            (DayKind::Off, true) => ("(休)", "WORK-HOLIDAY"),
            (DayKind::Off, false) => (" (holiday)", "WORK-HOLIDAY"),
            (DayKind::Work, true) => ("(班)", "ALTERNATE-WORKDAY"),
            (DayKind::Work, false) => (" (workday)", "ALTERNATE-WORKDAY"),
        };
        let summary = name.as_ref().map(pick).unwrap_or_default();
        put_line(&mut file, "BEGIN:VEVENT");
        put_line(&mut file, &format!("UID:{}-{}@campanile", compact(*first), escaped(calendar.name())));
        put_line(&mut file, &format!("DTSTAMP:{}T000000Z", compact(*first)));
        put_line(&mut file, &format!("DTSTART;VALUE=DATE:{}", compact(*first)));
        put_line(&mut file, &format!("DTEND;VALUE=DATE:{}", compact(last.plus_days(1))));
        put_line(&mut file, &format!("SUMMARY:{}", escaped(format!("{summary}{tag}").trim())));
        put_line(&mut file, &format!("X-APPLE-SPECIAL-DAY:{apple}"));
        put_line(&mut file, "TRANSP:TRANSPARENT");
        put_line(&mut file, "END:VEVENT");
    }
    put_line(&mut file, "END:VCALENDAR");
    file
}
