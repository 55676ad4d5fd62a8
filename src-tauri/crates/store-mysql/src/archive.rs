//! What people look at: pages by key. Whatever the filter, an index leads to the rows and the page ends the search.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use campanile_model::alarm::{Alarm, AlarmState};
use campanile_model::backfill::Backfill;
use campanile_model::instance::{InstanceState, Omission};
use campanile_model::job::JobVersion;
use campanile_model::question::Question;
use campanile_model::request::AuditEntry;
use campanile_model::sharding::ShardRun;
use campanile_model::task::{Part, Task, TaskState};
use campanile_model::{InstanceId, JobId, TaskId, Timestamp};
use campanile_store::{
    Archive, Cursor, ExecutorName, HistoryEntry, InstanceFilter, InstanceSummary, JobFilter, JobSummary, OutcomeCounts,
    Page, Result, ShardMark, ShardNews, TaskFilter,
};
use sqlx::mysql::MySqlRow;

use crate::MysqlStore;
use crate::connection::{Line, composed, sql};
use crate::jobs::tag_lines;
use crate::rows::{self, Columns, Id, limit};
use crate::values::{Cell, IntoCell, ids, list, numbers, union};

/// Tasks that are read at once where one shard is looked for.
const NEAR: i64 = 32;

/// Moves that may be written under a lower number than one that is there already, by transactions under way.
const UNDER_WAY: i64 = 500;

/// What a job's row shows of its past.
const LAST: i64 = 12;

#[async_trait]
impl Archive for MysqlStore {
    async fn job_page(&self, filter: &JobFilter, cursor: Cursor, most: usize) -> Result<Page<JobSummary>> {
        let mut line = self.snapshot().await?;
        let mut text = format!("SELECT * FROM jobs FORCE INDEX (jobs_in_order) WHERE {}", job_conditions(filter));
        if let Some(cursor) = cursor {
            let place = line.row(sql("SELECT sort_name FROM jobs WHERE seq = ?").bind(cursor)).await?;
            let name = place.map(|row| row.maybe_blob("sort_name")).transpose()?.flatten().unwrap_or_default();
            let name = list([Cell::Bytes(name)]);
            text.push_str(&format!(" AND sort_name >= {name} AND (sort_name > {name} OR seq > {cursor})"));
        }
        text.push_str(&format!(" ORDER BY sort_name, seq LIMIT {}", limit(most.saturating_add(1))));
        let found = line.rows(composed(text)).await?;
        let (found, next) = cut(found, most, |row| row.int("seq"))?;
        let jobs = rows::all(&found, rows::job)?;

        let searches: Vec<String> = jobs
            .iter()
            .map(|job| {
                format!(
                    "(SELECT seq, job, id, state, due FROM instances FORCE INDEX (instances_of_job)
                      WHERE job = {} ORDER BY seq DESC LIMIT {LAST})",
                    list([crate::values::id(job.id)])
                )
            })
            .collect();
        let last = match searches.is_empty() {
            true => Vec::new(),
            false => line.rows(composed(union(&searches, "ORDER BY seq DESC"))).await?,
        };
        line.close().await?;
        let mut by_job: HashMap<JobId, Vec<(InstanceState, Timestamp, InstanceId)>> = HashMap::new();
        for row in &last {
            let seen = (row.named("state", InstanceState::named)?, row.time("due")?, row.id("id")?);
            by_job.entry(row.id("job")?).or_default().push(seen);
        }
        let rows = jobs
            .into_iter()
            .map(|job| {
                let last = by_job.remove(&job.id).unwrap_or_default();
                JobSummary { job, last }
            })
            .collect();
        Ok(Page { rows, next })
    }

    async fn job_count(&self, filter: &JobFilter, most: u64) -> Result<u64> {
        let text = format!(
            "SELECT COUNT(*) AS n FROM (SELECT 1 AS found FROM jobs FORCE INDEX (jobs_in_order) WHERE {} LIMIT {}) few",
            job_conditions(filter),
            rows::number(most)
        );
        let row = self.read().await?.row(composed(text)).await?;
        row.map_or(Ok(0), |row| row.count("n"))
    }

    async fn versions(&self, job: JobId) -> Result<Vec<JobVersion>> {
        let found = self
            .read()
            .await?
            .rows(sql("SELECT * FROM job_versions WHERE job = ? ORDER BY version DESC").bind(job.blob()))
            .await?;
        rows::all(&found, rows::job_version)
    }

    async fn instance_page(
        &self,
        filter: &InstanceFilter,
        cursor: Cursor,
        most: usize,
    ) -> Result<Page<InstanceSummary>> {
        let mut line = self.snapshot().await?;
        let ways = ways_to(filter);
        let by_due = ways.iter().any(|way| matches!(way, Way::Due));
        let after = match cursor {
            None => None,
            Some(seq) if !by_due => Some((seq, 0)),
            // Where the last row of the page before has been purged meanwhile, everything older is on its way out too.
            Some(seq) => match line.row(sql("SELECT due FROM instances WHERE seq = ?").bind(seq)).await? {
                Some(row) => Some((seq, row.int("due")?)),
                None => {
                    line.close().await?;
                    return Ok(Page { rows: Vec::new(), next: None });
                }
            },
        };
        let mut keys = BTreeSet::new();
        for way in &ways {
            let text = format!("{} LIMIT {}", way.statement(filter, after), limit(most.saturating_add(1)));
            for row in &line.rows(composed(text)).await? {
                keys.insert(Reverse((if by_due { row.int("due")? } else { 0 }, row.int("seq")?)));
            }
        }
        let more = keys.len() > most;
        let seqs: Vec<i64> = keys.into_iter().take(most).map(|Reverse((_, seq))| seq).collect();
        let next = seqs.last().copied().filter(|_| more);
        let rows = line.summaries(&seqs).await?;
        line.close().await?;
        Ok(Page { rows, next })
    }

    async fn instance_summary(&self, id: InstanceId) -> Result<Option<InstanceSummary>> {
        let mut line = self.snapshot().await?;
        let row = line.row(sql("SELECT seq FROM instances WHERE id = ?").bind(id.blob())).await?;
        let summary = match row {
            Some(row) => line.summaries(&[row.int("seq")?]).await?.pop(),
            None => None,
        };
        line.close().await?;
        Ok(summary)
    }

    async fn histories(&self, of: &[TaskId]) -> Result<HashMap<TaskId, Vec<HistoryEntry>>> {
        let text = format!(
            "SELECT t.id, m.* FROM tasks t STRAIGHT_JOIN task_moves m FORCE INDEX (task_moves_of_task) ON m.task_seq = t.seq
             WHERE t.id IN ({}) ORDER BY m.seq",
            ids(of.iter().copied())
        );
        let found = self.read().await?.rows(composed(text)).await?;
        let mut histories: HashMap<TaskId, Vec<HistoryEntry>> = HashMap::with_capacity(of.len());
        for row in &found {
            histories.entry(row.id("id")?).or_default().push(rows::history_entry(row)?);
        }
        Ok(histories)
    }

    async fn task_page(&self, filter: &TaskFilter, cursor: Cursor, most: usize) -> Result<Page<Task>> {
        let mut line = self.snapshot().await?;
        // The order is that of the instances, and within one that of making. Where the last row of the page before
        // has been purged meanwhile, everything older is on its way out too.
        let after = match cursor {
            None => None,
            Some(seq) => {
                let row = line.row(sql("SELECT instance_seq FROM tasks WHERE seq = ?").bind(seq)).await?;
                match row {
                    Some(row) => Some((row.int("instance_seq")?, seq)),
                    None => {
                        line.close().await?;
                        return Ok(Page { rows: Vec::new(), next: None });
                    }
                }
            }
        };
        let place = match after {
            Some((instance, seq)) => {
                format!("instance_seq <= {instance} AND (instance_seq < {instance} OR seq < {seq})")
            }
            None => "1 = 1".to_owned(),
        };
        let order = format!("ORDER BY instance_seq DESC, seq DESC LIMIT {}", limit(most.saturating_add(1)));
        let mut searches = Vec::new();
        match &filter.executor {
            Some(of) => {
                let states = match filter.states.as_slice() {
                    [] => String::new(),
                    states => {
                        format!("AND state IN ({})", numbers(states.iter().map(|state| i64::from(state.code()))))
                    }
                };
                searches.push(format!(
                    "SELECT * FROM tasks FORCE INDEX (tasks_of_executor)
                     WHERE executor_group = {} AND executor_name = {} {states} AND {place} {order}",
                    list([bytes(&of.group)]),
                    list([bytes(&of.name)])
                ));
            }
            None if filter.states.is_empty() => {
                searches.push(format!("SELECT * FROM tasks FORCE INDEX (tasks_of_instance) WHERE {place} {order}"));
            }
            None => searches.extend(distinct(&filter.states).into_iter().map(|state| {
                format!(
                    "SELECT * FROM tasks FORCE INDEX (tasks_by_state) WHERE state = {} AND {place} {order}",
                    state.code()
                )
            })),
        }
        let mut found = BTreeMap::new();
        for search in searches {
            for row in line.rows(composed(search)).await? {
                found.insert(Reverse((row.int("instance_seq")?, row.int("seq")?)), row);
            }
        }
        line.close().await?;
        let (found, next) = cut(found.into_values().collect(), most, |row| row.int("seq"))?;
        Ok(Page { rows: rows::all(&found, rows::task)?, next })
    }

    async fn shard_page(&self, instance: InstanceId, cursor: Cursor, most: usize) -> Result<Page<ShardMark>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT seq, state, part FROM tasks FORCE INDEX (tasks_of_instance)
                     WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?) AND seq > ? ORDER BY seq LIMIT ?")
                .bind(instance.blob())
                .bind(cursor.unwrap_or(0))
                .bind(limit(most.saturating_add(1))),
            )
            .await?;
        let (found, next) = cut(found, most, |row| row.int("seq"))?;
        let marks = rows::all(&found, rows::shard_mark)?;
        Ok(Page { rows: marks.into_iter().flatten().collect(), next })
    }

    async fn shard_news(&self, instance: InstanceId, since: i64, most: usize) -> Result<ShardNews> {
        let mut line = self.snapshot().await?;
        let looked = line
            .row(
                sql("SELECT CAST(COALESCE(MAX(seq), 0) AS SIGNED) AS through, COUNT(*) AS n
                     FROM (SELECT seq FROM task_moves FORCE INDEX (PRIMARY) WHERE seq > ? ORDER BY seq LIMIT ?) few")
                .bind(since)
                .bind(limit(most)),
            )
            .await?;
        let (through, more) = match looked {
            Some(row) => (row.int("through")?.max(since), row.int("n")? == limit(most)),
            None => (since, false),
        };
        let moved = line
            .rows(
                sql("SELECT t.seq, t.state, t.part
                     FROM (SELECT DISTINCT task_seq FROM task_moves FORCE INDEX (PRIMARY) WHERE seq > ? AND seq <= ?) m
                     STRAIGHT_JOIN tasks t FORCE INDEX (PRIMARY) ON t.seq = m.task_seq
                     WHERE t.instance_seq = (SELECT seq FROM instances WHERE id = ?)")
                .bind(since.saturating_sub(UNDER_WAY))
                .bind(through)
                .bind(instance.blob()),
            )
            .await?;
        let searches = [TaskState::Running, TaskState::Overrun].map(|state| {
            format!(
                "(SELECT seq, state, part FROM tasks FORCE INDEX (tasks_by_state)
                  WHERE state = {} AND instance_seq = (SELECT seq FROM instances WHERE id = {}) LIMIT {})",
                state.code(),
                list([crate::values::id(instance)]),
                limit(most)
            )
        });
        let runs = line.rows(composed(union(&searches, ""))).await?;
        line.close().await?;
        let by_seq: BTreeMap<i64, &MySqlRow> =
            moved.iter().chain(&runs).map(|row| Ok((row.int("seq")?, row))).collect::<Result<_>>()?;
        let marks = by_seq.into_values().map(rows::shard_mark).collect::<Result<Vec<_>>>()?;
        Ok(ShardNews { marks: marks.into_iter().flatten().collect(), through, more })
    }

    async fn last_move(&self) -> Result<i64> {
        let row =
            self.read().await?.row(sql("SELECT CAST(COALESCE(MAX(seq), 0) AS SIGNED) AS last FROM task_moves")).await?;
        row.map_or(Ok(0), |row| row.int("last"))
    }

    async fn shard(&self, instance: InstanceId, first: TaskId, level: u32, shard: u32) -> Result<Option<Task>> {
        let mut line = self.snapshot().await?;
        // Between the shards of a level stand the notices that were made while it ran: a shard is at its place or
        // somewhat behind it. The places are counted in the index alone.
        let mut place = i64::from(shard);
        let mut found = None;
        while found.is_none() {
            let near = line
                .rows(
                    sql("SELECT t.* FROM (SELECT seq FROM tasks FORCE INDEX (tasks_of_instance)
                                          WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?)
                                              AND seq >= (SELECT f.seq FROM tasks f WHERE f.id = ?)
                                          ORDER BY seq LIMIT ? OFFSET ?) p
                         STRAIGHT_JOIN tasks t FORCE INDEX (PRIMARY) ON t.seq = p.seq ORDER BY t.seq")
                    .bind(instance.blob())
                    .bind(first.blob())
                    .bind(NEAR)
                    .bind(place),
                )
                .await?;
            let tasks = rows::all(&near, rows::task)?;
            found = tasks.into_iter().find(|task| match task.part {
                Some(Part::Shard { level: of, index, .. }) => (of, index) >= (level, shard),
                _ => false,
            });
            if near.is_empty() {
                break;
            }
            place += NEAR;
        }
        line.close().await?;
        Ok(found.filter(
            |task| matches!(task.part, Some(Part::Shard { level: of, index, .. }) if (of, index) == (level, shard)),
        ))
    }

    async fn omissions(&self, job: Option<JobId>, since: Timestamp, most: usize) -> Result<Vec<Omission>> {
        let mut line = self.read().await?;
        let found = match job {
            Some(job) => {
                line.rows(
                    sql("SELECT * FROM omissions WHERE job = ? AND to_at >= ? ORDER BY seq DESC LIMIT ?")
                        .bind(job.blob())
                        .bind(since.millis())
                        .bind(limit(most)),
                )
                .await?
            }
            None => {
                line.rows(
                    sql("SELECT * FROM omissions WHERE to_at >= ? ORDER BY to_at DESC, seq DESC LIMIT ?")
                        .bind(since.millis())
                        .bind(limit(most)),
                )
                .await?
            }
        };
        rows::all(&found, rows::omission)
    }

    async fn questions(&self, since: Timestamp, most: usize) -> Result<Vec<Question>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM questions WHERE asked_at >= ? ORDER BY asked_at DESC, seq DESC LIMIT ?")
                    .bind(since.millis())
                    .bind(limit(most)),
            )
            .await?;
        rows::all(&found, rows::question)
    }

    async fn backfills(&self, job: Option<JobId>, most: usize) -> Result<Vec<Backfill>> {
        let mut line = self.read().await?;
        let found = match job {
            Some(job) => {
                line.rows(
                    sql("SELECT * FROM backfills WHERE job = ? ORDER BY seq DESC LIMIT ?")
                        .bind(job.blob())
                        .bind(limit(most)),
                )
                .await?
            }
            None => line.rows(sql("SELECT * FROM backfills ORDER BY seq DESC LIMIT ?").bind(limit(most))).await?,
        };
        rows::all(&found, rows::backfill)
    }

    async fn alarm_page(&self, states: &[AlarmState], cursor: Cursor, most: usize) -> Result<Page<Alarm>> {
        let mut line = self.snapshot().await?;
        let below = cursor.unwrap_or(i64::MAX);
        let order = format!("place < {below} ORDER BY place DESC LIMIT {}", limit(most.saturating_add(1)));
        let mut searches = Vec::new();
        if states.is_empty() {
            searches.push(format!("SELECT * FROM alarms FORCE INDEX (alarms_by_place) WHERE {order}"));
        }
        for state in distinct(states) {
            let state = state.name();
            let index = "FORCE INDEX (alarms_by_state)";
            searches.push(format!("SELECT * FROM alarms {index} WHERE state = '{state}' AND {order}"));
        }
        let mut found = BTreeMap::new();
        for search in searches {
            for row in line.rows(composed(search)).await? {
                found.insert(Reverse(row.int("place")?), row);
            }
        }
        line.close().await?;
        let (found, next) = cut(found.into_values().collect(), most, |row| row.int("place"))?;
        Ok(Page { rows: rows::all(&found, rows::alarm)?, next })
    }

    async fn audit_page(&self, cursor: Cursor, most: usize) -> Result<Page<AuditEntry>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT * FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT ?")
                    .bind(cursor.unwrap_or(i64::MAX))
                    .bind(limit(most.saturating_add(1))),
            )
            .await?;
        let (found, next) = cut(found, most, |row| row.int("seq"))?;
        Ok(Page { rows: rows::all(&found, rows::audit_entry)?, next })
    }

    async fn outcomes(&self, since: Timestamp, until: Timestamp) -> Result<OutcomeCounts> {
        let row = self
            .read()
            .await?
            .row(
                sql("SELECT CAST(COALESCE(SUM(state = 'succeeded'), 0) AS SIGNED) AS succeeded,
                            CAST(COALESCE(SUM(state = 'failed'), 0) AS SIGNED) AS failed
                     FROM instances FORCE INDEX (instances_finished) WHERE finished_at >= ? AND finished_at < ?")
                .bind(since.millis())
                .bind(until.millis()),
            )
            .await?;
        match row {
            Some(row) => Ok(OutcomeCounts { succeeded: row.count("succeeded")?, failed: row.count("failed")? }),
            None => Ok(OutcomeCounts::default()),
        }
    }

    async fn fired(&self, from: Timestamp, until: Timestamp, most: usize) -> Result<Vec<InstanceSummary>> {
        let mut line = self.snapshot().await?;
        let found = line
            .rows(
                sql("SELECT seq FROM instances FORCE INDEX (instances_by_due) WHERE due >= ? AND due < ?
                     ORDER BY due, seq LIMIT ?")
                .bind(from.millis())
                .bind(until.millis())
                .bind(limit(most)),
            )
            .await?;
        let seqs = rows::all(&found, |row| row.int("seq"))?;
        let summaries = line.summaries(&seqs).await?;
        line.close().await?;
        Ok(summaries)
    }

    async fn change_count(&self) -> Result<u64> {
        let row = self.read().await?.row(sql("SELECT CAST(SUM(times) AS SIGNED) AS times FROM changes")).await?;
        row.map_or(Ok(0), |row| row.count("times"))
    }
}

/// One more row than the page holds was asked for, to see whether there is a further page.
fn cut(
    mut found: Vec<MySqlRow>,
    most: usize,
    key: impl Fn(&MySqlRow) -> Result<i64>,
) -> Result<(Vec<MySqlRow>, Cursor)> {
    let more = found.len() > most;
    found.truncate(most);
    let next = found.last().filter(|_| more).map(key).transpose()?;
    Ok((found, next))
}

fn distinct<T: Copy + PartialEq>(of: &[T]) -> Vec<T> {
    let mut seen = Vec::new();
    for one in of {
        if !seen.contains(one) {
            seen.push(*one);
        }
    }
    seen
}

fn job_conditions(filter: &JobFilter) -> String {
    let mut text = "removed = 0".to_owned();
    if let Some(part) = &filter.text {
        text.push_str(&format!(" AND INSTR(search, {}) > 0", list([part.to_lowercase().cell()])));
    }
    if let Some(paused) = filter.paused {
        text.push_str(&format!(" AND paused = {}", i64::from(paused)));
    }
    if let Some(tag) = &filter.tag {
        let line = tag_lines(std::slice::from_ref(tag));
        text.push_str(&format!(" AND INSTR(tags, {}) > 0", list([line.cell()])));
    }
    text
}

/// By which index the rows of an instance page are found. All but `Due` go by the order of making, newest first.
#[derive(Clone)]
enum Way {
    /// A job keeps a bounded number of them.
    Job(JobId),
    /// Newest first by due time.
    Due,
    Executor(ExecutorName),
    TaskState(TaskState),
    State(InstanceState),
    All,
}

fn ways_to(filter: &InstanceFilter) -> Vec<Way> {
    if let Some(job) = filter.job {
        return vec![Way::Job(job)];
    }
    if filter.due_from.is_some() || filter.due_until.is_some() {
        return vec![Way::Due];
    }
    if let Some(executor) = &filter.executor {
        return vec![Way::Executor(executor.clone())];
    }
    if !filter.task_states.is_empty() {
        return distinct(&filter.task_states).into_iter().map(Way::TaskState).collect();
    }
    if !filter.states.is_empty() {
        return distinct(&filter.states).into_iter().map(Way::State).collect();
    }
    vec![Way::All]
}

/// Names of executors are compared byte by byte.
fn bytes(name: &str) -> Cell {
    Cell::Bytes(name.as_bytes().to_vec())
}

impl Way {
    /// The columns `seq` and `due` of the page's rows; the bound on their number is still to be said. `after` is the last
    /// row of the page before, and when it was due.
    fn statement(&self, filter: &InstanceFilter, after: Option<(i64, i64)>) -> String {
        let below = after.map_or(i64::MAX, |(seq, _)| seq);
        let mut text = match self {
            Way::TaskState(state) => format!(
                "SELECT DISTINCT t.instance_seq AS seq, i.due AS due FROM tasks t FORCE INDEX (tasks_by_state)
                 STRAIGHT_JOIN instances i ON i.seq = t.instance_seq
                 WHERE t.state = {} AND t.instance_seq < {below}",
                state.code()
            ),
            Way::Executor(of) => format!(
                "SELECT DISTINCT t.instance_seq AS seq, i.due AS due FROM tasks t FORCE INDEX (tasks_of_executor)
                 STRAIGHT_JOIN instances i ON i.seq = t.instance_seq
                 WHERE t.executor_group = {} AND t.executor_name = {} AND t.instance_seq < {below}",
                list([bytes(&of.group)]),
                list([bytes(&of.name)])
            ),
            Way::Due => {
                let place = match after {
                    Some((seq, due)) => format!("i.due <= {due} AND (i.due < {due} OR i.seq < {seq})"),
                    None => "1 = 1".to_owned(),
                };
                format!("SELECT i.seq, i.due FROM instances i FORCE INDEX (instances_by_due) WHERE {place}")
            }
            Way::Job(job) => format!(
                "SELECT i.seq, i.due FROM instances i FORCE INDEX (instances_of_job) WHERE i.job = {} AND i.seq < {below}",
                list([crate::values::id(*job)])
            ),
            Way::State(state) => format!(
                "SELECT i.seq, i.due FROM instances i FORCE INDEX (instances_by_state)
                 WHERE i.state = '{}' AND i.seq < {below}",
                state.name()
            ),
            Way::All => format!("SELECT i.seq, i.due FROM instances i FORCE INDEX (PRIMARY) WHERE i.seq < {below}"),
        };
        for (condition, moment) in [(">=", filter.due_from), ("<", filter.due_until)] {
            if let Some(moment) = moment {
                text.push_str(&format!(" AND i.due {condition} {}", moment.millis()));
            }
        }
        if !matches!(self, Way::TaskState(_)) && !filter.task_states.is_empty() {
            let states = numbers(filter.task_states.iter().map(|state| i64::from(state.code())));
            text.push_str(&format!(
                " AND EXISTS (SELECT 1 FROM tasks s FORCE INDEX (tasks_of_instance)
                              WHERE s.instance_seq = i.seq AND s.state IN ({states}))"
            ));
        }
        if let Some(of) = filter.executor.as_ref().filter(|_| !matches!(self, Way::Executor(_))) {
            text.push_str(&format!(
                " AND EXISTS (SELECT 1 FROM tasks e FORCE INDEX (tasks_of_instance)
                              WHERE e.instance_seq = i.seq AND e.executor_group = {} AND e.executor_name = {})",
                list([bytes(&of.group)]),
                list([bytes(&of.name)])
            ));
        }
        if !matches!(self, Way::State(_)) && !filter.states.is_empty() {
            let names: Vec<String> = filter.states.iter().map(|state| format!("'{}'", state.name())).collect();
            text.push_str(&format!(" AND i.state IN ({})", names.join(", ")));
        }
        text.push_str(match self {
            Way::Due => " ORDER BY i.due DESC, i.seq DESC",
            Way::TaskState(_) | Way::Executor(_) => " ORDER BY t.instance_seq DESC",
            Way::Job(_) | Way::State(_) | Way::All => " ORDER BY i.seq DESC",
        });
        text
    }
}

impl Line {
    /// In the order in which they were named.
    async fn summaries(&mut self, seqs: &[i64]) -> Result<Vec<InstanceSummary>> {
        let list = numbers(seqs.iter().copied());
        let text = format!(
            "SELECT i.*, COALESCE(j.name, '') AS job_name, r.fence, r.done, r.run
             FROM instances i FORCE INDEX (PRIMARY) LEFT JOIN jobs j FORCE INDEX (jobs_by_id) ON j.id = i.job
             LEFT JOIN shard_runs r FORCE INDEX (PRIMARY) ON r.instance_seq = i.seq
             WHERE i.seq IN ({list})"
        );
        let found = self.rows(composed(text)).await?;
        let mut sharded: HashMap<i64, ShardRun> = HashMap::new();
        for row in &found {
            if row.maybe_text("run")?.is_some() {
                sharded.insert(row.int("seq")?, crate::shards::run(row)?);
            }
        }
        let list = numbers(seqs.iter().copied().filter(|seq| !sharded.contains_key(seq)));
        let text = format!(
            "SELECT instance_seq, id, state, attempt FROM tasks FORCE INDEX (tasks_of_instance)
             WHERE instance_seq IN ({list}) ORDER BY instance_seq, seq"
        );
        let tasks = self.rows(composed(text)).await?;
        let mut by_instance: HashMap<i64, Vec<(TaskId, TaskState, u32)>> = HashMap::new();
        for row in &tasks {
            let task = (row.id("id")?, row.task_state("state")?, row.small("attempt")?);
            by_instance.entry(row.int("instance_seq")?).or_default().push(task);
        }
        let mut by_seq = HashMap::with_capacity(found.len());
        for row in &found {
            let seq = row.int("seq")?;
            let summary = InstanceSummary {
                instance: rows::instance(row)?,
                job_name: row.text("job_name")?,
                tasks: by_instance.remove(&seq).unwrap_or_default(),
                sharded: sharded.remove(&seq),
            };
            by_seq.insert(seq, summary);
        }
        Ok(seqs.iter().filter_map(|seq| by_seq.remove(seq)).collect())
    }
}
