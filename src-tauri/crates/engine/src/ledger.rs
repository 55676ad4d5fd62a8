//! The ledger check: replays the spans that launches wrote against the instances there are.
//!
//! None lost, none doubled, and each time that was not made has a reason.

use std::collections::{BTreeSet, HashMap};

use campanile_model::instance::Origin;
use campanile_model::job::JobVersion;
use campanile_model::schedule::OccurrenceOrigin;
use campanile_model::timeline::Timeline;
use campanile_model::{Almanac, JobId, Timestamp, Words};
use campanile_store::{JobStore, LedgerExtract, StoreError};

use crate::launcher::versions_since;

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub job: JobId,
    pub at: Option<Timestamp>,
    pub words: Words,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LedgerReport {
    pub jobs: u32,
    pub spans: u32,
    pub planned: u64,
    pub made: u64,
    pub not_made: u64,
    pub findings: Vec<Finding>,
}

/// Times of one span that are replayed; a longer one is checked by its sums.
const REPLAYED_AT_ONCE: usize = 100_000;

/// Checks all jobs there are.
pub async fn check_all(store: &(impl JobStore + ?Sized), almanac: &Almanac) -> Result<LedgerReport, StoreError> {
    let mut report = LedgerReport::default();
    let mut after = None;
    loop {
        let jobs = store.jobs_after(after, 200).await?;
        let Some(last) = jobs.last() else { return Ok(report) };
        after = Some(last.id);
        for job in &jobs {
            // The extract is read first: what is launched meanwhile is the next check's.
            let extract = store.ledger_extract(job.id).await?;
            let mut lineages = HashMap::new();
            for span in &extract.spans {
                if let std::collections::hash_map::Entry::Vacant(entry) = lineages.entry(span.version) {
                    let version = match span.version == job.version {
                        true => Some(job.as_version()),
                        false => store.job_version(job.id, span.version).await?,
                    };
                    if let Some(version) = version {
                        entry.insert(versions_since(store, version, span.from).await?);
                    }
                }
            }
            check(job.id, &extract, &lineages, almanac, &mut report);
        }
    }
}

/// Checks one job. `lineages` has, for each version of a span, that version and those before it that planned times in it.
pub fn check(
    job: JobId,
    extract: &LedgerExtract,
    lineages: &HashMap<u32, Vec<JobVersion>>,
    almanac: &Almanac,
    report: &mut LedgerReport,
) {
    report.jobs += 1;
    let mut find = |at: Option<Timestamp>, en: String, zh: String| {
        report.findings.push(Finding { job, at, words: Words::new(en, zh) });
    };

    let mut keys = BTreeSet::new();
    for made in &extract.made {
        if !keys.insert((made.origin.name(), &made.key)) {
            find(Some(made.planned), "fired twice".to_owned(), "重复触发".to_owned());
        }
    }
    let made: BTreeSet<(bool, Timestamp)> =
        extract.made.iter().map(|made| (made.origin == Origin::Added, made.planned)).collect();
    let mut spans = 0;
    let (mut planned_sum, mut made_sum, mut not_made_sum) = (0_u64, 0_u64, 0_u64);
    let mut needing_reasons = 0;

    for (index, span) in extract.spans.iter().enumerate() {
        spans += 1;
        planned_sum += u64::from(span.planned);
        made_sum += u64::from(span.made);
        not_made_sum += u64::from(span.not_made);
        // Of a span that began before the purge mark, some of what it counts may be gone: its sums prove nothing any
        // more, the times after the mark still do.
        let is_whole = extract.purged_through.is_none_or(|mark| span.from >= mark);
        let from = extract.purged_through.map_or(span.from, |mark| mark.max(span.from));
        if is_whole {
            needing_reasons += u64::from(span.not_made);
        }
        if span.planned != span.made + span.not_made {
            find(
                Some(span.from),
                format!("{} times were planned, {} made and {} not", span.planned, span.made, span.not_made),
                format!("计划 {} 次，触发 {} 次，未触发 {} 次", span.planned, span.made, span.not_made),
            );
        }
        if let Some(next) = extract.spans.get(index + 1)
            && next.from != span.to
        {
            find(
                Some(span.to),
                format!("nobody decided the times from {} to {}", span.to, next.from),
                format!("{} 到 {} 之间的时间无人判定", span.to, next.from),
            );
        }
        let Some(versions) = lineages.get(&span.version) else {
            find(
                Some(span.from),
                format!("version {} is gone", span.version),
                format!("第 {} 版已不存在", span.version),
            );
            continue;
        };
        let timeline = match Timeline::new(versions, almanac) {
            Ok(timeline) => timeline,
            Err(error) => {
                find(
                    Some(span.from),
                    format!("its schedule cannot be evaluated: {error}"),
                    format!("无法计算其调度：{error}"),
                );
                continue;
            }
        };
        // The times of a fixed delay follow from what happened, and zone data or calendars may have changed since.
        let replayable = timeline.newest().is_none_or(|timing| !timing.plan().waits_for_the_last_run())
            && span.zone_data == timeline.data_version(almanac);
        if !replayable {
            continue;
        }
        let planned = timeline.due_between(from, span.to, REPLAYED_AT_ONCE);
        let skipped = timeline.skipped_between(from, span.to, REPLAYED_AT_ONCE);
        if is_whole
            && planned.len().max(skipped.len()) < REPLAYED_AT_ONCE
            && planned.len() + skipped.len() != span.planned as usize
        {
            find(
                Some(span.from),
                format!("{} times were due, {} were decided", planned.len() + skipped.len(), span.planned),
                format!("应有 {} 次，实际判定 {} 次", planned.len() + skipped.len(), span.planned),
            );
        }
        for (_, occurrence) in planned {
            let added = occurrence.origin == OccurrenceOrigin::Added;
            if made.contains(&(added, occurrence.planned)) || is_omitted(extract, occurrence.planned) {
                continue;
            }
            find(
                Some(occurrence.planned),
                "did not fire, and nothing says why".to_owned(),
                "没有触发，也没有原因记录".to_owned(),
            );
        }
    }

    let omitted: u64 = extract.omissions.iter().map(|omission| u64::from(omission.count)).sum();
    if omitted < needing_reasons {
        find(
            None,
            format!("{needing_reasons} times were not made, reasons stand for {omitted}"),
            format!("有 {needing_reasons} 次未触发，只有 {omitted} 次有原因"),
        );
    }
    report.spans += spans;
    report.planned += planned_sum;
    report.made += made_sum;
    report.not_made += not_made_sum;
}

fn is_omitted(extract: &LedgerExtract, planned: Timestamp) -> bool {
    extract.omissions.iter().any(|omission| omission.from <= planned && planned <= omission.to)
}
