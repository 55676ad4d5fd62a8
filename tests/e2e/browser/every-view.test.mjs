// Every view, full and empty, in both themes and both languages: the page never complains, nothing sticks out at the
// smallest window, and whoever cannot see it or needs contrast is not shut out.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { eventually } from "../harness/eventually.mjs";
import { story } from "../harness/stories.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Puts one job of each kind, with runs of each outcome, into the node; tells the addresses worth a visit. */
async function fill(node) {
  const once = { retries: 0, baseSeconds: 1, maxSeconds: 60, multiplier: 2 };
  await node.job({
    name: "nightly-report",
    tags: ["finance", "nightly"],
    tenant: "acme",
    schedule: { kind: "cron", expression: "0 2 * * *", timeZone: "Asia/Shanghai" },
    parameters: { command: "echo counted; echo '{\"orders\": 128}'" },
  });
  await node.job({
    name: "每周对账",
    schedule: {
      kind: "repeat",
      repeatLevel: "week",
      repeatInterval: 1,
      repeatDays: [2, 4],
      startTime: "2026-11-03T09:30:00+08:00",
      timeZone: "Asia/Shanghai",
    },
    parameters: { command: "echo 完成" },
  });
  await node.job({
    name: "heartbeat",
    schedule: { kind: "fixedRate", everySeconds: 2 },
    parameters: { command: "echo ding" },
  });
  await node.job({ name: "always-fails", retry: once, parameters: { command: "echo snapped >&2; exit 3" } });
  await node.job({ name: "takes-long", parameters: { command: "echo begun; sleep 600" } });
  const ids = [];
  for (const name of ["nightly-report", "always-fails", "takes-long"]) {
    const done = await node.ask("run_jobs", { jobs: [name] });
    ids.push(done.instances[0]);
  }
  await node.instance("always-fails", (row) => row.state === "failed");
  await node.instance("nightly-report", (row) => row.state === "succeeded");
  await node.instance("takes-long", (row) => row.state === "running");
  await node.ask("save_job", {
    spec: { ...(await node.ask("get_job", { job: "nightly-report" })).spec, description: "counts the day" },
    job: "nightly-report",
    seen_version: 1,
  });
  await node.ask("put_blackout", {
    name: "夜间维护",
    blackout: {
      window: {
        schedule: { kind: "cron", expression: "30 22 * * *", timeZone: "Asia/Shanghai" },
        durationSeconds: 4 * 3_600,
      },
      tags: ["finance"],
    },
  });
  await node.ask("pause_jobs", { jobs: ["每周对账"] });
  await eventually("an alarm is there", async () => (await node.ask("list_alarms", {})).rows.length > 0);
  const { row } = await node.ask("get_job", { job: "nightly-report" });
  const [executor] = (await node.ask("list_executors", {})).rows;
  return [
    "/",
    "/calendar",
    "/calendar?mode=day",
    "/calendar?mode=month",
    "/calendar?mode=agenda",
    "/jobs",
    "/jobs?import=crontab",
    "/jobs/new",
    `/jobs/${row.id}`,
    `/jobs/${row.id}?tab=versions`,
    `/jobs/${row.id}/edit`,
    "/runs",
    ...ids.map((id) => `/runs/${id}`),
    "/executors",
    `/executors?executor=local/${encodeURIComponent(executor.name)}`,
    "/alarms",
    "/infrastructure",
    "/settings",
    "/nowhere",
  ];
}

/** What is on the page has come, and stands still. */
async function settled(page) {
  await page
    .getByRole("heading", { level: 1 })
    .or(page.getByText(/There is nothing at this address|此地址没有内容/))
    .first()
    .waitFor();
  await page.waitForLoadState("networkidle").catch(() => {});
  await eventually(
    "no outline of what is to come is left",
    async () => (await page.locator("[data-skeleton], .skeleton").count()) === 0,
  );
}

/** @returns {Promise<string[]>} */
async function barriers(page) {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter((each) => each.impact === "serious" || each.impact === "critical")
      .flatMap((each) =>
        each.nodes
          .slice(0, 3)
          .map((node) => `${each.id}: ${node.target.join(" ")} ${node.failureSummary?.split("\n")[1] ?? ""}`),
      );
  });
}

story(
  "no view complains, shuts anyone out or sticks out, whatever the theme, the language and the window",
  async ({ node, open }) => {
    const addresses = await fill(node);
    const found = [];
    for (const looks of [
      { lang: "en", theme: "light", width: 1280, height: 800 },
      { lang: "zh", theme: "dark", width: 900, height: 600 },
    ]) {
      // The node's settings have the last word: the console is told what the story wants.
      await node.ask("set_setting", { key: "language", value: looks.lang });
      await node.ask("set_setting", { key: "theme", value: looks.theme });
      const console = await open(node.address, looks);
      for (const address of addresses) {
        await console.go(address);
        await settled(console.page);
        const where = `${address} ${looks.lang} ${looks.theme} ${looks.width}`;
        for (const barrier of await barriers(console.page)) found.push(`${where}: ${barrier}`);
        const over = await console.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        if (over > 0) found.push(`${where}: the page is ${over} px too wide`);
      }
    }
    assert.deepEqual(found, []);
  },
  { timeout: 300_000 },
);

story("an empty node's views are empty in words, not in silence", async ({ page, go }) => {
  for (const [address, words] of [
    ["/", "Try it with sample jobs"],
    ["/jobs", "No jobs yet"],
    ["/runs", "Nothing has run yet"],
    ["/alarms", "No open alarms"],
    ["/calendar", "Nothing fires in these days"],
    ["/infrastructure", "Nothing is locked"],
  ]) {
    await go(address);
    await page.getByText(words).first().waitFor();
    assert.deepEqual(await barriers(page), [], address);
  }
});
