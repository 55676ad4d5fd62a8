//! Which rows have to be there before which. Pure.
//!
//! A row may name another one, its parent, by its key; it comes in the level after that one. So levels run one after
//! another, and within one nobody waits for anybody.

use std::collections::HashMap;
use std::fmt;

/// Why a row cannot be imported, whatever the database says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    NoKey {
        column: String,
    },
    /// A row before it, in that line, has the same key.
    KeyTwice {
        key: String,
        line: u64,
    },
    ParentUnknown {
        parent: String,
    },
    /// It is its own ancestor, or comes after one that is.
    InACircle {
        parent: String,
    },
}

/// What stands with the outcome of an item is one text for everybody: both languages.
impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::NoKey { column } => write!(f, "{column} is empty. {column} 为空。"),
            Wrong::KeyTwice { key, line } => {
                write!(f, "line {line} has the key {key} already. 第 {line} 行已有主键 {key}。")
            }
            Wrong::ParentUnknown { parent } => {
                write!(f, "no row has the key {parent}. 没有主键为 {parent} 的行。")
            }
            Wrong::InACircle { parent } => {
                write!(f, "{parent} comes after this row, which is to come after it. 与 {parent} 循环依赖。")
            }
        }
    }
}

/// What a row says of itself.
#[derive(Clone, Debug)]
pub struct Named {
    pub line: u64,
    pub key: String,
    /// Empty: it has none.
    pub parent: String,
}

/// The level of each row, 0 where nothing has to come before it.
pub fn levels(rows: &[Named], key_column: &str) -> Vec<Result<u32, Wrong>> {
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(rows.len());
    let mut found: Vec<Option<Result<u32, Wrong>>> = vec![None; rows.len()];
    for (place, row) in rows.iter().enumerate() {
        if row.key.is_empty() {
            found[place] = Some(Err(Wrong::NoKey { column: key_column.to_owned() }));
        } else if let Some(first) = places.get(row.key.as_str()) {
            found[place] = Some(Err(Wrong::KeyTwice { key: row.key.clone(), line: rows[*first].line }));
        } else {
            places.insert(&row.key, place);
        }
    }
    let mut climbed: Vec<usize> = Vec::new();
    let mut is_climbed = vec![false; rows.len()];
    for start in 0..rows.len() {
        // Up to a row that is known, and down again.
        let mut at = start;
        let above = loop {
            if let Some(known) = &found[at] {
                break known.clone().map_err(|_| ());
            }
            if is_climbed[at] {
                break Err(());
            }
            is_climbed[at] = true;
            climbed.push(at);
            let parent = rows[at].parent.as_str();
            if parent.is_empty() {
                found[at] = Some(Ok(0));
            } else if let Some(place) = places.get(parent) {
                at = *place;
            } else {
                found[at] = Some(Err(Wrong::ParentUnknown { parent: parent.to_owned() }));
            }
        };
        // Whoever comes after a row that is wrong for itself can be tried: the database knows whether it is missed.
        let mut above = match (&found[at], above) {
            (Some(Err(Wrong::InACircle { .. })) | None, _) => None,
            (_, Ok(level)) => Some(level),
            (_, Err(())) => Some(0),
        };
        while let Some(place) = climbed.pop() {
            if found[place].is_none() {
                above = above.map(|level| level + 1);
                let parent = rows[place].parent.clone();
                found[place] = Some(above.ok_or(Wrong::InACircle { parent }));
            }
        }
    }
    found.into_iter().map(|level| level.unwrap_or(Ok(0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as `key<parent`, what becomes of them as a level or a letter.
    fn check(rows: &str, expected: &str) {
        let rows: Vec<Named> = (2..)
            .zip(rows.split_whitespace())
            .map(|(line, row)| {
                let (key, parent) = row.split_once('<').unwrap_or((row, ""));
                Named { line, key: key.trim_matches('_').to_owned(), parent: parent.to_owned() }
            })
            .collect();
        let said: Vec<String> = levels(&rows, "id")
            .into_iter()
            .map(|level| match level {
                Ok(level) => level.to_string(),
                Err(Wrong::NoKey { .. }) => "n".to_owned(),
                Err(Wrong::KeyTwice { line, .. }) => format!("t{line}"),
                Err(Wrong::ParentUnknown { .. }) => "u".to_owned(),
                Err(Wrong::InACircle { .. }) => "c".to_owned(),
            })
            .collect();
        assert_eq!(said.join(" "), expected, "{rows:?}");
    }

    #[test]
    fn a_row_comes_in_the_level_after_its_parent() {
        check("", "");
        check("a b c", "0 0 0");
        check("a b<a c<b d<a", "0 1 2 1");
        // The parent stands further down.
        check("c<b b<a a", "2 1 0");
    }

    #[test]
    fn unknown_parents_circles_and_keys_that_are_missing_or_there_twice_are_errors_of_their_rows() {
        check("a b<x c<b", "0 u 1");
        check("a<a b<a", "c c");
        check("a<b b<c c<a d<c e", "c c c c 0");
        check("a a _<a b<a", "0 t2 n 1");
    }

    #[test]
    fn a_long_chain_is_no_trouble() {
        let rows: Vec<Named> = (0..200_000)
            .map(|n: u64| Named {
                line: n + 2,
                key: n.to_string(),
                parent: if n == 199_999 { String::new() } else { (n + 1).to_string() },
            })
            .collect();
        assert_eq!(levels(&rows, "id")[0], Ok(199_999));
    }
}
