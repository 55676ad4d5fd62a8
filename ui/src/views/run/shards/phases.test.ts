import { expect, test } from "vitest";
import type { LevelState, PhaseTask, ShardingView } from "@/api/types";
import { segmentsOf, tookMs } from "./phases";

const moment = (ms: number) => ({ ms, text: "", offset: "" });
const task = (state: number, started: number | null, finished: number | null): PhaseTask => ({
  task: "t",
  state,
  attempt: 1,
  told: null,
  due: moment(0),
  started: started === null ? null : moment(started),
  finished: finished === null ? null : moment(finished),
  executor: null,
  failure: null,
});

function view(states: LevelState[], more: Partial<ShardingView> = {}): ShardingView {
  return {
    now: 0,
    since: null,
    progress: { phase: "levels", round: 1, tally: { done: 0, total: 0 }, levels: states.length, stopping: false },
    pre: null,
    notices: [],
    post: null,
    levels: {
      level: states.map((_, i) => i),
      items: states.map(() => 10),
      state: states,
      shards: states.map((state) => (state === "waiting" ? 0 : 2)),
      made: states.map(() => 2),
      started: states.map((state, i) => (state === "waiting" ? null : 100 * i)),
      ended: states.map((state, i) => (state === "waiting" || state === "running" ? null : 100 * i + 90)),
      waits_since: states.map(() => null),
      next: null,
    },
    ...more,
  };
}

const brief = (of: ShardingView) => segmentsOf(of).map(({ key, state, count }) => `${key} ${state} ${count}`);

test("phases stand in their order, with what is still to come", () => {
  expect(brief(view(["succeeded", "running", "waiting"], { pre: task(301, 0, 40) }))).toEqual([
    "pre succeeded 1",
    "level-0 succeeded 1",
    "level-1 running 1",
    "level-2 toCome 1",
    "post toCome 1",
  ]);
});

test("when it is over, a phase that was not called is not there", () => {
  const over = view(["failed", "cancelled"]);
  over.progress.phase = "over";
  expect(brief(over)).toEqual(["level-0 failed 1", "level-1 cancelled 1"]);
  expect(brief({ ...over, post: task(302, 5, 9) }).at(-1)).toBe("post failed 1");
});

test("of many levels those in one state are one segment, and the one that runs stands alone", () => {
  const states: LevelState[] = [
    ...Array<LevelState>(40).fill("succeeded"),
    "running",
    ...Array<LevelState>(9).fill("waiting"),
  ];
  expect(brief(view(states))).toEqual([
    "level-0 succeeded 40",
    "level-40 running 1",
    "level-41 toCome 9",
    "post toCome 1",
  ]);
  const [first] = segmentsOf(view(states));
  expect(first && [first.from, first.to, first.items, first.shards, tookMs(first, 0)]).toEqual([0, 39, 400, 80, 3_990]);
});

test("what runs has taken the time until now", () => {
  const [, running, next] = segmentsOf(view(["succeeded", "running", "waiting"]));
  expect(running && tookMs(running, 450)).toBe(350);
  expect(next && tookMs(next, 450)).toBeNull();
});

test("a level that nobody is there for waits", () => {
  const waits = view(["waiting"]);
  waits.levels.waits_since = [77];
  expect(segmentsOf(waits)[0]).toMatchObject({ state: "waiting", waitsSince: 77 });
});
