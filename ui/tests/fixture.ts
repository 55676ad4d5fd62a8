// A scripted node for pictures and for reading the console without one: it answers the door's questions from tables.
// Only tests import it; nothing of it is in the product. What the real node answers is tested against the real node.
import type { Page } from "playwright-core";
import { playDesktop } from "./teams";

const NOW = Date.UTC(2026, 10, 21, 1, 30, 0);
const MIN = 60_000;

export const OFFSET = 8 * 3_600_000;

export function moment(ms: number) {
  return { ms, text: new Date(ms + OFFSET).toISOString().slice(0, 19).replace("T", " "), offset: "+08:00" };
}

export interface Script {
  now: number;
  status: Record<string, unknown>;
  /** In the desktop's window: what its program answers. */
  desktop?: Parameters<typeof playDesktop>[1];
  /** The feed says one thing and is gone. */
  mute?: boolean;
  answers: Record<string, (input: Record<string, never>) => unknown>;
}

const yes = { ok: true, why: null };
const no = (en: string, zh: string) => ({ ok: false, why: { en, zh } });

const JOBS: [string, string, string, string, string, number | null, string, string, string | null, string[]][] = [
  [
    "nightly-report",
    "At 02:00, every day (Asia/Shanghai)",
    "每天 02:00（Asia/Shanghai）",
    "cron",
    "shell",
    990,
    "sssssfssssssss",
    "normal",
    "acme",
    ["finance", "nightly"],
  ],
  ["heartbeat", "Every 15 s", "每 15 秒", "fixedRate", "http", 0.2, "ssssssssssssss", "high", null, ["probe"]],
  ["sync-orders", "Every 5 minutes", "每 5 分钟", "cron", "sql", 3, "sssssssssfsssr", "high", "acme", ["orders"]],
  [
    "workday-reminder",
    "At 09:30 on every working day",
    "每个工作日 09:30",
    "repeat",
    "shell",
    2_880,
    "ssssss",
    "normal",
    null,
    ["people"],
  ],
  [
    "fails-on-purpose",
    "Every 2 minutes",
    "每 2 分钟",
    "cron",
    "shell",
    1,
    "ffffffffffffff",
    "normal",
    null,
    ["sample"],
  ],
  [
    "rebuild-search-index-of-the-whole-catalogue-in-every-language",
    "At 04:15 on Sunday; on the 1st and 15th, if it is a Sunday",
    "每周日 04:15；以及每月 1 日和 15 日（若为周日）",
    "cron",
    "shell",
    1_600,
    "sscsss",
    "low",
    "search-platform",
    ["search", "weekly", "heavy"],
  ],
  [
    "monthly-invoice",
    "On days 3, 5 and 23 of every second month at 18:00",
    "每 2 个月的 3、5、23 日 18:00",
    "repeat",
    "sql",
    2_900,
    "ss",
    "normal",
    "acme",
    ["finance"],
  ],
  [
    "clean-temp",
    "30 min after the last run ended",
    "上次运行结束 30 分钟后",
    "fixedDelay",
    "shell",
    12,
    "ssssssssmsssss",
    "low",
    null,
    [],
  ],
  [
    "migrate-2026",
    "Once, on 2026-12-01 at 03:00",
    "一次，2026-12-01 03:00",
    "once",
    "sql",
    14_000,
    "",
    "immediate",
    "acme",
    ["migration"],
  ],
  ["ad-hoc-export", "Only by hand", "仅手动", "manual", "shell", null, "sx", "normal", "beta", ["export"]],
];

const STATE: Record<string, string> = {
  s: "succeeded",
  f: "failed",
  r: "running",
  c: "cancelled",
  m: "superseded",
  x: "waiting",
};

function jobRow([name, en, zh, kind, processor, due, last, priority, tenant, tags]: (typeof JOBS)[number], i: number) {
  return {
    id: `job-${i}`,
    name,
    description: i === 0 ? "Sends yesterday's figures to the finance team" : "",
    version: 4 - (i % 4),
    words: { en, zh },
    kind,
    paused: i === 7,
    next: due === null || i === 7 ? null : moment(NOW + due * MIN),
    last: [...last].map((c, k) => ({
      instance: `in-${i}-${k}`,
      state: STATE[c],
      due: NOW - (last.length - k) * 60_000,
    })),
    group: "local",
    processor,
    priority,
    tenant,
    tags,
    can_run: i === 8 ? no("Its one run is already planned", "它唯一的一次运行已在计划中") : yes,
  };
}

export function fixture(): Script {
  const rows = JOBS.map(jobRow);
  const alarm = (
    id: number,
    rule: string,
    severity: string,
    state: string,
    subject: string,
    en: string,
    zh: string,
    count: number,
    ago: number,
  ) => ({
    id: `alarm-${id}`,
    rule,
    severity,
    state,
    subject,
    job: subject.startsWith("job:") ? "job-4" : null,
    message: { en, zh },
    first: moment(NOW - ago * MIN * 3),
    last: moment(NOW - ago * MIN),
    count,
    acknowledged:
      state === "acknowledged"
        ? { by: "lin", at: moment(NOW - 10 * MIN), note: "Known; the disk is being replaced tonight" }
        : null,
    resolved: state === "resolved" ? moment(NOW - ago * MIN) : null,
    can_acknowledge: state === "firing" ? yes : no("It is not firing any more", "它已不在触发状态"),
  });
  const alarms = [
    alarm(
      1,
      "instanceFailed",
      "critical",
      "firing",
      "job:fails-on-purpose",
      "3 instances of fails-on-purpose failed in a row",
      "fails-on-purpose 连续 3 次运行失败",
      14,
      1,
    ),
    alarm(
      2,
      "systemFailure",
      "emergency",
      "firing",
      "job:sync-orders",
      "sync-orders: no space left on device",
      "sync-orders：磁盘空间不足",
      1,
      3,
    ),
    alarm(
      3,
      "overran",
      "warning",
      "firing",
      "job:nightly-report",
      "nightly-report still runs 12 min past its timeout",
      "nightly-report 已超时 12 分钟仍在运行",
      1,
      12,
    ),
    alarm(
      4,
      "laneDepth",
      "warning",
      "acknowledged",
      "lane:low",
      "The Low lane holds 1,204 tasks",
      "Low 通道积压 1,204 个作业",
      8,
      30,
    ),
    alarm(
      5,
      "executorLost",
      "warning",
      "resolved",
      "executor:local/desktop",
      "Executor desktop went silent with 2 tasks",
      "执行器 desktop 失去响应，持有 2 个任务",
      1,
      240,
    ),
  ];
  const instance = (i: number, state: string, ago: number, task: number) => ({
    id: `in-${i}`,
    job: `job-${i}`,
    job_name: JOBS[i]?.[0] ?? "",
    version: 2,
    origin: "schedule",
    state,
    planned: moment(NOW - ago * MIN),
    due: moment(NOW - ago * MIN),
    started: moment(NOW - ago * MIN + 300),
    finished: null,
    late_ms: 320,
    took_ms: null,
    tasks: [{ id: `t-${i}`, state: task, attempt: 1 }],
    sharding: null,
    can_cancel: yes,
    can_retry: no("It has not ended", "尚未结束"),
  });
  const preview = {
    words: { en: "At 02:00, every day (Asia/Shanghai)", zh: "每天 02:00（Asia/Shanghai）" },
    runs: Array.from({ length: 20 }, (_, i) => {
      const at = NOW + 990 * MIN + i * 1440 * MIN;
      return {
        planned: at,
        due: moment(at),
        local: `${moment(at).text.replace(" ", "T")}+08:00`,
        reason: i === 3 ? { en: "moved from 02:00 by hand", zh: "由人工从 02:00 移动" } : null,
      };
    }),
    warnings: [],
  };
  const spec = {
    apiVersion: "campanile/v1",
    name: "nightly-report",
    description: "Sends yesterday's figures to the finance team",
    schedule: {
      kind: "cron",
      expression: "0 2 * * *",
      dialect: "unix",
      timeZone: "Asia/Shanghai",
      dstGap: "shift",
      dstOverlap: "first",
    },
    misfire: { policy: "fireOnce", graceSeconds: 60, max: 100 },
    overlap: "queue",
    spreadSeconds: 0,
    mode: "unicast",
    route: "leastLoaded",
    executorGroup: "local",
    processor: "shell",
    parameters: { command: "report --day yesterday" },
    priority: "normal",
    tenant: "acme",
    tags: ["finance", "nightly"],
    timeoutSeconds: 600,
    overrun: "note",
    retry: { retries: 3, baseSeconds: 1, maxSeconds: 60, multiplier: 2 },
    readyTimeoutSeconds: 60,
    pushTimeoutSeconds: 60,
  };
  const schema = (properties: Record<string, unknown>, required: string[]) => ({
    type: "object",
    properties,
    required,
  });
  return {
    now: NOW,
    status: {
      now: NOW,
      node: "leading",
      tasks_per_second: 12.4,
      lanes: [
        { lane: "immediate", depth: 0, oldest_wait_ms: null },
        { lane: "high", depth: 3, oldest_wait_ms: 820 },
        { lane: "retry", depth: 1, oldest_wait_ms: 4_100 },
        { lane: "normal", depth: 42, oldest_wait_ms: 31_000 },
        { lane: "low", depth: 1_204, oldest_wait_ms: 1_290_000 },
      ],
      running: 6,
      last_event_at: NOW - 2_000,
      hold: null,
      open_alarms: 4,
      worst: "emergency",
      trouble: null,
      sharded: [],
    },
    answers: {
      bootstrap: () => ({
        now: NOW,
        version: "0.1.0",
        zone_data: "2026d",
        connection: "local",
        data_folder: "/home/lin/.local/share/campanile",
        person: { name: "lin", role: "admin" },
        zone: "Asia/Shanghai",
        zones: ["Asia/Shanghai", "Europe/Berlin", "America/New_York", "UTC"],
        settings: {},
        retention: { instanceDays: 30, instancesPerJob: 10_000, logDays: 7, logGigabytes: 10, alarmDays: 180 },
        first_run: false,
        processors: [
          {
            group: "local",
            name: "shell",
            title: { en: "Shell command", zh: "Shell 命令" },
            description: {
              en: "Runs a command in its own process group; its output is the log, its exit code the outcome.",
              zh: "在独立进程组中运行命令；输出即日志，退出码决定结果。",
            },
            executors: 1,
            schema: schema(
              {
                command: {
                  type: "string",
                  title: "Command",
                  "title:zh": "命令",
                  description: "Run by sh -c",
                  "description:zh": "由 sh -c 执行",
                  format: "multiline",
                  minLength: 1,
                },
                folder: { type: "string", title: "Folder", "title:zh": "工作目录" },
                environment: {
                  type: "object",
                  title: "Environment",
                  "title:zh": "环境变量",
                  additionalProperties: { type: "string" },
                },
                loginShell: {
                  type: "boolean",
                  title: "As a login shell",
                  "title:zh": "作为登录 shell",
                  default: false,
                },
              },
              ["command"],
            ),
          },
          {
            group: "local",
            name: "http",
            title: { en: "HTTP request", zh: "HTTP 请求" },
            description: { en: "Sends a request and judges the status.", zh: "发送请求并根据状态码判断结果。" },
            executors: 1,
            schema: schema(
              {
                url: { type: "string", format: "uri", title: "Address", "title:zh": "地址" },
                method: {
                  type: "string",
                  enum: ["GET", "POST", "PUT", "DELETE"],
                  default: "GET",
                  title: "Method",
                  "title:zh": "方法",
                },
                timeoutSeconds: {
                  type: "integer",
                  minimum: 1,
                  maximum: 3600,
                  default: 30,
                  title: "Timeout",
                  "title:zh": "超时",
                  "x-unit": "s",
                },
                expectedStatus: {
                  type: "array",
                  items: { type: "integer" },
                  title: "Expected status",
                  "title:zh": "预期状态码",
                },
              },
              ["url"],
            ),
          },
          {
            group: "local",
            name: "sql",
            title: { en: "SQL statement", zh: "SQL 语句" },
            description: { en: "Runs a statement on a named connection.", zh: "在命名连接上执行一条语句。" },
            executors: 0,
            schema: schema(
              {
                connection: { type: "string", format: "connection", title: "Connection", "title:zh": "连接" },
                statement: { type: "string", format: "multiline", title: "Statement", "title:zh": "语句" },
              },
              ["connection", "statement"],
            ),
          },
        ],
      }),
      list_connections: () => ({
        rows: [
          {
            name: "archive",
            kind: "sqlite",
            address: { kind: "sqlite", path: "/var/lib/shop/archive-2025.db" },
            password: null,
            can_change: yes,
          },
          {
            name: "orders",
            kind: "mysql",
            address: { kind: "mysql", host: "orders-1.db.example.com", port: null, database: "orders", user: "report" },
            password: "keychain",
            can_change: yes,
          },
          {
            name: "stock",
            kind: "postgres",
            address: null,
            password: null,
            can_change: no(
              "it is defined in connections.json in the data folder",
              "它定义在数据目录的 connections.json 中",
            ),
          },
        ],
        keeper: "keychain",
        can_add: yes,
      }),
      test_connection: (input) =>
        (input as { name?: string }).name === "archive"
          ? { server: "SQLite 3.51.3", fault: null }
          : {
              server: null,
              fault: {
                code: "k_sc_ec_300035",
                message: {
                  en: "the database refused the login of report: Access denied for user 'report'@'10.0.0.9' (using password: YES)",
                  zh: "数据库拒绝了 report 的登录：Access denied for user 'report'@'10.0.0.9' (using password: YES)",
                },
                hint: {
                  en: "Check user and password, and whether that user may come from this machine.",
                  zh: "请检查用户名和密码，以及该用户是否允许从本机登录。",
                },
                field: "user",
              },
            },
      list_jobs: () => ({ rows, next: null, total: rows.length }),
      get_job: () => ({
        row: rows[0],
        spec,
        saved_at: moment(NOW - 3 * 1440 * MIN),
        preview,
        versions: [4, 3, 2, 1].map((version) => ({
          version,
          saved_at: moment(NOW - (5 - version) * 1440 * MIN),
          saved_by: version % 2 === 0 ? "lin" : "wang",
          words:
            version === 4
              ? preview.words
              : { en: "At 02:30, every day (Asia/Shanghai)", zh: "每天 02:30（Asia/Shanghai）" },
          spec:
            version === 4
              ? spec
              : {
                  ...spec,
                  schedule: { ...spec.schedule, expression: "30 2 * * *" },
                  priority: "low",
                  tags: ["finance"],
                },
        })),
        omissions: [
          {
            job: "job-0",
            name: "nightly-report",
            from: moment(NOW - 2000 * MIN),
            to: moment(NOW - 2000 * MIN),
            count: 1,
            reason: "overlap",
            missed: false,
            words: { en: "The run before it had not ended", zh: "上一次运行尚未结束" },
          },
        ],
      }),
      preview: (input) => {
        const from = (input as { from?: number }).from;
        return from === undefined || from === null
          ? preview
          : {
              ...preview,
              runs: [
                {
                  planned: from + 1,
                  due: moment(from + 1),
                  local: `${moment(from + 1).text.replace(" ", "T")}+08:00`,
                  reason: null,
                },
              ],
            };
      },
      read_crontab: () => ({
        jobs: 3,
        refused: 1,
        lines: [
          { number: 1, text: "# nightly things", outcome: { is: "blank" } },
          { number: 2, text: "MAILTO=ops@example.com", outcome: { is: "environment" } },
          {
            number: 3,
            text: "0 2 * * *",
            outcome: {
              is: "job",
              name: "report",
              words: { en: "At 02:00, every day", zh: "每天 02:00" },
              command: "/usr/local/bin/report --day yesterday",
              next: moment(NOW + 990 * MIN),
            },
          },
          {
            number: 4,
            text: "*/5 * * * *",
            outcome: {
              is: "job",
              name: "sync-orders",
              words: { en: "Every 5 minutes", zh: "每 5 分钟" },
              command: "/usr/local/bin/sync-orders",
              next: moment(NOW + 5 * MIN),
            },
          },
          {
            number: 5,
            text: "@daily",
            outcome: {
              is: "job",
              name: "clean-temp",
              words: { en: "At 00:00, every day", zh: "每天 00:00" },
              command: "/usr/local/bin/clean-temp",
              next: moment(NOW + 900 * MIN),
            },
          },
          {
            number: 6,
            text: "61 * * * *   /usr/local/bin/never",
            outcome: {
              is: "refused",
              fault: {
                code: "k_sc_ec_000011",
                message: { en: "61 is not a minute: 0 to 59", zh: "61 不是有效的分钟，应为 0 至 59" },
                hint: null,
                field: "schedule.expression",
              },
            },
          },
        ],
      }),
      check_job: () => ({ faults: [], preview, lapsed: [] }),
      pulse: () => ({
        now: NOW,
        next_hour: Array.from({ length: 60 }, (_, i) => ({
          at: moment(NOW + i * MIN),
          firings: 4 + (i % 5 === 0 ? 6 : 0) + (i % 2 === 0 ? 1 : 0) + (i === 30 ? 24 : 0) + (i === 15 ? 9 : 0),
          jobs: i % 5 === 0 ? ["heartbeat", "sync-orders", "fails-on-purpose"] : ["heartbeat"],
        })),
        upcoming: [1, 4, 2, 7, 0].map((j, k) => ({
          job: `job-${j}`,
          name: JOBS[j]?.[0],
          due: moment(NOW + (k * k + 1) * 0.4 * MIN),
        })),
        sharded: [],
        running: [instance(2, "running", 0.4, 202), instance(0, "running", 22, 203), instance(5, "waiting", 0.1, 101)],
        outcomes: { succeeded: 412, failed: 31, rate: 412 / 443 },
        alarms: alarms.filter((each) => each.state !== "resolved"),
        omissions: [
          {
            job: "job-2",
            name: "sync-orders",
            from: moment(NOW - 500 * MIN),
            to: moment(NOW - 20 * MIN),
            count: 96,
            reason: "folded",
            missed: true,
            words: {
              en: "The machine was asleep; folded into the run at 09:10",
              zh: "机器休眠；已合并到 09:10 的运行",
            },
          },
          {
            job: "job-7",
            name: "clean-temp",
            from: moment(NOW - 120 * MIN),
            to: moment(NOW - 30 * MIN),
            count: 3,
            reason: "paused",
            missed: false,
            words: { en: "The job was paused", zh: "任务已暂停" },
          },
        ],
        jobs: rows.length,
      }),
      list_alarms: (input) => {
        const { states = [] } = input as { states?: string[] };
        return { rows: alarms.filter((each) => states.length === 0 || states.includes(each.state)), next: null };
      },
    },
  };
}

/** Answers the page's door from the script, and its feed with one snapshot that is repeated each second. */
export async function install(page: Page, script: Script) {
  await page.clock.setFixedTime(script.now);
  if (script.desktop) await playDesktop(page, script.desktop);
  await page.route("**/api/*", async (route) => {
    const op = new URL(route.request().url()).pathname.split("/").at(-1) ?? "";
    const answer = script.answers[op];
    if (!answer) {
      await route.fulfill({
        status: 404,
        json: {
          code: "k_sc_ec_000001",
          message: { en: `No script for ${op}`, zh: `没有 ${op} 的脚本` },
          hint: null,
          field: null,
        },
      });
      return;
    }
    // A file comes as it is.
    const sent = op === "uploads" ? {} : route.request().postDataJSON();
    await route.fulfill({ json: answer((sent?.input ?? {}) as Record<string, never>) });
  });
  await page.routeWebSocket("**/api/feed**", (socket) => {
    let seq = 0;
    socket.send(JSON.stringify({ seq: ++seq, kind: "snapshot", stale: [], status: script.status }));
    if (script.mute) {
      void socket.close();
      return;
    }
    const beat = setInterval(() => {
      socket.send(JSON.stringify({ seq: ++seq, kind: "delta", stale: [], status: script.status }));
    }, 1_000);
    socket.onClose(() => clearInterval(beat));
  });
}
