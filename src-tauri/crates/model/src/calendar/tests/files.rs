//! The dialects of .ics and CSV files, and what is said of files that are wrong.

use proptest::prelude::*;

use crate::Almanac;
use crate::calendar::{CHINA, DayKind, FileKind, FileRead, WorkingDays, calendar_of_file, read_file, write_file};

fn event(lines: &str) -> String {
    format!("BEGIN:VEVENT\n{lines}\nEND:VEVENT\n")
}

fn ics(events: &[&str]) -> String {
    let events: String = events.iter().map(|lines| event(lines)).collect();
    format!("BEGIN:VCALENDAR\nVERSION:2.0\nX-WR-CALNAME:Days\n{events}END:VCALENDAR\n")
}

/// Each day as `2026-10-01 off name`.
fn days(read: &FileRead) -> Vec<String> {
    let kind = |kind| if kind == DayKind::Work { "work" } else { "off" };
    let day = |day: &crate::calendar::MarkedDay| {
        let name = day.name.as_ref().map(|name| name.zh.clone()).unwrap_or_default();
        format!("{} {} {name}", day.date, kind(day.kind)).trim().to_owned()
    };
    read.days.iter().map(day).collect()
}

fn check(kind: FileKind, text: &str, expected: &[&str]) {
    let read = read_file(kind, text).unwrap_or_else(|faults| panic!("{faults:?}"));
    assert_eq!(days(&read), expected, "{text}");
}

#[test]
fn working_days_are_known_by_each_programs_own_mark() {
    let table: [(&[&str], &[&str]); 6] = [
        // A word in the summary; what is not worked is off. The end is the first day that is not meant.
        (
            &[
                "SUMMARY:元旦假期\nDTSTART;VALUE=DATE:20250101\nDTEND;VALUE=DATE:20250103",
                "SUMMARY:上班(补春节假期)\nDTSTART;VALUE=DATE:20250126\nDTEND;VALUE=DATE:20250127",
            ],
            &["2025-01-01 off 元旦假期", "2025-01-02 off 元旦假期", "2025-01-26 work 上班(补春节假期)"],
        ),
        // A tag, beside festivals that are worked: those are passed over.
        (
            &[
                "SUMMARY:春节(休)\nDTSTART;VALUE=DATE:20260217\nDTEND;VALUE=DATE:20260218",
                "SUMMARY:春节（班）\nDTSTART;VALUE=DATE:20260214",
                "SUMMARY:立春\nDTSTART;VALUE=DATE:20260204",
            ],
            &["2026-02-14 work 春节", "2026-02-17 off 春节"],
        ),
        // A property, whatever the summary says.
        (
            &[
                "SUMMARY:国庆节\nX-APPLE-SPECIAL-DAY:WORK-HOLIDAY\nDTSTART;VALUE=DATE:20261001",
                "SUMMARY:国庆节\nX-APPLE-SPECIAL-DAY:ALTERNATE-WORKDAY\nDTSTART;VALUE=DATE:20261010",
                "SUMMARY:重阳节\nDTSTART;VALUE=DATE:20261018",
            ],
            &["2026-10-01 off 国庆节", "2026-10-10 work 国庆节"],
        ),
        (
            &[
                "SUMMARY:Labour Day (Holiday)\nDTSTART:20260501\nDURATION:P2D",
                "SUMMARY:Labour Day(Workday)\nDTSTART:20260509",
            ],
            &["2026-05-01 off Labour Day", "2026-05-02 off Labour Day", "2026-05-09 work Labour Day"],
        ),
        // Times of day, as some write a day at work.
        (
            &["SUMMARY:补班\nDTSTART;TZID=Asia/Shanghai:20260509T090000\nDTEND;TZID=Asia/Shanghai:20260509T180000"],
            &["2026-05-09 work 补班"],
        ),
        // Every year.
        (
            &["SUMMARY:Founders\nDTSTART;VALUE=DATE:20240229\nRRULE:FREQ=YEARLY;UNTIL=20321231"],
            &["2024-02-29 off Founders", "2028-02-29 off Founders", "2032-02-29 off Founders"],
        ),
    ];
    for (events, expected) in table {
        check(FileKind::Ics, &ics(events), expected);
        check(FileKind::Ics, &ics(events).replace('\n', "\r\n"), expected);
    }
}

#[test]
fn folded_lines_escapes_and_alarms_are_read_past() {
    let text = ics(&[
        "SUMMARY:A\\, B\n  and C\nDTSTART;X-A=\"b:c\";VALUE=DATE:20260101\nBEGIN:VALARM\nSUMMARY:no\nDURATION:PT5M\nEND:VALARM",
        "SUMMARY:gone\nSTATUS:CANCELLED\nDTSTART;VALUE=DATE:20260102",
    ]);
    check(FileKind::Ics, &text, &["2026-01-01 off A, B and C"]);
    let read = read_file(FileKind::Ics, &text).expect("fine");
    assert_eq!((read.title.as_deref(), read.years), (Some("Days"), vec![2026]));
}

#[test]
fn csv_is_read_with_and_without_a_header() {
    let table: [(&str, &[&str]); 7] = [
        ("2026-10-01\n2026-10-02,off,National Day", &["2026-10-01 off", "2026-10-02 off National Day"]),
        ("date,kind,name\n2026-10-10,work,x\n", &["2026-10-10 work x"]),
        (
            "\u{feff}日期;类型;名称\r\n2026/10/1;休;国庆节\r\n2026/10/10;班;\"国庆节;调休\"\r\n",
            &["2026-10-01 off 国庆节", "2026-10-10 work 国庆节;调休"],
        ),
        (
            "date\tuntil\tname\n20261001\t20261003\t国庆节\n",
            &["2026-10-01 off 国庆节", "2026-10-02 off 国庆节", "2026-10-03 off 国庆节"],
        ),
        ("name,date,isOffDay\nx,2026-10-01,true\ny,2026-10-10,false\n", &["2026-10-01 off x", "2026-10-10 work y"]),
        ("date,isWorkday\n2026-10-01,0\n\n# note\n2026-10-10,1\n", &["2026-10-01 off", "2026-10-10 work"]),
        (
            "date,name\n2026-10-10,国庆节(班)\n2026-10-01,\"say \"\"hi\"\"\"\n",
            &["2026-10-01 off say \"hi\"", "2026-10-10 work 国庆节"],
        ),
    ];
    for (text, expected) in table {
        check(FileKind::Csv, text, expected);
    }
}

#[test]
fn a_wrong_file_is_refused_with_the_line() {
    let ics_line = |lines: &str| ics(&[lines]);
    let table = [
        (FileKind::Ics, "hello".to_owned(), 1, "begins with BEGIN:VCALENDAR"),
        (FileKind::Ics, ics(&[]), 1, "no day off"),
        (FileKind::Ics, ics_line("SUMMARY:x"), 4, "no DTSTART"),
        (FileKind::Ics, ics_line("DTSTART:20260231"), 5, "'20260231' is not a date"),
        (FileKind::Ics, ics_line("DTSTART:20260101T160000Z"), 5, "a moment in UTC"),
        (FileKind::Ics, ics_line("DTSTART:20260103\nDTEND:20260101"), 4, "before it begins"),
        (FileKind::Ics, ics_line("DTSTART:20260101\nDTEND:20280101"), 4, "longer than a year"),
        (FileKind::Ics, ics_line("DTSTART:20260101\nRRULE:FREQ=WEEKLY"), 6, "repeats in a way"),
        (FileKind::Ics, "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260101\n".to_owned(), 2, "the file is cut off"),
        (FileKind::Ics, "BEGIN:VCALENDAR\nEND:VEVENT\n".to_owned(), 2, "what has not begun"),
        (FileKind::Ics, "BEGIN:VCALENDAR\nwhat\n".to_owned(), 2, "no ':'"),
        (
            FileKind::Ics,
            ics(&["DTSTART:20260101\nSUMMARY:a(休)", "DTSTART:20260101\nSUMMARY:b(班)"]),
            8,
            "line 4 says the other",
        ),
        (FileKind::Csv, "date,kind\n2026-10-01,off\n2026-10-32,off\n".to_owned(), 3, "'2026-10-32' is not a date"),
        (FileKind::Csv, "date,kind\n2026-10-01,maybe\n".to_owned(), 2, "neither 'off' nor 'work'"),
        (FileKind::Csv, "date,kind\n,off\n".to_owned(), 2, "no date"),
        (FileKind::Csv, "date,name\n2026-10-01,\"x\n".to_owned(), 2, "not closed"),
        (FileKind::Csv, String::new(), 1, "no day off"),
        (FileKind::Csv, "<html>".to_owned(), 1, "'<html>' is not a date"),
    ];
    for (kind, text, line, said) in table {
        let faults = read_file(kind, &text).expect_err(&text);
        let fault = &faults[0];
        assert_eq!(fault.code, crate::Code::CalendarFileRefused.as_str());
        let begins = format!("line {line} of the file: ");
        assert!(fault.message.en.starts_with(&begins), "{begins} {} {text}", fault.message.en);
        assert!(fault.message.en.contains(said), "{} does not say {said}", fault.message.en);
        assert!(fault.message.zh.chars().any(|letter| letter as u32 > 0x3000), "{}", fault.message.zh);
    }
}

#[test]
fn china_comes_back_from_its_own_files_day_by_day() {
    let china = Almanac::bundled().calendar(CHINA).expect("built in");
    for (kind, zh) in [(FileKind::Csv, true), (FileKind::Ics, true), (FileKind::Ics, false)] {
        let text = write_file(kind, &china, 2004..=2026, zh);
        assert_eq!(FileKind::guess("", &text), kind);
        let read = read_file(kind, &text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let mut again = calendar_of_file("again", "file", &read);
        again.layers[0].years = (2004..=2026).collect();
        let again = WorkingDays::new(&again, None);
        let mut day: crate::calendar::Date = "2003-01-01".parse().expect("a date");
        while day.year() < 2028 {
            assert_eq!(again.standing_of(day), china.standing_of(day), "{day} in {kind:?}");
            let name = |days: &WorkingDays| days.mark_of(day).and_then(|mark| mark.name.clone()).map(|name| name.zh);
            if kind == FileKind::Csv || zh {
                assert_eq!(name(&again), name(&china), "{day}");
            }
            day = day.plus_days(1);
        }
    }
}

proptest! {
    /// Whatever a file holds, it is read or refused, and nothing else happens.
    #[test]
    fn no_file_breaks_the_reader(text in "(BEGIN:VCALENDAR\n)?([A-Z]{2,7}[;:=,\"\\\\ \n]|[0-9T,\"'\n]{1,9}|\\PC|DTSTART:|BEGIN:VEVENT\n|END:VEVENT\n|RRULE:FREQ=YEARLY){0,60}") {
        for kind in [FileKind::Ics, FileKind::Csv] {
            match read_file(kind, &text) {
                Ok(read) => prop_assert!(!read.days.is_empty()),
                Err(faults) => prop_assert!(!faults.is_empty()),
            }
        }
    }
}
