//! Runs that are cut into shards, as people stop and retry them, whole or in part. What is written here is that it was
//! asked for; whoever carries the run through its phases does the rest, as many shards as it may be.

use campanile_model::instance::Instance;
use campanile_model::sharding::{Level, Selection, ShardRun};
use campanile_model::task::{Task, TaskState};
use campanile_model::{Code, Fault, InstanceId, Words};
use campanile_store::{Change, ShardWrite};
use serde_json::json;

use super::carry::{Draft, Result};
use crate::assigner::shards::{next_round, some_shard};

impl Draft<'_> {
    /// Ends some shards of a run; it goes on with the others.
    pub(super) async fn cancel_shards(&mut self, id: InstanceId, shards: &Selection) -> Result<()> {
        let instance = self.instance(id).await?;
        if instance.state.is_final() {
            return Err(Code::InstanceFinal.fault().with("instance", id).with("state", instance.state).into());
        }
        let run = self.run_of(id, shards).await?;
        if !self.has_shard(&run, shards, |task| !task.state().is_final()).await? {
            return Err(none_of(id, &Words::new("all have ended", "均已结束")).into());
        }
        let stops = run.stops.clone().and(shards.clone());
        if stops.is_too_scattered() {
            return Err(too_scattered(id).into());
        }
        self.note(&format!("instance:{id}"), None, Some(json!({"shards": shards})));
        self.conduct(instance.id, ShardWrite::of(ShardRun { stops, ..run }));
        Ok(())
    }

    /// A further round, of what did not succeed or of some of it.
    pub(super) async fn retry_shards(&mut self, instance: &Instance, run: &ShardRun, shards: &Selection) -> Result<()> {
        let id = instance.id;
        if !shards.is_empty() {
            self.run_of(id, shards).await?;
            let failed = |task: &Task| task.state().is_final() && task.state() != TaskState::Succeeded;
            if !self.has_shard(run, shards, failed).await? {
                return Err(none_of(id, &Words::new("none failed or was cancelled", "没有失败或被取消的")).into());
            }
        }
        let again = (!shards.is_empty()).then(|| shards.clone());
        let write = ShardWrite { reopens: Some(self.now), ..next_round(run, again) };
        let mut after = json!({"round": write.run.round});
        if !shards.is_empty() {
            after["shards"] = json!(shards);
        }
        self.note(&format!("instance:{id}"), Some(json!({"state": instance.state})), Some(after));
        self.conduct(id, write);
        Ok(())
    }

    fn conduct(&mut self, id: InstanceId, write: ShardWrite) {
        self.changes.push(Change::Conduct(Box::new(write)));
        self.done.changed += 1;
        self.done.instances.push(id);
    }

    /// The run of which somebody marked shards.
    async fn run_of(&self, id: InstanceId, shards: &Selection) -> Result<ShardRun> {
        if shards.is_too_scattered() {
            return Err(too_scattered(id).into());
        }
        match self.shared.store.shard_run(id).await? {
            Some(run) => Ok(run),
            None => Err(no_shards(id).into()),
        }
    }

    async fn has_shard(&self, run: &ShardRun, shards: &Selection, is: fn(&Task) -> bool) -> Result<bool> {
        let store = self.shared.store.as_ref();
        let levels = store.levels(run.instance).await?;
        let touched = levels.iter().filter(|level: &&Level| shards.touches(level.level));
        for level in touched {
            let found = |task: &Task, index| shards.has(level.level, index) && is(task);
            if some_shard(store, run.instance, level, found).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// It is not cut into any.
pub(super) fn no_shards(id: InstanceId) -> Fault {
    none_of(id, &Words::new("there are none: it is one run", "不存在：该运行未分片"))
}

fn too_scattered(id: InstanceId) -> Fault {
    none_of(id, &Words::new("there are too many pieces; mark fewer at once", "过于零散，请减少一次选择的数量"))
}

fn none_of(id: InstanceId, reason: &Words) -> Fault {
    Code::NoSuchShards.fault().with("instance", id).with_words("reason", reason).at("shards")
}
