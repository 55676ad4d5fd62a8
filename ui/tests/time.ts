// What the scripted node says of time: the calendar, what a drop would do, runs, one run, its log. And the pictures of it.
import type { Page } from "playwright-core";
import { blackoutsOn, withBlackouts } from "./blackouts";
import { moment, OFFSET, type Script } from "./fixture";

const MIN = 60_000;
const DAY = 1_440 * MIN;
const yes = { ok: true, why: null };
const no = (en: string, zh: string) => ({ ok: false, why: { en, zh } });

interface Planned {
  job: number;
  name: string;
  en: string;
  zh: string;
  hue: number;
  /** Minutes of the day, and the weekdays (1 to 7) where it is not each of them. */
  minutes: number[];
  on?: number[];
  /** One letter for each day of the week of the fixture: how it ended. */
  ends?: string;
}

const at = (h: number, m = 0) => h * 60 + m;

const PLAN: Planned[] = [
  {
    job: 0,
    name: "nightly-report",
    en: "At 02:00, every day",
    zh: "每天 02:00",
    hue: 0,
    minutes: [at(2)],
    ends: "ssfsss",
  },
  {
    job: 10,
    name: "backup-orders-db",
    en: "At 03:00, every day",
    zh: "每天 03:00",
    hue: 5,
    minutes: [at(3)],
    ends: "ssssss",
  },
  {
    job: 11,
    name: "backup-catalogue",
    en: "At 03:00, every day",
    zh: "每天 03:00",
    hue: 1,
    minutes: [at(3)],
    ends: "ssssfs",
  },
  {
    job: 12,
    name: "rotate-logs",
    en: "At 03:10, every day",
    zh: "每天 03:10",
    hue: 2,
    minutes: [at(3, 10)],
    ends: "scssss",
  },
  {
    job: 3,
    name: "workday-reminder",
    en: "At 09:30 on every working day",
    zh: "每个工作日 09:30",
    hue: 3,
    minutes: [at(9, 30)],
    on: [1, 2, 3, 4, 5],
    ends: "sssss",
  },
  {
    job: 13,
    name: "price-feed",
    en: "At 06:00, 12:00 and 18:00",
    zh: "每天 06:00、12:00 和 18:00",
    hue: 4,
    minutes: [at(6), at(12), at(18)],
    ends: "ssssss",
  },
  {
    job: 14,
    name: "settle-payments",
    en: "At 10:15 on working days",
    zh: "工作日 10:15",
    hue: 6,
    minutes: [at(10, 15)],
    on: [1, 2, 3, 4, 5, 6],
    ends: "ssssss",
  },
  {
    job: 5,
    name: "rebuild-search-index-of-the-whole-catalogue-in-every-language",
    en: "At 04:15 on Sunday",
    zh: "每周日 04:15",
    hue: 7,
    minutes: [at(4, 15)],
    on: [7],
  },
  {
    job: 15,
    name: "weekly-digest",
    en: "At 16:45 on Saturday",
    zh: "每周六 16:45",
    hue: 8,
    minutes: [at(16, 45)],
    on: [6],
  },
  {
    job: 16,
    name: "warm-cache",
    en: "At 13:05, every day",
    zh: "每天 13:05",
    hue: 9,
    minutes: [at(13, 5), at(21, 5)],
    ends: "ssssss",
  },
  {
    job: 17,
    name: "dunning-letters",
    en: "At 14:00 from Tuesday to Thursday",
    zh: "周二至周四 14:00",
    hue: 10,
    minutes: [at(14)],
    on: [2, 3, 4],
    ends: "sfs",
  },
  {
    job: 18,
    name: "close-the-books",
    en: "At 23:50, every day",
    zh: "每天 23:50",
    hue: 11,
    minutes: [at(23, 50)],
    ends: "ssssss",
  },
  ...["eu", "us", "apac", "latam", "africa", "nordics", "iberia"].map((region, i) => ({
    job: 20 + i,
    name: `import-${region}`,
    en: "At 08:00 on working days",
    zh: "工作日 08:00",
    hue: (i * 5 + 2) % 12,
    minutes: [at(8, i > 4 ? 5 : 0)],
    on: [1, 2, 3, 4, 5],
    ends: i === 2 ? "ssfss" : "sssss",
  })),
];

const STATE: Record<string, string> = { s: "succeeded", f: "failed", c: "cancelled", r: "running" };

function dateOf(ms: number) {
  return new Date(ms + OFFSET).toISOString().slice(0, 10);
}

function week(now: number, monday: string | null, text: string | null, count = 7) {
  const local = now + OFFSET;
  const thisMonday = Math.floor(local / DAY) * DAY - ((new Date(local).getUTCDay() + 6) % 7) * DAY - OFFSET;
  const start = monday ? Date.parse(`${monday}T00:00:00Z`) - OFFSET : thisMonday;
  const days = Array.from({ length: count }, (_, i) => {
    const at = start + i * DAY;
    const date = dateOf(at);
    return {
      date,
      weekday: (i % 7) + 1,
      start: at,
      end: at + DAY,
      today: now >= at && now < at + DAY,
      blackouts: blackoutsOn(at, at + DAY),
      clock_change: i === 6 ? { en: "02:00 to 03:00 happens twice", zh: "02:00 至 03:00 出现两次" } : null,
    };
  });
  const plan = PLAN.filter((each) => !text || each.name.includes(text));
  const entries = plan
    .flatMap((each) =>
      days.flatMap((day, i) =>
        each.on && !each.on.includes(day.weekday)
          ? []
          : each.minutes.map((minute) => {
              const planned = day.start + minute * MIN;
              const past = planned < now;
              const letter = each.ends?.[each.on ? each.on.indexOf(day.weekday) : i % 7] ?? "s";
              const moved = each.job === 16 && i === 5 && minute > 1200;
              return {
                job: `job-${each.job}`,
                name: each.name,
                version: 2,
                planned,
                due: moment(planned),
                day: i,
                minute,
                instance: past ? `in-${each.job}-${i}` : null,
                state: past ? (planned > now - 3 * MIN ? "running" : STATE[letter]) : null,
                origin: "schedule",
                hue: each.hue,
                words: { en: each.en, zh: each.zh },
                reason: moved ? { en: "moved from 20:30 by hand", zh: "由人工从 20:30 移动" } : null,
                can_move: past
                  ? no("It has already fired", "它已经触发过了")
                  : each.job === 15
                    ? no("It follows other jobs; its time is theirs", "它跟随其他任务，时间由它们决定")
                    : yes,
              };
            }),
      ),
    )
    .sort((a, b) => a.day - b.day || a.minute - b.minute);
  const band = (
    job: number,
    name: string,
    en: string,
    zh: string,
    count: number,
    hue: number,
    from = 0,
    to = 1440,
    on = 7,
  ) =>
    days
      .flatMap((each, day) => (each.weekday <= on ? [day] : []))
      .map((day) => ({
        job: `job-${job}`,
        name,
        version: 1,
        day,
        from_minute: from,
        to_minute: to,
        count,
        hue,
        words: { en, zh },
      }));
  const bands = [
    ...band(1, "heartbeat", "Every 15 s", "每 15 秒", 5_760, 2),
    ...band(2, "sync-orders", "Every 5 minutes", "每 5 分钟", 288, 6),
    ...band(
      30,
      "poll-queue",
      "Every minute from 09:00 to 17:59 on working days",
      "工作日 09:00 至 17:59 每分钟",
      540,
      9,
      540,
      1080,
      5,
    ),
  ].filter((each) => !text || each.name.includes(text));
  const load = days.map((_, i) =>
    Array.from({ length: 96 }, (_, quarter) => {
      const own = entries.filter((each) => each.day === i && Math.floor(each.minute / 15) === quarter).length;
      const often = bands
        .filter((each) => each.day === i && each.from_minute <= quarter * 15 && each.to_minute > quarter * 15)
        .reduce((sum, each) => sum + Math.round((each.count * 15) / (each.to_minute - each.from_minute)), 0);
      return own * 6 + often;
    }),
  );
  return wired({ now, zone: "Asia/Shanghai", days, entries, bands, load });
}

interface Told {
  job: string;
  name: string;
  words: { en: string; zh: string };
  hue: number;
}

/** As the node sends it: each job's words once, and each note once. */
function wired<
  E extends Told & { reason: unknown; can_move: { ok: boolean; why: unknown } },
  B extends Told,
  V extends { entries: E[]; bands: B[] },
>(view: V) {
  const jobs: { id: string; name: string; words: unknown; hue: number }[] = [];
  const notes: unknown[] = [];
  const of = ({ job, name, words, hue }: Told) => {
    const at = jobs.findIndex((each) => each.id === job);
    return at < 0 ? jobs.push({ id: job, name, words, hue }) - 1 : at;
  };
  const note = (text: unknown) => (text ? notes.push(text) - 1 : null);
  const bare = <T extends Told>({ name: _, words: __, hue: ___, ...rest }: T) => rest;
  return {
    ...view,
    jobs,
    notes,
    entries: view.entries.map((entry) => {
      const { can_move, ...rest } = entry;
      return {
        ...bare(rest),
        job: of(entry),
        reason: note(entry.reason),
        fixed: can_move.ok ? null : note(can_move.why),
      };
    }),
    bands: view.bands.map((band) => ({ ...bare(band), job: of(band) })),
  };
}

function reschedule(input: { job: string; planned: number; to_local?: string }) {
  const to = Date.parse(`${input.to_local}:00Z`) - OFFSET;
  const each = PLAN.find((other) => `job-${other.job}` === input.job);
  const next = (from: number) => Array.from({ length: 6 }, (_, i) => moment(from + i * DAY));
  const clock = moment(to).text.slice(11, 16);
  const spec = { name: each?.name };
  return {
    job: input.job,
    name: each?.name,
    version: 2,
    from: moment(input.planned),
    to: moment(to),
    choices: [
      {
        scope: "thisRun",
        allowed: yes,
        words: { en: `${each?.en}; one run moved to ${clock}`, zh: `${each?.zh}；其中一次移至 ${clock}` },
        before: next(input.planned),
        after: [moment(to), ...next(input.planned).slice(1)].sort((a, b) => a.ms - b.ms),
        collisions: [],
        spec,
      },
      {
        scope: "following",
        allowed: yes,
        words: { en: `At ${clock}, every day`, zh: `每天 ${clock}` },
        before: next(input.planned),
        after: next(to),
        collisions: ["price-feed", "warm-cache"],
        spec,
      },
      {
        scope: "all",
        allowed: no("The day would change for past runs too", "过去的运行日期也会改变"),
        words: null,
        before: [],
        after: [],
        collisions: [],
        spec: null,
      },
    ],
  };
}

function change(field: string, en: string, zh: string, before: string | null, after: string | null) {
  const both = (text: string | null) => text && { en: text, zh: text };
  return { field, name: { en, zh }, before: both(before), after: both(after) };
}

function adjusted(now: number, job: string, local: string | null) {
  const each = PLAN.find((other) => `job-${other.job}` === job);
  const next = Array.from({ length: 6 }, (_, i) => moment(now + i * DAY));
  const extra = local === null ? [] : [moment(Date.parse(`${local}:00Z`) - OFFSET)];
  return {
    job,
    name: each?.name,
    version: 2,
    choice: {
      scope: local === null ? "all" : "thisRun",
      allowed: yes,
      words: { en: `${each?.en}${local ? "; one run more" : ""}`, zh: `${each?.zh}${local ? "；额外一次" : ""}` },
      before: next,
      after: [...next, ...extra].sort((a, b) => a.ms - b.ms),
      collisions: local === null ? [] : ["price-feed"],
      spec: { name: each?.name },
    },
  };
}

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

function instanceRow(now: number, k: number) {
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

function instanceDetail(now: number, k: number) {
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

function logOf(now: number, input: { attempt?: number | null; from?: number | null }) {
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

const off = (date: string, en: string, zh: string) => ({ date, kind: "off", name: { en, zh } });
const work = (date: string, en: string, zh: string) => ({ date, kind: "work", name: { en, zh } });
const stretch = (first: string, days: number, en: string, zh: string) =>
  Array.from({ length: days }, (_, i) =>
    off(new Date(Date.parse(`${first}T00:00:00Z`) + i * DAY).toISOString().slice(0, 10), en, zh),
  );
const HOLIDAYS = [
  ...stretch("2026-01-01", 3, "New Year", "元旦"),
  work("2026-01-04", "New Year", "元旦"),
  work("2026-02-14", "Spring Festival", "春节"),
  ...stretch("2026-02-15", 9, "Spring Festival", "春节"),
  work("2026-02-28", "Spring Festival", "春节"),
  ...stretch("2026-04-04", 3, "Qingming Festival", "清明节"),
  ...stretch("2026-05-01", 5, "Labour Day", "劳动节"),
  work("2026-05-09", "Labour Day", "劳动节"),
  ...stretch("2026-06-19", 3, "Dragon Boat Festival", "端午节"),
  work("2026-09-20", "National Day", "国庆节"),
  ...stretch("2026-09-25", 3, "Mid-Autumn Festival", "中秋节"),
  ...stretch("2026-10-01", 7, "National Day", "国庆节"),
  work("2026-10-10", "National Day", "国庆节"),
  work("2026-11-28", "Stocktaking", "年终盘点"),
  off("2026-11-24", "Company day", "公司纪念日"),
];

function calendarRow(name: string, en: string, zh: string, more: Record<string, unknown>) {
  return {
    name,
    title: { en, zh },
    built_in: true,
    carried: true,
    base: null,
    revision: 0,
    saved_at: null,
    saved_by: null,
    week: [1, 2, 3, 4, 5],
    uncovered: "weekly",
    years: [],
    data_ends: null,
    ends_soon: false,
    jobs: 0,
    version: `${name}:1`,
    can_edit: yes,
    can_remove: no("It comes with the program", "它由程序自带"),
    ...more,
  };
}

const CALENDARS = [
  calendarRow("cn", "China", "中国", {
    years: Array.from({ length: 23 }, (_, i) => 2004 + i),
    data_ends: "2026-12-31",
    ends_soon: true,
    jobs: 12,
  }),
  calendarRow("shop", "The shop", "门店", {
    built_in: false,
    carried: false,
    base: "cn",
    revision: 3,
    jobs: 2,
    can_remove: yes,
  }),
  calendarRow("weekdays", "Monday to Friday", "周一至周五", {}),
];

function workCalendar(input: { calendar: string; year?: number | null }) {
  const year = input.year ?? 2026;
  const row = CALENDARS.find((each) => each.name === input.calendar) ?? CALENDARS[0];
  const days = [];
  for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += DAY) {
    const date = new Date(at).toISOString().slice(0, 10);
    const weekday = ((new Date(at).getUTCDay() + 6) % 7) + 1;
    const mark = HOLIDAYS.find((each) => each.date === date);
    days.push({
      date,
      weekday,
      works: mark ? mark.kind === "work" : weekday < 6,
      why: mark?.name ?? { en: "by the week", zh: "按每周规律" },
      mark: mark
        ? {
            kind: mark.kind,
            name: mark.name,
            calendar: date.startsWith("2026-11") ? "shop" : "cn",
            layer: date.startsWith("2026-11") ? "company" : "country",
          }
        : null,
    });
  }
  return {
    row,
    document: {
      apiVersion: "campanile/v1",
      name: row?.name,
      base: row?.base ?? undefined,
      layers: [{ name: "company", days: HOLIDAYS.filter((each) => each.date.startsWith("2026-11")) }],
      revision: row?.revision,
    },
    year: { year, covered: year <= 2026, working_days: days.filter((day) => day.works).length, days },
    jobs: ["nightly-report", "workday-reminder"],
  };
}

function timesChange(now: number) {
  return [
    {
      job: "job-3",
      name: "workday-reminder",
      changes: [
        { planned: moment(now + 3 * DAY), before: moment(now + 3 * DAY), after: moment(now + 4 * DAY) },
        { planned: moment(now + 33 * DAY), before: moment(now + 33 * DAY), after: null },
      ],
      more: 3,
    },
  ];
}

function away(now: number) {
  const row = (job: number, name: string, n: Record<string, number>, en: string, zh: string) => ({
    job: `job-${job}`,
    name,
    missed: 0,
    folded: 0,
    asked: 0,
    skipped: 0,
    ...n,
    from: moment(now - 500 * MIN),
    to: moment(now - 20 * MIN),
    omissions: [
      {
        job: `job-${job}`,
        name,
        from: moment(now - 500 * MIN),
        to: moment(now - 20 * MIN),
        count: 1,
        reason: "misfire",
        missed: true,
        words: { en, zh },
      },
    ],
    can_run: yes,
  });
  const question = (id: string, job: number, name: string, count: number) => ({
    id,
    job: `job-${job}`,
    name,
    from: moment(now - 480 * MIN),
    to: moment(now - (count === 1 ? 480 : 60) * MIN),
    count,
    asked_at: moment(now - 20 * MIN),
    until: moment(now + 1_420 * MIN),
    words: { en: "The machine was asleep; one run would stand for all of them", zh: "机器休眠；一次运行可代表全部" },
    can_answer: yes,
  });
  return {
    since: moment(now - 600 * MIN),
    missed: 4,
    folded: 96,
    skipped: 3,
    rows: [
      row(
        2,
        "sync-orders",
        { folded: 96 },
        "The machine was asleep; folded into the run at 09:10",
        "机器休眠；已合并到 09:10 的运行",
      ),
      row(
        0,
        "nightly-report",
        { missed: 1 },
        "Missed by 7 h 10 min; its policy is to skip",
        "错过 7 小时 10 分；策略为跳过",
      ),
      row(7, "clean-temp", { skipped: 3 }, "The job was paused", "任务已暂停"),
    ],
    questions: [question("q-1", 6, "monthly-invoice", 1), question("q-2", 13, "price-feed", 3)],
    complete: true,
  };
}

/** Lets the script answer what the calendar and the runs ask. */
export function withTime(script: Script): Script {
  Object.assign(script.answers, {
    calendar: (input: { date?: string | null; text?: string | null; days?: number }) =>
      week(script.now, input.date ?? null, input.text ?? null, input.days ?? 7),
    zones: () => ({ version: "2026f", bundled: "2026d", zones: 597 }),
    import_zones: () => ({
      before: "2026d",
      version: "2026f",
      changed: 4,
      jobs: [
        {
          job: "job-5",
          name: "exchange-rates",
          time_zone: "Europe/Berlin",
          before: [moment(script.now + 3 * DAY)],
          after: [moment(script.now + 3 * DAY + 60 * MIN)],
        },
      ],
    }),
    list_calendars: () => ({ rows: CALENDARS }),
    get_calendar: workCalendar,
    calendar_effect: (input: { calendar: unknown }) => ({
      calendar: input.calendar,
      new: false,
      faults: [],
      read: 0,
      passed_over: 0,
      days: [],
      more_days: 0,
      jobs: timesChange(script.now),
      more_jobs: 0,
    }),
    read_calendar_file: () => ({
      calendar: null,
      new: false,
      faults: [],
      read: 2,
      passed_over: 0,
      days: [
        {
          date: "2027-01-01",
          workedBefore: true,
          workedAfter: false,
          whyBefore: { en: "", zh: "" },
          whyAfter: { en: "New Year", zh: "元旦" },
        },
        {
          date: "2027-01-02",
          workedBefore: false,
          workedAfter: true,
          whyBefore: { en: "", zh: "" },
          whyAfter: { en: "New Year, made up for", zh: "元旦调休" },
        },
      ],
      more_days: 0,
      jobs: timesChange(script.now),
      more_jobs: 0,
    }),
    away: () => away(script.now),
    answer_questions: () => ({ jobs: [], instances: ["in-1"], changed: 1, version: null }),
    reschedule: (input: { job: string; planned: number; to_local?: string }) => reschedule(input),
    copy_run: (input: { job: string; to_local: string }) => adjusted(script.now, input.job, input.to_local),
    spread_runs: (input: { job: string }) => adjusted(script.now, input.job, null),
    compare_versions: (input: { from: number; to: number }) => ({
      job: "job-0",
      name: "nightly-report",
      from: input.from,
      to: input.to,
      changes: [
        change("schedule", "Schedule", "调度", "At 01:30, every day", "At 02:00, every day"),
        change("misfire.policy", "Missed runs", "错过的执行", "skip", "fireOnce"),
        change("parameters.command", "Parameters: command", "参数：command", "./report", "./report --day yesterday"),
        change("tags", "Tags", "标签", null, "finance, nightly"),
      ],
    }),
    save_job: () => ({ jobs: ["job-0"], instances: [], changed: 1, version: 3 }),
    restore_version: () => ({ jobs: ["job-0"], instances: [], changed: 1, version: 4 }),
    run_jobs: () => ({ jobs: ["job-0"], instances: ["in-1"], changed: 1, version: null }),
    list_instances: (input: { states?: string[]; job?: string | null }) => ({
      rows: Array.from({ length: 60 }, (_, k) => instanceRow(script.now, k)).filter(
        (row) =>
          (!input.states?.length || input.states.includes(row.state)) && (!input.job || row.job_name === input.job),
      ),
      next: null,
    }),
    get_instance: (input: { instance: string }) =>
      instanceDetail(script.now, Number(input.instance.split("-")[1] ?? 0)),
    read_log: (input: { attempt?: number | null; from?: number | null }) => logOf(script.now - 5 * MIN, input),
    pause_jobs: () => ({ jobs: ["job-0"], instances: [], changed: 1, version: null }),
  });
  return withBlackouts(script);
}

/** The middle of the firing of a job on a day that is to come. */
async function take(page: Page, name: string) {
  const chip = page.locator(`[data-testid=calendar-entry][data-name="${name}"][data-movable=true]`).first();
  await chip.scrollIntoViewIfNeeded();
  const box = await chip.boundingBox();
  if (!box) throw new Error(`${name} is not on the page`);
  return { x: box.x + Math.min(20, box.width / 2), y: box.y + box.height / 2 };
}

async function drag(page: Page, name: string, by: { x: number; y: number }, drop: boolean) {
  const from = await take(page, name);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + by.x / 2, from.y + by.y / 2, { steps: 4 });
  await page.mouse.move(from.x + by.x, from.y + by.y, { steps: 4 });
  if (drop) await page.mouse.up();
}

export const TIME_SHOTS = [
  { name: "calendar", path: "/calendar" },
  { name: "calendar-day", path: "/calendar?mode=day" },
  { name: "calendar-agenda", path: "/calendar?mode=agenda" },
  { name: "calendar-next", path: "/calendar?date=2026-11-25" },
  {
    name: "calendar-few",
    path: "/calendar?text=nightly",
  },
  { name: "calendar-empty", path: "/calendar?text=nothing-has-this" },
  {
    name: "calendar-entry",
    path: "/calendar",
    act: async (page: Page) => {
      const at = await take(page, "warm-cache");
      await page.mouse.click(at.x, at.y);
      await page.getByTestId("entry-popover").waitFor();
    },
  },
  {
    name: "calendar-drag",
    path: "/calendar?date=2026-11-25",
    act: async (page: Page) => drag(page, "settle-payments", { x: 130, y: 61 }, false),
  },
  {
    name: "calendar-dropped",
    path: "/calendar?date=2026-11-25",
    act: async (page: Page) => {
      await drag(page, "settle-payments", { x: 0, y: 61 }, true);
      await page.getByTestId("reschedule-words").waitFor();
      await page.getByTestId("scope-following").click();
    },
  },
  {
    name: "calendar-moved",
    path: "/calendar?date=2026-11-25",
    act: async (page: Page) => {
      await drag(page, "settle-payments", { x: 0, y: 61 }, true);
      await page.getByTestId("reschedule-words").waitFor();
      await page.keyboard.press("Enter");
      await page.getByTestId("reschedule-dialog").waitFor({ state: "detached" });
    },
  },
  { name: "working-days", path: "/settings/calendars/shop" },
  { name: "working-days-uncovered", path: "/settings/calendars/shop?year=2027" },
  {
    name: "working-day-changed",
    path: "/settings/calendars/shop",
    act: async (page: Page) => {
      await page.locator('[data-date="2026-12-24"]').click();
      await page.getByLabel(/^(Name of the day|日期名称)/).fill("Christmas Eve");
      await page.keyboard.press("Enter");
      await page.getByTestId("calendar-effect").getByText("workday-reminder").waitFor();
      await page.locator('[data-date="2026-12-25"]').click();
      await page.getByTestId("day-popover").waitFor();
    },
  },
  {
    name: "working-days-import",
    path: "/settings/calendars/shop",
    act: async (page: Page) => {
      await page.getByRole("button", { name: /^(Import|导入)$/ }).click();
      await page.getByLabel(/^(Or paste|或把)/).fill("2027-01-01,off,New Year");
      await page.getByTestId("import-difference").waitFor();
    },
  },
  {
    name: "zone-data",
    path: "/settings",
    act: async (page: Page) => {
      await page.getByRole("button", { name: /^(Import newer data|导入较新的数据)$/ }).click();
      await page.getByLabel(/^(Folder|目录)/).fill("/usr/share/zoneinfo");
      await page.getByRole("button", { name: /^(See what changes|查看影响)$/ }).click();
      await page.getByTestId("zones-change").waitFor();
    },
  },
  { name: "calendar-month", path: "/calendar?mode=month" },
  {
    name: "calendar-menu",
    path: "/calendar",
    act: async (page: Page) => {
      const at = await take(page, "warm-cache");
      await page.mouse.click(at.x, at.y, { button: "right" });
      await page.getByRole("menu").waitFor();
    },
  },
  {
    name: "calendar-stretch",
    path: "/calendar?date=2026-11-25",
    act: async (page: Page) => {
      const at = await take(page, "settle-payments");
      await page.mouse.move(at.x, at.y + 8);
      await page.mouse.down();
      await page.mouse.move(at.x, at.y + 60, { steps: 4 });
    },
  },
  {
    name: "calendar-copied",
    path: "/calendar?date=2026-11-25",
    act: async (page: Page) => {
      await page.keyboard.down("Alt");
      await drag(page, "settle-payments", { x: 0, y: 61 }, true);
      await page.keyboard.up("Alt");
      await page
        .getByTestId("change-dialog")
        .getByText(/^\d\d:\d\d$/)
        .first()
        .waitFor();
    },
  },
  { name: "runs", path: "/runs" },
  { name: "runs-few", path: "/runs?state=failed%2Crunning" },
  {
    name: "runs-empty",
    path: "/runs",
    script: (script: Script) => {
      script.answers.list_instances = () => ({ rows: [], next: null });
    },
  },
  {
    name: "runs-selected",
    path: "/runs",
    act: async (page: Page) => {
      for (const key of ["j", "x", "j", "x", "j", "j", "x"]) await page.keyboard.press(key);
    },
  },
  { name: "run-failed", path: "/runs/in-3" },
  { name: "run-late", path: "/runs/in-1" },
  { name: "run-waiting", path: "/runs/in-2" },
  { name: "run-tasks", path: "/runs/in-6" },
];
