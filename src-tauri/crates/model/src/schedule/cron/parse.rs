//! Reads a cron expression into fields, or says which characters of it are wrong and why.
//!
//! Keeps what was written (ranges, steps, stars) beside the numbers it comes to, because the
//! words for an expression and the rule about its two day fields depend on how it was written.

use super::Dialect;
use super::next::CronTimes;
use super::quartz::{check_one_day_is_open, count_from_sunday_0, day_of_the_month, needs_quartz};
use super::words;
use crate::Words;
use crate::schedule::error::ScheduleError;

/// One part of a field's list, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// `*`, or `*/step`.
    Every {
        step: u32,
    },
    /// `?`: this day field is left to the other.
    Open,
    One(u32),
    Range {
        from: u32,
        to: u32,
        step: u32,
    },
    /// `from/step`: up to the field's last number.
    Onwards {
        from: u32,
        step: u32,
    },
    /// `L`, or `L-before`: so many days before the month's last.
    Last {
        before: u32,
    },
    /// `dayW`: the nearest of Monday to Friday in the same month.
    Near {
        day: u32,
    },
    /// `LW`, or `L-beforeW`.
    NearLast {
        before: u32,
    },
    /// `6L`: the last such weekday of the month.
    LastOf {
        weekday: u32,
    },
    /// `6#3`: the third such weekday of the month.
    Nth {
        weekday: u32,
        nth: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub items: Vec<Item>,
    /// The first character as written is `*`.
    pub starred: bool,
    pub span: (usize, usize),
}

impl Field {
    /// Says nothing: every number of the field.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.items[..], [Item::Every { step: 1 } | Item::Open])
    }

    /// The plain numbers; what depends on the month has no bit here.
    pub(crate) fn mask(&self, kind: &Kind) -> u64 {
        self.numbers(kind).fold(0, |mask, number| mask | 1 << number)
    }

    /// One after another as written, perhaps the same more than once.
    pub(crate) fn numbers(&self, kind: &Kind) -> impl Iterator<Item = u32> {
        self.items.iter().flat_map(|item| item.numbers(kind))
    }

    /// Parts that are another day in each month.
    pub(crate) fn of_the_month(&self) -> impl Iterator<Item = Item> {
        self.items.iter().copied().filter(|item| item.depends_on_the_month())
    }
}

impl Item {
    pub(crate) fn depends_on_the_month(self) -> bool {
        matches!(
            self,
            Item::Last { .. } | Item::Near { .. } | Item::NearLast { .. } | Item::LastOf { .. } | Item::Nth { .. }
        )
    }

    /// A range that runs backwards goes round by the end of the circle.
    fn numbers(self, kind: &Kind) -> impl Iterator<Item = u32> + use<> {
        let (from, to, step) = match self {
            Item::Every { step } => (kind.first, kind.last, step),
            Item::Open => (kind.first, kind.last, 1),
            Item::One(number) => (number, number, 1),
            Item::Range { from, to, step } => (from, to, step),
            Item::Onwards { from, step } => (from, kind.last, step),
            _ => (1, 0, 1),
        };
        let (first, circle) = (kind.first, kind.circle());
        let wraps = from > to && !self.depends_on_the_month();
        let end = if wraps { to + circle } else { to };
        (from..=end)
            .step_by(step as usize)
            .map(move |number| if wraps { (number - first) % circle + first } else { number })
    }
}

/// The numbers a field may hold and what it is called.
#[derive(Debug)]
pub(crate) struct Kind {
    pub en: &'static str,
    pub zh: &'static str,
    pub first: u32,
    pub last: u32,
    /// Names for numbers, the first standing for `first_named`.
    pub(super) names: &'static [&'static str],
    first_named: u32,
    /// The largest step that quartz takes.
    longest_step: u32,
}

impl Kind {
    /// How many there are before the first comes again; Sunday is 0 and 7 in one.
    pub(crate) fn circle(&self) -> u32 {
        if self.en == WEEKDAYS.en { 7 } else { self.last - self.first + 1 }
    }
}

pub(crate) const SECONDS: Kind =
    Kind { en: "second", zh: "秒", first: 0, last: 59, names: &[], first_named: 0, longest_step: 59 };
pub(crate) const MINUTES: Kind =
    Kind { en: "minute", zh: "分", first: 0, last: 59, names: &[], first_named: 0, longest_step: 59 };
pub(crate) const HOURS: Kind =
    Kind { en: "hour", zh: "小时", first: 0, last: 23, names: &[], first_named: 0, longest_step: 23 };
pub(crate) const DAYS: Kind =
    Kind { en: "day of the month", zh: "日", first: 1, last: 31, names: &[], first_named: 0, longest_step: 31 };
pub(crate) const MONTHS: Kind = Kind {
    en: "month",
    zh: "月",
    first: 1,
    last: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    first_named: 1,
    longest_step: 12,
};
/// Sunday is both 0 and 7 while it is read.
pub(crate) const WEEKDAYS: Kind = Kind {
    en: "day of the week",
    zh: "星期",
    first: 0,
    last: 7,
    names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
    first_named: 0,
    longest_step: 7,
};
const QUARTZ_WEEKDAYS: Kind = Kind { first: 1, first_named: 1, ..WEEKDAYS };
pub(crate) const YEARS: Kind =
    Kind { en: "year", zh: "年", first: 1970, last: 2199, names: &[], first_named: 0, longest_step: 229 };

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    pub seconds: Option<Field>,
    pub minutes: Field,
    pub hours: Field,
    pub days: Field,
    pub months: Field,
    /// Sunday is 0 in the items, whatever the dialect; 7 only at the end of a range.
    pub weekdays: Field,
    /// None: every year.
    pub years: Option<Field>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub dialect: Dialect,
    pub fields: Fields,
}

pub(super) fn wrong(span: (usize, usize), en: impl Into<String>, zh: impl Into<String>) -> ScheduleError {
    ScheduleError::Field { field: "expression".to_owned(), words: Words::new(en, zh), span: Some(span) }
}

/// Every minute of an hour and every day of a month written out need less.
const LONGEST: usize = 1000;

pub(crate) fn parse(text: &str, dialect: Option<Dialect>) -> Result<Parsed, ScheduleError> {
    if text.len() > LONGEST {
        return Err(wrong(
            (0, 0),
            format!("the expression is longer than {LONGEST} characters"),
            format!("表达式超过 {LONGEST} 个字符"),
        ));
    }
    let letters: Vec<char> = text.chars().collect();
    let fields = split(&letters);
    let whole = (0, letters.len());
    if let [(from, name)] = &fields[..]
        && name.starts_with('@')
    {
        let span = (*from, from + name.chars().count());
        return parse(spelled_out(name, span)?, Some(Dialect::Unix));
    }
    let dialect = match (dialect, fields.len()) {
        (_, 0) => return Err(wrong(whole, "the expression is empty", "表达式为空")),
        (None, 5) => Dialect::Unix,
        (None, 7) => Dialect::Quartz,
        (None, 6) => return Err(which_dialect(text, &fields)),
        (None, n) => {
            return Err(wrong(
                whole,
                format!(
                    "{n} {} where five are expected: minute, hour, day of the month, month, day of the week",
                    plural(n)
                ),
                format!("需要五个字段（分 时 日 月 星期），实际为 {n} 个"),
            ));
        }
        (Some(dialect), _) => dialect,
    };
    read(&fields, dialect, whole)
}

/// The expression with `@daily` and its kin written out.
pub(crate) fn canonical(text: &str) -> String {
    let name = text.trim();
    match spelled_out(name, (0, 0)) {
        Ok(fields) => fields.to_owned(),
        Err(_) => text.to_owned(),
    }
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "field" } else { "fields" }
}

/// Fields with the character at which each begins.
fn split(letters: &[char]) -> Vec<(usize, String)> {
    let mut fields: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (at, letter) in letters.iter().enumerate() {
        if letter.is_whitespace() {
            inside = false;
            continue;
        }
        match fields.last_mut().filter(|_| inside) {
            Some((_, field)) => field.push(*letter),
            None => fields.push((at, letter.to_string())),
        }
        inside = true;
    }
    fields
}

fn spelled_out(name: &str, span: (usize, usize)) -> Result<&'static str, ScheduleError> {
    Ok(match name.to_lowercase().as_str() {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        "@reboot" => {
            return Err(wrong(
                span,
                "'@reboot' is not a time: a job cannot be planned for when a machine starts",
                "“@reboot”不是时间：无法按机器启动来安排任务",
            ));
        }
        _ => {
            return Err(wrong(
                span,
                format!("'{name}' is not known; there are @hourly, @daily, @weekly, @monthly and @yearly"),
                format!("不认识“{name}”，可用的有 @hourly、@daily、@weekly、@monthly 和 @yearly"),
            ));
        }
    })
}

fn which_dialect(text: &str, fields: &[(usize, String)]) -> ScheduleError {
    let whole = (0, text.chars().count());
    let readings = [Dialect::Seconds, Dialect::Quartz]
        .into_iter()
        .map(|dialect| {
            let reading = match read(fields, dialect, whole) {
                Ok(parsed) => words::phrase(&parsed),
                Err(refused) => {
                    let why = refused.words();
                    Words::new(format!("cannot be read, {}", why.en), format!("读不通，{}", why.zh))
                }
            };
            (dialect, reading)
        })
        .collect();
    ScheduleError::WhichDialect { readings }
}

fn read(fields: &[(usize, String)], dialect: Dialect, whole: (usize, usize)) -> Result<Parsed, ScheduleError> {
    let (least, most) = match dialect {
        Dialect::Unix => (5, 5),
        Dialect::Seconds => (6, 6),
        Dialect::Quartz => (6, 7),
    };
    if fields.len() < least || fields.len() > most {
        let name = dialect.as_str();
        let (n, expected) =
            (fields.len(), if least == most { least.to_string() } else { format!("{least} or {most}") });
        let expected_zh = expected.replace("or", "或");
        return Err(wrong(
            whole,
            format!("{n} {} where the {name} dialect has {expected}", plural(n)),
            format!("{name} 写法需要 {expected_zh} 个字段，实际为 {n} 个"),
        ));
    }
    let quartz = dialect == Dialect::Quartz;
    let (seconds, rest) = match dialect {
        Dialect::Unix => (None, fields),
        Dialect::Seconds | Dialect::Quartz => (Some(field(&fields[0], &SECONDS, dialect)?), &fields[1..]),
    };
    let weekday_kind = if quartz { &QUARTZ_WEEKDAYS } else { &WEEKDAYS };
    let mut weekdays = field(&rest[4], weekday_kind, dialect)?;
    if quartz {
        weekdays.items.iter_mut().for_each(count_from_sunday_0);
    }
    let years = rest.get(5).map(|years| field(years, &YEARS, dialect)).transpose()?;
    let fields = Fields {
        seconds,
        minutes: field(&rest[0], &MINUTES, dialect)?,
        hours: field(&rest[1], &HOURS, dialect)?,
        days: field(&rest[2], &DAYS, dialect)?,
        months: field(&rest[3], &MONTHS, dialect)?,
        weekdays,
        years: years.filter(|years| !years.is_open()),
    };
    if quartz {
        check_one_day_is_open(&fields)?;
    }
    Ok(Parsed { dialect, fields })
}

fn field((start, text): &(usize, String), kind: &Kind, dialect: Dialect) -> Result<Field, ScheduleError> {
    let mut items = Vec::new();
    let mut at = *start;
    let span = (*start, start + text.chars().count());
    for part in text.split(',') {
        let length = part.chars().count();
        items.push(item(part, (at, at + length), kind, dialect)?);
        at += length + 1;
    }
    let stands_alone = |item: &Item| matches!(item, Item::Open | Item::LastOf { .. } | Item::Nth { .. });
    let bare_last = kind.en == WEEKDAYS.en && text.split(',').any(|part| part.eq_ignore_ascii_case("L"));
    if items.len() > 1 && (bare_last || items.iter().any(stands_alone)) {
        return Err(wrong(
            span,
            format!("'?', 'L' and '#' stand alone in the field of the {}", kind.en),
            format!("“?”、“L”和“#”在“{}”字段中必须单独使用", kind.zh),
        ));
    }
    // Quartz reads `/5` as `*/5`.
    Ok(Field { items, starred: text.starts_with(['*', '/']), span })
}

fn item(part: &str, span: (usize, usize), kind: &Kind, dialect: Dialect) -> Result<Item, ScheduleError> {
    if part.is_empty() {
        return Err(wrong(
            span,
            format!("a number of the {} is missing beside a comma", kind.en),
            format!("“{}”字段的逗号旁缺少数字", kind.zh),
        ));
    }
    let is_day = kind.en == DAYS.en || kind.en == WEEKDAYS.en;
    if part == "?" && is_day && dialect == Dialect::Quartz {
        return Ok(Item::Open);
    }
    if is_day && needs_quartz(part, kind) {
        return match dialect {
            Dialect::Quartz => day_of_the_month(part, span, kind),
            Dialect::Unix | Dialect::Seconds => {
                Err(wrong(span, format!("'{part}' belongs to the quartz dialect"), format!("“{part}”是 quartz 写法")))
            }
        };
    }
    let (body, step) = match part.split_once('/') {
        None => (part, None),
        Some((body, step)) => {
            let step_span = (span.0 + body.chars().count() + 1, span.1);
            let most = if dialect == Dialect::Quartz { kind.longest_step } else { 9999 };
            let is_number = step.chars().all(|letter| letter.is_ascii_digit());
            match step.parse::<u32>() {
                Ok(step) if is_number && (1..=most).contains(&step) => (body, Some(step)),
                Ok(1..) if is_number => {
                    return Err(wrong(
                        step_span,
                        format!("{step} is too long a step for the {}; the longest is {most}", kind.en),
                        format!("{step} 超过了“{}”字段的最大步长 {most}", kind.zh),
                    ));
                }
                _ => {
                    return Err(wrong(
                        step_span,
                        format!("'{step}' is not a step; a step is a number from 1"),
                        format!("“{step}”不是步长，步长是从 1 起的整数"),
                    ));
                }
            }
        }
    };
    let from_the_start = body.is_empty() && step.is_some() && dialect == Dialect::Quartz;
    if body == "*" || from_the_start {
        return Ok(Item::Every { step: step.unwrap_or(1) });
    }
    let Some((from_text, to_text)) = body.split_once('-') else {
        let from = number(body, (span.0, span.0 + body.chars().count()), kind)?;
        return Ok(match step {
            Some(step) => Item::Onwards { from, step },
            None => Item::One(from),
        });
    };
    let dash = span.0 + from_text.chars().count();
    let from = number(from_text, (span.0, dash), kind)?;
    let to = number(to_text, (dash + 1, dash + 1 + to_text.chars().count()), kind)?;
    // Nobody who writes FRI-SUN means the Sunday before that Friday.
    let to = if kind.en == WEEKDAYS.en && kind.first == 0 && to == 0 && from > 0 { 7 } else { to };
    let goes_round = dialect == Dialect::Quartz && kind.en != YEARS.en;
    if from > to && !goes_round {
        return Err(match kind.en == YEARS.en {
            true => wrong(span, format!("'{body}' runs backwards"), format!("“{body}”前后颠倒")),
            false => wrong(
                span,
                format!("'{body}' runs backwards; write it as two ranges, {from}-{},{}-{to}", kind.last, kind.first),
                format!("“{body}”前后颠倒，请写成两段：{from}-{},{}-{to}", kind.last, kind.first),
            ),
        });
    }
    Ok(Item::Range { from, to, step: step.unwrap_or(1) })
}

pub(super) fn number(text: &str, span: (usize, usize), kind: &Kind) -> Result<u32, ScheduleError> {
    let lower = text.to_lowercase();
    if let Some(place) = kind.names.iter().position(|name| *name == lower) {
        return Ok(kind.first_named + place as u32);
    }
    if text.is_empty() || !text.chars().all(|letter| letter.is_ascii_digit()) {
        return Err(wrong(
            span,
            format!("'{text}' is not a {}; {} to {} is", kind.en, kind.first, kind.last),
            format!("“{text}”不是“{}”字段的值，应为 {} 到 {}", kind.zh, kind.first, kind.last),
        ));
    }
    match text.parse::<u32>() {
        Ok(number) if (kind.first..=kind.last).contains(&number) => Ok(number),
        _ => Err(wrong(
            span,
            format!("{text} is outside {} to {} for the {}", kind.first, kind.last, kind.en),
            format!("{text} 超出“{}”字段的范围 {} 到 {}", kind.zh, kind.first, kind.last),
        )),
    }
}

impl Parsed {
    pub(crate) fn starts_with_star(&self) -> bool {
        self.fields.minutes.starred || self.fields.hours.starred
    }

    /// As Vixie cron has it: either day suffices only where both were really asked for.
    pub(crate) fn either_day_suffices(&self) -> bool {
        let Fields { days, weekdays, .. } = &self.fields;
        let left_open = |field: &Field| field.starred || field.items.contains(&Item::Open);
        !left_open(days) && !left_open(weekdays)
    }

    pub(crate) fn weekday_mask(&self) -> u8 {
        let mask = self.fields.weekdays.mask(&WEEKDAYS);
        // 7 is Sunday again.
        ((mask | mask >> 7) & 0x7f) as u8
    }

    pub(crate) fn times(&self) -> Result<CronTimes, ScheduleError> {
        let fields = &self.fields;
        let times = CronTimes {
            seconds: fields.seconds.as_ref().map_or(1, |field| field.mask(&SECONDS)),
            minutes: fields.minutes.mask(&MINUTES),
            hours: fields.hours.mask(&HOURS) as u32,
            days: fields.days.mask(&DAYS) as u32,
            months: fields.months.mask(&MONTHS) as u16,
            weekdays: self.weekday_mask(),
            either_day: self.either_day_suffices(),
            quartz: self.quartz_days(),
        };
        if times.has_a_day() {
            return Ok(times);
        }
        let in_some_year = fields.years.as_ref().filter(|_| times.has_a_day_in_some_year());
        let (days, years) = (words::days(self), in_some_year.map(words::years).unwrap_or_default());
        let no_months = fields.months.is_open();
        let months = if no_months { Words::new("no month", "没有哪个月") } else { words::months(&fields.months) };
        let named = days.en.strip_prefix("the ").unwrap_or(&days.en);
        let in_years = if years.en.is_empty() { String::new() } else { format!(" in {}", years.en) };
        let (has, has_zh) = if no_months { ("has", "有") } else { ("has no", "没有") };
        Err(ScheduleError::never(
            "expression",
            format!("{} {has} {named}{in_years}", months.en),
            format!("{}{}{has_zh}{}", years.zh, months.zh, days.zh),
        ))
    }
}
