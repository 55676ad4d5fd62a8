//! Why a job did not fire at a time, or when it will.

use campanile_model::instance::{Instance, Omission};
use campanile_model::job::{Job, MisfirePolicy};
use campanile_model::schedule::Exception;
use campanile_model::{Fault, Timestamp, Words};
use campanile_store::InstanceFilter;

use super::compose::lane_words;
use crate::moments::{DAY, HOUR, MINUTE, Told};
use crate::views::*;
use crate::{Api, CallContext};

/// Runs looked through for one that was planned at the time.
const LOOKED_THROUGH: usize = 500;

/// Times listed to find the one before.
const MOST_LISTED: usize = 10_000;

/// What a time can mean to whoever wrote it: that second, or that minute.
fn meant(at: Timestamp) -> (Timestamp, Timestamp) {
    let length = if at.millis() % MINUTE == 0 { MINUTE } else { 1_000 };
    (at, at.plus_millis(length - 1))
}

impl Api {
    pub(super) async fn why_at(&self, job: &str, at: Timestamp, cx: &CallContext) -> Result<WhyView, Fault> {
        let told = self.told(cx)?;
        let job = self.job(job).await?;
        let (from, to) = meant(at);
        if let Some(fired) = self.fired_at(&job, from, to).await? {
            return self.why_instance(fired.id, None, cx).await;
        }
        let omissions = self.archive.omissions(Some(job.id), from.plus_millis(-1), LOOKED_THROUGH).await?;
        let omitted = omissions.into_iter().find(|omission| omission.from <= to && omission.to >= from);
        let (words, tone) = match &omitted {
            Some(omission) => (omitted_words(&job, omission, &told), WhyTone::Bad),
            None => self.not_omitted(&job, from, to, &told).await?,
        };
        let mut links = Vec::new();
        if let Some(omission) = &omitted {
            links.push(plain(
                WhyStep::Planned,
                Some(told.moment(omission.from.max(from).min(to))),
                Words::new(
                    format!("by version {} of the job", omission.version),
                    format!("任务第 {} 版", omission.version),
                ),
                WhyTone::Plain,
            ));
        }
        links.push(plain(WhyStep::NotFired, None, words.clone(), tone));
        Ok(WhyView {
            verdict: words,
            job: job.id.to_string(),
            job_name: job.spec.name.clone(),
            instance: None,
            state: None,
            waiting: None,
            links,
        })
    }

    /// The run that was planned or due then. One that was moved may have been due days away from its plan.
    async fn fired_at(&self, job: &Job, from: Timestamp, to: Timestamp) -> Result<Option<Instance>, Fault> {
        for days in [0, 1, 31] {
            let filter = InstanceFilter {
                job: Some(job.id),
                due_from: Some(from.plus_millis(-days * DAY)),
                due_until: Some(to.plus_millis(days * DAY + 1)),
                ..InstanceFilter::default()
            };
            let page = self.archive.instance_page(&filter, None, LOOKED_THROUGH).await?;
            let within = |at: Timestamp| from <= at && at <= to;
            let found = page.rows.into_iter().map(|summary| summary.instance);
            let mut found: Vec<Instance> =
                found.filter(|instance| within(instance.planned) || within(instance.due)).collect();
            found.sort_by_key(|instance| (!within(instance.planned), instance.planned));
            if let Some(instance) = found.into_iter().next() {
                return Ok(Some(instance));
            }
        }
        Ok(None)
    }

    /// Nothing was written of it: it is to come, was never planned, or is no longer known.
    async fn not_omitted(
        &self,
        job: &Job,
        from: Timestamp,
        to: Timestamp,
        told: &Told,
    ) -> Result<(Words, WhyTone), Fault> {
        let within = |at: Timestamp| from <= at && at <= to;
        let text = |at: Timestamp| told.moment(at).text;
        let exception = job.spec.exceptions.iter().find(|exception| within(exception.planned()));
        if let Some(words) = exception.and_then(|exception| match exception {
            Exception::Skip { .. } => {
                Some(Words::new("A person took this occurrence out of the schedule.", "该次执行已被人从计划中移除。"))
            }
            Exception::MoveTo { at, .. } => {
                let at = text(*at);
                Some(Words::new(format!("It was moved by hand to {at}."), format!("已手动移动到 {at}。")))
            }
            Exception::Added { .. } => None,
        }) {
            return Ok((words, WhyTone::Plain));
        }
        let now = self.now();
        let Some(timeline) = self.timeline(job).await? else {
            let words = Words::new(
                "The times of this schedule cannot be told; look at the job's alarm.",
                "无法计算该调度的时间，请查看任务的告警。",
            );
            return Ok((words, WhyTone::Bad));
        };
        if to > now {
            let coming = timeline.due_between(from.plus_millis(-1), to.plus_millis(DAY), 1_000);
            let found = coming.iter().find(|(_, occurrence)| within(occurrence.due) || within(occurrence.planned));
            if let Some((_, occurrence)) = found {
                let due = text(occurrence.due);
                let lane = lane_words(job.spec.priority);
                let words = match job.paused {
                    true => Words::new(
                        format!("It is due at {due}, but the job is paused: unless it is resumed, it will be skipped."),
                        format!("应于 {due} 触发，但任务已暂停：若不恢复，将被跳过。"),
                    ),
                    false => Words::new(
                        format!("It has not come yet: it is due at {due}, in lane {}.", lane.en),
                        format!("尚未到时间：将于 {due} 触发，进入 {} 通道。", lane.zh),
                    ),
                };
                return Ok((words, WhyTone::Waits));
            }
        }
        let first = self.archive.versions(job.id).await?.last().map(|version| version.saved_at);
        if first.is_some_and(|first| to < first) {
            let at = text(first.unwrap_or(to));
            let words = Words::new(
                format!("The job did not exist then: it was first saved at {at}."),
                format!("当时任务尚不存在：首次保存于 {at}。"),
            );
            return Ok((words, WhyTone::Plain));
        }
        if job.spec.effective_from.is_some_and(|effective| to < effective)
            || job.spec.effective_until.is_some_and(|until| from >= until)
        {
            let words =
                Words::new("The time lies outside of the span in which the job holds.", "该时间不在任务的生效期内。");
            return Ok((words, WhyTone::Plain));
        }
        let planned = timeline.due_between(from.plus_millis(-1), to, 1);
        if !planned.is_empty() {
            let words = Words::new(
                "The schedule names this time, and nothing is kept of it: what has ended is kept for a limited time, and \
                 a version that was saved later does not fire for times before it.",
                "该调度包含此时间，但没有留存记录：已结束的内容只保留一段时间；之后保存的版本也不会补触发更早的时间。",
            );
            return Ok((words, WhyTone::Plain));
        }
        // Ever further back: a job that fires every second is not listed for a year.
        let before = [HOUR, DAY, 31 * DAY, 366 * DAY].into_iter().find_map(|span| {
            let found = timeline.due_between(from.plus_millis(-span), from.plus_millis(-1), MOST_LISTED);
            found.last().map(|(_, occurrence)| text(occurrence.due))
        });
        let after = timeline.next_due(to).filter(|after| *after < Timestamp::MAX).map(text);
        Ok((neighbours(before, after), WhyTone::Plain))
    }
}

fn neighbours(before: Option<String>, after: Option<String>) -> Words {
    match (before, after) {
        (Some(before), Some(after)) => Words::new(
            format!("The schedule does not name this time: it has {before} before it and {after} after it."),
            format!("该调度不包含此时间：之前是 {before}，之后是 {after}。"),
        ),
        (None, Some(after)) => Words::new(
            format!("The schedule does not name this time: its next one is {after}."),
            format!("该调度不包含此时间：其后最近的是 {after}。"),
        ),
        (Some(before), None) => Words::new(
            format!("The schedule does not name this time: its last one was {before}."),
            format!("该调度不包含此时间：最后一次是 {before}。"),
        ),
        (None, None) => Words::new("The schedule does not name this time.", "该调度不包含此时间。"),
    }
}

fn omitted_words(job: &Job, omission: &Omission, told: &Told) -> Words {
    let reason = omission.reason.words();
    let kind = match omission.reason.is_missed() {
        true => Words::new("It was missed", "错过了"),
        false => Words::new("It was skipped", "被跳过"),
    };
    let many = match omission.count {
        1 => Words::default(),
        count => {
            let (from, to) = (told.moment(omission.from).text, told.moment(omission.to).text);
            Words::new(
                format!(" So were all {count} from {from} to {to}."),
                format!("从 {from} 到 {to} 共 {count} 次均如此。"),
            )
        }
    };
    let policy = match (omission.reason.is_missed(), job.spec.misfire.policy) {
        (false, _) => Words::default(),
        (true, MisfirePolicy::Skip) => Words::new(" (misfire policy: skip)", "（错过策略：跳过）"),
        (true, MisfirePolicy::FireOnce) => Words::new(" (misfire policy: fire once)", "（错过策略：合并为一次）"),
        (true, MisfirePolicy::Ask) => Words::new(" (misfire policy: ask)", "（错过策略：询问）"),
        (true, MisfirePolicy::CatchUp) => Words::new(" (misfire policy: catch up)", "（错过策略：补跑）"),
    };
    Words::new(
        format!("{}: {}{}.{}", kind.en, reason.en, policy.en, many.en),
        format!("{}：{}{}。{}", kind.zh, reason.zh, policy.zh, many.zh),
    )
}

fn plain(step: WhyStep, at: Option<Moment>, words: Words, tone: WhyTone) -> WhyLink {
    WhyLink { step, at, words, tone, who: None, task: None, attempt: None, state: None, after_ms: None }
}
