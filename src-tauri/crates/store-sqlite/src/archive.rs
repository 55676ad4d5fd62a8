//! What people look at: pages by key. Whatever the filter, an index leads to the rows and the page ends the search.

use std::collections::{BTreeMap, HashMap};

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
    Archive, Cursor, HistoryEntry, InstanceFilter, InstanceSummary, JobFilter, JobSummary, OutcomeCounts, Page, Result,
    ShardMark, ShardNews, TaskFilter,
};
use serde_json::Value;
use sqlx::sqlite::SqliteRow;

use crate::SqliteStore;
use crate::connection::{Line, Statement, composed, sql};
use crate::rows::{self, Columns, Id, hexes, limit};

/// Tasks that are read at once where one shard is looked for.
const NEAR: i64 = 32;

/// What a job's row shows of its past.
const LAST: i64 = 12;

/// The part of a cursor that tells apart instances due at one moment.
const SAME_MOMENT: i64 = (1 << 20) - 1;

/// Greater than any due time that fits into a cursor (the year 2248).
const LAST_MOMENT: i64 = (1 << 43) - 1;

#[async_trait]
impl Archive for SqliteStore {
    async fn job_page(&self, filter: &JobFilter, cursor: Cursor, most: usize) -> Result<Page<JobSummary>> {
        let mut line = self.snapshot().await?;
        let mut text = format!("SELECT * FROM jobs WHERE removed = 0 {}", job_conditions(filter));
        if cursor.is_some() {
            // The first condition finds the place in the index, the second the row.
            text.push_str(" AND name COLLATE NOCASE >= (SELECT name FROM jobs WHERE seq = ?)");
            text.push_str(" AND (name COLLATE NOCASE, seq) > (SELECT name, seq FROM jobs WHERE seq = ?)");
        }
        text.push_str(" ORDER BY name COLLATE NOCASE, seq LIMIT ?");
        let mut statement = bound_to_jobs(composed(text), filter);
        if let Some(cursor) = cursor {
            statement = statement.bind(cursor).bind(cursor);
        }
        let found = line.rows(statement.bind(limit(most.saturating_add(1)))).await?;
        let (found, next) = cut(found, most, |row| row.int("seq"))?;
        let jobs = rows::all(&found, rows::job)?;

        let last = line
            .rows(
                sql("SELECT i.job, i.id, i.state, i.due FROM json_each(?1) AS j
                     CROSS JOIN instances i
                     WHERE i.seq IN (SELECT seq FROM instances WHERE job = unhex(j.value) ORDER BY seq DESC LIMIT ?2)
                     ORDER BY i.seq DESC")
                .bind(hexes(jobs.iter().map(|job| job.id)))
                .bind(LAST),
            )
            .await?;
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
            "SELECT count(*) AS n FROM (SELECT 1 FROM jobs WHERE removed = 0 {} LIMIT ?)",
            job_conditions(filter)
        );
        let statement = bound_to_jobs(composed(text), filter).bind(rows::number(most));
        let row = self.read().await?.row(statement).await?;
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
        let mut keys = BTreeMap::new();
        for way in &ways {
            let statement = way.statement(filter, cursor).bind(limit(most.saturating_add(1)));
            for row in &line.rows(statement).await? {
                keys.insert(std::cmp::Reverse(way.key(row)?), row.int("seq")?);
            }
        }
        let more = keys.len() > most;
        let kept: Vec<(i64, i64)> = keys.into_iter().take(most).map(|(key, seq)| (key.0.0, seq)).collect();
        let by_due = ways.iter().any(|way| matches!(way, Way::Due));
        let next =
            kept.last().filter(|_| more).map(|(moment, seq)| if by_due { cursor_of(*moment, *seq) } else { *seq });
        let seqs: Vec<i64> = kept.into_iter().map(|(_, seq)| seq).collect();
        Ok(Page { rows: line.summaries(&seqs).await?, next })
    }

    async fn instance_summary(&self, id: InstanceId) -> Result<Option<InstanceSummary>> {
        let mut line = self.snapshot().await?;
        let Some(row) = line.row(sql("SELECT seq FROM instances WHERE id = ?").bind(id.blob())).await? else {
            return Ok(None);
        };
        Ok(line.summaries(&[row.int("seq")?]).await?.pop())
    }

    async fn histories(&self, of: &[TaskId]) -> Result<HashMap<TaskId, Vec<HistoryEntry>>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT t.id, m.* FROM (SELECT unhex(value) AS id FROM json_each(?)) AS u
                     CROSS JOIN tasks t ON t.id = u.id
                     CROSS JOIN task_moves m ON m.task_seq = t.seq
                     ORDER BY m.seq")
                .bind(hexes(of.iter().copied())),
            )
            .await?;
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
                    None => return Ok(Page { rows: Vec::new(), next: None }),
                }
            }
        };
        let place = if after.is_some() { "(instance_seq, seq) < (?, ?)" } else { "true" };
        let order = "ORDER BY instance_seq DESC, seq DESC LIMIT ?";
        let mut searches = Vec::new();
        let all_states = || filter.states.iter().map(|state| state.code().to_string()).collect::<Vec<_>>().join(", ");
        match &filter.executor {
            Some(of) => {
                // The unary plus keeps the states from choosing the index.
                let states =
                    if filter.states.is_empty() { String::new() } else { format!("AND +state IN ({})", all_states()) };
                let text = format!(
                    "SELECT * FROM tasks WHERE executor_group = ? AND executor_name = ? {states} AND {place} {order}"
                );
                searches.push(composed(text).bind(of.group.clone()).bind(of.name.clone()));
            }
            None if filter.states.is_empty() => {
                searches.push(composed(format!("SELECT * FROM tasks WHERE {place} {order}")));
            }
            None => searches.extend(distinct(&filter.states).into_iter().map(|state| {
                let text = format!("SELECT * FROM tasks WHERE state = ? AND {place} {order}");
                composed(text).bind(i64::from(state.code()))
            })),
        }
        let mut found = BTreeMap::new();
        for mut search in searches {
            if let Some((instance, seq)) = after {
                search = search.bind(instance).bind(seq);
            }
            for row in line.rows(search.bind(limit(most.saturating_add(1)))).await? {
                found.insert(std::cmp::Reverse((row.int("instance_seq")?, row.int("seq")?)), row);
            }
        }
        let (found, next) = cut(found.into_values().collect(), most, |row| row.int("seq"))?;
        Ok(Page { rows: rows::all(&found, rows::task)?, next })
    }

    async fn shard_page(&self, instance: InstanceId, cursor: Cursor, most: usize) -> Result<Page<ShardMark>> {
        let found = self
            .read()
            .await?
            .rows(
                sql("SELECT seq, state, part FROM tasks INDEXED BY tasks_of_instance
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
                sql("SELECT coalesce(max(seq), 0) AS through, count(*) AS n
                     FROM (SELECT seq FROM task_moves WHERE seq > ? ORDER BY seq LIMIT ?)")
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
                sql("SELECT seq, state, part FROM tasks
                     WHERE seq IN (SELECT task_seq FROM task_moves WHERE seq > ? AND seq <= ?)
                         AND +instance_seq = (SELECT seq FROM instances WHERE id = ?)")
                .bind(since)
                .bind(through)
                .bind(instance.blob()),
            )
            .await?;
        let runs = line
            .rows(
                sql("SELECT seq, state, part FROM tasks INDEXED BY tasks_by_state
                     WHERE state IN (202, 203) AND instance_seq = (SELECT seq FROM instances WHERE id = ?) LIMIT ?")
                .bind(instance.blob())
                .bind(limit(most)),
            )
            .await?;
        let by_seq: BTreeMap<i64, &SqliteRow> =
            moved.iter().chain(&runs).map(|row| Ok((row.int("seq")?, row))).collect::<Result<_>>()?;
        let marks = by_seq.into_values().map(rows::shard_mark).collect::<Result<Vec<_>>>()?;
        Ok(ShardNews { marks: marks.into_iter().flatten().collect(), through, more })
    }

    async fn last_move(&self) -> Result<i64> {
        let row = self.read().await?.row(sql("SELECT coalesce(max(seq), 0) AS last FROM task_moves")).await?;
        row.map_or(Ok(0), |row| row.int("last"))
    }

    async fn shard(&self, instance: InstanceId, first: TaskId, level: u32, shard: u32) -> Result<Option<Task>> {
        let mut line = self.snapshot().await?;
        // Between the shards of a level stand the notices that were made while it ran: a shard is at its place or
        // somewhat behind it.
        let mut place = i64::from(shard);
        loop {
            let found = line
                .rows(
                    sql("SELECT * FROM tasks INDEXED BY tasks_of_instance
                         WHERE instance_seq = (SELECT seq FROM instances WHERE id = ?)
                             AND seq >= (SELECT seq FROM tasks WHERE id = ?)
                         ORDER BY seq LIMIT ? OFFSET ?")
                    .bind(instance.blob())
                    .bind(first.blob())
                    .bind(NEAR)
                    .bind(place),
                )
                .await?;
            for task in rows::all(&found, rows::task)? {
                match task.part {
                    Some(Part::Shard { level: of, index, .. }) if (of, index) == (level, shard) => {
                        return Ok(Some(task));
                    }
                    Some(Part::Shard { level: of, index, .. }) if (of, index) > (level, shard) => return Ok(None),
                    _ => {}
                }
            }
            if found.is_empty() {
                return Ok(None);
            }
            place += NEAR;
        }
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
        let mut searches = Vec::new();
        if states.is_empty() {
            searches.push(sql("SELECT * FROM alarms WHERE rank < ? ORDER BY rank DESC LIMIT ?").bind(below));
        }
        for state in distinct(states) {
            searches.push(
                sql("SELECT * FROM alarms WHERE state = ? AND rank < ? ORDER BY rank DESC LIMIT ?")
                    .bind(state.name())
                    .bind(below),
            );
        }
        let mut found = BTreeMap::new();
        for search in searches {
            for row in line.rows(search.bind(limit(most.saturating_add(1)))).await? {
                found.insert(std::cmp::Reverse(row.int("rank")?), row);
            }
        }
        let (found, next) = cut(found.into_values().collect(), most, |row| row.int("rank"))?;
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
                sql("SELECT coalesce(sum(state = 'succeeded'), 0) AS succeeded,
                            coalesce(sum(state = 'failed'), 0) AS failed
                     FROM instances WHERE finished_at >= ? AND finished_at < ?")
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
                sql("SELECT seq FROM instances WHERE due >= ? AND due < ? ORDER BY due, seq LIMIT ?")
                    .bind(from.millis())
                    .bind(until.millis())
                    .bind(limit(most)),
            )
            .await?;
        let seqs = rows::all(&found, |row| row.int("seq"))?;
        line.summaries(&seqs).await
    }

    async fn change_count(&self) -> Result<u64> {
        self.commits_seen().await
    }
}

/// One more row than the page holds was asked for, to see whether there is a further page.
fn cut(
    mut found: Vec<SqliteRow>,
    most: usize,
    key: impl Fn(&SqliteRow) -> Result<i64>,
) -> Result<(Vec<SqliteRow>, Cursor)> {
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
    let mut text = String::new();
    if filter.text.is_some() {
        text.push_str(" AND instr(search, ?) > 0");
    }
    if filter.paused.is_some() {
        text.push_str(" AND paused = ?");
    }
    if filter.tag.is_some() {
        text.push_str(" AND EXISTS (SELECT 1 FROM json_each(spec, '$.tags') AS tag WHERE tag.value = ?)");
    }
    text
}

fn bound_to_jobs(mut statement: Statement, filter: &JobFilter) -> Statement {
    if let Some(text) = &filter.text {
        statement = statement.bind(text.to_lowercase());
    }
    if let Some(paused) = filter.paused {
        statement = statement.bind(i64::from(paused));
    }
    if let Some(tag) = &filter.tag {
        statement = statement.bind(tag.clone());
    }
    statement
}

/// By which index the rows of an instance page are found. All but `Due` go by the order of making, newest first.
#[derive(Clone, Copy)]
enum Way {
    /// A job keeps a bounded number of them.
    Job(JobId),
    /// Newest first by due time.
    Due,
    Executor,
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
    if filter.executor.is_some() {
        return vec![Way::Executor];
    }
    if !filter.task_states.is_empty() {
        return distinct(&filter.task_states).into_iter().map(Way::TaskState).collect();
    }
    if !filter.states.is_empty() {
        return distinct(&filter.states).into_iter().map(Way::State).collect();
    }
    vec![Way::All]
}

fn cursor_of(moment: i64, seq: i64) -> i64 {
    (moment.clamp(0, LAST_MOMENT) << 20) | (seq & SAME_MOMENT)
}

impl Way {
    /// The columns `seq` and `due` of the page's rows; the bound on their number is still to be bound.
    fn statement(self, filter: &InstanceFilter, cursor: Cursor) -> Statement {
        let mut numbers = Vec::new();
        let mut text = match self {
            Way::TaskState(state) => {
                numbers.push(i64::from(state.code()));
                numbers.push(cursor.unwrap_or(i64::MAX));
                String::from(
                    "SELECT DISTINCT t.instance_seq AS seq, i.due AS due FROM tasks t
                     CROSS JOIN instances i ON i.seq = t.instance_seq
                     WHERE t.state = ? AND t.instance_seq < ?",
                )
            }
            Way::Executor => {
                numbers.push(cursor.unwrap_or(i64::MAX));
                String::from(
                    "SELECT DISTINCT t.instance_seq AS seq, i.due AS due FROM tasks t
                     CROSS JOIN instances i ON i.seq = t.instance_seq
                     WHERE t.instance_seq < ?",
                )
            }
            Way::Due => {
                let (moment, seq) = match cursor {
                    Some(cursor) => (cursor >> 20, cursor & SAME_MOMENT),
                    None => (i64::MAX, 0),
                };
                numbers.extend([moment, moment, SAME_MOMENT, seq]);
                String::from("SELECT i.seq, i.due FROM instances i WHERE i.due <= ? AND (i.due < ? OR (i.seq & ?) < ?)")
            }
            Way::Job(_) | Way::State(_) | Way::All => {
                numbers.push(cursor.unwrap_or(i64::MAX));
                String::from("SELECT i.seq, i.due FROM instances i WHERE i.seq < ?")
            }
        };
        // Numbers are bound before names.
        for (condition, moment) in [(" AND i.due >= ?", filter.due_from), (" AND i.due < ?", filter.due_until)] {
            if let Some(moment) = moment {
                text.push_str(condition);
                numbers.push(moment.millis());
            }
        }
        if !matches!(self, Way::TaskState(_)) && !filter.task_states.is_empty() {
            let states: Vec<String> = filter.task_states.iter().map(|state| state.code().to_string()).collect();
            let states = states.join(", ");
            text.push_str(&format!(
                " AND EXISTS (SELECT 1 FROM tasks WHERE instance_seq = i.seq AND state IN ({states}))"
            ));
        }
        match self {
            Way::State(state) => text.push_str(&format!(" AND i.state = '{}'", state.name())),
            _ if !filter.states.is_empty() => {
                let names: Vec<String> = filter.states.iter().map(|state| format!("'{}'", state.name())).collect();
                // The unary plus keeps this condition from choosing the index.
                text.push_str(&format!(" AND +i.state IN ({})", names.join(", ")));
            }
            _ => {}
        }
        if matches!(self, Way::Job(_)) {
            text.push_str(" AND i.job = ?");
        }
        match &filter.executor {
            Some(_) if matches!(self, Way::Executor) => {
                text.push_str(" AND t.executor_group = ? AND t.executor_name = ?");
            }
            Some(_) => text.push_str(
                " AND EXISTS (SELECT 1 FROM tasks
                              WHERE instance_seq = i.seq AND +executor_group = ? AND +executor_name = ?)",
            ),
            None => {}
        }
        text.push_str(match self {
            Way::Due => " ORDER BY i.due DESC, (i.seq & 1048575) DESC LIMIT ?",
            Way::TaskState(_) | Way::Executor => " ORDER BY t.instance_seq DESC LIMIT ?",
            Way::Job(_) | Way::State(_) | Way::All => " ORDER BY i.seq DESC LIMIT ?",
        });
        let mut statement = composed(text);
        for number in numbers {
            statement = statement.bind(number);
        }
        if let Way::Job(job) = self {
            statement = statement.bind(job.blob());
        }
        if let Some(executor) = &filter.executor {
            statement = statement.bind(executor.group.clone()).bind(executor.name.clone());
        }
        statement
    }

    /// What the page is ordered by, greatest first; only `Due` looks at the first part.
    fn key(self, row: &SqliteRow) -> Result<(i64, i64)> {
        let seq = row.int("seq")?;
        match self {
            Way::Due => Ok((row.int("due")?, seq & SAME_MOMENT)),
            _ => Ok((0, seq)),
        }
    }
}

impl Line {
    /// In the order in which they were named.
    async fn summaries(&mut self, seqs: &[i64]) -> Result<Vec<InstanceSummary>> {
        let list = Value::from(seqs).to_string();
        let found = self
            .rows(
                sql("SELECT i.*, coalesce(j.name, '') AS job_name, r.fence, r.done, r.run
                     FROM instances i LEFT JOIN jobs j ON j.id = i.job LEFT JOIN shard_runs r ON r.instance_seq = i.seq
                     WHERE i.seq IN (SELECT value FROM json_each(?))")
                .bind(list),
            )
            .await?;
        let mut sharded: HashMap<i64, ShardRun> = HashMap::new();
        for row in &found {
            if row.maybe_text("run")?.is_some() {
                sharded.insert(row.int("seq")?, crate::shards::run(row)?);
            }
        }
        let whole: Vec<i64> = seqs.iter().copied().filter(|seq| !sharded.contains_key(seq)).collect();
        let tasks = self
            .rows(
                sql("SELECT instance_seq, id, state, attempt FROM tasks
                     WHERE instance_seq IN (SELECT value FROM json_each(?)) ORDER BY instance_seq, seq")
                .bind(Value::from(whole).to_string()),
            )
            .await?;
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
