// What the scripted node says of runs: the list, one run with its tasks and steps, its log.
import { moment } from "./fixture";

const MIN = 60_000;
const yes = { ok: true, why: null };
const no = (en: string, zh: string) => ({ ok: false, why: { en, zh } });

const RUNS: [string, string, number, number[], number, number, number][] = [
  // job, state, minutes ago, codes of its tasks, attempt, late by, took
  ["sync-orders", "running", 0.4, [202], 1, 320, 0],
  ["nightly-report", "running", 22, [203], 1, 12_400, 0],
  ["rebuild-search-index-of-the-whole-catalogue-in-every-language", "waiting", 0.1, [101], 1, 0, 0],
  ["fails-on-purpose", "failed", 1, [302], 4, 210, 14_900],
  ["heartbeat", "succeeded", 1.2, [301], 1, 41, 180],
  ["heartbeat", "succeeded", 1.5, [301], 1, 38, 214],
  ["import-eu", "succeeded", 5, [301, 301, 301, 302], 2, 640, 72_000],
  ["fails-on-purpose", "waiting", 0.5, [100], 2, 190, 0],
  ["clean-temp", "cancelled", 14, [303], 1, 800, 4_020],
  ["backup-catalogue", "failed", 61, [403], 6, 1_200, 610_000],
  ["price-feed", "superseded", 80, [304], 1, 0, 0],
  ["warm-cache", "failed", 95, [401], 1, 0, 60_000],
];

export function instanceRow(now: number, k: number) {
  const [name, state, ago, codes, attempt, late, took] = RUNS[k % RUNS.length] ?? ["", "waiting", 0, [100], 1, 0, 0];
  const due = now - ago * MIN - Math.floor(k / RUNS.length) * 17 * MIN;
  const final = !["running", "waiting"].includes(state);
  const started = state === "waiting" || state === "superseded" ? null : moment(due + late);
  return {
    id: `in-${k}`,
    job: `job-${k % 9}`,
    job_name: name,
    version: 3,
    origin: k % 7 === 4 ? "manual" : "schedule",
    state,
    planned: moment(due),
    due: moment(due),
    started,
    finished: final ? moment(due + late + took) : null,
    late_ms: started ? late : null,
    took_ms: final && started ? took : null,
    tasks: codes.map((code, i) => ({ id: `t-${k}-${i}`, state: code, attempt })),
    can_cancel: final ? no("It has ended", "已经结束") : yes,
    can_retry:
      final && state !== "succeeded"
        ? yes
        : no(final ? "It succeeded" : "It has not ended", final ? "它已成功" : "尚未结束"),
  };
}

export function instanceDetail(now: number, k: number) {
  const row = instanceRow(now, k);
  const due = row.due.ms;
  const failed = row.state === "failed";
  const running = row.state === "running";
  const attempt = row.tasks[0]?.attempt ?? 1;
  const steps: [string, number | null, string, string][] = [
    ["planned", due - 20, "its schedule: every 2 minutes", "按调度：每 2 分钟"],
    ["due", due, "not moved", "没有移动"],
    ["created", due + 12, "by the launcher on node a", "由节点 a 的启动器创建"],
    ["assigned", due + 40, "one task for group local", "为 local 组生成一个子任务"],
    [
      "admitted",
      due + (running ? 12_020 : 95),
      running ? "waited for capacity: 8 of 8 tasks were running" : "at once",
      running ? "等待容量：8 个任务全部占满" : "立即放行",
    ],
    ["pushed", due + (running ? 12_090 : 120), "to local/desktop", "推送到 local/desktop"],
    [
      "started",
      row.started ? row.started.ms : null,
      row.started ? "by local/desktop" : "waits for an executor of group local with shell",
      row.started ? "由 local/desktop 执行" : "等待 local 组中提供 shell 的执行器",
    ],
    [
      "finished",
      row.finished?.ms ?? null,
      failed ? "exit code 3" : running ? "runs; its timeout was 10 min" : "exit code 0",
      failed ? "退出码 3" : running ? "运行中；时限为 10 分钟" : "退出码 0",
    ],
  ];
  const history: unknown[] = [];
  let at = due + 40;
  for (let n = 1; n <= attempt; n++) {
    const step = (from: number, to: number, by: number, reason: [string, string] | null, executor: string | null) => {
      at += by;
      history.push({
        at: moment(at),
        from,
        to,
        attempt: n,
        executor,
        node: "a",
        reason: reason && { en: reason[0], zh: reason[1] },
      });
    };
    step(
      100,
      101,
      n === 1 ? 5 : 1_000 * 2 ** (n - 2),
      n === 1 ? ["its time came", "时间已到"] : ["the next attempt, 1.1 s after the failure", "失败 1.1 秒后再次尝试"],
      null,
    );
    step(101, 201, 60, null, "desktop");
    step(201, 202, 80, null, "desktop");
    if (failed || n < attempt) step(202, 302, 800, ["exit code 3: transient", "退出码 3：暂时性问题"], "desktop");
    else if (row.tasks[0]?.state === 203)
      step(202, 203, 600_000, ["past its timeout of 10 min; noted", "已超过 10 分钟时限；已记录"], null);
    else if (row.state === "succeeded") step(202, 301, 800, null, "desktop");
  }
  return {
    row,
    words: { en: "Every 2 minutes", zh: "每 2 分钟" },
    mode: "unicast",
    overlap: "queue",
    group: "local",
    processor: "shell",
    parameters: {
      command: "echo checking; ./check --strict && exit 3",
      folder: "/srv/checks",
      environment: { LEVEL: "high" },
    },
    reason: null,
    asked_by: null,
    repeats: null,
    result: failed || !row.finished ? null : { exitCode: 0, lines: 214, last: "done in 0.18 s" },
    chain: steps.map(([step, ms, en, zh]) => ({ step, at: ms === null ? null : moment(ms), words: { en, zh } })),
    tasks: row.tasks.map((task, i) => ({
      id: task.id,
      instance: row.id,
      job: row.job,
      state: task.state,
      attempt,
      attempts_most: 4,
      lane: "normal",
      group: "local",
      processor: "shell",
      executor: row.started ? { group: "local", name: "desktop", boot: "b1" } : null,
      due: moment(due),
      ready: moment(due + 45),
      pushed: moment(due + 120),
      started: row.started,
      finished: row.finished,
      failure: failed
        ? {
            class: "transient",
            code: "shell_exit_3",
            message: { en: "The command ended with exit code 3", zh: "命令以退出码 3 结束" },
          }
        : null,
      stop: null,
      idempotency_key: `${row.job}:${due}:schedule:${i}`,
      result: null,
      history,
    })),
  };
}

export function logOf(now: number, input: { attempt?: number | null; from?: number | null }) {
  const text = [
    "checking 214 files",
    "\u001b[32m✓\u001b[0m schema is current",
    "\u001b[32m✓\u001b[0m 12,044 orders read in 0.8 s",
    "\u001b[33mwarning\u001b[0m: 3 orders have no customer",
    "connecting to \u001b[36morders.example:5432\u001b[0m …",
    "Traceback: connection refused",
    "retrying in 1 s",
    "\u001b[1;31merror\u001b[0m: gave up after 3 tries",
  ];
  const from = input.from ?? 0;
  const lines = from > 0 ? [] : Array.from({ length: 64 }, (_, i) => text[i % text.length] ?? "");
  return {
    task: "t",
    attempt: input.attempt ?? 1,
    attempts: [1, 2, 3, 4].slice(0, Math.max(1, input.attempt ?? 1)),
    lines: lines.map((line, i) => ({
      at: now + i * 120,
      time: `${moment(now + i * 120).text.slice(11)}.${String((i * 120) % 1000).padStart(3, "0")}`,
      stream: line.includes("Traceback") || line.includes("error") ? "stderr" : i === 0 ? "log" : "stdout",
      text: line,
    })),
    next: 4_000,
    at_end: true,
    closed: true,
  };
}
