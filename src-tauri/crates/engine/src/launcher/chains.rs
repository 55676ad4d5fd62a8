//! Whether the jobs that a person saves can run after the jobs that they name.

use std::collections::{HashMap, HashSet};

use campanile_model::chain::{after_of, circle};
use campanile_model::job::JobSpec;
use campanile_model::{Code, Fault};
use campanile_store::{JobStore, StoreError};

/// For each of `specs`, which are saved together, what is wrong with the jobs that it is to run after: one that is not
/// there, or a circle, named. `renamed` are names that these jobs had before.
pub async fn chain_faults(
    store: &(impl JobStore + ?Sized),
    specs: &[&JobSpec],
    renamed: &[String],
) -> Result<Vec<Option<Fault>>, StoreError> {
    let mut upstreams: HashMap<String, Option<Vec<String>>> = HashMap::new();
    for spec in specs {
        upstreams.insert(spec.name.clone(), Some(jobs_before(spec)));
    }
    let mut to_read: Vec<String> = specs.iter().flat_map(|spec| jobs_before(spec)).collect();
    let mut seen = HashSet::new();
    while let Some(name) = to_read.pop() {
        if upstreams.contains_key(&name) || !seen.insert(name.clone()) {
            continue;
        }
        let found = match renamed.contains(&name) {
            true => None,
            false => store.job_named(&name).await?.map(|job| jobs_before(&job.spec)),
        };
        to_read.extend(found.iter().flatten().cloned());
        upstreams.insert(name, found);
    }
    let before = |name: &str| upstreams.get(name).cloned().flatten().unwrap_or_default();
    Ok(specs
        .iter()
        .map(|spec| {
            let jobs = jobs_before(spec);
            if let Some(unknown) = jobs.iter().find(|job| upstreams.get(*job).is_none_or(Option::is_none)) {
                return Some(Code::UpstreamUnknown.fault().with("job", unknown).at("schedule.jobs"));
            }
            circle(&spec.name, &jobs, before)
                .map(|circle| Code::AfterCircle.fault().with("circle", circle.join(" → ")).at("schedule.jobs"))
        })
        .collect())
}

fn jobs_before(spec: &JobSpec) -> Vec<String> {
    after_of(spec).map(|after| after.jobs.clone()).unwrap_or_default()
}
