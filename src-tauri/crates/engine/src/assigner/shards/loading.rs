//! How a run comes to its data: what stands in its parameters at once, what was staged bit by bit.

use campanile_model::instance::{Instance, InstanceState};
use campanile_model::job::JobSpec;
use campanile_model::sharding::data::Gatherer;
use campanile_model::sharding::{Chunk, DATA, ShardRun, staged};
use campanile_model::{Code, DataId, Failure, FailureClass, Fault, Words};
use campanile_store::ShardWrite;
use serde_json::{Map, Value};

use super::{Case, Conductor, Went};
use crate::officer::PassError;

/// Chunks that are taken in one write.
const CHUNKS: usize = 32;

/// What a run is given with its parameters.
pub enum Given {
    Data(Vec<Chunk>),
    Staged(DataId),
}

pub fn given(instance: &Instance, spec: &JobSpec) -> Result<Given, Fault> {
    let own: Option<Map<String, Value>> = instance.parameters.as_ref().and_then(|own| serde_json::from_str(own).ok());
    let parameters = own.as_ref().unwrap_or(&spec.parameters);
    if let Some(data) = staged::named(parameters) {
        return Ok(Given::Staged(data));
    }
    let wrong = |en: &str, zh: &str| Code::ShardDataInvalid.fault().with_words("reason", &Words::new(en, zh));
    let Some(data) = parameters.get(DATA) else { return Ok(Given::Data(Vec::new())) };
    let levels = data.as_array().ok_or_else(|| wrong("it is not a list", "不是列表"))?;
    let mut chunks = Vec::new();
    for (level, items) in (0..).zip(levels) {
        let items = items.as_array().ok_or_else(|| wrong("one of its levels is not a list", "其中有层级不是列表"))?;
        let mut gatherer = Gatherer::default();
        let mut full: Vec<Vec<String>> = items.iter().filter_map(|item| gatherer.add(item.to_string())).collect();
        full.extend(gatherer.take());
        let mut first = 0;
        for items in full {
            let chunk = Chunk { draft: 0, level, first, items };
            first = chunk.end();
            chunks.push(chunk);
        }
    }
    Ok(Given::Data(chunks))
}

impl Conductor<'_> {
    /// Begins the run of an instance whose turn has come.
    pub(in super::super) async fn begin(&self, instance: &Instance, given: Given) -> Result<bool, PassError> {
        let (data, loaded) = match given {
            Given::Data(data) => (data, true),
            Given::Staged(_) => (Vec::new(), false),
        };
        let run = ShardRun { loaded, ..ShardRun::new(instance.id) };
        let write = ShardWrite { begins: Some(self.now), data, ..ShardWrite::of(run) };
        Ok(self.write(&write).await? > 0)
    }

    /// Takes some more of the data that was staged for the run.
    pub(super) async fn load(&self, case: &Case<'_>) -> Result<Went, PassError> {
        let all_is_here = || ShardWrite::of(ShardRun { loaded: true, ..case.run.clone() });
        let Ok(Given::Staged(data)) = given(case.instance, case.spec) else {
            return Ok(Went::did(self.write(&all_is_here()).await?));
        };
        let store = &self.shared.store;
        let staged = store.staged(data).await?.filter(|staged| staged.instance == Some(case.instance.id));
        let Some(staged) = staged else { return self.end_without(case, data).await };
        let chunks = store.staged_chunks(data, CHUNKS).await?;
        if let Some(last) = chunks.last() {
            let takes = Some((data, (last.level, last.end())));
            let write = ShardWrite { takes, data: chunks, ..ShardWrite::of(case.run.clone()) };
            return Ok(Went::did(self.write(&write).await?));
        }
        let sizes = store.level_sizes(case.instance.id, case.run.draft).await?;
        if sizes.iter().map(|(_, items)| items).sum::<u64>() != staged.items {
            return self.end_without(case, data).await;
        }
        Ok(Went::did(self.write(&all_is_here()).await?))
    }

    /// Some of the data, or all of it, is not there: nothing of it runs.
    async fn end_without(&self, case: &Case<'_>, data: DataId) -> Result<Went, PassError> {
        let fault = Code::DataGone.fault().with("data", data);
        let failure = Failure { class: FailureClass::Business, code: fault.code, message: fault.message };
        self.end(case, InstanceState::Failed, Some(failure), None).await
    }
}
