//! How lists and pieces are put together in a sentence, in English and in Chinese.

pub(crate) const MONTHS_EN: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn and_list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `甲`, `甲和乙`, `甲、乙和丙`.
pub(crate) fn zh_list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => spaced(&[&first.join("、"), "和", last]),
    }
}

/// Chinese pieces in a row, with a space wherever Latin letters or digits meet Chinese ones.
pub(crate) fn spaced(parts: &[&str]) -> String {
    let mut text = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let narrow = |letter: char| letter.is_ascii_alphanumeric();
        let punctuation = |letter: char| matches!(letter, '（' | '）' | '，' | '、' | '：' | ' ');
        let meet = text.chars().last().zip(part.chars().next());
        if meet.is_some_and(|(a, b)| (narrow(a) || narrow(b)) && !punctuation(a) && !punctuation(b)) {
            text.push(' ');
        }
        text.push_str(part);
    }
    text
}
