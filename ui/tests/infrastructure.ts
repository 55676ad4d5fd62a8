// What the scripted node says of nodes and locks, and the pictures of them.
import { moment, type Script } from "./fixture";

const SECOND = 1_000;
const MIN = 60 * SECOND;

type Party = { executor: string; job: string; part?: object; since: number; until: number; attempt?: number };

function party(s: Script, { executor, job, part, since, until, attempt = 1 }: Party, n: number) {
  return {
    group: "finance",
    executor,
    task: `019a8f2c-77${n}0-7c41-9e0d-3f4a5b6c7d${n}0`,
    attempt,
    of: { instance: "in-0", job_name: job, part: part ?? null },
    node: "node-a-4f21",
    since: moment(s.now - since),
    until: moment(s.now + until),
  };
}

function withLocks(s: Script, kept: string | null = "redis") {
  const row = (lock: string, token: number, watched: boolean, count: number, holder: Party, waiters: Party[] = []) => ({
    lock,
    token,
    count,
    watched,
    holder: party(s, holder, token % 10),
    waiters: waiters.map((waiter, n) => party(s, waiter, n)),
  });
  const shard = { is: "shard", level: 1, index: 12, count: 40 };
  s.answers.list_locks = () => ({
    now: s.now,
    kept,
    left_out: 0,
    rows: [
      row("accounts/17", 48_213, true, 1, { executor: "pay-2", job: "book-payments", since: 41_000, until: 27_000 }, [
        { executor: "pay-1", job: "book-payments", since: 12_000, until: 18_000 },
        { executor: "pay-3", job: "book-payments", part: shard, since: 4_000, until: 26_000 },
      ]),
      row("ledger/2026-11", 7, true, 3, { executor: "pay-1", job: "month-end-close", since: 22 * MIN, until: 22_000 }),
      row("月末结账/分公司", 1_204, false, 1, {
        executor: "pay-3",
        job: "月末结账",
        since: 3 * MIN,
        until: 9 * MIN + 5_000,
      }),
      row(
        "warehouse/of-the-northern-region/articles-with-a-very-long-name-of-their-own",
        99_120,
        true,
        1,
        {
          executor: "warehouse-17",
          job: "rebuild-search-index-of-the-whole-catalogue",
          since: 95_000,
          until: 6_000,
          attempt: 2,
        },
        [{ executor: "warehouse-4", job: "inventory-snapshot", since: 61_000, until: MIN }],
      ),
    ],
  });
}

function withNodes(s: Script) {
  const row = (name: string, partitions: number, duties: string[], more: object = {}) => ({
    node: `${name}-4f21`,
    name,
    live: true,
    version: "0.1.0",
    executors_at: `10.4.2.1${partitions % 10}:4610`,
    console_at: `10.4.2.1${partitions % 10}:4600`,
    offset_ms: 12 - partitions,
    partitions,
    partitions_of: 64,
    duties,
    since: moment(s.now - 26 * 60 * MIN),
    seen: moment(s.now - SECOND),
    ...more,
  });
  s.answers.list_nodes = () => ({
    now: s.now,
    rows: [
      row("node-a", 32, ["clerk", "alerter"]),
      row("node-b", 32, ["monitor", "sweeper"], { offset_ms: 1_204 }),
      row("node-c", 0, [], { live: false, seen: moment(s.now - 4 * MIN) }),
    ],
  });
}

const alone = (s: Script) => {
  s.answers.list_nodes = () => ({ now: s.now, rows: [] });
};

export const INFRASTRUCTURE_SHOTS = [
  {
    name: "infrastructure",
    path: "/infrastructure",
    restless: true,
    script: (s: Script) => {
      withNodes(s);
      withLocks(s);
    },
  },
  {
    name: "infrastructure-lock",
    path: "/infrastructure?lock=accounts%2F17",
    restless: true,
    script: (s: Script) => {
      alone(s);
      withLocks(s, "process");
    },
  },
  {
    name: "infrastructure-empty",
    path: "/infrastructure",
    restless: true,
    script: (s: Script) => {
      alone(s);
      s.answers.list_locks = () => ({ now: s.now, kept: "process", left_out: 0, rows: [] });
    },
  },
  {
    name: "infrastructure-none",
    path: "/infrastructure",
    restless: true,
    script: (s: Script) => {
      withNodes(s);
      s.answers.list_locks = () => ({ now: s.now, kept: null, left_out: 0, rows: [] });
    },
  },
];
