// What a frame of the shard canvas costs with a hundred thousand shards of which ten thousand change each second: script,
// layout and paint on the page's main thread, from Chromium's own trace. Prints figures; judges nothing. PARTS=20 says what
// the slowest frames are made of.
//
// The console is the real one, served by a real node; the run that it looks at is made up here, so that its changes come at
// a rate that no machine would have to keep up with. Each answer takes the way of every other one: a request, JSON, the cache.
import { chrome, closeChrome, openConsole } from "../harness/console.mjs";
import { eventually } from "../harness/eventually.mjs";
import { serve } from "../harness/programs.mjs";
import { stage } from "./stage.mjs";

const SHARDS = Number(process.env.SHARDS ?? 100_000);
const CHANGES_A_SECOND = Number(process.env.CHANGES ?? 10_000);
const SECONDS = Number(process.env.SECONDS ?? 5);
/** So many lines are said of what the slowest frames are made of. */
const PARTS = Number(process.env.PARTS ?? 0);
const RUN = "019aa5b2-7c1e-7d3a-9b6f-0c2e4a68f013";
const LEVELS = 2;
const PAGE = 10_000;
const ITEMS = 10;

const yes = { ok: true, why: null };
const moment = (ms) => ({ ms, text: new Date(ms).toISOString().slice(0, 19).replace("T", " "), offset: "+00:00" });

/** The run: where each shard stands, and how it goes on. */
function madeUpRun() {
  const each = Math.floor(SHARDS / LEVELS);
  const state = new Uint16Array(SHARDS).fill(100);
  const done = new Uint32Array(SHARDS);
  const started = Date.now();
  let told = 0;
  let next = 0;
  /** Moves so many shards one step on: ready, pushed, running, further, its end, and from the beginning again. */
  const moveOn = (count) => {
    const moved = [];
    for (let i = 0; i < count; i++) {
      // Spread over all of them, as executors would.
      next = (next + 7_919) % SHARDS;
      const was = state[next];
      if (was === 100) state[next] = 101;
      else if (was === 101) state[next] = 201;
      else if (was === 201) state[next] = 202;
      else if (was === 202 && done[next] < ITEMS) done[next] += 3;
      else if (was === 202) state[next] = next % 50 === 0 ? 302 : 301;
      else {
        state[next] = 100;
        done[next] = 0;
      }
      moved.push(next);
    }
    return moved;
  };
  moveOn(SHARDS * 3);
  const columns = (cells) => ({
    level: cells.map((cell) => Math.floor(cell / each)),
    shard: cells.map((cell) => cell % each),
    state: cells.map((cell) => state[cell]),
    done: cells.map((cell) => done[cell]),
  });
  const items = SHARDS * ITEMS;
  let total = 0;
  const progress = () => {
    total = Math.min(items, total + 1_000);
    return { phase: "levels", round: 1, tally: { done: total, total: items }, levels: LEVELS, stopping: false };
  };
  const levels = {
    level: Array.from({ length: LEVELS }, (_, i) => i),
    items: Array.from({ length: LEVELS }, () => each * ITEMS),
    state: Array.from({ length: LEVELS }, () => "running"),
    shards: Array.from({ length: LEVELS }, () => each),
    made: Array.from({ length: LEVELS }, () => each),
    started: Array.from({ length: LEVELS }, () => started),
    ended: Array.from({ length: LEVELS }, () => null),
    waits_since: Array.from({ length: LEVELS }, () => null),
    next: null,
  };
  const row = () => ({
    id: RUN,
    job: "job",
    job_name: "import-customers",
    version: 1,
    origin: "manual",
    state: "running",
    planned: moment(started),
    due: moment(started),
    started: moment(started),
    finished: null,
    late_ms: 3,
    took_ms: null,
    tasks: [],
    sharding: progress(),
    can_cancel: yes,
    can_retry: yes,
  });
  let asked = performance.now();
  const answers = {
    get_instance: () => ({
      row: row(),
      words: { en: "by hand", zh: "手动" },
      mode: "sharding",
      overlap: "queue",
      group: "import",
      processor: "customers",
      parameters: {},
      reason: null,
      asked_by: "lin",
      repeats: null,
      upstream: [],
      result: null,
      failure: null,
      chain: [],
      tasks: [],
    }),
    get_job: () => ({ row: { can_run: yes } }),
    get_sharding: () => ({
      now: Date.now(),
      progress: progress(),
      since: started,
      pre: null,
      notices: [],
      post: null,
      levels,
    }),
    list_levels: () => levels,
    list_shards: ({ cursor }) => {
      const from = cursor ?? 0;
      const until = Math.min(SHARDS, from + PAGE);
      const cells = Array.from({ length: until - from }, (_, i) => from + i);
      return { shards: columns(cells), next: until < SHARDS ? until : null, seen: 0 };
    },
    shard_changes: () => {
      const now = performance.now();
      const moved = moveOn(Math.min(20_000, Math.round(((now - asked) * CHANGES_A_SECOND) / 1_000)));
      asked = now;
      told += moved.length;
      return { shards: columns([...new Set(moved)]), seen: 0, more: false, anew: false };
    },
  };
  return { answers, told: () => told, tally: () => ({ done: total, total: items }) };
}

const node = await serve({ shell: false });
const run = madeUpRun();
let seq = 0;
const status = {
  node: "leading",
  lanes: [],
  running: 0,
  hold: null,
  open_alarms: 0,
  worst: null,
  trouble: null,
  sharded: [],
};
// As fast as a node sends them where everything changes.
const between = await stage(
  node.address,
  run.answers,
  () => ({
    seq: ++seq,
    kind: seq === 1 ? "snapshot" : "delta",
    stale: ["tasks", "instances"],
    status: {
      ...status,
      now: Date.now(),
      tasks_per_second: CHANGES_A_SECOND / 4 + (seq % 17),
      last_event_at: Date.now(),
      sharded: [{ instance: RUN, phase: "levels", round: 1, tally: run.tally() }],
    },
  }),
  100,
);
const { page, go, close } = await openConsole(between.address, { width: 1600, height: 1000 });
await go(`/runs/${RUN}`);
const canvas = page.getByTestId("shard-canvas");
await canvas.waitFor();
await eventually("all shards are there", async () => {
  const counts = await page
    .getByTestId("shard-count")
    .evaluateAll((all) => all.map((each) => Number(each.dataset.count)));
  return counts.reduce((sum, each) => sum + each, 0) === SHARDS && !(await page.getByText("Not a task yet").count());
});
const box = await canvas.boundingBox();
const at = (x, y) => [box.x + box.width * x, box.y + box.height * y];
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const scenes = {
  "looked at": () => wait(SECONDS * 1_000),
  "the pointer over it": async (until) => {
    for (let i = 0; performance.now() < until; i++)
      await page.mouse.move(...at(0.1 + 0.8 * Math.abs(Math.sin(i / 40)), 0.2 + (i % 50) / 90));
  },
  "zoomed in and out": async (until) => {
    for (let i = 0; performance.now() < until; i++) {
      await page.mouse.wheel(0, i % 12 < 6 ? -60 : 60);
      await wait(60);
    }
  },
  "moved while zoomed": async (until) => {
    await page.mouse.move(...at(0.5, 0.5));
    for (let i = 0; i < 7; i++) await page.mouse.wheel(0, -60);
    await page.mouse.down({ button: "middle" });
    for (let i = 0; performance.now() < until; i++)
      await page.mouse.move(...at(0.5 + 0.4 * Math.sin(i / 20), 0.5 + 0.4 * Math.cos(i / 17)));
    await page.mouse.up({ button: "middle" });
    await canvas.press("0");
  },
  "a lasso drawn": async (until) => {
    while (performance.now() < until) {
      await page.keyboard.down("Alt");
      await page.mouse.move(...at(0.2, 0.2));
      await page.mouse.down();
      for (let i = 0; i < 60; i++)
        await page.mouse.move(...at(0.5 + 0.3 * Math.cos(i / 10), 0.5 + 0.3 * Math.sin(i / 10)));
      await page.mouse.up();
      await page.keyboard.up("Alt");
    }
    await canvas.press("Escape");
  },
};

const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** A frame of a display; what the page's main thread does in it must leave room for the browser's own part. */
const FRAME_US = 1_000_000 / 60;
/** In a frame with less of it nothing was done to speak of: it would only make the figures look better. */
const IDLE_MS = 1;

/**
 * What was done on the page's main thread in each frame of the display, in milliseconds: script, style, layout, paint,
 * collecting of garbage. A task counts whole for the frame in which it begins, so that what blocks several shows.
 *
 * `spent` is by the clock, so that on a machine that does other things too it holds the time taken from the page as well;
 * `own` is the thread's own time on the processor.
 */
function framesOf(trace) {
  const events = trace.traceEvents;
  const mains = events.filter((each) => each.name === "thread_name" && each.args?.name === "CrRendererMain");
  const [main] = mains
    .map(({ pid, tid }) => events.filter((each) => each.pid === pid && each.tid === tid && each.ph === "X"))
    .toSorted((a, b) => b.length - a.length);
  if (!main) throw new Error("the trace has no page");
  const frames = new Map();
  const of = (each) => {
    const number = Math.floor(each.ts / FRAME_US);
    if (!frames.has(number)) frames.set(number, { spent: 0, own: 0, parts: new Map() });
    return frames.get(number);
  };
  for (const each of main) {
    const frame = of(each);
    if (each.name === "RunTask") {
      frame.spent += each.dur / 1_000;
      frame.own += (each.tdur ?? each.dur) / 1_000;
    }
    const { functionName, lineNumber, columnNumber } = each.args?.data ?? {};
    const part =
      each.name === "FunctionCall" ? `${each.name} ${functionName || "?"} ${lineNumber}:${columnNumber}` : each.name;
    frame.parts.set(part, (frame.parts.get(part) ?? 0) + (each.tdur ?? each.dur) / 1_000);
  }
  const busy = [...frames.values()].filter((frame) => frame.spent >= IDLE_MS);
  const rising = (times) => times.toSorted((a, b) => a - b);
  return {
    spent: rising(busy.map((frame) => frame.spent)),
    own: rising(busy.map((frame) => frame.own)),
    slow: slowParts(busy),
  };
}

/** What the slowest twentieth of the frames is made of, in milliseconds of the processor for each of them. */
function slowParts(busy) {
  const slow = busy.toSorted((a, b) => b.own - a.own).slice(0, Math.ceil(busy.length / 20));
  const parts = new Map();
  for (const frame of slow)
    for (const [part, ms] of frame.parts) parts.set(part, (parts.get(part) ?? 0) + ms / slow.length);
  return [...parts].toSorted((a, b) => b[1] - a[1]);
}

process.stdout.write(`${SHARDS} shards, ${CHANGES_A_SECOND} changes a second, a window of 1600 by 1000\n`);
for (const [name, play] of Object.entries(scenes)) {
  const before = run.told();
  await (await chrome()).startTracing(page, {
    categories: [
      "toplevel",
      "devtools.timeline",
      "disabled-by-default-devtools.timeline",
      "devtools.timeline.frame",
      "blink.user_timing",
    ],
  });
  const begun = performance.now();
  await play(begun + SECONDS * 1_000);
  const seconds = (performance.now() - begun) / 1_000;
  const trace = JSON.parse((await (await chrome()).stopTracing()).toString("utf8"));
  const { spent, own, slow } = framesOf(trace);
  const ms = (value) => value.toFixed(1).padStart(5);
  const of = (times) =>
    `p50 ${ms(percentile(times, 0.5))} p95 ${ms(percentile(times, 0.95))} p99 ${ms(percentile(times, 0.99))} most ${ms(times.at(-1) ?? 0)}`;
  const rate = Math.round((run.told() - before) / seconds);
  process.stdout.write(
    `  ${name.padEnd(20)} ${String(spent.length).padStart(4)} frames, ms by the processor: ${of(own)}; by the clock: ${of(spent)}; ${rate} changes a second came\n`,
  );
  for (const [part, each] of slow.slice(0, PARTS)) process.stdout.write(`      ${ms(each)} ms ${part}\n`);
}
await close();
await closeChrome();
between.close();
await node.program.stop();
