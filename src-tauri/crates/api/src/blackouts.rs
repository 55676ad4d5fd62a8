//! Blackout windows: listed, put, and what one would hold back before it is put.

use campanile_engine::clerk::blackout_fault;
use campanile_engine::read_blackouts;
use campanile_model::blackout::{Blackouts, Hit, JobWindows};
use campanile_model::job::{JobSpec, MisfirePolicy};
use campanile_model::request::{Ask, Role};
use campanile_model::{Code, Fault, Timestamp, Words};

use crate::moments::{DAY, Told};
use crate::views::*;
use crate::{Api, CallContext};

/// So far ahead the effect of a window is told.
const TOLD_AHEAD_MS: i64 = 31 * DAY;
const WINDOWS_TOLD: usize = 60;
const RUNS_COUNTED: usize = 1000;
const JOBS_TOLD: usize = 200;

impl Api {
    pub(crate) async fn blackouts(&self) -> Result<Blackouts, Fault> {
        Ok(read_blackouts(self.store()).await?)
    }

    pub(crate) async fn list_blackouts(&self, _: Nothing, cx: &CallContext) -> Result<BlackoutList, Fault> {
        let told = self.told(cx)?;
        let (now, almanac) = (self.now(), self.almanac());
        let rows = self.blackouts().await?.into_iter().map(|(name, blackout)| {
            let next = blackout.window.compile(&almanac).ok().and_then(|window| {
                window
                    .between(now, Timestamp::MAX, 1)
                    .first()
                    .map(|(from, until)| (told.moment(*from), told.moment(*until)))
            });
            BlackoutRow {
                words: blackout.window.words(&almanac),
                next: next.map(|(from, until)| BlackoutSpan {
                    name: name.clone(),
                    from,
                    until,
                    everything: blackout.is_for_everything(),
                }),
                name,
                blackout,
                can_edit: cx.may(Role::Editor),
            }
        });
        Ok(BlackoutList { rows: rows.collect() })
    }

    pub(crate) async fn put_blackout(&self, put: PutBlackout, cx: &CallContext) -> Result<DoneView, Fault> {
        self.ask(cx, Ask::PutBlackout { name: put.name, blackout: Some(put.blackout) }).await.map(DoneView::from)
    }

    pub(crate) async fn remove_blackout(&self, of: OfBlackout, cx: &CallContext) -> Result<DoneView, Fault> {
        self.ask(cx, Ask::PutBlackout { name: of.name, blackout: None }).await.map(DoneView::from)
    }

    /// What the window would hold back in the next 31 days, job by job.
    pub(crate) async fn blackout_effect(&self, put: PutBlackout, cx: &CallContext) -> Result<BlackoutEffect, Fault> {
        let told = self.told(cx)?;
        let (now, almanac) = (self.now(), self.almanac());
        if let Some(fault) = blackout_fault(&put.name, &put.blackout, &almanac) {
            return Err(fault);
        }
        let window = put.blackout.window.compile(&almanac).map_err(|error| {
            Code::BlackoutInvalid.fault().with("field", error.at()).with_words("reason", &error.words())
        })?;
        let spans = window.between(now, now.plus_millis(TOLD_AHEAD_MS), WINDOWS_TOLD);
        let mut rows = Vec::new();
        let mut complete = true;
        for job in self.all_jobs().await?.into_iter().filter(|job| put.blackout.is_for(&put.name, &job.spec)) {
            let Some(timeline) = self.timeline(&job).await? else { continue };
            let mut runs = Vec::new();
            for (from, until) in &spans {
                let room = RUNS_COUNTED - runs.len();
                let from = (*from).max(now);
                let due = timeline.due_between(from.plus_millis(-1), until.plus_millis(-1), room);
                runs.extend(due.into_iter().map(|(_, occurrence)| occurrence.due));
            }
            let Some(first) = runs.first() else { continue };
            if rows.len() == JOBS_TOLD {
                complete = false;
                break;
            }
            rows.push(EffectRow {
                job: job.id.to_string(),
                name: job.spec.name.clone(),
                count: u32::try_from(runs.len()).unwrap_or(u32::MAX),
                first: told.moment(*first),
                words: policy_words(&job.spec),
            });
        }
        let span = |(from, until): &(Timestamp, Timestamp)| BlackoutSpan {
            name: put.name.clone(),
            from: told.moment(*from),
            until: told.moment(*until),
            everything: put.blackout.is_for_everything(),
        };
        Ok(BlackoutEffect {
            words: put.blackout.window.words(&almanac),
            windows: spans.iter().map(span).collect(),
            rows,
            complete,
        })
    }

    /// The windows of the workspace, painted on the days they touch.
    pub(crate) async fn paint_blackouts(&self, days: &mut [CalendarDay], told: &Told) -> Result<(), Fault> {
        let almanac = self.almanac();
        for (name, blackout) in self.blackouts().await? {
            let Ok(window) = blackout.window.compile(&almanac) else { continue };
            let everything = blackout.is_for_everything();
            for day in days.iter_mut() {
                day.blackouts.extend(window.between(day.start, day.end, WINDOWS_TOLD).into_iter().map(
                    |(from, until)| BlackoutSpan {
                        name: name.clone(),
                        from: told.moment(from),
                        until: told.moment(until),
                        everything,
                    },
                ));
            }
        }
        Ok(())
    }
}

fn policy_words(spec: &JobSpec) -> Words {
    match spec.misfire.policy {
        MisfirePolicy::Skip => Words::new("skipped", "跳过"),
        MisfirePolicy::FireOnce => Words::new("one run at the end of the window", "时段结束时运行一次"),
        MisfirePolicy::CatchUp => Words::new("all of them at the end of the window", "时段结束后逐次补跑"),
        MisfirePolicy::Ask => Words::new("a person is asked", "由人工决定"),
    }
}

/// Says of each run that falls into a window what becomes of it.
pub(crate) fn tell_of_windows(view: &mut PreviewView, spec: &JobSpec, windows: &JobWindows, told: &Told) {
    for run in &mut view.runs {
        let Some(Hit { until, .. }) = windows.hit(run.due.ms) else { continue };
        let what = windows.hit(run.due.ms).map(|hit| hit.words()).unwrap_or_default();
        let (becomes, until) = (policy_words(spec), told.moment(until).text);
        let words = Words::new(
            format!("in the {} until {until}: {}", what.en, becomes.en),
            format!("处于{}（至 {until}）：{}", what.zh, becomes.zh),
        );
        run.reason = Some(match run.reason.take() {
            Some(reason) => Words::new(format!("{}; {}", reason.en, words.en), format!("{}；{}", reason.zh, words.zh)),
            None => words,
        });
    }
}
