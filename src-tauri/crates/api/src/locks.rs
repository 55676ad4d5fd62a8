//! Locks that are held and waited for, as the nodes through which they are have written it down.

use std::collections::BTreeMap;

use campanile_model::Fault;
use campanile_model::lock::LockClaim;

use crate::moments::Told;
use crate::views::*;
use crate::{Api, CallContext};

/// A node says it again every ten seconds while there is anything; one that is silent for longer is gone, and what was
/// held through it goes on elsewhere or is over.
const SILENT_AFTER_MS: i64 = 35_000;

impl Api {
    pub(crate) async fn list_locks(&self, _: Nothing, cx: &CallContext) -> Result<LockList, Fault> {
        let told = self.told(cx)?;
        let now = self.now();
        let mut rows: BTreeMap<String, LockView> = BTreeMap::new();
        let mut left_out = 0;
        for board in self.store().lock_boards().await? {
            if now.millis() - board.seen_at.millis() > SILENT_AFTER_MS {
                continue;
            }
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
                let party = party(&claim, &board.node, &told);
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
        Ok(LockList { now, rows, left_out })
    }
}

fn party(claim: &LockClaim, node: &str, told: &Told) -> LockParty {
    LockParty {
        group: claim.executor.group.clone(),
        executor: claim.executor.name.clone(),
        task: claim.task.clone(),
        attempt: claim.attempt,
        node: node.to_owned(),
        since: told.moment(claim.since),
        until: told.moment(claim.until),
    }
}
