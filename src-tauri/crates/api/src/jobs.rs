//! Jobs: listed, looked at, saved, and set going.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use campanile_model::blackout::JobWindows;
use campanile_model::chain::after_of;
use campanile_model::instance::Omission;
use campanile_model::job::{Job, JobSpec, JobVersion};
use campanile_model::request::{Ask, Done, Role, SaveJob};
use campanile_model::schedule::Schedule;
use campanile_model::{Code, Fault, JobId, Timestamp, Words};
use campanile_store::{InstanceFilter, JobFilter, JobSummary};

use crate::blackouts::tell_of_windows;
use crate::check::{keeping_phase, previewed};
use crate::moments::Told;
use crate::views::*;
use crate::{Api, CallContext, input};

/// A number at this means 'that many or more'.
pub(crate) const MOST_COUNTED: u64 = 10_000;

const PAGE: u32 = 100;
const LARGEST_PAGE: u32 = 500;
const PREVIEWED: usize = 20;
const OMISSIONS_SHOWN: usize = 50;
const OUTCOMES_SHOWN: usize = 12;

pub(crate) fn page_size(limit: Option<u32>) -> usize {
    limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE) as usize
}

impl Api {
    /// By its name or by its id.
    pub(crate) async fn job(&self, job: &str) -> Result<Job, Fault> {
        let found = match job.parse::<JobId>() {
            Ok(id) => self.store().jobs(&[id]).await?.pop(),
            Err(_) => self.store().job_named(job).await?,
        };
        found.ok_or_else(|| Code::JobNotFound.fault().with("job", job).at("job"))
    }

    pub(crate) async fn job_ids(&self, jobs: &[String]) -> Result<Vec<JobId>, Fault> {
        let mut ids = Vec::with_capacity(jobs.len());
        for job in jobs {
            let id = self.job(job).await?.id;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// What these jobs are called, or were called when they were removed.
    pub(crate) async fn names(&self, ids: &[JobId]) -> Result<HashMap<JobId, String>, Fault> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let mut names: HashMap<JobId, String> =
            self.store().jobs(&ids).await?.into_iter().map(|job| (job.id, job.spec.name)).collect();
        for id in ids {
            if let Entry::Vacant(missing) = names.entry(id) {
                let removed = self.store().job_version(id, 1).await?;
                missing.insert(removed.map_or_else(|| id.to_string(), |version| version.spec.name));
            }
        }
        Ok(names)
    }

    pub(crate) async fn list_jobs(&self, list: ListJobs, cx: &CallContext) -> Result<JobPage, Fault> {
        let told = self.told(cx)?;
        let text = list.text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let filter = JobFilter { text, paused: list.paused, tag: list.tag };
        let page = self.archive.job_page(&filter, list.cursor, page_size(list.limit)).await?;
        let total = self.archive.job_count(&filter, MOST_COUNTED).await?;
        let rows = page.rows.into_iter().map(|summary| self.job_row(summary, &told, cx)).collect();
        Ok(JobPage { rows, next: page.next, total })
    }

    fn job_row(&self, summary: JobSummary, told: &Told, cx: &CallContext) -> JobRow {
        let JobSummary { job, last } = summary;
        let next = told.maybe(job.next_due.filter(|due| !job.paused && *due < Timestamp::MAX));
        let spec = job.spec;
        JobRow {
            id: job.id.to_string(),
            words: spec.schedule_words(&self.almanac()),
            kind: spec.schedule.kind().to_owned(),
            name: spec.name,
            description: spec.description,
            version: job.version,
            paused: job.paused,
            next,
            last: last
                .into_iter()
                .map(|(state, due, instance)| LastOutcome { instance: instance.to_string(), state, due })
                .collect(),
            group: spec.executor_group,
            processor: spec.processor,
            priority: spec.priority,
            tenant: spec.tenant,
            tags: spec.tags,
            can_run: cx.may(Role::Operator),
        }
    }

    pub(crate) async fn get_job(&self, of: OfJob, cx: &CallContext) -> Result<JobDetail, Fault> {
        let told = self.told(cx)?;
        let job = self.job(&of.job).await?;
        let recent = InstanceFilter { job: Some(job.id), ..InstanceFilter::default() };
        let last = self.archive.instance_page(&recent, None, OUTCOMES_SHOWN).await?.rows;
        let last = last.into_iter().map(|one| (one.instance.state, one.instance.due, one.instance.id)).collect();
        let mut versions = self.archive.versions(job.id).await?;
        versions.sort_by_key(|version| std::cmp::Reverse(version.version));
        let omissions = self.archive.omissions(Some(job.id), Timestamp::EPOCH, OMISSIONS_SHOWN).await?;
        let downstream = self.store().downstream(&job.spec.name).await?;
        Ok(JobDetail {
            upstream: after_of(&job.spec).map(|after| after.jobs.clone()).unwrap_or_default(),
            downstream: downstream.into_iter().map(|other| other.spec.name).collect(),
            preview: self.preview_job(&job, self.now(), PREVIEWED, &told).await.ok(),
            saved_at: told.moment(job.saved_at),
            versions: versions.into_iter().map(|version| self.version_row(version, &told)).collect(),
            omissions: self.omission_rows(omissions, &told).await?,
            spec: job.spec.clone(),
            row: self.job_row(JobSummary { job, last }, &told, cx),
        })
    }

    pub(crate) async fn preview_job(
        &self,
        job: &Job,
        from: Timestamp,
        count: usize,
        told: &Told,
    ) -> Result<PreviewView, Fault> {
        let mut versions = self.archive.versions(job.id).await?;
        versions.sort_by_key(|version| std::cmp::Reverse(version.version));
        let mut view = self.next_runs(job, &versions, from, count, told)?;
        let windows = JobWindows::of(&job.spec, &self.blackouts().await?, &self.almanac());
        tell_of_windows(&mut view, &job.spec, &windows, told);
        Ok(view)
    }

    /// The next runs, those of earlier versions that still hold for a while among them.
    fn next_runs(
        &self,
        job: &Job,
        versions: &[JobVersion],
        from: Timestamp,
        count: usize,
        told: &Told,
    ) -> Result<PreviewView, Fault> {
        let timing = job.spec.timing(job.id, job.saved_at);
        let mut view = previewed(&timing, &self.almanac(), from, count, told)?;
        let mut until = job.spec.effective_from.unwrap_or(job.saved_at);
        for earlier in versions.iter().filter(|version| version.version < job.version) {
            if until <= from {
                break;
            }
            let mut timing = earlier.spec.timing(job.id, earlier.saved_at);
            timing.effective_until = Some(timing.effective_until.map_or(until, |own| own.min(until)));
            if let Ok(before) = previewed(&timing, &self.almanac(), from, count, told) {
                view.runs.extend(before.runs);
            }
            until = until.min(earlier.spec.effective_from.unwrap_or(earlier.saved_at));
        }
        view.runs.sort_by_key(|run| run.due.ms);
        view.runs.truncate(count);
        Ok(view)
    }

    fn version_row(&self, version: JobVersion, told: &Told) -> VersionRow {
        VersionRow {
            version: version.version,
            saved_at: told.moment(version.saved_at),
            saved_by: version.saved_by,
            words: version.spec.schedule_words(&self.almanac()),
            spec: version.spec,
        }
    }

    pub(crate) async fn omission_rows(&self, omissions: Vec<Omission>, told: &Told) -> Result<Vec<OmissionRow>, Fault> {
        let jobs: Vec<JobId> = omissions.iter().map(|omission| omission.job).collect();
        let names = self.names(&jobs).await?;
        let row = |omission: Omission| OmissionRow {
            job: omission.job.to_string(),
            name: names.get(&omission.job).cloned().unwrap_or_default(),
            from: told.moment(omission.from),
            to: told.moment(omission.to),
            count: omission.count,
            reason: omission.reason,
            missed: omission.reason.is_missed(),
            words: omission.reason.words(),
        };
        Ok(omissions.into_iter().map(row).collect())
    }

    pub(crate) async fn save_job(&self, save: SaveJobInput, cx: &CallContext) -> Result<DoneView, Fault> {
        let before = match &save.job {
            Some(job) => Some(self.job(job).await?),
            None => None,
        };
        let spec = keeping_phase(input::read_spec(&save.spec)?, before.as_ref());
        let (faults, _) = self.faults_of(&spec, before.as_ref().map(|job| job.id)).await?;
        if let Some(fault) = faults.into_iter().next() {
            return Err(fault);
        }
        let seen_version = before.as_ref().map(|job| save.seen_version.unwrap_or(job.version));
        self.save_all(vec![SaveJob { spec, job: before.map(|job| job.id), seen_version }], cx).await
    }

    /// All of them or none.
    pub(crate) async fn save_all(&self, jobs: Vec<SaveJob>, cx: &CallContext) -> Result<DoneView, Fault> {
        let done = self.ask(cx, Ask::SaveJobs { jobs }).await?;
        let mut view = DoneView::from(done.clone());
        if let [job] = done.jobs[..] {
            view.version = self.store().jobs(&[job]).await?.pop().map(|job| job.version);
        }
        Ok(view)
    }

    pub(crate) async fn restore_version(&self, restore: RestoreVersion, cx: &CallContext) -> Result<DoneView, Fault> {
        let job = self.job(&restore.job).await?;
        let Some(version) = self.store().job_version(job.id, restore.version).await? else {
            let fault = Code::NothingToRestore.fault().with("job", &job.spec.name);
            return Err(fault.with("version", restore.version).at("version"));
        };
        let seen_version = Some(restore.seen_version.unwrap_or(job.version));
        self.save_all(vec![SaveJob { spec: version.spec, job: Some(job.id), seen_version }], cx).await
    }

    pub(crate) async fn remove_jobs(&self, of: OfJobs, cx: &CallContext) -> Result<DoneView, Fault> {
        let jobs = self.job_ids(&of.jobs).await?;
        self.ask(cx, Ask::RemoveJobs { jobs }).await.map(DoneView::from)
    }

    pub(crate) async fn pause_jobs(&self, of: OfJobs, cx: &CallContext) -> Result<DoneView, Fault> {
        let jobs = self.job_ids(&of.jobs).await?;
        self.ask(cx, Ask::PauseJobs { jobs }).await.map(DoneView::from)
    }

    pub(crate) async fn resume_jobs(&self, of: OfJobs, cx: &CallContext) -> Result<DoneView, Fault> {
        let jobs = self.job_ids(&of.jobs).await?;
        self.ask(cx, Ask::ResumeJobs { jobs }).await.map(DoneView::from)
    }

    pub(crate) async fn run_jobs(&self, run: RunJobsInput, cx: &CallContext) -> Result<DoneView, Fault> {
        let jobs = self.job_ids(&run.jobs).await?;
        let RunJobsInput { parameters, beside, executor, data, .. } = run;
        if let Some(data) = data {
            let [job] = jobs.as_slice() else {
                let reason = Words::new("data is for one job", "数据只能用于一个任务");
                return Err(Code::BadRequest.fault().with_words("reason", &reason).at("data"));
            };
            let data = data.parse().map_err(|_| Code::DataGone.fault().with("data", &data).at("data"))?;
            let ask = Ask::RunWithData { job: *job, data, key: None, parameters, beside, executor };
            return self.ask(cx, ask).await.map(DoneView::from);
        }
        let ask = Ask::RunJobs { jobs, parameters, beside, repeats: None, executor };
        self.ask(cx, ask).await.map(DoneView::from)
    }

    /// Every job there is, in the order in which they were made.
    pub(crate) async fn all_jobs(&self) -> Result<Vec<Job>, Fault> {
        const AT_ONCE: usize = 500;
        let mut jobs: Vec<Job> = Vec::new();
        loop {
            let page = self.store().jobs_after(jobs.last().map(|job| job.id), AT_ONCE).await?;
            let last = page.len() < AT_ONCE;
            jobs.extend(page);
            if last {
                return Ok(jobs);
            }
        }
    }
}

impl From<Done> for DoneView {
    fn from(done: Done) -> DoneView {
        DoneView {
            jobs: done.jobs.iter().map(ToString::to_string).collect(),
            instances: done.instances.iter().map(ToString::to_string).collect(),
            changed: done.changed,
            version: None,
        }
    }
}

/// A colour that stays with the job.
pub(crate) fn hue(job: JobId) -> u8 {
    // The last bytes of an id are drawn at random.
    job.bytes()[15] % 12
}

/// Whether a person can move single runs of it on the calendar.
pub(crate) fn has_places(spec: &JobSpec) -> bool {
    matches!(spec.schedule, Schedule::Repeat(_) | Schedule::Cron(_) | Schedule::FixedRate(_) | Schedule::Once(_))
}
