//! How nodes share the work of a team.
//!
//! Every node writes itself down once a second and reads who else is there. Of the launch partitions and of the duties
//! each takes its fair share of what is free and gives back what is beyond it ([`campanile_model::partition::turn`]);
//! what it has, it renews together. One that goes in good order gives everything up at once, and what a dead one had is
//! free when its leases have run out. Its seat, the lease that it holds of itself and shows with whatever it writes of
//! its own executors, is ended by another before what these executors had is counted as lost: it cannot come back and
//! go on as if nothing had happened.

use std::sync::{Arc, PoisonError};

use campanile_coord::{Bell, Presence};
use campanile_model::node::NodeEntry;
use campanile_model::partition::{PARTITIONS, Turn, turn};
use campanile_model::{Partitions, Timestamp};
use campanile_store::{Lead, LeaseRow, StoreError};

use crate::link::NodeAddress;
use crate::node::{LEASE, RENEW_EVERY};
use crate::officer::PassError;
use crate::roster::RETURN_GRACE;
use crate::share::{DUTY, Duty, LAUNCH, Share, launch_lease, partition_of};
use crate::shared::Shared;

/// How the seats of nodes begin.
const SEAT: &str = "node/";

/// A node that was not seen for so long is not shown any more.
const REMEMBERED_SECONDS: i64 = 3_600;

/// The lease that a node holds of itself.
pub fn seat_lease(node: &str) -> String {
    format!("{SEAT}{node}")
}

/// Whether a node is there, as far as it has said itself.
pub fn is_live(entry: &NodeEntry, now: Timestamp) -> bool {
    now.since(entry.seen_at) < LEASE
}

pub(crate) struct Table {
    shared: Arc<Shared>,
    seat: Lead,
    share: Arc<Share>,
    since: Timestamp,
    shown: Vec<NodeAddress>,
}

impl Table {
    pub fn new(shared: Arc<Shared>, seat: Lead, share: Arc<Share>) -> Table {
        let since = shared.clock.now();
        Table { shared, seat, share, since, shown: Vec::new() }
    }

    /// Keeps the seat and the share; ends when the seat is lost, or could not be kept for as long as it holds.
    pub async fn keep(&mut self) -> PassError {
        let clock = self.shared.clock.clone();
        let mut kept_at = clock.now();
        loop {
            let now = clock.now();
            match self.turn(now).await {
                Ok(true) => kept_at = now,
                Ok(false) | Err(StoreError::Fenced(_)) => return PassError::Overtaken(self.seat.lease.clone()),
                Err(error) => {
                    self.shared.note_trouble(Some(&error));
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "the share of the team's work is not kept"
                    );
                    if now.since(kept_at) >= LEASE {
                        return PassError::Overtaken(self.seat.lease.clone());
                    }
                }
            }
            clock.sleep_until(clock.now() + RENEW_EVERY).await;
        }
    }

    /// False: the seat has passed on.
    async fn turn(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let store = self.shared.store.clone();
        let until = now + LEASE;
        if !store.keep_lease(&self.seat, until).await? {
            return Ok(false);
        }
        self.shared.coord.announce(Presence { node: self.shared.node.clone(), until });
        let ours = self.share.leads();
        let mut kept = store.keep_leases(&ours, until).await?;
        self.share.hold(&kept);

        store.put_node(&self.seat, &self.entry(now), now.plus_seconds(-REMEMBERED_SECONDS)).await?;
        let nodes = store.nodes().await?;
        self.show_nodes(&nodes, now);
        let live = nodes.iter().filter(|entry| is_live(entry, now)).count();
        let live = u32::try_from(live).unwrap_or(u32::MAX);
        let (mut give, mut take) = (Vec::new(), Vec::new());
        self.deal(Kind::Partition, &store.leases(LAUNCH).await?, live, now, &kept, (&mut give, &mut take));
        self.deal(Kind::Duty, &store.leases(DUTY).await?, live, now, &kept, (&mut give, &mut take));

        if !give.is_empty() {
            kept.retain(|lead| !give.contains(lead));
            // From here on nothing more is begun for them; what is under way holds the lease until it is written.
            self.share.hold(&kept);
            store.release_leases(&give).await?;
        }
        if !take.is_empty() {
            let taken = store.take_leases(&take, &self.shared.node, now, until).await?;
            if !taken.is_empty() {
                kept.extend(taken);
                self.share.hold(&kept);
                // Nobody rings for what happened before.
                for bell in Bell::ALL {
                    self.shared.coord.ring(bell);
                }
            }
        }
        if self.share.duty(Duty::Monitor).is_some() {
            self.end_seats_of_the_dead(&nodes, now).await?;
        }
        Ok(true)
    }

    fn deal(
        &self,
        kind: Kind,
        rows: &[LeaseRow],
        live: u32,
        now: Timestamp,
        kept: &[Lead],
        (give, take): (&mut Vec<Lead>, &mut Vec<String>),
    ) {
        let all = Partitions::below(kind.count());
        let mine: Partitions = kept.iter().filter_map(|lead| kind.place(&lead.lease)).collect();
        let held = rows.iter().filter(|row| row.until > now && row.lead.holder != self.shared.node);
        let held: Partitions = held.filter_map(|row| kind.place(&row.lead.lease)).collect();
        // Two that begin together are not to want the same ones.
        let from = self.shared.node.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
        let free = all.without(held).without(mine);
        let Turn { give: giving, take: taking } = turn(mine, free, kind.count(), live, from % kind.count());
        give.extend(kept.iter().filter(|lead| kind.place(&lead.lease).is_some_and(|one| giving.holds(one))).cloned());
        take.extend(taking.iter().map(|one| kind.lease(one)));
    }

    /// What this node says of itself.
    fn entry(&self, now: Timestamp) -> NodeEntry {
        let member = self.shared.member.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
        NodeEntry {
            node: self.shared.node.clone(),
            name: member.name,
            executors_at: member.executors_at,
            api: member.api,
            keeper: member.keeper,
            version: member.version,
            offset_ms: self.shared.clock.offset_ms(),
            partitions: self.share.led().of().len(),
            since: self.since,
            seen_at: now,
        }
    }

    /// Every executor learns where it could go.
    fn show_nodes(&mut self, nodes: &[NodeEntry], now: Timestamp) {
        let reached = nodes.iter().filter(|entry| is_live(entry, now) && !entry.executors_at.is_empty());
        let reached: Vec<NodeAddress> = reached
            .map(|entry| NodeAddress { name: entry.node.clone(), address: entry.executors_at.clone() })
            .collect();
        if reached != self.shown {
            self.shared.link.show_nodes(&reached);
            self.shown = reached;
        }
    }

    /// A node whose executors are about to be counted as gone writes nothing more under the seat that it had.
    async fn end_seats_of_the_dead(&self, nodes: &[NodeEntry], now: Timestamp) -> Result<(), StoreError> {
        for entry in nodes.iter().filter(|entry| now.since(entry.seen_at) >= RETURN_GRACE && entry.seen_at <= now) {
            let lease = seat_lease(&entry.node);
            if let Some(seat) = self.shared.store.take_lease(&lease, &self.shared.node, now, now + LEASE).await? {
                self.shared.store.release_lease(&seat).await?;
                self.shared.store.remove_node(&self.seat, &entry.node).await?;
                tracing::warn!(node = entry.node, "a node is gone; its seat is ended");
            }
        }
        Ok(())
    }
}

/// What is shared out.
#[derive(Clone, Copy)]
enum Kind {
    Partition,
    Duty,
}

impl Kind {
    fn count(self) -> u32 {
        match self {
            Kind::Partition => PARTITIONS,
            Kind::Duty => 4,
        }
    }

    fn lease(self, place: u32) -> String {
        match self {
            Kind::Partition => launch_lease(place),
            Kind::Duty => Duty::ALL[place as usize % Duty::ALL.len()].lease().to_owned(),
        }
    }

    fn place(self, lease: &str) -> Option<u32> {
        match self {
            Kind::Partition => partition_of(lease),
            Kind::Duty => (0..).zip(Duty::ALL).find(|(_, duty)| duty.lease() == lease).map(|(place, _)| place),
        }
    }
}
