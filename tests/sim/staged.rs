//! Somebody brings data for runs as a file is read: bit by bit, sometimes broken off or discarded, sometimes taken twice.
//! And what must be true of it.

use std::time::Duration;

use campanile_engine::Desk;
use campanile_model::request::{Ask, Person};
use campanile_model::sharding::{Chunk, Phase, Staged, staged};
use campanile_model::{JobId, Timestamp};
use campanile_store::Taken;
use serde_json::{Map, Value};

use crate::checks::{Promise, Violation, broken};
use crate::memory_store::{MemoryStore, Stored};
use crate::runtime::{Hands, Luck};

pub async fn bring(desk: Desk, store: MemoryStore, who: Person, hands: Hands, mut luck: Luck, until: i64) {
    while hands.now() < until {
        hands.sleep(luck.between(2000, 20_000)).await;
        let job = store.stored().jobs.iter().find(|(_, row)| row.job.spec.name == "shards").map(|(id, _)| *id);
        if let Some(job) = job {
            bring_once(&desk, job, &who, &hands, &mut luck).await;
        }
    }
}

async fn bring_once(desk: &Desk, job: JobId, who: &Person, hands: &Hands, luck: &mut Luck) {
    let id = desk.dice.data_id(Timestamp::from_millis(hands.now()));
    let mut data = Staged {
        id,
        by: who.name.clone(),
        at: Timestamp::from_millis(hands.now()),
        source: "drawn.csv".to_owned(),
        sha256: String::new(),
        items: 0,
        levels: 0,
        whole: false,
        instance: None,
    };
    let levels = luck.between(0, 3);
    for level in 0..u32::try_from(levels).unwrap_or(0) {
        let mut first = 0;
        for _ in 0..luck.between(0, 4) {
            let items: Vec<String> = (0..luck.between(1, 12)).map(|n| n.to_string()).collect();
            let chunk = Chunk { draft: 0, level, first, items };
            first = chunk.end();
            data.items += chunk.items.len() as u64;
            let staged = desk.store.stage(&data, &[chunk]).await;
            hands.note(|| format!("some of data {id} is read: {staged:?}"));
            hands.sleep(luck.between(1, 200)).await;
        }
        data.levels += u32::from(first > 0);
    }
    let is_whole = luck.chance(900);
    if is_whole {
        data.whole = true;
        let whole = desk.store.stage(&data, &[]).await;
        hands.note(|| format!("data {id} is whole, {} items: {whole:?}", data.items));
    }
    if luck.chance(100) {
        let gone = desk.store.discard_staged(id).await;
        hands.note(|| format!("data {id} is discarded: {gone:?}"));
        assert!(matches!(gone, Ok(Taken::Done | Taken::Lost)), "the store has no faults");
    }
    for _ in 0..luck.one_of(&[1, 1, 2]) {
        let ask =
            Ask::RunWithData { job, data: id, key: None, parameters: None, beside: luck.chance(500), executor: None };
        let answer = desk.ask(who, ask, Duration::from_secs(5)).await;
        hands.note(|| {
            format!("a run with data {id}: {}", answer.map_or_else(|fault| fault.message.en, |_| "yes".into()))
        });
    }
}

/// A run has all of the data that it took before anything of it begins, and what one has taken no other has.
pub fn check(stored: &Stored, found: &mut Vec<Violation>) {
    for (id, sharded) in &stored.sharded {
        let Some(instance) = stored.instances.get(id).map(|placed| &placed.row) else { continue };
        let parameters: Option<Map<String, Value>> =
            instance.parameters.as_deref().and_then(|own| serde_json::from_str(own).ok());
        let Some(data) = parameters.as_ref().and_then(staged::named) else { continue };
        let mut complain =
            |what: String| found.push(broken(Promise::Items, format!("run {id} with data {data}: {what}")));
        let Some((known, chunks)) = stored.staged.get(&data) else { continue };
        if known.instance != Some(*id) {
            complain(format!("it is that of {:?}", known.instance));
        }
        let here = |draft: u32| {
            let chunks = sharded.data.values().filter(|chunk| chunk.draft == draft);
            chunks.map(|chunk| chunk.items.len() as u64).sum::<u64>()
        };
        let waiting: u64 = chunks.values().map(|chunk| chunk.items.len() as u64).sum();
        match sharded.run.phase {
            // What a sweep has begun to take is no data any more.
            Phase::Loading if known.at.millis() > 0 && here(0) + waiting != known.items => {
                complain(format!("{} and {waiting} of {} items are there", here(0), known.items));
            }
            Phase::Levels if sharded.run.draft == 0 => {
                let items: u64 = sharded.levels.values().map(|level| level.items).sum();
                if items != known.items {
                    complain(format!("{items} of {} items were laid out", known.items));
                }
            }
            _ => {}
        }
    }
}
