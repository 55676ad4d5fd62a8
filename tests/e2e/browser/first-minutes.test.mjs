// The first five minutes of someone who has never seen it: sample jobs run by themselves, one fails on purpose, its
// alarm is acknowledged; then a job of one's own.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { eventually } from "../harness/eventually.mjs";
import { button, choose, toast, toView, writeJob } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

story(
  "the sample jobs appear, run at their times, and one fails on purpose",
  async ({ page, node }) => {
    await page.getByRole("button", { name: /^Try it with sample jobs/ }).click();
    await page.getByRole("heading", { name: /next hour/i }).waitFor();
    const pulse = await node.ask("pulse");
    assert.ok(pulse.jobs >= 4, `${pulse.jobs} jobs`);

    // By its own schedule, which is every minute.
    const heartbeat = await node.instance("sample-heartbeat", (row) => row.state === "succeeded", { within: 75_000 });
    assert.equal(heartbeat.origin, "schedule");
    assert.equal(heartbeat.due.ms % 60_000, 0);
    assert.ok(heartbeat.late_ms < 2_000, `${heartbeat.late_ms} ms late`);

    await toView(page, "Jobs");
    await page.getByRole("grid", { name: "Jobs" }).getByText("sample-fails-on-purpose").dblclick();
    await page.getByRole("heading", { level: 1 }).getByText("sample-fails-on-purpose").waitFor();
    await button(page, "Run now").click();
    await toast(page, "1 run started").waitFor();
    const failed = await node.instance("sample-fails-on-purpose", (row) => row.state === "failed", { within: 40_000 });
    assert.equal(failed.tasks[0].attempt, 2, "it was tried twice");

    await toView(page, "Alarms");
    await page.getByRole("grid", { name: "Alarms" }).getByText("sample-fails-on-purpose").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("a");
    await page.getByLabel("Note").fill("seen; it is meant to fail");
    await page.keyboard.press("Enter");
    await toast(page, "1 alarm acknowledged").waitFor();
    const alarm = await eventually("the alarm is acknowledged", async () =>
      (await node.ask("list_alarms", {})).rows.find((row) => row.state === "acknowledged"),
    );
    assert.equal(alarm.acknowledged.note, "seen; it is meant to fail");
    await page.getByRole("grid", { name: "Alarms" }).getByText("Acknowledged").first().waitFor();
  },
  { timeout: 200_000 },
);

story("a job is created by the form, runs every second, and its output can be read", async ({ page, node }) => {
  await page.getByRole("button", { name: /^Create a job/ }).click();
  await page.getByRole("heading", { level: 1, name: "New job" }).waitFor();
  await writeJob(page, { name: "tick", everySeconds: 1, command: 'echo "tick of $CAMPANILE_JOB"; echo to-stderr >&2' });
  // What it comes to stands beside it before it is saved.
  await page
    .getByRole("complementary", { name: "Next runs" })
    .getByText(/every second|1 second/i)
    .first()
    .waitFor();
  await page.keyboard.press("Control+s");
  await toast(page, "tick saved").waitFor();
  const done = await node.instance("tick", (row) => row.state === "succeeded");
  await node.instance("tick", (row) => row.state === "succeeded" && row.due.ms >= done.due.ms + 2_000);

  await page.evaluate((id) => window.location.assign(`#/runs/${id}`), done.id);
  await page.getByRole("log").getByText("tick of tick").waitFor();
  await page.getByRole("log").getByText("to-stderr").waitFor();
});

story(
  "in Chinese the same offer is made, and a Chinese name is a name",
  async ({ page, node }) => {
    await page.getByRole("heading", { level: 1, name: "概览" }).waitFor();
    await page.getByRole("button", { name: /^创建任务|^新建任务/ }).click();
    await page.getByRole("heading", { level: 1, name: "新建任务" }).waitFor();
    await page.getByLabel("名称").first().fill("夜间报表");
    await choose(page, "手动");
    await page.getByRole("textbox", { name: "命令" }).fill("echo 你好，钟楼");
    await page.keyboard.press("Control+s");
    await toast(page, "已保存 夜间报表").waitFor();
    await button(page, "立即运行").click();
    const done = await node.instance("夜间报表", (row) => row.state === "succeeded");
    const log = await node.ask("read_log", { task: done.tasks[0].id });
    assert.ok(
      log.lines.some((line) => line.text === "你好，钟楼"),
      JSON.stringify(log.lines),
    );
  },
  { looks: { lang: "zh" } },
);

story(
  "the sample import fills its shards at its own rate, before the eyes of whoever looks, and accounts for every row",
  async ({ page, node }) => {
    await page.getByRole("button", { name: /^Try it with sample jobs/ }).click();
    // It is there before it runs, and runs by its own schedule. Whatever else this machine is busy with is not to hold it.
    const { row: job, spec } = await eventually("the import is there", () =>
      node.ask("get_job", { job: "sample-import" }),
    );
    assert.equal(spec.priority, "low");
    await node.ask("save_job", { spec: { ...spec, priority: "normal" }, job: job.id, seen_version: job.version });
    const bar = page.getByTestId("rail-sharded");
    await bar.waitFor({ timeout: 60_000 });
    await bar.click();
    await page.getByTestId("shard-canvas").waitFor();
    const percents = [];
    const row = await eventually(
      "the import ends",
      async () => {
        const shown = await page.getByTestId("shard-percent").innerText();
        if (/^[\d.]+ %$/.test(shown)) percents.push(Number.parseFloat(shown));
        const { rows } = await node.ask("list_instances", { job: "sample-import" });
        return rows[0]?.finished && rows[0];
      },
      { within: 150_000, every: 250 },
    );
    assert.deepEqual(
      percents,
      percents.toSorted((a, b) => a - b),
      "it never goes back",
    );
    assert.ok(new Set(percents).size >= 10, `it is seen to fill: ${[...new Set(percents)]}`);
    assert.equal(row.sharding.tally.done, 10_000);
    await page.getByTestId("save-report").click();
    const download = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: /\.csv/ }).click();
    const report = readFileSync(await (await download).path(), "utf8")
      .trimEnd()
      .split("\n");
    assert.equal(report.length, 10_001);
    assert.ok(
      report.some((line) => line.includes("failed")),
      "a few rows are wrong",
    );
  },
  { timeout: 240_000 },
);
