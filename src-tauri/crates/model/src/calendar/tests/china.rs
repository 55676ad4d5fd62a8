//! China's days, each compared with what three packages say that share nothing with ours.
//!
//! `china.py` asked them and wrote `china.csv`.

use std::collections::BTreeMap;

use super::date;
use crate::Almanac;
use crate::calendar::{CHINA, Date, Standing};
use crate::schedule::civil::weekday;

/// Where we follow the notice and not the package, with the package's column.
///
/// 2005-12-31: the notice on the holidays of 2006 moves this Saturday's rest to 3 January and says that it is worked.
const NOT_AS_THEY_SAY: [(&str, &str); 2] = [("2005-12-31", "chinesecalendar"), ("2005-12-31", "chinese-days")];

#[test]
fn every_day_from_2004_to_2026_is_worked_as_three_others_say() {
    let china = Almanac::bundled().calendar(CHINA).expect("built in");
    let mut rows = include_str!("china.csv").lines();
    let sources: Vec<&str> = rows.next().expect("a header").split(',').skip(1).collect();
    assert_eq!(sources.len(), 3);
    let told: BTreeMap<Date, Vec<bool>> = rows
        .map(|row| {
            let (day, answers) = row.split_once(',').expect("a date and answers");
            (date(day), answers.split(',').map(|answer| answer == "1").collect())
        })
        .collect();
    let mut differences = Vec::new();
    let (mut day, mut days) = (date("2004-01-01"), 0);
    while day <= date("2026-12-31") {
        let ours = china.standing_of(day) == Standing::Working;
        for (place, source) in sources.iter().enumerate() {
            let theirs = told.get(&day).map_or(weekday(day.day()) < 5, |answers| answers[place]);
            if ours != theirs {
                differences.push((day.to_string(), source.split(' ').next().unwrap_or_default()));
            }
        }
        days += 1;
        day = day.plus_days(1);
    }
    assert_eq!(days, 8401);
    let expected: Vec<(String, &str)> = NOT_AS_THEY_SAY.map(|(day, source)| (day.to_owned(), source)).to_vec();
    assert_eq!(differences, expected);
}

#[test]
fn a_day_says_why_it_is_worked_or_not() {
    let china = Almanac::bundled().calendar(CHINA).expect("built in");
    let table = [
        ("2026-10-03", false, "National Day", "国庆节"),
        ("2026-10-10", true, "make-up working day for National Day", "国庆节调休上班"),
        ("2026-10-12", true, "working day", "工作日"),
        ("2026-10-17", false, "weekend", "周末"),
        ("2015-09-03", false, "Victory Day", "抗战胜利纪念日"),
    ];
    for (day, works, en, zh) in table {
        assert_eq!(china.standing_of(date(day)) == Standing::Working, works, "{day}");
        let why = china.why(date(day));
        assert_eq!((why.en.as_str(), why.zh.as_str()), (en, zh), "{day}");
    }
}

#[test]
fn its_data_ends_with_2026_and_before_2004_there_is_none() {
    let china = Almanac::bundled().calendar(CHINA).expect("built in");
    assert_eq!(china.covered_years().collect::<Vec<_>>(), (2004..=2026).collect::<Vec<_>>());
    assert_eq!(china.data_ends(date("2026-11-21").day()), Some(date("2026-12-31")));
    assert!(!china.covers_year(2027) && !china.covers_year(2003));
    // Without data its week holds, unless somebody says otherwise.
    assert_eq!(china.standing_of(date("2027-01-04")), Standing::Working);
    assert_eq!(china.standing_of(date("2027-01-02")), Standing::Off);
}
