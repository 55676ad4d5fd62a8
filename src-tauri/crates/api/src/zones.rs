//! The zone data that times are planned by: which it is, and how newer data comes in without a restart.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use campanile_engine::launcher::{self, TimelineError};
use campanile_model::job::Job;
use campanile_model::request::{Ask, Role};
use campanile_model::schedule::{ZoneData, Zones};
use campanile_model::timeline::Timeline;
use campanile_model::{Almanac, Code, Fault, Timestamp};
use serde_json::json;

use crate::moments::Told;
use crate::views::*;
use crate::{Api, CallContext};

/// Where this installation keeps its zone data.
pub trait ZoneFolder: Send + Sync {
    /// The zones in a folder of this machine, each of them checked.
    fn read(&self, folder: &Path) -> Result<ZoneData, Fault>;

    /// Puts them where every program of this installation finds them.
    fn keep(&self, data: &ZoneData) -> Result<(), Fault>;
}

/// Written when newer data comes in, for the audit log.
const VERSION_SETTING: &str = "zones.version";

/// So far ahead times are compared, and so many of each job.
const AHEAD_SECONDS: i64 = 400 * 86_400;
const COMPARED: usize = 500;

const SHOWN_JOBS: usize = 200;
const SHOWN_TIMES: usize = 3;

impl Api {
    pub(crate) async fn zones(&self, _: Nothing, _: &CallContext) -> Result<ZonesView, Fault> {
        let almanac = self.almanac();
        Ok(ZonesView {
            version: almanac.zones().version().to_owned(),
            bundled: Zones::bundled().version().to_owned(),
            zones: u32::try_from(almanac.zones().names().len()).unwrap_or(u32::MAX),
        })
    }

    pub(crate) async fn import_zones(&self, ask: ImportZones, cx: &CallContext) -> Result<ZonesImported, Fault> {
        if cx.who.role < Role::Admin {
            return Err(Code::NoPermission.fault());
        }
        let told = self.told(cx)?;
        let now = self.now();
        let almanac = self.almanac();
        let data = self.zone_folder.read(Path::new(&ask.folder))?;
        let before = almanac.zones().version().to_owned();
        if data.version() <= before.as_str() {
            let older = Code::ZoneDataOlder.fault().with("version", data.version()).with("current", before);
            return Err(older.at("folder"));
        }
        let refused = |bad| Code::ZoneDataInvalid.fault().with("folder", &ask.folder).with("reason", bad);
        let zones = Arc::new(data.zones().map_err(refused)?);
        let newer = almanac.with_zones(zones.clone());
        let (jobs, changed) = self.changed_by(&newer, now, &told).await?;
        if !ask.dry_run {
            self.zone_folder.keep(&data)?;
            self.shelf.put_zones(zones);
            let set = Ask::Set { key: VERSION_SETTING.to_owned(), value: json!(data.version()) };
            self.ask(cx, set).await?;
        }
        Ok(ZonesImported { before, version: data.version().to_owned(), changed, jobs })
    }

    /// Jobs whose times in the next months are others by `newer`, and how many there are.
    async fn changed_by(
        &self,
        newer: &Almanac,
        now: Timestamp,
        told: &Told,
    ) -> Result<(Vec<ChangedTimes>, u32), Fault> {
        let until = now.plus_seconds(AHEAD_SECONDS);
        let almanac = self.almanac();
        // Most zones are the same, and so are the times of all jobs in them.
        let mut same: HashMap<String, bool> = HashMap::new();
        let (mut listed, mut changed) = (Vec::new(), 0);
        for job in self.all_jobs().await? {
            let Some(zone) = job.spec.schedule.time_zone() else { continue };
            let is_same =
                *same.entry(zone.to_owned()).or_insert_with(|| match (almanac.zone(zone), newer.zone(zone)) {
                    (Ok(old), Ok(new)) => old.agrees_with(&new, now, until),
                    _ => false,
                });
            if is_same {
                continue;
            }
            let was = self.timeline(&job).await?.map(|timeline| times(&timeline, now, until)).unwrap_or_default();
            let is = match launcher::timeline(self.store(), &job, newer).await {
                Ok(timeline) => times(&timeline, now, until),
                Err(TimelineError::Store(error)) => return Err(error.into()),
                Err(TimelineError::Schedule(_)) => Vec::new(),
            };
            if was == is {
                continue;
            }
            changed += 1;
            if listed.len() < SHOWN_JOBS {
                listed.push(changed_times(&job, zone, &was, &is, told));
            }
        }
        Ok((listed, changed))
    }
}

fn times(timeline: &Timeline, now: Timestamp, until: Timestamp) -> Vec<Timestamp> {
    timeline.due_between(now, until, COMPARED).into_iter().map(|(_, occurrence)| occurrence.due).collect()
}

/// Both are in order; what only one of them has is shown.
fn changed_times(job: &Job, zone: &str, was: &[Timestamp], is: &[Timestamp], told: &Told) -> ChangedTimes {
    // Of a list that was cut off the end says nothing about the other.
    let known = match (was.last(), is.last()) {
        (Some(one), Some(other)) if was.len() == COMPARED || is.len() == COMPARED => *one.min(other),
        _ => Timestamp::MAX,
    };
    let only = |own: &[Timestamp], other: &[Timestamp]| {
        let alone = own.iter().filter(|at| **at <= known && other.binary_search(at).is_err());
        alone.take(SHOWN_TIMES).map(|at| told.moment(*at)).collect()
    };
    ChangedTimes {
        job: job.id.to_string(),
        name: job.spec.name.clone(),
        time_zone: zone.to_owned(),
        before: only(was, is),
        after: only(is, was),
    }
}
