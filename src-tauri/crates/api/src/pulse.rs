//! Pulse: whether all is well, what comes next, and what needs a hand.

use campanile_model::instance::InstanceState;
use campanile_model::job::Job;
use campanile_model::timeline::Timeline;
use campanile_model::{Fault, Timestamp};
use campanile_store::{InstanceFilter, JobFilter};

use crate::alarms::alarm_row;
use crate::jobs::MOST_COUNTED;
use crate::moments::{HOUR, MINUTE};
use crate::runs::instance_row;
use crate::views::*;
use crate::{Api, CallContext};

const MINUTES: usize = 60;
const NAMED_IN_A_MINUTE: usize = 5;
const UPCOMING: usize = 8;
const RUNNING_SHOWN: usize = 50;
const ALARMS_SHOWN: usize = 20;
const OMISSIONS_SHOWN: usize = 50;
const A_DAY_SECONDS: i64 = 86_400;

impl Api {
    pub(crate) async fn pulse(&self, _: Nothing, cx: &CallContext) -> Result<Pulse, Fault> {
        let told = self.told(cx)?;
        let now = self.now();
        let first = Timestamp::from_millis(now.millis() - now.millis().rem_euclid(MINUTE));
        let mut next_hour: Vec<StripMinute> = (0..MINUTES as i64)
            .map(|minute| StripMinute {
                at: told.moment(first.plus_millis(minute * MINUTE)),
                firings: 0,
                jobs: Vec::new(),
            })
            .collect();
        let mut upcoming = Vec::new();
        for job in self.all_jobs().await?.iter().filter(|job| !job.paused) {
            if let Some(due) = job.next_due {
                upcoming.push((due, job.id, job.spec.name.clone()));
            }
            let Some(timeline) = self.timeline(job).await? else { continue };
            for (minute, count) in firings_by_minute(job, &timeline, first, now) {
                let minute = &mut next_hour[minute];
                minute.firings += count;
                if minute.jobs.len() < NAMED_IN_A_MINUTE {
                    minute.jobs.push(job.spec.name.clone());
                }
            }
        }
        upcoming.sort();
        upcoming.truncate(UPCOMING);

        let running = InstanceFilter { states: vec![InstanceState::Running], ..InstanceFilter::default() };
        let running = self.archive.instance_page(&running, None, RUNNING_SHOWN).await?.rows;
        let outcomes = self.archive.outcomes(now.plus_millis(-HOUR), now.plus_millis(1)).await?;
        let ended = outcomes.succeeded + outcomes.failed;
        let mut alarms = self.store().open_alarms().await?;
        alarms.sort_by_key(|alarm| (std::cmp::Reverse(alarm.severity), std::cmp::Reverse(alarm.last_at)));
        alarms.truncate(ALARMS_SHOWN);
        let omissions = self.archive.omissions(None, now.plus_seconds(-A_DAY_SECONDS), OMISSIONS_SHOWN).await?;
        Ok(Pulse {
            now,
            next_hour,
            upcoming: upcoming
                .into_iter()
                .map(|(due, job, name)| Upcoming { job: job.to_string(), name, due: told.moment(due) })
                .collect(),
            running: running.into_iter().map(|summary| instance_row(summary, &told, cx)).collect(),
            outcomes: OutcomesView {
                succeeded: outcomes.succeeded,
                failed: outcomes.failed,
                rate: (ended > 0).then(|| outcomes.succeeded as f64 / ended as f64),
            },
            alarms: alarms.into_iter().map(|alarm| alarm_row(alarm, &told, cx)).collect(),
            omissions: self.omission_rows(omissions, &told).await?,
            jobs: self.archive.job_count(&JobFilter::default(), MOST_COUNTED).await?,
        })
    }
}

/// Firings of one job in the sixty minutes from `first`, those before `now` left out: (which minute, how many).
///
/// More than one a minute is taken to come at even steps, so that a job of every second costs what one of every minute
/// does.
fn firings_by_minute(job: &Job, timeline: &Timeline, first: Timestamp, now: Timestamp) -> Vec<(usize, u32)> {
    let from = job.fired_through.max(now.plus_millis(-1));
    let until = first.plus_millis(HOUR - 1);
    let due = timeline.due_between(from, until, MINUTES + 1);
    let mut counts = vec![0_u32; MINUTES];
    let mut count = |at: Timestamp| {
        let minute = usize::try_from((at.millis() - first.millis()) / MINUTE).unwrap_or(0);
        if let Some(count) = counts.get_mut(minute) {
            *count += 1;
        }
    };
    due.iter().for_each(|(_, occurrence)| count(occurrence.due));
    if let (true, Some((_, begin)), Some((_, end))) = (due.len() > MINUTES, due.first(), due.last()) {
        let step = ((end.due.millis() - begin.due.millis()) / MINUTES as i64).max(1);
        let mut at = end.due.plus_millis(step);
        while at <= until {
            count(at);
            at = at.plus_millis(step);
        }
    }
    counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect()
}
