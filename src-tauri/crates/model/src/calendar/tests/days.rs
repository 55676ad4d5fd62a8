//! Layers, years without data, counting.

use proptest::prelude::*;

use super::{calendar, compiled, date, layer};
use crate::Almanac;
use crate::calendar::{CHINA, Calendar, Date, Rolled, Standing, Uncovered, WEEKDAYS, WorkingDays, check, difference};

fn works(calendar: &WorkingDays, day: &str) -> Option<bool> {
    match calendar.standing_of(date(day)) {
        Standing::Working => Some(true),
        Standing::Off => Some(false),
        Standing::Unknown => None,
    }
}

#[test]
fn of_two_layers_that_mark_a_day_the_later_counts() {
    let country = layer("country", &[2026], &["2026-05-01", "2026-05-04", "2026-05-09!"]);
    let company = layer("company", &[], &["2026-05-04!", "2026-05-09", "2026-12-24"]);
    let team = layer("team", &[], &["2026-12-24!"]);
    let days = compiled(&calendar(vec![country, company, team]));
    let table = [
        ("2026-05-01", false, "country"),
        ("2026-05-04", true, "company"),
        ("2026-05-09", false, "company"),
        ("2026-12-24", true, "team"),
    ];
    for (day, expected, layer) in table {
        assert_eq!(works(&days, day), Some(expected), "{day}");
        assert_eq!(days.mark_of(date(day)).expect("marked").layer, layer, "{day}");
    }
}

#[test]
fn a_calendar_that_builds_on_china_has_its_days_and_its_end() {
    let mut ours = calendar(vec![layer("company", &[], &["2026-10-08", "2027-01-04"])]);
    ours.base = Some(CHINA.to_owned());
    let almanac = Almanac::bundled().with_calendar(ours);
    let days = almanac.calendar("acme").expect("it stands");
    assert_eq!(works(&days, "2026-10-03"), Some(false));
    assert_eq!(works(&days, "2026-10-08"), Some(false));
    assert_eq!(works(&days, "2026-10-10"), Some(true));
    assert!(!days.covers_year(2027), "a day of one's own is not the data of a year");
    assert_eq!(days.time_zone(), Some("Asia/Shanghai"));
}

#[test]
fn an_edit_of_a_built_in_calendar_stands_on_the_built_in_one() {
    let mut ours = Calendar::new(CHINA);
    ours.base = Some(CHINA.to_owned());
    ours.layers.push(layer("country", &[2027], &["2027-01-01"]));
    assert_eq!(check(&ours, &Almanac::bundled()), []);
    let almanac = Almanac::bundled().with_calendar(ours);
    let china = almanac.calendar(CHINA).expect("there");
    assert!(china.covers_year(2027) && china.covers_year(2004));
    assert_eq!(works(&china, "2026-10-10"), Some(true));
    assert!(!almanac.is_built_in(CHINA));
    let again = almanac.without_calendar(CHINA);
    assert!(again.is_built_in(CHINA));
    assert_eq!(again.version(), Almanac::bundled().version());
}

#[test]
fn a_year_without_data_goes_by_the_week_or_is_not_known() {
    let mut ours = calendar(vec![layer("country", &[2026], &["2026-01-01"])]);
    assert_eq!(works(&compiled(&ours), "2027-01-01"), Some(true), "a Friday");
    ours.uncovered = Some(Uncovered::Hold);
    let days = compiled(&ours);
    assert_eq!(works(&days, "2027-01-01"), None);
    assert_eq!(works(&days, "2026-12-31"), Some(true));
    assert_eq!(days.why(date("2027-01-01")).en, "no data for 2027");
    assert_eq!(days.roll(date("2026-12-27").day(), 1), Rolled::To(date("2026-12-28").day()));
    assert_eq!(days.working_from(date("2027-03-01").day()), None);
    // A week that needs no data is known for ever.
    assert_eq!(works(&compiled(&calendar(Vec::new())), "2150-06-01"), Some(true));
}

#[test]
fn a_run_is_moved_over_thirty_one_days_at_most() {
    let december: Vec<String> = (1..=31).map(|day| format!("2026-12-{day:02}")).collect();
    let mut long: Vec<&str> = december.iter().map(String::as_str).collect();
    let off_until_the_31st = compiled(&calendar(vec![layer("c", &[2026], &long)]));
    let from = date("2026-12-01").day();
    assert_eq!(off_until_the_31st.roll(from, 1), Rolled::To(date("2027-01-01").day()), "31 days on");
    long.push("2027-01-01");
    let off_until_new_year = compiled(&calendar(vec![layer("c", &[2026, 2027], &long)]));
    assert_eq!(off_until_new_year.roll(from, 1), Rolled::Nowhere);
    assert_eq!(off_until_new_year.roll(date("2026-12-02").day(), 1), Rolled::Nowhere, "then comes a weekend");
    assert_eq!(off_until_new_year.roll(date("2026-12-31").day(), -1), Rolled::To(date("2026-11-30").day()));
}

#[test]
fn what_keeps_a_calendar_from_being_saved_is_said_by_field() {
    let mut other = Calendar::new("other");
    other.base = Some("acme".to_owned());
    let almanac = Almanac::bundled().with_calendar(calendar(Vec::new())).with_calendar(other);
    let faults = |change: fn(&mut Calendar)| -> Vec<String> {
        let mut ours = calendar(vec![layer("country", &[2026], &["2026-01-01"])]);
        change(&mut ours);
        check(&ours, &almanac).into_iter().filter_map(|fault| fault.field).collect()
    };
    let nothing: [&str; 0] = [];
    assert_eq!(faults(|_| {}), nothing);
    assert_eq!(faults(|ours| ours.name = String::new()), ["name"]);
    assert_eq!(faults(|ours| ours.name = "a/b".into()), ["name"]);
    assert_eq!(faults(|ours| ours.week = Some(vec![])), ["week"]);
    assert_eq!(faults(|ours| ours.week = Some(vec![1, 1])), ["week"]);
    assert_eq!(faults(|ours| ours.week = Some(vec![0])), ["week"]);
    assert_eq!(faults(|ours| ours.time_zone = Some("Asia/Nowhere".into())), ["timeZone"]);
    assert_eq!(faults(|ours| ours.base = Some("nobody".into())), ["base"]);
    assert_eq!(faults(|ours| ours.base = Some("acme".into())), ["base"], "it is not built in");
    assert_eq!(faults(|ours| ours.base = Some("other".into())), ["base"], "a circle");
    assert_eq!(faults(|ours| ours.layers.push(ours.layers[0].clone())), ["layers.1.name"]);
    assert_eq!(faults(|ours| ours.layers[0].years = vec![1900]), ["layers.0.years"]);
    assert_eq!(
        faults(|ours| {
            let day = ours.layers[0].days[0].clone();
            ours.layers[0].days.push(day);
        }),
        ["layers.0.days.1"]
    );
}

#[test]
fn the_difference_is_the_days_that_changed() {
    let before = compiled(&calendar(vec![layer("c", &[2026], &["2026-01-01", "2026-01-02"])]));
    let after = compiled(&calendar(vec![layer("c", &[2026], &["2026-01-01", "2026-01-03!"])]));
    let changes: Vec<_> = difference(&before, &after, 2026..=2026)
        .into_iter()
        .map(|change| (change.date.to_string(), change.worked_before, change.worked_after))
        .collect();
    assert_eq!(
        changes,
        [("2026-01-02".to_owned(), Some(false), Some(true)), ("2026-01-03".to_owned(), Some(false), Some(true)),]
    );
    assert_ne!(before.version(), after.version());
}

#[test]
fn a_document_is_read_and_written_alike() {
    let text = r#"{"name":"acme","base":"cn","layers":[{"name":"company","days":[{"date":"2026-12-24","kind":"off","name":"Christmas Eve"}]}]}"#;
    let read: Calendar = serde_json::from_str(text).expect("a calendar");
    assert_eq!(read.layers[0].days[0].name.as_ref().expect("a name").zh, "Christmas Eve");
    let again: Calendar = serde_json::from_value(serde_json::to_value(&read).expect("JSON")).expect("a calendar");
    assert_eq!(read, again);
    for wrong in ["2026-02-29", "2026-13-01", "26-1-1", "1969-12-31", "2026-1", "x"] {
        assert!(wrong.parse::<Date>().is_err(), "{wrong}");
    }
}

proptest! {
    /// Numbers of working days, forth and back, against a walk from day to day.
    #[test]
    fn counting_agrees_with_walking(
        week in prop::collection::btree_set(1..=7u8, 1..=7),
        hold in any::<bool>(),
        years in prop::collection::btree_set(2020..2028u16, 0..4),
        marks in prop::collection::btree_map(0..2922i64, any::<bool>(), 0..60),
        from in -800i64..4000,
    ) {
        let first = date("2020-01-01");
        let marks: Vec<String> = marks
            .iter()
            .map(|(day, work)| format!("{}{}", first.plus_days(*day), if *work { "!" } else { "" }))
            .collect();
        let marks: Vec<&str> = marks.iter().map(String::as_str).collect();
        let years: Vec<u16> = years.into_iter().collect();
        let mut ours = calendar(vec![layer("c", &years, &marks)]);
        ours.week = Some(week.into_iter().collect());
        ours.uncovered = hold.then_some(Uncovered::Hold);
        let days = compiled(&ours);

        let start = first.day() + from;
        let mut number = days.number(start);
        for day in start..start + 500 {
            prop_assert_eq!(days.number(day), number, "{}", Date::of_day(day));
            if days.is_working(day) {
                prop_assert_eq!(days.numbered(number), Some(day), "{}", Date::of_day(day));
                number += 1;
            }
        }
        let walked = (start..start + 3000).find(|day| days.is_working(*day));
        if walked.is_some() {
            prop_assert_eq!(days.working_from(start), walked);
        }
        for step in [1, -1] {
            let walked = (1..=31).map(|n| start + step * n).find(|day| days.standing(*day) != Standing::Off);
            let expected = match walked {
                None => Rolled::Nowhere,
                Some(day) if days.is_working(day) => Rolled::To(day),
                Some(_) => Rolled::Unknown,
            };
            prop_assert_eq!(days.roll(start, step), expected);
        }
    }
}

#[test]
fn the_plain_week_is_monday_to_friday_for_ever() {
    let weekdays = Almanac::bundled().calendar(WEEKDAYS).expect("built in");
    assert!(!weekdays.needs_data());
    assert_eq!(weekdays.week(), [1, 2, 3, 4, 5]);
    assert_eq!(works(&weekdays, "2026-10-01"), Some(true));
    assert_eq!(works(&weekdays, "2190-01-02"), Some(false), "a Saturday");
}
