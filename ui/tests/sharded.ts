// Runs that are cut into shards, for the pictures: in progress, with failures, in a further round, before their shards, with
// many levels, with a hundred thousand shards.
import type { Page } from "playwright-core";
import { moment, type Script } from "./fixture";

const yes = { ok: true, why: null };
const no = (en: string, zh: string) => ({ ok: false, why: { en, zh } });
const RUN = "019aa5b2-7c1e-7d3a-9b6f-0c2e4a68f013";

interface Wanted {
  levels: { items: number; shards: number; state: string }[];
  /** State and items done of a shard. */
  shard: (level: number, index: number, items: number) => [state: number, done: number];
  state?: string;
  phase?: string;
  round?: number;
  failure?: boolean;
  pre?: number | null;
  post?: number | null;
  notices?: number[];
  waits?: boolean;
}

/** The same noise every time. */
function noise(n: number): number {
  let x = (n * 2_654_435_761) >>> 0;
  x ^= x >>> 15;
  x = Math.imul(x, 2_246_822_519) >>> 0;
  x ^= x >>> 13;
  return (x >>> 0) / 4_294_967_296;
}

export function withRun(wanted: Wanted) {
  return (script: Script) => {
    const { levels, state = "running", phase = "levels", round = 1 } = wanted;
    const now = script.now;
    const started = now - 95_000;
    const size = (level: number, index: number) => {
      const of = levels[level] ?? { items: 0, shards: 1 };
      return Math.floor(of.items / of.shards) + (index < of.items % of.shards ? 1 : 0);
    };
    const all = levels.flatMap((of, level) => Array.from({ length: of.shards }, (_, index) => ({ level, index })));
    const marks = all.map(({ level, index }) => wanted.shard(level, index, size(level, index)));
    const total = levels.reduce((sum, level) => sum + level.items, 0);
    const done = marks.reduce((sum, [code, n], i) => {
      const { level, index } = all[i] as { level: number; index: number };
      return sum + (code >= 300 ? size(level, index) : n);
    }, 0);
    const progress = { phase, round, tally: { done, total }, levels: levels.length, stopping: false };
    const over = state !== "running";
    const row = {
      id: RUN,
      job: "job-2",
      job_name: "import-customers",
      version: 3,
      origin: "manual",
      state,
      planned: moment(started - 400),
      due: moment(started - 400),
      started: moment(started),
      finished: over ? moment(now - 2_000) : null,
      late_ms: 400,
      took_ms: over ? 93_000 : null,
      tasks: [],
      sharding: progress,
      can_cancel: over ? no("it has ended", "已结束") : yes,
      can_retry: over ? yes : no("it has not ended", "尚未结束"),
    };
    const failure = {
      class: "business",
      code: "k_sc_ec_300020",
      message: { en: "the command ended with exit code 3", zh: "命令以退出码 3 结束" },
    };
    const task = (id: string, code: number, from: number, to: number | null, part: object) => ({
      id,
      instance: RUN,
      job: "job-2",
      job_name: "import-customers",
      state: code,
      part,
      attempt: code === 302 ? 2 : 1,
      attempts_most: 4,
      lane: "normal",
      promotions: 0,
      idempotency_key: id,
      due: moment(from - 40),
      ready: moment(from - 30),
      pushed: moment(from - 12),
      started: code >= 202 && code < 400 ? moment(from) : null,
      finished: to === null ? null : moment(to),
      history: [
        { at: moment(from - 30), from: 100, to: 101, attempt: 1, executor: null, node: "lin-desktop", reason: null },
        {
          at: moment(from - 12),
          from: 101,
          to: 201,
          attempt: 1,
          executor: "import-2",
          node: "lin-desktop",
          reason: null,
        },
        ...(code >= 202
          ? [
              {
                at: moment(from),
                from: 201,
                to: 202,
                attempt: 1,
                executor: "import-2",
                node: "lin-desktop",
                reason: null,
              },
            ]
          : []),
        ...(code >= 300
          ? [
              {
                at: moment(to ?? now),
                from: 202,
                to: code,
                attempt: 1,
                executor: "import-2",
                node: "lin-desktop",
                reason: code === 302 ? failure.message : null,
              },
            ]
          : []),
      ],
      result: null,
      group: "import",
      processor: "customers",
      executor: code === 100 || code === 101 ? null : { group: "import", name: "import-2", boot: "b1" },
      failure: code === 302 ? failure : null,
      stop: null,
    });
    const phaseTask = (code: number | null | undefined, from: number, to: number | null, told: object | null) =>
      code === null || code === undefined
        ? null
        : {
            task: `t-${from}`,
            state: code,
            attempt: 1,
            told,
            due: moment(from),
            started: code >= 202 ? moment(from) : null,
            finished: code >= 300 ? moment(to ?? now) : null,
            executor: "import-1",
            failure: null,
          };
    const span = 84_000 / Math.max(1, levels.length);
    const at = (level: number) => started + 6_000 + level * span;
    const begun = (level: string) => level !== "waiting";
    const columns = {
      level: levels.map((_, i) => i),
      items: levels.map((level) => level.items),
      state: levels.map((level) => level.state),
      shards: levels.map((level) => level.shards),
      made: levels.map((level) => level.shards),
      started: levels.map((level, i) => (begun(level.state) ? Math.round(at(i)) : null)),
      ended: levels.map((level, i) => (begun(level.state) && level.state !== "running" ? Math.round(at(i + 1)) : null)),
      waits_since: levels.map((level, i) =>
        wanted.waits && level.state === "waiting" && (i === 0 || levels[i - 1]?.state !== "waiting")
          ? now - 21_000
          : null,
      ),
      next: null,
    };
    const PAGE = 10_000;
    script.status.sharded = over ? [] : [{ instance: RUN, phase, round, tally: progress.tally }];
    script.status.running = over ? 0 : 24;
    const pulse = script.answers.pulse?.({}) as Record<string, unknown>;
    Object.assign(script.answers, {
      pulse: () => ({ ...pulse, sharded: over ? [] : [row] }),
      get_instance: () => ({
        row,
        words: { en: "Only by hand", zh: "仅手动" },
        mode: "sharding",
        overlap: "queue",
        group: "import",
        processor: "customers",
        parameters: { table: "customers" },
        reason: null,
        asked_by: "lin",
        repeats: null,
        upstream: [],
        result: over && state === "succeeded" ? { inserted: total } : null,
        failure: wanted.failure ? failure : null,
        chain: [
          { step: "planned", at: moment(started - 400), words: { en: "asked for by lin", zh: "由 lin 发起" } },
          { step: "due", at: moment(started - 400), words: { en: "at its planned time", zh: "按计划时间" } },
          { step: "created", at: moment(started - 390), words: { en: "on time", zh: "准时" } },
          {
            step: "assigned",
            at: moment(started - 300),
            words: { en: "its data was taken in, to be cut into shards", zh: "已接收数据，准备分片" },
          },
        ],
        tasks: wanted.pre
          ? [task("t-pre", wanted.pre, started, started + 5_600, { is: "preProcess", level: 0, next: 9, whole: true })]
          : [],
      }),
      get_job: () => ({ row: { can_run: yes } }),
      get_sharding: () => ({
        now,
        progress,
        since: at(0),
        pre: phaseTask(wanted.pre, started, started + 5_600, null),
        notices: (wanted.notices ?? []).map((percent, i) =>
          phaseTask(i === 1 ? 302 : 301, at(0) + percent * 700, at(0) + percent * 700 + 300, {
            done: Math.floor((total * percent) / 100),
            total,
          }),
        ),
        post: phaseTask(wanted.post, now - 3_000, now - 2_000, null),
        levels: columns,
      }),
      list_levels: () => columns,
      list_shards: (input: { cursor?: number | null }) => {
        const from = input.cursor ?? 0;
        const page = all.slice(from, from + PAGE);
        return {
          shards: {
            level: page.map((each) => each.level),
            shard: page.map((each) => each.index),
            state: marks.slice(from, from + PAGE).map((mark) => mark[0]),
            done: marks.slice(from, from + PAGE).map((mark) => mark[1]),
          },
          next: from + PAGE < all.length ? from + PAGE : null,
          seen: 1,
        };
      },
      shard_changes: () => ({
        shards: { level: [], shard: [], state: [], done: [] },
        seen: 1,
        more: false,
        anew: false,
      }),
      get_shard: (input: { level: number; shard: number }) => {
        const i = all.findIndex((each) => each.level === input.level && each.index === input.shard);
        const [code, n] = marks[i] ?? [100, 0];
        const items = size(input.level, input.shard);
        const id = `019aa5b2-8c1e-7d3a-9b6f-${String(i).padStart(12, "0")}`;
        return {
          task: task(id, code, at(input.level) + 200, code >= 300 ? at(input.level) + 9_400 : null, {
            is: "shard",
            level: input.level,
            index: input.shard,
            count: levels[input.level]?.shards ?? 0,
            round,
            items,
            done: n,
          }),
          tail: [
            { at: now, time: "09:28:31.120", stream: "stdout", text: "row 48113: phone number is not one: '--'" },
            { at: now, time: "09:28:31.124", stream: "stdout", text: `inserted ${n} of ${items}` },
          ],
        };
      },
      read_log: () => ({
        task: "t",
        attempt: 1,
        attempts: [1],
        lines: [
          { at: now, time: "09:28:31.020", stream: "log", text: "connected to customers at orders-1" },
          { at: now, time: "09:28:31.120", stream: "stdout", text: "row 48113: phone number is not one: '--'" },
          { at: now, time: "09:28:31.124", stream: "stdout", text: "inserted 998 of 1000" },
        ],
        next: 200,
        at_end: true,
        closed: true,
      }),
      list_instances: () => ({
        rows: [
          row,
          {
            ...row,
            id: "r2",
            state: "failed",
            finished: moment(now - 3_600_000),
            took_ms: 61_000,
            sharding: { ...progress, phase: "over", tally: { done: 5_000, total: 5_000 } },
          },
          {
            ...row,
            id: "r3",
            state: "succeeded",
            finished: moment(now - 7_200_000),
            took_ms: 6_000,
            sharding: { ...progress, phase: "over", round: 2, tally: { done: 12, total: 12 } },
          },
          {
            ...row,
            id: "r4",
            state: "running",
            finished: null,
            sharding: { ...progress, phase: "preProcess", tally: { done: 0, total: 0 } },
          },
          {
            ...row,
            id: "r5",
            job_name: "nightly-report",
            sharding: null,
            state: "succeeded",
            finished: moment(now - 9_000_000),
            took_ms: 700,
            tasks: [{ id: "t", state: 301, attempt: 1 }],
          },
        ],
        next: null,
      }),
    });
  };
}

const RUNNING: Wanted = {
  levels: [
    { items: 1_200, shards: 24, state: "succeeded" },
    { items: 60_000, shards: 300, state: "running" },
    { items: 8_000, shards: 0, state: "waiting" },
    { items: 300, shards: 0, state: "waiting" },
  ],
  pre: 301,
  notices: [10, 20, 30],
  shard: (level, index, items) => {
    if (level === 0) return index === 7 ? [301, items] : [301, items];
    const luck = noise(index + 31);
    if (index < 120) return luck < 0.06 ? [302, Math.floor(items * 0.4)] : luck < 0.08 ? [403, 20] : [301, items];
    if (index < 150) return luck < 0.1 ? [203, Math.floor(items * 0.8)] : [202, Math.floor(items * luck)];
    if (index < 170) return [201, 0];
    if (index < 260) return luck < 0.03 ? [303, 0] : [101, 0];
    return [100, luck < 0.1 ? 40 : 0];
  },
};

const FAILED: Wanted = {
  ...RUNNING,
  state: "failed",
  phase: "over",
  failure: true,
  post: 301,
  notices: [10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
  levels: [
    { items: 1_200, shards: 24, state: "succeeded" },
    { items: 60_000, shards: 300, state: "failed" },
    { items: 8_000, shards: 0, state: "cancelled" },
  ],
  shard: (level, index, items) => {
    const luck = noise(index * 7 + level);
    return level === 1 && luck < 0.09 ? [luck < 0.07 ? 302 : 401, Math.floor(items * luck * 9)] : [301, items];
  },
};

const HUGE: Wanted = {
  levels: [
    { items: 400_000, shards: 40_000, state: "succeeded" },
    { items: 600_000, shards: 60_000, state: "running" },
  ],
  notices: [10, 20, 30, 40, 50, 60],
  shard: (level, index, items) => {
    const luck = noise(index + level * 77_777);
    if (level === 0) return luck < 0.012 ? [302, 3] : [301, items];
    if (index < 21_000) return luck < 0.02 ? [302, 2] : [301, items];
    if (index < 24_000) return [202, Math.floor(items * luck)];
    return index < 30_000 ? [101, 0] : [100, 0];
  },
};

async function chooseShard(page: Page) {
  const box = await page.getByTestId("shard-canvas").boundingBox();
  if (!box) throw new Error("no canvas");
  return box;
}

const LOOK = {
  kind: "csv",
  encoding: "gbk",
  delimiter: ",",
  sheets: [],
  sheet: null,
  columns: ["number", "name", "city", "phone", "parent"],
  levelColumn: null,
  firstRows: Array.from({ length: 12 }, (_, i) => ({
    row: i + 2,
    level: 0,
    cells: [
      String(48_100 + i),
      i % 2 === 0 ? "上海金桥贸易有限公司" : "Hansa Logistik GmbH",
      i % 2 === 0 ? "上海" : "Hamburg",
      "+86 21 5050 1000",
      i > 4 ? "48100" : "",
    ],
  })),
  items: 69_500,
  levels: 1,
  levelSizes: [{ level: 0, items: 69_500 }],
  largestBytes: 311,
  faults: [] as object[],
  faulty: 0,
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  canStage: yes,
};

/** A file that was looked at, in this way. */
function withFile(look: object | null, more: object = {}) {
  return (script: Script) => {
    const view = {
      file: "f",
      name: "customers-2026-11.csv",
      phase: "looked",
      bytes: 21_480_311,
      part: 1,
      items: 69_500,
      look,
      data: null,
      fault: null,
      ...more,
    };
    Object.assign(script.answers, {
      uploads: () => ({ file: "f", name: view.name, bytes: view.bytes }),
      look_at_data: () => view,
      data_file: () => view,
      discard_data: () => ({ jobs: [], instances: [], changed: 0, version: null }),
      list_instances: () => ({ rows: [], next: null }),
    });
  };
}

async function chooseFile(page: Page) {
  await page.getByTestId("run-with-file").click();
  await page
    .getByTestId("file-chooser")
    .setInputFiles({ name: "customers-2026-11.csv", mimeType: "text/csv", buffer: Buffer.from("a,b") });
  await page.waitForTimeout(500);
}

export const SHARD_SHOTS = [
  {
    name: "data-choose",
    path: "/runs",
    script: withFile(LOOK),
    act: async (page: Page) => {
      await page.getByTestId("run-with-file").click();
      await page.getByTestId("choose-file").waitFor();
    },
  },
  { name: "data-looked", path: "/runs", script: withFile(LOOK), act: chooseFile },
  {
    name: "data-faults",
    path: "/runs",
    script: withFile({
      ...LOOK,
      levels: 3,
      levelColumn: "parent",
      levelSizes: [5_000, 60_000, 4_500].map((items, level) => ({ level, items })),
      faulty: 21,
      faults: Array.from({ length: 20 }, (_, i) => ({
        row: 480 + i * 7,
        words: { en: `the level '${i}x' is not a whole number`, zh: `层级“${i}x”不是整数` },
      })),
      canStage: no("21 rows cannot be read", "有 21 行无法读取"),
    }),
    act: chooseFile,
  },
  {
    name: "data-reading",
    path: "/runs",
    restless: true,
    script: withFile(null, { phase: "looking", part: 0.42, items: 29_000 }),
    act: chooseFile,
  },
  { name: "sharded-running", path: `/runs/${RUN}`, script: withRun(RUNNING) },
  {
    name: "sharded-hover",
    path: `/runs/${RUN}`,
    script: withRun(RUNNING),
    act: async (page: Page) => {
      const box = await chooseShard(page);
      await page.mouse.move(box.x + box.width * 0.4, box.y + 130);
      await page.waitForTimeout(500);
    },
  },
  {
    name: "sharded-marked",
    path: `/runs/${RUN}`,
    script: withRun(FAILED),
    act: async (page: Page) => {
      await page.getByTestId("mark-failed").click();
      await page.waitForTimeout(200);
    },
  },
  {
    name: "sharded-lasso",
    path: `/runs/${RUN}`,
    script: withRun(FAILED),
    act: async (page: Page) => {
      await page.getByRole("radio", { name: /lasso|套索/ }).click({ force: true });
      const box = await chooseShard(page);
      await page.mouse.move(box.x + 40, box.y + 60);
      await page.mouse.down();
      for (const [x, y] of [
        [220, 50],
        [300, 120],
        [180, 170],
        [60, 140],
      ] as const)
        await page.mouse.move(box.x + x, box.y + y, { steps: 4 });
      await page.waitForTimeout(100);
    },
  },
  {
    name: "sharded-chosen",
    path: `/runs/${RUN}`,
    script: withRun(FAILED),
    act: async (page: Page) => {
      await page.getByTestId("shard-canvas").focus();
      for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "Enter"]) await page.keyboard.press(key);
      await page.waitForTimeout(400);
    },
  },
  {
    name: "sharded-table",
    path: `/runs/${RUN}`,
    script: withRun(RUNNING),
    act: async (page: Page) => {
      await page.getByTestId("shards-as").click();
      await page.waitForTimeout(200);
    },
  },
  {
    name: "sharded-about",
    path: `/runs/${RUN}`,
    script: withRun({ ...RUNNING, round: 2 }),
    act: async (page: Page) => {
      await page.getByTestId("about-run").click();
      await page.waitForTimeout(200);
    },
  },
  {
    name: "sharded-huge",
    path: `/runs/${RUN}`,
    script: withRun(HUGE),
    act: async (page: Page) => page.waitForTimeout(800),
  },
  {
    name: "sharded-huge-zoomed",
    path: `/runs/${RUN}`,
    script: withRun(HUGE),
    act: async (page: Page) => {
      await page.waitForTimeout(800);
      const box = await chooseShard(page);
      await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.7);
      for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -80);
      await page.mouse.move(1, 1);
      await page.waitForTimeout(300);
    },
  },
  {
    name: "sharded-levels",
    path: `/runs/${RUN}`,
    script: withRun({
      levels: Array.from({ length: 1_000 }, (_, i) => ({
        items: 1,
        shards: i < 700 ? 1 : 0,
        state: i < 699 ? "succeeded" : i === 699 ? "running" : "waiting",
      })),
      shard: (level) => (level === 699 ? [202, 0] : [301, 1]),
    }),
  },
  {
    name: "sharded-before",
    path: `/runs/${RUN}`,
    script: withRun({ levels: [], shard: () => [100, 0], phase: "preProcess", pre: 202 }),
  },
  {
    name: "sharded-waits",
    path: `/runs/${RUN}`,
    script: withRun({ levels: [{ items: 500, shards: 0, state: "waiting" }], shard: () => [100, 0], waits: true }),
  },
  { name: "sharded-runs", path: "/runs", script: withRun(RUNNING) },
  { name: "sharded-pulse", path: "/", script: withRun(RUNNING) },
];
