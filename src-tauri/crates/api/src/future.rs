//! What people decide about firings beside the clock: what was missed while nobody looked, what waits for their
//! answer, and the past made good.

use std::collections::BTreeMap;

use campanile_engine::launcher::backfill_times;
use campanile_model::backfill::{Backfill, BackfillState, EVERY_MS};
use campanile_model::instance::{Omission, OmissionReason};
use campanile_model::question::Question;
use campanile_model::request::{Ask, Role};
use campanile_model::{Code, Fault, JobId, QuestionId, RequestId, Timestamp, Words};

use crate::moments::Told;
use crate::views::*;
use crate::{Api, CallContext};

const QUESTIONS_SHOWN: usize = 200;
const BACKFILLS_SHOWN: usize = 50;
/// Runs of omissions that are looked through for 'while you were away'.
const OMISSIONS_READ: usize = 5000;

impl Api {
    /// What waits for an answer, the one that runs out first before the others.
    pub(crate) async fn list_questions(&self, _: Nothing, cx: &CallContext) -> Result<QuestionList, Fault> {
        let told = self.told(cx)?;
        let open = self.store().open_questions(QUESTIONS_SHOWN).await?;
        Ok(QuestionList { rows: self.question_rows(open, &told, cx).await? })
    }

    async fn question_rows(
        &self,
        questions: Vec<Question>,
        told: &Told,
        cx: &CallContext,
    ) -> Result<Vec<QuestionRow>, Fault> {
        let ids: Vec<JobId> = questions.iter().map(|question| question.job).collect();
        let jobs = self.store().jobs(&ids).await?;
        // A job that was removed has nothing to be asked about.
        let row = |question: Question| {
            let job = jobs.iter().find(|job| job.id == question.job)?;
            Some(QuestionRow {
                id: question.id.to_string(),
                job: question.job.to_string(),
                name: job.spec.name.clone(),
                from: told.moment(question.from),
                to: told.moment(question.to),
                count: question.count,
                asked_at: told.moment(question.asked_at),
                until: told.moment(question.until),
                words: question_words(&question, told),
                can_answer: cx.may(Role::Operator),
            })
        };
        Ok(questions.into_iter().filter_map(row).collect())
    }

    pub(crate) async fn answer_questions(&self, input: AnswerQuestions, cx: &CallContext) -> Result<DoneView, Fault> {
        let questions = input
            .questions
            .iter()
            .map(|id| id.parse::<QuestionId>().map_err(|_| Code::QuestionAnswered.fault().at("questions")))
            .collect::<Result<Vec<_>, Fault>>()?;
        self.ask(cx, Ask::AnswerQuestions { questions, run: input.run }).await.map(DoneView::from)
    }

    /// What the policies did since then, job by job: the one that lost most first.
    pub(crate) async fn away(&self, ask: AskAway, cx: &CallContext) -> Result<AwayView, Fault> {
        let told = self.told(cx)?;
        let now = self.now();
        let omissions = self.archive.omissions(None, ask.since, OMISSIONS_READ).await?;
        let complete = omissions.len() < OMISSIONS_READ;
        let mut by_job: BTreeMap<JobId, Vec<Omission>> = BTreeMap::new();
        for omission in omissions {
            by_job.entry(omission.job).or_default().push(omission);
        }
        let ids: Vec<JobId> = by_job.keys().copied().collect();
        let jobs = self.store().jobs(&ids).await?;
        let mut rows: Vec<AwayRow> = Vec::new();
        for job in jobs {
            let Some(omissions) = by_job.remove(&job.id) else { continue };
            let count = |is: fn(OmissionReason) -> bool| {
                omissions.iter().filter(|one| is(one.reason)).map(|one| one.count).sum::<u32>()
            };
            let from = omissions.iter().map(|one| one.from).min().unwrap_or(now);
            let to = omissions.iter().map(|one| one.to).max().unwrap_or(now);
            rows.push(AwayRow {
                job: job.id.to_string(),
                name: job.spec.name,
                missed: count(|reason| {
                    reason.is_missed() && !matches!(reason, OmissionReason::Folded | OmissionReason::Asked)
                }),
                folded: count(|reason| reason == OmissionReason::Folded),
                asked: count(|reason| reason == OmissionReason::Asked),
                skipped: count(|reason| !reason.is_missed()),
                from: told.moment(from),
                to: told.moment(to),
                omissions: self.omission_rows(omissions, &told).await?,
                can_run: cx.may(Role::Operator),
            });
        }
        rows.sort_by_key(|row| std::cmp::Reverse((row.missed, row.skipped, row.folded)));
        let open = self.store().open_questions(QUESTIONS_SHOWN).await?;
        Ok(AwayView {
            since: told.moment(ask.since),
            missed: rows.iter().map(|row| row.missed).sum(),
            folded: rows.iter().map(|row| row.folded).sum(),
            skipped: rows.iter().map(|row| row.skipped).sum(),
            rows,
            questions: self.question_rows(open, &told, cx).await?,
            complete,
        })
    }

    /// How many runs a backfill would make, before anybody asks for it.
    pub(crate) async fn plan_backfill(&self, ask: AskBackfill, cx: &CallContext) -> Result<BackfillPlan, Fault> {
        let told = self.told(cx)?;
        let job = self.job(&ask.job).await?;
        let to = ask.to.unwrap_or_else(|| self.now());
        let times = backfill_times(&job, ask.from, to, self.now(), &self.almanac())?;
        let count = u32::try_from(times.len()).unwrap_or(u32::MAX);
        let seconds = (i64::from(count) * EVERY_MS).unsigned_abs() / 1000;
        Ok(BackfillPlan {
            job: job.id.to_string(),
            name: job.spec.name,
            count,
            first: told.maybe(times.first().map(|one| one.planned)),
            last: told.maybe(times.last().map(|one| one.planned)),
            words: Words::new(
                format!(
                    "{count} runs in lane Low, at most one a second: {seconds} s at the least; one after the other \
                     unless the job may overlap itself"
                ),
                format!(
                    "共 {count} 次，使用 low 通道，每秒至多一次，至少需要 {seconds} 秒；除非任务允许重叠，否则逐次运行"
                ),
            ),
            allowed: cx.may(Role::Operator),
        })
    }

    pub(crate) async fn start_backfill(&self, ask: AskBackfill, cx: &CallContext) -> Result<DoneView, Fault> {
        let job = self.job(&ask.job).await?.id;
        let to = ask.to.unwrap_or_else(|| self.now());
        self.ask(cx, Ask::Backfill { job, from: ask.from, to }).await.map(DoneView::from)
    }

    /// Newest first, those that are over too.
    pub(crate) async fn list_backfills(&self, list: ListBackfills, cx: &CallContext) -> Result<BackfillList, Fault> {
        let told = self.told(cx)?;
        let job = match &list.job {
            Some(job) => Some(self.job(job).await?.id),
            None => None,
        };
        let found = self.archive.backfills(job, BACKFILLS_SHOWN).await?;
        let names = self.names(&found.iter().map(|one| one.job).collect::<Vec<_>>()).await?;
        let row = |one: Backfill| BackfillRow {
            name: names.get(&one.job).cloned().unwrap_or_default(),
            id: one.id.to_string(),
            job: one.job.to_string(),
            from: told.moment(one.from),
            to: told.moment(one.to),
            planned: one.planned,
            made: one.made,
            state: one.state(),
            asked_at: told.moment(one.asked_at),
            ended_at: told.maybe(one.ended.as_ref().map(|end| end.at)),
            can_cancel: match one.state() {
                BackfillState::Running => cx.may(Role::Operator),
                BackfillState::Done => Allowed::no(Words::new("all of its runs are made", "全部运行均已生成")),
                BackfillState::Cancelled => Allowed::no(Words::new("it was cancelled", "已取消")),
            },
            asked_by: one.asked_by,
        };
        Ok(BackfillList { rows: found.into_iter().map(row).collect() })
    }

    pub(crate) async fn cancel_backfill(&self, of: OfBackfill, cx: &CallContext) -> Result<DoneView, Fault> {
        let unknown = || Code::BackfillNotFound.fault().with("backfill", &of.backfill).at("backfill");
        let backfill: RequestId = of.backfill.parse().map_err(|_| unknown())?;
        self.ask(cx, Ask::CancelBackfill { backfill }).await.map(DoneView::from)
    }
}

fn question_words(question: &Question, told: &Told) -> Words {
    let (from, to) = (told.moment(question.from).text, told.moment(question.to).text);
    match question.count {
        1 => Words::new(format!("the run of {from} was missed"), format!("错过了 {from} 的运行")),
        count => Words::new(
            format!("{count} runs were missed, from {from} to {to}; one run would stand for all of them"),
            format!("错过了 {count} 次运行（{from} 至 {to}），可由一次运行补上"),
        ),
    }
}

/// Why a run of no clock came when it came.
pub(crate) fn chained_words(runs: &[UpstreamRun]) -> Words {
    let list = |separator: &str| runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>().join(separator);
    Words::new(format!("after the end of {}", list(", ")), format!("在 {} 结束之后", list("、")))
}

pub(crate) fn backfilled_words(asked_by: Option<&str>, at: Timestamp, told: &Told) -> Words {
    let (who, at) = (asked_by.unwrap_or("?"), told.moment(at).text);
    Words::new(format!("backfilled for {at}, asked for by {who}"), format!("由 {who} 发起，补跑 {at} 的执行"))
}
