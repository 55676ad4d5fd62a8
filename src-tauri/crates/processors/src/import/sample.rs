//! Ten thousand customers that nobody knows, for whoever wants to see an import before there is a file of one's own.

use std::fmt::Write as _;

const ROWS: usize = 10_000;

const FAMILIES: [&str; 12] = [
    "Li 李",
    "Wang 王",
    "Zhang 张",
    "Chen 陈",
    "Okafor",
    "Schmidt",
    "Rossi",
    "Silva",
    "Novak",
    "Haddad",
    "Kaur",
    "Smith",
];
const GIVEN: [&str; 10] = ["Ming 明", "Mei 梅", "Wei 伟", "Ana", "Jonas", "Amara", "Luca", "Zoe", "Omar", "Priya"];
const CITIES: [&str; 8] = ["上海", "北京", "Lagos", "Berlin", "São Paulo", "Mumbai", "Praha", "Beirut"];

/// As the text of a CSV file: who was brought by another names that one, some lack an address, some name nobody, and
/// two name each other.
pub fn customers() -> String {
    let mut text = String::from("id,name,email,city,brought_by\n");
    for n in 1..=ROWS {
        let email = if n % 617 == 0 { String::new() } else { format!("customer{n}@example.org") };
        let brought_by = match n {
            4001 => "C04002".to_owned(),
            4002 => "C04001".to_owned(),
            _ if n % 1499 == 0 => "C99999".to_owned(),
            // The first thousand came by themselves; of the others some were brought by those before them.
            _ if n > 1000 && n % 3 == 0 => format!("C{:05}", n / 7),
            _ => String::new(),
        };
        let (family, given, city) = (FAMILIES[n * 7 % 12], GIVEN[n * 3 % 10], CITIES[n * 5 % 8]);
        writeln!(text, "C{n:05},{given} {family},{email},{city},{brought_by}").expect("a text takes what is written");
    }
    text
}
