//! What is led here: launch partitions and duties, each a lease with a term.
//!
//! On a data folder one lease stands for all of it. In a team every partition and every duty is a lease of its own,
//! and [`crate::team`] takes, keeps and gives them back; officers look here at the beginning of each pass, and show
//! what they find with every write that depends on it. One that turns out to have passed on is dropped at once.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use campanile_coord::Bell;
use campanile_model::partition::PARTITIONS;
use campanile_model::{JobId, Partitions, Timestamp};
use campanile_store::Lead;

use crate::officer::{Officer, Pass, PassError};

/// How the leases of launch partitions begin.
pub const LAUNCH: &str = "launch/";

/// What one node does for the whole team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Duty {
    /// Carries out what people ask.
    Clerk,
    /// Tasks that wait, and what was with nodes that are gone.
    Monitor,
    Alerter,
    Sweeper,
}

/// How the leases of duties begin.
pub const DUTY: &str = "duty/";

impl Duty {
    pub const ALL: [Duty; 4] = [Duty::Clerk, Duty::Monitor, Duty::Alerter, Duty::Sweeper];

    pub fn lease(self) -> &'static str {
        match self {
            Duty::Clerk => "duty/clerk",
            Duty::Monitor => "duty/monitor",
            Duty::Alerter => "duty/alerter",
            Duty::Sweeper => "duty/sweeper",
        }
    }
}

pub fn launch_lease(partition: u32) -> String {
    format!("{LAUNCH}{partition:02}")
}

/// The partition whose lease this is.
pub fn partition_of(lease: &str) -> Option<u32> {
    lease.strip_prefix(LAUNCH)?.parse().ok().filter(|partition| *partition < PARTITIONS)
}

/// The partitions that a pass is for, with what it shows for them.
#[derive(Clone, Debug, Default)]
pub struct Led {
    whole: Option<Lead>,
    partitions: BTreeMap<u32, Lead>,
}

impl Led {
    pub fn of(&self) -> Partitions {
        match self.whole {
            Some(_) => Partitions::ALL,
            None => self.partitions.keys().copied().collect(),
        }
    }

    /// What a write about these jobs shows. None: one of them is not of the partitions that are led here.
    pub fn lead(&self, jobs: impl IntoIterator<Item = JobId>) -> Option<Lead> {
        if self.whole.is_some() {
            return self.whole.clone();
        }
        let wanted: Partitions = jobs.into_iter().map(JobId::partition).collect();
        if wanted.iter().any(|partition| !self.partitions.contains_key(&partition)) {
            return None;
        }
        Lead::together(wanted.iter().filter_map(|partition| self.partitions.get(&partition)))
    }
}

#[derive(Default)]
struct State {
    led: Led,
    duties: BTreeMap<Duty, Lead>,
}

#[derive(Default)]
pub struct Share(Mutex<State>);

impl Share {
    /// One lease that stands for everything.
    pub fn whole(lead: Lead) -> Share {
        let led = Led { whole: Some(lead), partitions: BTreeMap::new() };
        Share(Mutex::new(State { led, duties: BTreeMap::new() }))
    }

    pub fn led(&self) -> Led {
        self.state().led.clone()
    }

    /// Whether there is nothing that another node leads.
    pub fn is_everything(&self) -> bool {
        let state = self.state();
        let all = state.led.partitions.len() == PARTITIONS as usize && state.duties.len() == Duty::ALL.len();
        state.led.whole.is_some() || all
    }

    pub fn duty(&self, duty: Duty) -> Option<Lead> {
        let state = self.state();
        state.led.whole.clone().or_else(|| state.duties.get(&duty).cloned())
    }

    /// Exactly these are ours.
    pub fn hold(&self, leads: &[Lead]) {
        let mut state = self.state();
        state.led.partitions =
            leads.iter().filter_map(|lead| Some((partition_of(&lead.lease)?, lead.clone()))).collect();
        let duty = |lead: &Lead| Duty::ALL.into_iter().find(|duty| duty.lease() == lead.lease);
        state.duties = leads.iter().filter_map(|lead| Some((duty(lead)?, lead.clone()))).collect();
    }

    /// Everything that is ours.
    pub fn leads(&self) -> Vec<Lead> {
        let state = self.state();
        state.led.partitions.values().chain(state.duties.values()).cloned().collect()
    }

    /// A write has found that the lease passed on. False: it is none of these, and whoever led has nothing left.
    fn loses(&self, lease: &str) -> bool {
        let mut state = self.state();
        if let Some(partition) = partition_of(lease) {
            return state.led.partitions.remove(&partition).is_some();
        }
        let duties = state.duties.len();
        state.duties.retain(|duty, _| duty.lease() != lease);
        state.duties.len() < duties
    }

    /// What a pass came to: one that lost a partition or a duty goes on with the others.
    pub fn settle(&self, outcome: Result<Pass, PassError>) -> Result<Pass, PassError> {
        match outcome {
            Err(PassError::Overtaken(lease)) if self.loses(&lease) => {
                tracing::warn!(lease, "it has passed to another node");
                Ok(Pass { again: true, ..Pass::default() })
            }
            outcome => outcome,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An officer that works while its duty is here, and begins anew with each term of it.
pub struct OnDuty<O> {
    share: std::sync::Arc<Share>,
    duty: Duty,
    begin: Box<dyn Fn(Lead) -> O + Send>,
    lead: Option<Lead>,
    officer: O,
}

impl<O> OnDuty<O> {
    pub fn new(share: std::sync::Arc<Share>, duty: Duty, begin: impl Fn(Lead) -> O + Send + 'static) -> OnDuty<O> {
        // It does nothing before it has a term.
        let officer = begin(Lead::of(duty.lease(), "", 0));
        OnDuty { share, duty, begin: Box::new(begin), lead: None, officer }
    }
}

#[async_trait]
impl<O: Officer> Officer for OnDuty<O> {
    fn name(&self) -> &'static str {
        self.officer.name()
    }

    fn bell(&self) -> Bell {
        self.officer.bell()
    }

    fn patience(&self) -> Duration {
        match self.lead {
            Some(_) => self.officer.patience(),
            None => Duration::from_secs(1),
        }
    }

    async fn pass(&mut self, now: Timestamp) -> Result<Pass, PassError> {
        let lead = self.share.duty(self.duty);
        if let Some(lead) = &lead
            && self.lead.as_ref() != Some(lead)
        {
            self.officer = (self.begin)(lead.clone());
        }
        self.lead = lead;
        if self.lead.is_none() {
            return Ok(Pass::default());
        }
        let outcome = self.officer.pass(now).await;
        self.share.settle(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(partition: u8) -> JobId {
        let mut bytes = [1; 16];
        bytes[15] = partition;
        JobId::from_bytes(bytes)
    }

    #[test]
    fn what_a_write_shows_is_what_its_jobs_depend_on() {
        let share = Share::default();
        assert!(share.led().of().is_empty() && share.led().lead([job(3)]).is_none());
        let lead = |lease: String| Lead::of(lease, "a", 7);
        share.hold(&[lead(launch_lease(3)), lead(launch_lease(41)), lead("duty/alerter".to_owned())]);
        let led = share.led();
        assert_eq!(led.of(), [3, 41].into_iter().collect());
        assert!(!share.is_everything());
        let shown = |jobs: &[u8]| {
            let lead = led.lead(jobs.iter().map(|one| job(*one)))?;
            Some(lead.shown().map(|(lease, _)| lease.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(shown(&[3, 67]).unwrap(), ["launch/03"]);
        assert_eq!(shown(&[41, 3]).unwrap(), ["launch/03", "launch/41"]);
        assert_eq!(shown(&[41, 4]), None);
        assert!(share.duty(Duty::Alerter).is_some() && share.duty(Duty::Sweeper).is_none());

        let lost = |lease: &str| share.settle(Err(PassError::Overtaken(lease.to_owned())));
        assert!(lost("launch/03").unwrap().again && lost("duty/alerter").unwrap().again);
        assert!(lost("launch/03").is_err() && lost("node/a").is_err(), "what is not ours ends everything");
        assert_eq!(share.led().of(), [41].into_iter().collect());
        assert_eq!(share.duty(Duty::Alerter), None);
    }

    #[test]
    fn a_node_leads_everything_when_no_partition_and_no_duty_is_left_to_others() {
        let share = Share::default();
        let lead = |lease: &str| Lead::of(lease, "a", 7);
        let partitions = (0..PARTITIONS).map(|one| lead(&launch_lease(one)));
        let all: Vec<Lead> = partitions.chain(Duty::ALL.map(|duty| lead(duty.lease()))).collect();
        share.hold(&all);
        assert!(share.is_everything());
        for without in [0, 63, 64, 67] {
            let rest: Vec<Lead> =
                all.iter().enumerate().filter(|(n, _)| *n != without).map(|(_, one)| one.clone()).collect();
            share.hold(&rest);
            assert!(!share.is_everything(), "without {}", all[without].lease);
        }
    }

    #[test]
    fn on_a_data_folder_one_lease_stands_for_everything() {
        let lead = Lead::of("engine", "a", 1);
        let share = Share::whole(lead.clone());
        assert_eq!(share.led().of(), Partitions::ALL);
        assert_eq!(share.led().lead([job(3), job(60)]), Some(lead.clone()));
        assert_eq!(share.duty(Duty::Clerk), Some(lead));
        assert!(share.is_everything());
        assert!(share.settle(Err(PassError::Overtaken("engine".to_owned()))).is_err());
    }
}
