//! What is held and why, and the bounds on work at once.
//!
//! Jobs have a bound of their own in their form. What an executor takes is its own to say.

use std::collections::{BTreeSet, HashMap};

use campanile_engine::held::{Held, HoldCause};
use campanile_engine::read_limits;
use campanile_model::limits::LimitOn;
use campanile_model::request::{Ask, Role};
use campanile_model::{Fault, InstanceId, JobId, Partitions, Words};
use campanile_store::Scope;

use crate::moments::Told;
use crate::views::*;
use crate::why::between_tasks;
use crate::{Api, CallContext};

/// Runs that are cut into shards whose levels are looked at.
const MOST_RUNS: usize = 100;

impl Api {
    pub(crate) async fn list_held(&self, _: Nothing, cx: &CallContext) -> Result<HeldList, Fault> {
        let told = self.told(cx)?;
        let Some(mut held) = self.node.all_held() else { return Ok(HeldList { known: false, rows: Vec::new() }) };
        // A cause that holds nothing was found in the pass before tasks were counted, or has just ended.
        held.retain(|held| held.tasks > 0);
        held.sort_by_key(|held| std::cmp::Reverse(held.tasks));
        let jobs: Vec<JobId> = held.iter().filter_map(|held| job_of(&held.cause)).collect();
        let names = self.names(&jobs).await?;
        let rows = held.iter().map(|held| HeldRow {
            kind: kind_of(&held.cause),
            words: words_of(held, &names),
            since: told.moment(held.since),
            tasks: held.tasks,
            job: job_of(&held.cause).map(|job| job.to_string()),
        });
        let mut rows: Vec<HeldRow> = rows.collect();
        rows.extend(self.held_levels(&told).await?);
        Ok(HeldList { known: true, rows })
    }

    /// Levels that could start and have nobody to run their shards: of those there are no tasks yet.
    async fn held_levels(&self, told: &Told) -> Result<Vec<HeldRow>, Fault> {
        let ids: Vec<InstanceId> = self
            .store()
            .shard_runs(Partitions::ALL, None, MOST_RUNS)
            .await?
            .into_iter()
            .map(|run| run.instance)
            .collect();
        let mut rows = Vec::new();
        for instance in self.store().instances(&ids).await? {
            let Some(between) = self.between_tasks(&instance).await?.filter(|between| !between.loading) else {
                continue;
            };
            let names = self.names(&[instance.job]).await?;
            let name = names.get(&instance.job).map_or("", String::as_str);
            let (words, _, _) = between_tasks(&between);
            rows.push(HeldRow {
                kind: HeldKind::Absence,
                words: Words::new(format!("{name}: {}", words.en), format!("{name}：{}", words.zh)),
                since: told.moment(between.since),
                tasks: 0,
                job: Some(instance.job.to_string()),
            });
        }
        Ok(rows)
    }

    pub(crate) async fn list_limits(&self, _: Nothing, cx: &CallContext) -> Result<LimitList, Fault> {
        let limits = read_limits(self.store()).await?.all();
        let scopes: Vec<Scope> = limits.iter().map(|(limit, _)| scope_of(limit)).collect();
        let in_use = if scopes.is_empty() { Vec::new() } else { self.store().held(&scopes).await? };
        let held = self.node.all_held().unwrap_or_default();
        let rows = limits.into_iter().zip(in_use).map(|((limit, most), in_use)| {
            let holds = held.iter().filter(|held| limit_of(&held.cause).as_ref() == Some(&limit));
            let holds = holds.map(|held| held.tasks).sum();
            LimitRow { limit, most, in_use, holds }
        });
        let rows = rows.collect();
        let known = self.store().executors().await?;
        let mut groups: BTreeSet<String> = known.into_iter().map(|(entry, _)| entry.executor.group).collect();
        groups.insert(self.node.own_group().to_owned());
        Ok(LimitList { rows, groups: groups.into_iter().collect(), can_change: cx.may(Role::Admin) })
    }

    pub(crate) async fn put_limit(&self, put: PutLimit, cx: &CallContext) -> Result<DoneView, Fault> {
        let limit = match put.limit {
            LimitOn::Node => LimitOn::Node,
            LimitOn::Group(name) => LimitOn::Group(name.trim().to_owned()),
            LimitOn::Tenant(name) => LimitOn::Tenant(name.trim().to_owned()),
        };
        self.ask(cx, Ask::PutLimit { limit, most: put.most }).await.map(DoneView::from)
    }
}

fn scope_of(limit: &LimitOn) -> Scope {
    match limit {
        LimitOn::Node => Scope::Everything,
        LimitOn::Group(name) => Scope::Group(name.clone()),
        LimitOn::Tenant(name) => Scope::Tenant(name.clone()),
    }
}

fn limit_of(cause: &HoldCause) -> Option<LimitOn> {
    match cause {
        HoldCause::NodeLimit { .. } => Some(LimitOn::Node),
        HoldCause::GroupLimit { group, .. } => Some(LimitOn::Group(group.clone())),
        HoldCause::TenantLimit { tenant, .. } => Some(LimitOn::Tenant(tenant.clone())),
        _ => None,
    }
}

fn job_of(cause: &HoldCause) -> Option<JobId> {
    match cause {
        HoldCause::JobLimit { job, .. } => Some(*job),
        _ => None,
    }
}

fn kind_of(cause: &HoldCause) -> HeldKind {
    match cause {
        HoldCause::Everything | HoldCause::Released => HeldKind::Hold,
        HoldCause::NoExecutor { .. } | HoldCause::ExecutorAway { .. } => HeldKind::Absence,
        HoldCause::Busy { .. } | HoldCause::Resting { .. } => HeldKind::Busy,
        HoldCause::Machine { .. } => HeldKind::Machine,
        HoldCause::JobLimit { .. }
        | HoldCause::TenantLimit { .. }
        | HoldCause::GroupLimit { .. }
        | HoldCause::NodeLimit { .. } => HeldKind::Limit,
    }
}

/// Beside one run it is clear whose job it is; in a list it has to be said.
fn words_of(held: &Held, names: &HashMap<JobId, String>) -> Words {
    match &held.cause {
        HoldCause::JobLimit { job, most } => {
            let name = names.get(job).map_or("?", String::as_str);
            Words::new(
                format!("{most} of job {name} are under way, as many as it allows at once"),
                format!("任务 {name} 已有 {most} 个作业在执行，达到其并发上限"),
            )
        }
        cause => cause.words(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_by_what_it_is_on() {
        let limits = [LimitOn::Node, LimitOn::Group("g".to_owned()), LimitOn::Tenant("t".to_owned())];
        let causes = [
            HoldCause::NodeLimit { most: 1 },
            HoldCause::GroupLimit { group: "g".to_owned(), most: 1 },
            HoldCause::TenantLimit { tenant: "t".to_owned(), most: 1 },
        ];
        for (limit, cause) in limits.iter().zip(&causes) {
            assert_eq!((limit_of(cause).as_ref(), kind_of(cause)), (Some(limit), HeldKind::Limit));
        }
        let other = HoldCause::Busy { group: "g".to_owned(), processor: "p".to_owned() };
        assert_eq!((limit_of(&other), kind_of(&other)), (None, HeldKind::Busy));
    }
}
