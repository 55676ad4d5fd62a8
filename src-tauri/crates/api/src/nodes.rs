//! The nodes of a team, as each has written itself down, and what of the common work is with whom.

use campanile_engine::is_live;
use campanile_engine::share::{DUTY, Duty};
use campanile_model::Fault;
use campanile_model::partition::PARTITIONS;

use crate::views::*;
use crate::{Api, CallContext};

impl Api {
    pub(crate) async fn list_nodes(&self, _: Nothing, cx: &CallContext) -> Result<NodeList, Fault> {
        let told = self.told(cx)?;
        let now = self.now();
        let duties = self.store().leases(DUTY).await?;
        let with = |node: &str| {
            let held = duties.iter().filter(|row| row.until > now && row.lead.holder == node);
            let mut duties: Vec<NodeDuty> = held.filter_map(|row| duty(&row.lead.lease)).collect();
            duties.sort_unstable();
            duties
        };
        let entries = self.store().nodes().await?;
        let mut rows: Vec<NodeRow> = entries
            .into_iter()
            .map(|entry| NodeRow {
                live: is_live(&entry, now),
                duties: with(&entry.node),
                node: entry.node,
                name: entry.name,
                version: entry.version,
                executors_at: entry.executors_at,
                console_at: entry.api.map(|api| api.address).unwrap_or_default(),
                offset_ms: entry.offset_ms,
                partitions: entry.partitions,
                partitions_of: PARTITIONS,
                since: told.moment(entry.since),
                seen: told.moment(entry.seen_at),
            })
            .collect();
        rows.sort_by(|a, b| (!a.live, &a.name, &a.node).cmp(&(!b.live, &b.name, &b.node)));
        Ok(NodeList { now, rows })
    }
}

fn duty(lease: &str) -> Option<NodeDuty> {
    let duty = Duty::ALL.into_iter().find(|duty| duty.lease() == lease)?;
    Some(match duty {
        Duty::Clerk => NodeDuty::Clerk,
        Duty::Monitor => NodeDuty::Monitor,
        Duty::Alerter => NodeDuty::Alerter,
        Duty::Sweeper => NodeDuty::Sweeper,
    })
}
