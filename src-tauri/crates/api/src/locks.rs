//! Locks that are held and waited for, as the nodes through which they are have written it down.

use std::collections::{BTreeMap, HashMap};

use campanile_model::lock::LockClaim;
use campanile_model::task::Task;
use campanile_model::{Fault, TaskId};

use crate::moments::Told;
use crate::views::*;
use crate::{Api, CallContext};

/// A node says it again every ten seconds while there is anything; one that is silent for longer is gone, and what was
/// held through it goes on elsewhere or is over.
const SILENT_AFTER_MS: i64 = 35_000;

/// Of so many tasks it is told which run they are of.
const NAMED: usize = 200;

impl Api {
    pub(crate) async fn list_locks(&self, _: Nothing, cx: &CallContext) -> Result<LockList, Fault> {
        let told = self.told(cx)?;
        let now = self.now();
        let mut boards = self.store().lock_boards().await?;
        boards.retain(|board| now.millis() - board.seen_at.millis() <= SILENT_AFTER_MS);
        let runs = self.runs_of(boards.iter().flat_map(|board| &board.claims)).await?;
        let mut rows: BTreeMap<String, LockView> = BTreeMap::new();
        let mut left_out = 0;
        for board in boards {
            left_out += board.left_out;
            for claim in board.claims {
                let row = rows.entry(claim.lock.clone()).or_insert_with(|| LockView {
                    lock: claim.lock.clone(),
                    holder: None,
                    token: None,
                    count: 0,
                    watched: false,
                    waiters: Vec::new(),
                });
                let party = party(&claim, &board.node, &runs, &told);
                match claim.held {
                    // Of two that both say they hold it, the later one does.
                    Some(held) if row.token.is_none_or(|token| token < held.token) => {
                        (row.token, row.count, row.watched) = (Some(held.token), held.count, held.watched);
                        row.holder = Some(party);
                    }
                    Some(_) => {}
                    None => row.waiters.push(party),
                }
            }
        }
        let mut rows: Vec<LockView> = rows.into_values().collect();
        for row in &mut rows {
            row.waiters.sort_by_key(|waiter| waiter.since.ms);
        }
        Ok(LockList { now, rows, left_out, kept: self.about.locks })
    }

    /// By task, as claims name it.
    async fn runs_of(&self, claims: impl Iterator<Item = &LockClaim>) -> Result<HashMap<String, LockRun>, Fault> {
        let mut ids: Vec<TaskId> = claims.filter_map(|claim| claim.task.parse().ok()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.truncate(NAMED);
        let tasks = self.store().tasks(&ids).await?;
        let names = self.names(&tasks.iter().map(|task| task.job).collect::<Vec<_>>()).await?;
        let run = |task: Task| {
            let job_name = names.get(&task.job).cloned().unwrap_or_default();
            (task.id.to_string(), LockRun { instance: task.instance.to_string(), job_name, part: task.part })
        };
        Ok(tasks.into_iter().map(run).collect())
    }
}

fn party(claim: &LockClaim, node: &str, runs: &HashMap<String, LockRun>, told: &Told) -> LockParty {
    LockParty {
        group: claim.executor.group.clone(),
        executor: claim.executor.name.clone(),
        task: claim.task.clone(),
        attempt: claim.attempt,
        of: runs.get(&claim.task).cloned(),
        node: node.to_owned(),
        since: told.moment(claim.since),
        until: told.moment(claim.until),
    }
}
