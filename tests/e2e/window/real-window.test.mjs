// The whole way, once, in the real window: from the first start to the second, on one data folder, step after step. A
// step that fails ends the story; the window as it stood and what the app printed are left in failures/.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { desk, openWindow } from "../harness/desktop.mjs";
import { eventually } from "../harness/eventually.mjs";
import { daysLater } from "../harness/hands.mjs";
import { campanile, campanileJson, freshFolder } from "../harness/programs.mjs";
import { closeWindow, isShown } from "../harness/x11.mjs";

const FAILURES = new URL("../failures/", import.meta.url).pathname;
const TITLE = "Campanile";
const HOUR = 48;

const data = freshFolder();
const place = await desk();
let shown = await openWindow(place, data);
after(async () => {
  await shown.close();
  await place.stop();
});

/** The console's own way to ask, from within its window. */
const ask = (op, input = {}) =>
  shown.browser.execute(
    (name, given) => window.__TAURI_INTERNALS__.invoke("call", { op: name, input: given, zone: "local", lang: "en" }),
    op,
    input,
  );

const instance = (job, probe, within = 20_000) =>
  eventually(
    `a run of ${job} is as expected`,
    async () => (await ask("list_instances", { job, limit: 50 })).rows.find(probe),
    { within },
  );

let failed = false;
function step(name, tell) {
  test(name, { timeout: 120_000 }, async (t) => {
    if (failed) return t.skip("an earlier step failed");
    try {
      await tell(shown);
    } catch (error) {
      failed = true;
      mkdirSync(FAILURES, { recursive: true });
      await shown.browser.saveScreenshot(join(FAILURES, "real-window.png")).catch(() => {});
      writeFileSync(join(FAILURES, "real-window.log"), shown.driver.printed);
      throw error;
    }
  });
}

step("the first start shows Pulse with the offer to begin", async ({ hands }) => {
  await hands.heading("Pulse", 30_000);
  await hands.text("Try it with sample jobs");
  await hands.text("Paste a crontab");
  await hands.text("Create a job");
});

step("a job is created by the form, with Chinese typed into it, and runs every second", async ({ hands }) => {
  await hands.press("Create a job");
  await hands.heading("New job");
  await hands.fill("Name", "整点报时");
  await hands.choose("Interval");
  await hands.fill("Every", "1");
  await hands.choose("seconds");
  await hands.fill("Command", "echo 当当当，$CAMPANILE_JOB");
  await hands.keys("Control", "s");
  await hands.text("整点报时 saved");
  await hands.heading("整点报时");
  await instance("整点报时", (row) => row.state === "succeeded");
});

step("its output is read in the run's log", async ({ hands }) => {
  await hands.view("Runs");
  await hands.doubleClick(
    "//*[@role='row'][.//*[contains(., '整点报时')] and .//*[contains(., 'Succeeded')]]",
    "a run that succeeded",
  );
  await hands.css("//*[@role='log']//*[contains(text(), '当当当，整点报时')]", "its output");
});

step("a job is dragged on the calendar, seen there, and taken back with Ctrl+Z", async ({ hands, browser }) => {
  await ask("apply_jobs", {
    text: 'name: morning-report\nprocessor: shell\nparameters: {command: "true"}\nschedule: {kind: cron, expression: "0 10 * * *", timeZone: Asia/Shanghai}\n',
  });
  const { days } = await ask("calendar", {});
  const wednesday = daysLater(days[0].date, 9);
  const chip = `[data-testid=calendar-day][data-date="${wednesday}"] [data-testid=calendar-entry][data-name="morning-report"]`;
  const due = async () => {
    const { jobs, entries } = await ask("calendar", { date: wednesday, days: 1 });
    return entries
      .filter((entry) => jobs[entry.job].name === "morning-report")
      .map((entry) => entry.due.text.slice(11, 16));
  };
  const stands = (time) =>
    eventually(`the firing stands at ${time}`, async () =>
      (await browser.$(chip).getAttribute("title")).includes(`${time}:00`),
    );

  await hands.view("Calendar");
  await hands.click("[data-testid=calendar-next]");
  await hands.drag(chip, { x: 0, y: 3 * HOUR }, "the firing");
  await hands.css("[data-testid=reschedule-dialog]", "the dialog");
  await hands.css("//*[@data-testid='reschedule-words'][contains(., '13:00')]", "what it would come to");
  assert.deepEqual(await due(), ["10:00"], "nothing is moved before it is saved");
  await hands.click("[data-testid=reschedule-save]");
  await hands.text("morning-report was moved");
  assert.deepEqual(await due(), ["13:00"]);
  await stands("13:00");
  await hands.keys("Control", "z");
  await hands.text("morning-report is back where it was");
  assert.deepEqual(await due(), ["10:00"]);
  await stands("10:00");

  // Once more, to be found again after the next start.
  await hands.drag(chip, { x: 0, y: 2 * HOUR }, "the firing");
  await hands.click("[data-testid=scope-all]");
  await hands.click("[data-testid=reschedule-save]");
  await stands("12:00");
  assert.equal((await ask("get_job", { job: "morning-report" })).spec.schedule.expression, "0 12 * * *");
});

step("a job that fails raises an alarm, which is acknowledged with a note", async ({ hands }) => {
  await ask("apply_jobs", {
    text: 'name: snaps\nprocessor: shell\nparameters: {command: "echo the rope has snapped >&2; exit 3"}\nschedule: {kind: manual}\nretry: {retries: 0}\n',
  });
  await hands.view("Jobs");
  await hands.doubleClick("//*[@role='row'][.//*[contains(text(), 'snaps')]]", "the job");
  await hands.heading("snaps");
  await hands.press("Run now");
  await hands.view("Alarms");
  await hands.click("//*[@role='row'][.//*[contains(., 'snaps')]]", "the alarm");
  await hands.keys("a");
  const note = await hands.field("Note");
  await note.addValue("已知：绳子断了");
  await hands.keys("Enter");
  await hands.text("1 alarm acknowledged");
  const { rows } = await ask("list_alarms", { states: ["acknowledged"] });
  assert.deepEqual(
    rows.map((row) => row.acknowledged.note),
    ["已知：绳子断了"],
  );
});

step("language and theme are switched live", async ({ hands, browser }) => {
  await hands.view("Settings");
  await hands.choose("简体中文");
  await hands.heading("设置");
  await hands.choose("深色");
  await eventually("the page is dark", () => browser.execute(() => document.documentElement.dataset.theme === "dark"));
  await eventually("both are stored", async () => {
    const { settings } = await ask("bootstrap");
    return settings.language === "zh" && settings.theme === "dark";
  });
});

step(
  "closing the window says that the engine goes on, and quitting what it means; quit, it is over",
  async ({ hands }) => {
    await closeWindow(place.display, TITLE);
    await hands.text("关闭窗口不会停止任何任务");
    await hands.text("退出则会同时停止引擎");
    assert.equal(await isShown(place.display, TITLE), true, "it waits for the answer");
    // The answer to this click may be lost with the program that it ends.
    await hands.press("退出").catch(() => {});
    await eventually("the window is gone", async () => !(await isShown(place.display, TITLE)));
    await shown.close();
    ended = Date.now();
    // Nobody drives the engine now, and what it did adds up.
    const { code, stdout, stderr } = await campanile(data, "ledger");
    assert.equal(code, 0, stdout + stderr);
  },
);

/** When the program had ended. */
let ended = 0;

/** When the job of each second last fired, read by a command of its own. */
async function latest() {
  const { rows } = await campanileJson(data, "runs", "整点报时");
  return Math.max(...rows.map((row) => row.due.ms));
}

step("started again, everything is there", async () => {
  const again = Date.now();
  shown = await openWindow(place, data);
  const { hands, browser } = shown;
  await hands.heading("概览", 30_000);
  await eventually("it is still dark", () => browser.execute(() => document.documentElement.dataset.theme === "dark"));
  await hands.view("任务");
  for (const name of ["整点报时", "morning-report", "snaps"]) await hands.text(name);
  const { schedule } = (await ask("get_job", { job: "morning-report" })).spec;
  assert.equal(schedule.expression, "0 12 * * *", "the move stayed");
  await hands.view("告警");
  await hands.text("已确认");
  const [alarm] = (await ask("list_alarms", { states: ["acknowledged"] })).rows;
  assert.equal(alarm.acknowledged.note, "已知：绳子断了");
  const { rows } = await ask("list_instances", { job: "snaps" });
  assert.deepEqual(
    rows.map((row) => row.state),
    ["failed"],
  );
  const of = await ask("list_instances", { job: "整点报时", limit: 200 });
  const meanwhile = of.rows.filter(({ started }) => started && started.ms > ended && started.ms < again);
  assert.deepEqual(meanwhile, [], "nothing ran while nobody drove the engine");
  const since = Date.now();
  await instance("整点报时", (row) => row.state === "succeeded" && row.due.ms > since, 30_000);
  const ledger = await ask("ledger");
  assert.equal(ledger.clean, true, JSON.stringify(ledger.findings));
});

step("closed by choice, the engine goes on without its window, and says so only once", async ({ hands }) => {
  await closeWindow(place.display, TITLE);
  await hands.text("关闭窗口不会停止任何任务");
  // A page that is not shown draws nothing, and the driver answers a click only when it has drawn again.
  const pressed = hands.press("关闭窗口").catch(() => {});
  await eventually("the window is hidden", async () => !(await isShown(place.display, TITLE)));
  const hidden = Date.now();
  await eventually("jobs run on without it", async () => (await latest()) > hidden + 1_000, {
    within: 30_000,
    every: 500,
  });

  // Starting it again brings the window back instead of a second engine.
  const second = place.launch(data);
  await eventually("the window is back", () => isShown(place.display, TITLE), { within: 20_000 });
  await eventually("the second program has ended by itself", () => second.ended);
  await pressed;
  await closeWindow(place.display, TITLE);
  await eventually("it hides without asking again", async () => !(await isShown(place.display, TITLE)));
});
