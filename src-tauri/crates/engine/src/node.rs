//! One running engine: takes the lease, lets the officers work while it has it, and stands by while it has not.
//!
//! In a team it does not stand by: its lease is its own seat, and of the work it leads a share ([`crate::team`]).
//!
//! It spawns nothing: all officers live in the one future that [`Node::run`] is, so that to drop it is
//! to crash at whatever it was waiting for.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use campanile_coord::{Bell, Presence};
use campanile_model::node::NodeApi;
use campanile_model::task::Task;
use campanile_model::{Fault, Timestamp};
use campanile_store::{Lead, LeaseRow, StoreError};
use futures::FutureExt;
use futures::future::{Either, select, select_all};

use crate::alerter::Alerter;
use crate::assigner::Assigner;
use crate::clerk::Clerk;
use crate::courier::Courier;
use crate::dispatcher::Dispatcher;
use crate::held::Held;
use crate::launcher::Launcher;
use crate::monitor::Monitor;
use crate::officer::{Officer, PassError, patrol};
use crate::progress::{Progress, turn_away};
use crate::registrar::Registrar;
use crate::roster::ExecutorView;
use crate::share::{Duty, OnDuty, Share};
use crate::shared::Shared;
use crate::sweeper::Sweeper;
use crate::team::{Table, seat_lease};

/// The lease of a data folder; its holder drives the engine.
pub const ENGINE_LEASE: &str = "engine";

/// A holder that says nothing for so long has gone.
pub const LEASE: Duration = Duration::from_secs(3);

/// Between two renewals, and between two tries to take it.
pub(crate) const RENEW_EVERY: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Leading,
    /// Someone else drives the engine.
    Standby,
    /// Not known yet, or storage does not answer.
    Unknown,
}

pub struct Node {
    shared: Arc<Shared>,
    standing: AtomicU8,
    share: Mutex<Arc<Share>>,
}

impl Node {
    pub fn new(shared: Shared) -> Node {
        Node { shared: Arc::new(shared), standing: AtomicU8::new(Standing::Unknown as u8), share: Mutex::default() }
    }

    /// What it is called; the holder of its leases.
    pub fn name(&self) -> &str {
        &self.shared.node
    }

    pub fn standing(&self) -> Standing {
        match self.standing.load(Ordering::Relaxed) {
            0 => Standing::Leading,
            1 => Standing::Standby,
            _ => Standing::Unknown,
        }
    }

    /// Whether there is nothing that another node leads: what changes, changes here.
    pub fn leads_everything(&self) -> bool {
        self.standing() == Standing::Leading && self.share().is_everything()
    }

    fn share(&self) -> Arc<Share> {
        self.share.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn leads_by(&self, share: &Arc<Share>) {
        *self.share.lock().unwrap_or_else(PoisonError::into_inner) = share.clone();
    }

    /// What keeps the node from working just now.
    pub fn trouble(&self) -> Option<Fault> {
        self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The executors that are connected here.
    pub fn executors(&self) -> Vec<ExecutorView> {
        self.shared.roster.views()
    }

    /// What ready tasks wait for, with how many do: as the dispatcher found it, on the node that leads.
    pub fn held(&self) -> Vec<Held> {
        self.shared.held.all()
    }

    /// What holds a ready task; none: it goes with the next pass, or is not Ready.
    pub fn holds(&self, task: &Task) -> Option<Held> {
        self.shared.held.of(task)
    }

    /// Drives the engine whenever it can get the lease; never ends by itself.
    pub async fn run(&self) -> std::convert::Infallible {
        loop {
            let lead = {
                let waiting = self.wait_for_lease().boxed();
                match select(waiting, turn_away(&self.shared).boxed()).await {
                    Either::Left((lead, _)) => lead,
                    Either::Right(((), _)) => continue,
                }
            };
            tracing::info!(node = self.shared.node, term = lead.term, "leading");
            self.lead(&lead).await;
            tracing::warn!(node = self.shared.node, term = lead.term, "overtaken");
        }
    }

    /// Gives the lease up, so that another may take it at once. Whoever calls it has stopped `run` before.
    pub async fn step_down(&self) -> Result<(), StoreError> {
        self.set_standing(Standing::Unknown);
        let store = &self.shared.store;
        let own = |row: &LeaseRow| row.lead.holder == self.shared.node && row.until > Timestamp::EPOCH;
        let held: Vec<Lead> = store.leases("").await?.into_iter().filter(own).map(|row| row.lead).collect();
        let seat = held.iter().find(|lead| lead.lease == self.own_lease());
        if let Some(seat) = seat.filter(|_| self.shared.in_team()) {
            store.remove_node(seat, &self.shared.node).await?;
        }
        store.release_leases(&held).await
    }

    /// What it leads by: the lease of a data folder, or its own seat among others.
    fn own_lease(&self) -> String {
        match self.shared.in_team() {
            true => seat_lease(&self.shared.node),
            false => ENGINE_LEASE.to_owned(),
        }
    }

    /// The lease of whoever carries out what people ask.
    pub fn clerk_lease(&self) -> &'static str {
        if self.shared.in_team() { Duty::Clerk.lease() } else { ENGINE_LEASE }
    }

    /// Where executors reach it, as it says to the others of its team.
    pub fn is_reached_at(&self, executors_at: Option<&str>) {
        if let Some(member) = self.shared.member.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            executors_at.unwrap_or_default().clone_into(&mut member.executors_at);
        }
    }

    /// Where its API answers consoles and other nodes, as it says to them.
    pub fn answers_at(&self, api: NodeApi) {
        if let Some(member) = self.shared.member.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            member.api = Some(api);
        }
    }

    /// With nobody leading, holds the lease just long enough to carry out what was asked; starts no tasks.
    /// False: someone leads, and will carry it out.
    pub async fn clerk_once(&self) -> Result<bool, PassError> {
        let Some(lead) = self.try_lease(self.clerk_lease()).await? else { return Ok(false) };
        let mut clerk = Clerk::new(self.shared.clone(), lead.clone());
        let outcome = clerk.pass(self.shared.clock.now()).await;
        self.shared.store.release_lease(&lead).await?;
        outcome.map(|_| true)
    }

    async fn try_lease(&self, lease: &str) -> Result<Option<Lead>, StoreError> {
        let now = self.shared.clock.now();
        self.shared.store.take_lease(lease, &self.shared.node, now, now + LEASE).await
    }

    async fn wait_for_lease(&self) -> Lead {
        loop {
            match self.try_lease(&self.own_lease()).await {
                Ok(Some(lead)) => return lead,
                Ok(None) => self.set_standing(Standing::Standby),
                Err(error) => {
                    self.set_standing(Standing::Unknown);
                    self.shared.note_trouble(Some(&error));
                    tracing::warn!(error = &error as &dyn std::error::Error, "the lease cannot be asked for");
                }
            }
            self.shared.clock.sleep_until(self.shared.clock.now() + RENEW_EVERY).await;
        }
    }

    /// Until the lease is lost.
    async fn lead(&self, lead: &Lead) {
        self.shared.note_trouble(None);
        self.shared.roster.open(self.shared.clock.now());
        self.set_standing(Standing::Leading);
        // Nobody rings for what happened before this term.
        for bell in Bell::ALL {
            self.shared.coord.ring(bell);
        }

        let shared = &self.shared;
        let in_team = shared.in_team();
        let share = Arc::new(if in_team { Share::default() } else { Share::whole(lead.clone()) });
        self.leads_by(&share);
        let mut launcher = Launcher::new(shared.clone(), share.clone());
        let mut assigner = Assigner::new(shared.clone(), share.clone());
        let mut dispatcher = Dispatcher::new(shared.clone(), lead.clone());
        let mut monitor = Monitor::new(shared.clone(), lead.clone(), share.clone());
        let mut registrar = Registrar::new(shared.clone(), lead.clone());
        let of = shared.clone();
        let mut alerter = OnDuty::new(share.clone(), Duty::Alerter, move |lead| Alerter::new(of.clone(), lead));
        let of = shared.clone();
        let mut sweeper = OnDuty::new(share.clone(), Duty::Sweeper, move |lead| Sweeper::new(of.clone(), lead));
        let of = shared.clone();
        let mut clerk = OnDuty::new(share.clone(), Duty::Clerk, move |lead| Clerk::new(of.clone(), lead));
        let mut table = Table::new(shared.clone(), lead.clone(), share);
        let mut progress = Progress::new(shared.clone(), lead.clone());
        let mut courier = Courier::new(shared.clone());

        let trouble = |error: Option<&StoreError>| shared.note_trouble(error);
        let officers: Vec<&mut dyn Officer> = vec![
            &mut registrar,
            &mut clerk,
            &mut launcher,
            &mut assigner,
            &mut monitor,
            &mut dispatcher,
            &mut alerter,
            &mut sweeper,
        ];
        let mut duties: Vec<_> = officers
            .into_iter()
            .map(|officer| patrol(officer, shared.clock.as_ref(), shared.coord.as_ref(), &trouble).boxed())
            .collect();
        duties.push(progress.listen().boxed());
        duties.push(courier.deliver().map(|never| match never {}).boxed());
        duties.push(if in_team { table.keep().boxed() } else { self.renew(lead).boxed() });
        select_all(duties).await;

        self.set_standing(Standing::Unknown);
        self.leads_by(&Arc::default());
        // Executors find the one who leads now.
        for session in shared.roster.sessions() {
            shared.link.close(session);
        }
        shared.roster.open(shared.clock.now());
    }

    /// Keeps the lease; ends when it is lost, or could not be kept for as long as it holds.
    async fn renew(&self, lead: &Lead) -> PassError {
        let clock = &self.shared.clock;
        let mut kept_at = clock.now();
        loop {
            clock.sleep_until(clock.now() + RENEW_EVERY).await;
            let now = clock.now();
            match self.shared.store.keep_lease(lead, now + LEASE).await {
                Ok(true) => kept_at = now,
                Ok(false) => return PassError::Overtaken(lead.lease.clone()),
                Err(error) => {
                    self.shared.note_trouble(Some(&error));
                    tracing::warn!(error = &error as &dyn std::error::Error, "the lease could not be renewed");
                    if now.since(kept_at) >= LEASE {
                        return PassError::Overtaken(lead.lease.clone());
                    }
                }
            }
            self.shared.coord.announce(Presence { node: self.shared.node.clone(), until: now + LEASE });
        }
    }

    fn set_standing(&self, standing: Standing) {
        self.standing.store(standing as u8, Ordering::Relaxed);
    }

    /// Now, by the clock of the node.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }
}
