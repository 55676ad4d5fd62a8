// A workplace that could be real: some forty jobs of a shop and its back office, with English and Chinese names, and
// enough runs of them that every view has something to show.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/eventually.mjs";
import { campanile, freshFolder } from "../harness/programs.mjs";

const SHANGHAI = "Asia/Shanghai";
const BERLIN = "Europe/Berlin";
const cron = (expression, timeZone = SHANGHAI) => ({ kind: "cron", expression, timeZone });
const every = (everySeconds) => ({ kind: "fixedRate", everySeconds });
const weekly = (repeatDays, time) => ({
  kind: "repeat",
  repeatLevel: "week",
  repeatInterval: 1,
  repeatDays,
  startTime: `2026-01-05T${time}:00+08:00`,
  timeZone: SHANGHAI,
});
const monthly = (repeatDays, time) => ({
  kind: "repeat",
  repeatLevel: "month",
  repeatInterval: 1,
  repeatDays,
  startTime: `2026-01-01T${time}:00+08:00`,
  timeZone: SHANGHAI,
});
const workday = (time) => weekly([1, 2, 3, 4, 5], time);

const says = (text, seconds = 0.2) => `echo '${text}'; sleep ${seconds}; echo done`;
/** Fails where its name's file lies in the folder of moods, so that a run of outcomes can be composed. */
const moody = (text) =>
  `echo '${text}'; test ! -e "$MOODS/$CAMPANILE_JOB" || { echo 'connection refused by 10.4.2.17:3306' >&2; exit 4; }`;

/** name, schedule, what it does, and what else is known of it */
const JOBS = [
  [
    "orders-sync",
    every(300),
    says("synced 37 orders", 0.4),
    { tenant: "acme", tags: ["orders", "sync"], priority: "high", owner: "lin" },
  ],
  [
    "orders-nightly-report",
    cron("0 2 * * *"),
    says("128 orders, 3 refunds", 1.2),
    { tenant: "acme", tags: ["finance", "nightly"], owner: "mei" },
  ],
  [
    "订单对账",
    cron("30 2 * * *"),
    moody("对账：支付宝 8,214 笔，微信 6,530 笔"),
    { tenant: "acme", tags: ["finance", "nightly"], owner: "王敏" },
  ],
  ["库存盘点", weekly([1, 4], "06:30"), says("盘点 12 个仓库", 0.8), { tenant: "acme", tags: ["warehouse"] }],
  [
    "inventory-snapshot",
    cron("0 */4 * * *"),
    says("snapshot of 41,230 articles", 0.6),
    { tenant: "acme", tags: ["warehouse", "snapshot"] },
  ],
  ["发票开具", workday("09:30"), says("开具 214 张发票", 0.5), { tenant: "acme", tags: ["finance"], priority: "high" }],
  ["invoices-dunning", workday("10:00"), says("17 reminders sent", 0.4), { tenant: "acme", tags: ["finance", "mail"] }],
  [
    "month-end-close",
    monthly([-1], "22:00"),
    says("closing the month", 2),
    { tenant: "acme", tags: ["finance"], priority: "high", timeoutSeconds: 7200 },
  ],
  ["payroll-export", monthly([25], "18:00"), says("86 payslips", 1), { tags: ["hr", "finance"], timeoutSeconds: 1800 }],
  ["考勤汇总", workday("20:30"), says("汇总 86 人考勤", 0.5), { tags: ["hr"] }],
  [
    "backup-postgres",
    cron("15 1 * * *"),
    says("dumped 18.4 GB", 1.6),
    { tags: ["backup", "nightly"], priority: "low", timeoutSeconds: 3600 },
  ],
  [
    "backup-verify",
    cron("45 4 * * 0"),
    moody("restoring the dump of last night"),
    { tags: ["backup"], priority: "low" },
  ],
  ["数据库备份校验", cron("45 1 * * *"), says("校验和一致", 0.6), { tags: ["backup", "nightly"], priority: "low" }],
  ["log-rotate", cron("5 0 * * *"), says("rotated 14 files", 0.2), { tags: ["ops"] }],
  ["disk-usage-check", every(600), says("/data 61 %, /logs 48 %", 0.1), { tags: ["ops", "check"] }],
  [
    "certificate-expiry-check",
    cron("0 7 * * *"),
    says("soonest: shop.example.com in 41 days", 0.3),
    { tags: ["ops", "check"] },
  ],
  [
    "payment-gateway-health",
    every(120),
    moody("200 in 84 ms"),
    { tenant: "acme", tags: ["check", "payments"], priority: "immediate" },
  ],
  [
    "search-index-rebuild",
    cron("0 3 * * *"),
    says("indexed 41,230 articles", 1.4),
    { tenant: "acme", tags: ["search", "nightly"] },
  ],
  ["search-index-delta", every(420), says("17 articles changed", 0.3), { tenant: "acme", tags: ["search"] }],
  [
    "推荐模型训练",
    cron("0 4 * * *"),
    says("训练完成，AUC 0.871", 1.5),
    { tenant: "acme", tags: ["ml", "nightly"], priority: "low", timeoutSeconds: 14400 },
  ],
  [
    "price-feed-import",
    cron("*/10 8-20 * * 1-5"),
    moody("fetched 3,102 prices"),
    { tenant: "globex", tags: ["prices"], priority: "high" },
  ],
  [
    "exchange-rates",
    cron("30 16 * * 1-5", BERLIN),
    says("ECB rates of the day", 0.3),
    { tenant: "globex", tags: ["prices"] },
  ],
  [
    "newsletter",
    cron("0 9 * * 2", BERLIN),
    says("24,118 recipients", 1),
    { tenant: "globex", tags: ["mail", "marketing"], priority: "low" },
  ],
  [
    "abandoned-carts",
    cron("0 11,17 * * *", BERLIN),
    says("312 carts", 0.4),
    { tenant: "globex", tags: ["mail", "marketing"] },
  ],
  ["周报汇总", weekly([5], "17:30"), says("汇总 9 个团队", 0.6), { tags: ["report"], owner: "王敏" }],
  ["weekly-kpi-report", weekly([1], "08:30"), says("rendered 12 charts", 0.8), { tags: ["report"], owner: "mei" }],
  ["quarterly-tax-export", cron("0 6 1 1,4,7,10 *"), says("exported", 0.5), { tags: ["finance"] }],
  ["clean-temp-files", cron("20 3 * * *"), says("freed 2.1 GB", 0.3), { tags: ["ops", "nightly"], priority: "low" }],
  ["expire-sessions", every(1200), says("214 sessions expired", 0.1), { tags: ["ops"] }],
  [
    "用户画像更新",
    cron("0 5 * * *"),
    says("更新 1,204,331 个画像", 1.3),
    { tenant: "acme", tags: ["ml"], priority: "low" },
  ],
  [
    "fraud-scoring",
    every(180),
    says("scored 48 payments", 0.5),
    { tenant: "acme", tags: ["payments", "ml"], priority: "immediate" },
  ],
  ["shipment-tracking", cron("*/15 * * * *"), says("1,820 parcels", 0.6), { tenant: "acme", tags: ["logistics"] }],
  ["物流状态同步", cron("7,22,37,52 * * * *"), says("同步 962 个运单", 0.5), { tenant: "acme", tags: ["logistics"] }],
  ["carrier-billing-import", moodyMonth(), moody("3 carriers"), { tenant: "acme", tags: ["logistics", "finance"] }],
  [
    "gdpr-deletions",
    cron("0 23 * * 3", BERLIN),
    says("11 accounts removed", 0.4),
    { tenant: "globex", tags: ["compliance"], owner: "lin" },
  ],
  [
    "audit-log-archive",
    cron("10 0 * * *"),
    says("archived 412 MB", 0.6),
    { tags: ["compliance", "nightly"], priority: "low" },
  ],
  ["license-usage", weekly([1, 3, 5], "12:00"), says("61 of 80 seats", 0.2), { tags: ["ops"] }],
  [
    "staging-refresh",
    weekly([6], "05:00"),
    says("copied and masked 96 tables", 1.2),
    { tags: ["ops", "backup"], priority: "low" },
  ],
  ["warehouse-stream-compact", every(900), says("compacted 12 segments", 0.8), { tenant: "acme", tags: ["warehouse"] }],
  ["reindex-now", { kind: "manual" }, says("on request", 0.5), { tags: ["search"] }],
];

function moodyMonth() {
  return monthly([1, 15], "07:30");
}

const document = ([name, schedule, command, more], moods) => ({
  apiVersion: "campanile/v1",
  name,
  schedule,
  processor: "shell",
  parameters: { command, environment: { MOODS: moods } },
  retry: { retries: 0, baseSeconds: 1, maxSeconds: 60, multiplier: 2 },
  overlap: "allow",
  ...more,
});

/**
 * Applies the jobs through the command line, and lets them run until each view has something to show.
 * @param {Awaited<ReturnType<typeof import("../harness/programs.mjs").serve>>} node
 */
export async function furnish(node) {
  const moods = freshFolder("campanile-moods-");
  const file = join(moods, "jobs.json");
  writeFileSync(file, JSON.stringify(JOBS.map((job) => document(job, moods))));
  const { code, stderr, stdout } = await campanile(node.data, "apply", "-f", file);
  if (code !== 0) throw new Error(`apply ended with ${code}: ${stderr || stdout}`);

  const names = JOBS.map(([name]) => name);
  const settled = () =>
    eventually(
      "what runs has ended",
      async () =>
        (await node.ask("list_instances", { states: ["running", "waiting"], limit: 200 })).rows.filter(
          (row) => row.origin === "manual",
        ).length === 0,
      { within: 90_000, every: 400 },
    );
  const rounds = [
    [],
    ["backup-verify"],
    [],
    ["price-feed-import", "payment-gateway-health"],
    [],
    ["carrier-billing-import"],
    ["订单对账"],
    [],
  ];
  for (const bad of rounds) {
    for (const name of bad) writeFileSync(join(moods, name), "");
    await node.ask("run_jobs", { jobs: names.filter((_, i) => (i + rounds.indexOf(bad)) % 3 !== 0) });
    await settled();
    if (bad !== rounds.at(-2)) for (const name of bad) rmSync(join(moods, name), { force: true });
  }
  for (const name of ["订单对账", "price-feed-import"]) writeFileSync(join(moods, name), "");
  await node.ask("run_jobs", { jobs: ["订单对账", "price-feed-import"] });
  await settled();
  await node.ask("pause_jobs", { jobs: ["newsletter", "license-usage"] });
  const { spec, row } = await node.ask("get_job", { job: "orders-nightly-report" });
  await node.ask("save_job", {
    spec: { ...spec, timeoutSeconds: 900, description: "Orders and refunds of the day before, by shop." },
    job: row.id,
    seen_version: row.version,
  });

  // Something that is under way while the pictures are taken.
  for (const [name, text] of [
    ["customer-export", "rows"],
    ["视频转码", "片段"],
  ]) {
    await node.job({
      name,
      tenant: "acme",
      tags: ["export"],
      parameters: { command: `i=0; while [ $i -lt 900 ]; do i=$((i+1)); echo "$i of 900 ${text}"; sleep 1; done` },
    });
    await node.ask("run_jobs", { jobs: [name] });
  }
  const alarms = await eventually("alarms have come in", async () => {
    const { rows } = await node.ask("list_alarms", { states: ["firing"] });
    return rows.length >= 2 && rows;
  });
  await node.ask("acknowledge_alarms", {
    alarms: [alarms.at(-1).id],
    note: "The carrier's server is down; they know. 已联系对方。",
  });
  const failed = await node.ask("list_instances", { job: "订单对账", states: ["failed"], limit: 1 });
  const running = await node.ask("list_instances", { job: "customer-export", limit: 1 });
  return { failed: failed.rows[0].id, running: running.rows[0].id, detail: row.id };
}
