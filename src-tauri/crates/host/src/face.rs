//! What this program knows of its own node, for the API to show.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use campanile_api::views::{NodeState, ProcessorView};
use campanile_engine::held::Held;
use campanile_engine::{Node, Standing};
use campanile_model::task::{ExecutorRef, Task};
use campanile_model::{Fault, Timestamp, Words};
use campanile_sdk::ProcessorInfo;

use crate::embedded::GROUP;

/// A processor that comes with the program, and whether this program would host it.
#[derive(Clone)]
pub struct Offer {
    pub info: ProcessorInfo,
    pub hosted: bool,
}

pub struct Face {
    node: Arc<Node>,
    offers: Vec<Offer>,
    own_key: Option<[u8; 32]>,
    /// Another program drives the engine, as far as one that takes no part in it has seen.
    someone_leads: AtomicBool,
}

impl Face {
    pub fn new(node: Arc<Node>, offers: Vec<Offer>, own_key: Option<[u8; 32]>) -> Face {
        Face { node, offers, own_key, someone_leads: AtomicBool::new(false) }
    }

    pub fn someone_leads(&self, leads: bool) {
        self.someone_leads.store(leads, Ordering::Relaxed);
    }
}

impl campanile_api::Node for Face {
    fn state(&self) -> NodeState {
        match self.node.standing() {
            Standing::Leading => NodeState::Leading,
            Standing::Standby => NodeState::Standby,
            Standing::Unknown if self.someone_leads.load(Ordering::Relaxed) => NodeState::Standby,
            Standing::Unknown => NodeState::Leaderless,
        }
    }

    fn leads_everything(&self) -> bool {
        self.node.leads_everything()
    }

    /// Of another program's executor we do not know what it hosts: it may be any of those that come with the program.
    fn processors(&self) -> Vec<ProcessorView> {
        let state = self.state();
        let leading = state == NodeState::Leading;
        let mut views: BTreeMap<(String, String), ProcessorView> = BTreeMap::new();
        for offer in self.offers.iter().filter(|offer| offer.hosted || !leading) {
            let info = &offer.info;
            let view = ProcessorView {
                group: GROUP.to_owned(),
                name: info.name.clone(),
                title: Words::new(&info.title_en, &info.title_zh),
                description: Words::new(&info.description_en, &info.description_zh),
                schema: info.parameter_schema.clone(),
                executors: u32::from(state == NodeState::Standby),
            };
            views.insert((view.group.clone(), view.name.clone()), view);
        }
        for executor in self.node.executors().into_iter().filter(|executor| executor.connected) {
            for processor in executor.processors {
                let group = executor.executor.group.clone();
                let view = views.entry((group.clone(), processor.name.clone())).or_insert_with(|| ProcessorView {
                    group,
                    name: processor.name,
                    title: processor.title,
                    description: processor.description,
                    schema: processor.schema,
                    executors: 0,
                });
                view.executors += 1;
            }
        }
        views.into_values().collect()
    }

    fn in_hand(&self) -> Option<u32> {
        let leading = self.node.standing() == Standing::Leading;
        leading.then(|| self.node.executors().iter().map(|executor| executor.in_hand).sum())
    }

    fn heard(&self) -> Vec<(ExecutorRef, Timestamp, u32, u32)> {
        let views = self.node.executors().into_iter();
        views.map(|view| (view.executor, view.heard_at, view.in_hand, view.running)).collect()
    }

    fn held(&self, task: &Task) -> Option<Words> {
        self.node.holds(task).map(|held| held.cause.words())
    }

    fn all_held(&self) -> Option<Vec<Held>> {
        (self.node.standing() == Standing::Leading).then(|| self.node.held())
    }

    fn own_key(&self) -> Option<[u8; 32]> {
        self.own_key
    }

    fn own_group(&self) -> &str {
        GROUP
    }

    fn trouble(&self) -> Option<Fault> {
        self.node.trouble()
    }
}
