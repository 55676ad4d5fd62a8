//! What the planner looks things up in: zone data and working-day calendars, under one version.
//!
//! An almanac never changes: an edited calendar makes another one. Whoever plans takes the one of the
//! moment, and the ledger records with every span by which data it was planned.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use crate::calendar::{CHINA, Calendar, WEEKDAYS, WorkingDays, built_in};
use crate::schedule::{ScheduleError, Zone, Zones};

#[derive(Clone, Debug)]
pub struct Almanac {
    zones: Arc<Zones>,
    calendars: BTreeMap<String, Kept>,
    version: String,
}

#[derive(Clone, Debug)]
struct Kept {
    document: Arc<Calendar>,
    days: Arc<WorkingDays>,
}

impl Almanac {
    /// `calendars` are those that people made; the built-in ones are there too, unless one has their name.
    ///
    /// One that stands on a calendar that is not there is left out: what names it is told so.
    pub fn new(zones: Arc<Zones>, calendars: impl IntoIterator<Item = Calendar>) -> Almanac {
        let made: BTreeMap<String, Arc<Calendar>> =
            calendars.into_iter().map(|calendar| (calendar.name.clone(), Arc::new(calendar))).collect();
        static BUILT_IN: LazyLock<BTreeMap<String, Kept>> = LazyLock::new(|| {
            let kept = |calendar: &Calendar| Kept {
                document: Arc::new(calendar.clone()),
                days: Arc::new(WorkingDays::new(calendar, None)),
            };
            built_in().iter().map(|calendar| (calendar.name.clone(), kept(calendar))).collect()
        });
        let mut kept = BUILT_IN.clone();
        kept.retain(|name, _| !made.contains_key(name));
        // Each round puts up those whose base stands; the rest stand on nothing.
        loop {
            let before = kept.len();
            for (name, calendar) in &made {
                if kept.contains_key(name) {
                    continue;
                }
                let days = match &calendar.base {
                    None => WorkingDays::new(calendar, None),
                    Some(base) if base == name => match BUILT_IN.get(base) {
                        Some(base) => WorkingDays::new(calendar, Some(&base.days)),
                        None => continue,
                    },
                    Some(base) => match kept.get(base) {
                        Some(base) => WorkingDays::new(calendar, Some(&base.days)),
                        None => continue,
                    },
                };
                kept.insert(name.clone(), Kept { document: calendar.clone(), days: Arc::new(days) });
            }
            if kept.len() == before {
                break;
            }
        }
        let mut version = zones.version().to_owned();
        for kept in kept.values() {
            version.push(' ');
            version.push_str(kept.days.version());
        }
        Almanac { zones, calendars: kept, version }
    }

    /// What the program carries.
    pub fn bundled() -> Almanac {
        Almanac::new(Arc::new(Zones::bundled()), [])
    }

    /// The same with other calendars in place of those that people made.
    #[must_use]
    pub fn with_calendars(&self, calendars: impl IntoIterator<Item = Calendar>) -> Almanac {
        Almanac::new(self.zones.clone(), calendars)
    }

    /// The same with one calendar put in, or put in place of the one of that name.
    #[must_use]
    pub fn with_calendar(&self, calendar: Calendar) -> Almanac {
        let others = self.made_by_people().filter(|other| other.name != calendar.name).cloned().collect::<Vec<_>>();
        self.with_calendars(others.into_iter().chain([calendar]))
    }

    /// The same without a calendar that people made; a built-in one of that name is there again.
    #[must_use]
    pub fn without_calendar(&self, name: &str) -> Almanac {
        self.with_calendars(self.made_by_people().filter(|other| other.name != name).cloned().collect::<Vec<_>>())
    }

    /// The same with other zone data.
    #[must_use]
    pub fn with_zones(&self, zones: Arc<Zones>) -> Almanac {
        Almanac::new(zones, self.made_by_people().cloned().collect::<Vec<_>>())
    }

    /// Two with the same version plan the same instants.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn zones(&self) -> &Zones {
        &self.zones
    }

    pub fn zone(&self, name: &str) -> Result<Zone, ScheduleError> {
        self.zones.get(name)
    }

    /// Names of all calendars, in order.
    pub fn calendar_names(&self) -> impl Iterator<Item = &str> {
        self.calendars.keys().map(String::as_str)
    }

    pub fn calendar(&self, name: &str) -> Result<Arc<WorkingDays>, ScheduleError> {
        self.calendars.get(name).map(|kept| kept.days.clone()).ok_or_else(|| ScheduleError::UnknownCalendar {
            name: name.chars().take(crate::calendar::LONGEST_CALENDAR_NAME).collect(),
            known: self.calendars.keys().cloned().collect(),
        })
    }

    /// What was written of a calendar; of a built-in one, what stands for it.
    pub fn calendar_document(&self, name: &str) -> Option<&Calendar> {
        self.calendars.get(name).map(|kept| kept.document.as_ref())
    }

    /// The calendars in the form that jobs are planned by, with what was written of each.
    pub fn calendars(&self) -> impl Iterator<Item = (&Calendar, &WorkingDays)> {
        self.calendars.values().map(|kept| (kept.document.as_ref(), kept.days.as_ref()))
    }

    /// Whether a calendar is as the program carries it.
    pub fn is_built_in(&self, name: &str) -> bool {
        let Some(kept) = self.calendars.get(name) else { return false };
        built_in().iter().any(|calendar| calendar == kept.document.as_ref())
    }

    fn made_by_people(&self) -> impl Iterator<Item = &Calendar> {
        self.calendars.values().map(|kept| kept.document.as_ref()).filter(|document| !built_in().contains(document))
    }

    /// The calendar of the workspace: China's for zones of China, else the plain week.
    pub fn workspace_calendar(&self, zone: Option<&Zone>) -> Result<Arc<WorkingDays>, ScheduleError> {
        self.calendar(if zone.is_some_and(Zone::is_chinese) { CHINA } else { WEEKDAYS })
    }
}
