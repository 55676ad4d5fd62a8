//! What becomes of a run's items by what is said of them. Pure.

use std::collections::{BTreeMap, BTreeSet};

use campanile_model::InstanceId;
use campanile_model::sharding::data::{Gatherer, MOST_ITEMS, in_one_line};
use campanile_model::sharding::{Chunk, Outcomes, PieceAt, PieceOutcomes, shard_of};
use campanile_model::task::{Part, Step};

use crate::link::ItemOutcome;

/// Where pieces of the shard begin that such items are in: the first that may, and the last.
pub fn pieces_with<'i>(part: Part, said: impl Iterator<Item = &'i ItemOutcome>) -> Option<(PieceAt, u64)> {
    let Part::Shard { level, index: shard, count, .. } = part else { return None };
    let (first, last) = said.map(|item| item.index).fold(None, |span: Option<(u64, u64)>, index| {
        Some(span.map_or((index, index), |(first, last)| (first.min(index), last.max(index))))
    })?;
    // A piece has so many items at most.
    let reach = (MOST_ITEMS as u64 - 1) * u64::from(count.max(1));
    Some((PieceAt { level, shard, first: first.saturating_sub(reach) }, last))
}

/// What is known of the items of the shards that a batch of reports is about.
#[derive(Default)]
pub struct Pieces(BTreeMap<(InstanceId, PieceAt), Outcomes>);

impl Pieces {
    pub fn of(found: Vec<(InstanceId, PieceOutcomes)>) -> Pieces {
        Pieces(found.into_iter().map(|(instance, piece)| ((instance, piece.at), piece.outcomes)).collect())
    }

    /// Writes down what was said of items of the step's shard. The first word on an item counts; a word on an item that
    /// the shard has not is passed over.
    pub fn settle(&mut self, step: &mut Step, said: &[ItemOutcome]) {
        let Some(Part::Shard { level, index: shard, count, round, items, mut done }) = step.task().part else { return };
        let instance = step.task().instance;
        let mut touched: BTreeSet<PieceAt> = BTreeSet::new();
        let before = done;
        for item in said {
            if shard_of(item.index, count.max(1)) != shard {
                continue;
            }
            let last = PieceAt { level, shard, first: item.index };
            let from = (instance, PieceAt { first: 0, ..last });
            let Some(((_, at), outcomes)) = self.0.range_mut(from..=(instance, last)).next_back() else { continue };
            let place = usize::try_from((item.index - at.first) / u64::from(count)).unwrap_or(usize::MAX);
            if outcomes.say(place, item.succeeded, &item.message) {
                done += 1;
                touched.insert(*at);
            }
        }
        let outcomes = touched.into_iter().map(|at| PieceOutcomes { at, outcomes: self.0[&(instance, at)].clone() });
        let outcomes = outcomes.collect();
        step.settles(outcomes, done - before);
        step.task_mut().part = Some(Part::Shard { level, index: shard, count, round, items, done });
    }
}

/// Writes down what `pre_process` puts in the place of the data. False: it does not follow what came before.
pub fn give(step: &mut Step, level: u32, items: &[String], last: bool) -> bool {
    let Some(Part::PreProcess { level: at, next, whole }) = step.task().part else { return false };
    if whole || level < at {
        return false;
    }
    let draft = step.task().attempt();
    let mut first = if level == at { next } else { 0 };
    let mut gatherer = Gatherer::default();
    let mut full: Vec<Vec<String>> = items.iter().filter_map(|item| gatherer.add(in_one_line(item))).collect();
    full.extend(gatherer.take());
    for items in full {
        let chunk = Chunk { draft, level, first, items };
        first = chunk.end();
        step.gives(chunk);
    }
    step.task_mut().part = Some(Part::PreProcess { level, next: first, whole: last });
    true
}

#[cfg(test)]
mod tests {
    use campanile_model::task::Task;
    use campanile_store::conformance::fixtures;

    use super::*;

    fn task_of(part: Part) -> Task {
        fixtures::task(&fixtures::instance(&fixtures::job("j"), 60)).as_part(part)
    }

    fn said(index: u64, succeeded: bool) -> ItemOutcome {
        ItemOutcome { index, succeeded, message: String::new() }
    }

    /// The marks of both pieces of a shard, how many its task counts, and how many the run.
    fn check(reports: &[&[(u64, bool)]]) -> (Vec<String>, u64, u64) {
        // Items 1, 4, 7 | 10, 13 of a level that is cut into three.
        let task = task_of(Part::Shard { level: 2, index: 1, count: 3, round: 1, items: 5, done: 0 });
        let instance = task.instance;
        let piece = |first, count| {
            (instance, PieceOutcomes { at: PieceAt { level: 2, shard: 1, first }, outcomes: Outcomes::none(count) })
        };
        let mut pieces = Pieces::of(vec![piece(1, 3), piece(10, 2)]);
        let mut step = task.begin();
        for report in reports {
            let report: Vec<ItemOutcome> = report.iter().map(|(index, succeeded)| said(*index, *succeeded)).collect();
            pieces.settle(&mut step, &report);
        }
        let Some(Part::Shard { done, .. }) = step.task().part else { unreachable!("it is a shard still") };
        (pieces.0.values().map(|outcomes| outcomes.marks().to_owned()).collect(), done, step.done())
    }

    #[test]
    fn an_outcome_finds_its_item_once_and_others_are_passed_over() {
        let expect = |reports: &[&[(u64, bool)]], marks: [&str; 2], done: u64| {
            assert_eq!(check(reports), (marks.map(str::to_owned).to_vec(), done, done), "{reports:?}");
        };
        expect(&[], ["...", ".."], 0);
        expect(&[&[(1, true), (13, false)]], ["+..", ".-"], 2);
        // Twice, in one report and in the next.
        expect(&[&[(4, false), (4, true)], &[(4, true), (7, true)]], [".-+", ".."], 2);
        // Of another shard, and beyond the level.
        expect(&[&[(0, true), (5, true), (16, true)]], ["...", ".."], 0);
    }

    #[test]
    fn only_those_pieces_are_looked_at_that_may_have_the_items() {
        let part = Part::Shard { level: 2, index: 1, count: 3, round: 1, items: 90_000, done: 0 };
        let of = |items: &[u64]| {
            let items: Vec<ItemOutcome> = items.iter().map(|index| said(*index, true)).collect();
            pieces_with(part, items.iter()).map(|(at, last)| (at.level, at.shard, at.first, last))
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[1]), Some((2, 1, 0, 1)));
        // The piece that begins at 3001 has its last item at 5998.
        assert_eq!(of(&[7000, 5998, 6004]), Some((2, 1, 3001, 7000)));
        assert_eq!(pieces_with(Part::PostProcess { round: 1 }, [].iter()), None);
    }

    #[test]
    fn new_data_goes_on_where_it_was_and_levels_do_not_go_back() {
        let mut step = task_of(Part::PreProcess { level: 0, next: 0, whole: false }).begin();
        let items = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert!(give(&mut step, 0, &items(&["1", "{\n}"]), false));
        assert!(give(&mut step, 0, &items(&["2"]), false));
        assert!(give(&mut step, 3, &items(&["3"]), false));
        assert!(!give(&mut step, 0, &items(&["4"]), false));
        assert!(give(&mut step, 3, &[], true));
        assert!(!give(&mut step, 3, &items(&["5"]), true));
        let places: Vec<(u32, u32, u64, usize)> =
            step.data().iter().map(|chunk| (chunk.draft, chunk.level, chunk.first, chunk.items.len())).collect();
        assert_eq!(places, [(1, 0, 0, 2), (1, 0, 2, 1), (1, 3, 0, 1)]);
        assert_eq!(step.data()[0].items[1], "{ }");
        assert_eq!(step.task().part, Some(Part::PreProcess { level: 3, next: 1, whole: true }));
    }
}
