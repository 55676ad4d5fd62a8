// Windows in which nothing fires: written with their effect in sight, painted on the days, their ends pulled by the hand or
// by keys, named by a job; and all of it taken back.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { choose, daysLater, drag, editJob, firing, toast, toView } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

/** Rows of the grid at its first zoom. */
const HOUR = 48;
const HOUR_MS = 3_600_000;

const morning = (node) =>
  node.job({
    name: "morning-report",
    schedule: { kind: "cron", expression: "0 10 * * *", timeZone: "Asia/Shanghai" },
    parameters: { command: "true" },
  });

const windows = async (node) => (await node.ask("list_blackouts", {})).rows;

/** Wednesday of the next week, which is wholly to come, as the calendar has it. */
async function wednesday(node) {
  const { days } = await node.ask("calendar", {});
  const { days: next } = await node.ask("calendar", { date: daysLater(days[0].date, 9), days: 1 });
  return next[0];
}

const toNextWeek = async (page) => {
  await toView(page, "Calendar");
  await page.getByTestId("calendar-grid").waitFor();
  await page.getByTestId("calendar-next").click();
};

const onDay = (page, date, what) =>
  page.locator(`[data-testid=calendar-day][data-date="${date}"] [data-testid=${what}]`);

story(
  "a window is written with its effect in sight, stands on the days, and its removal is taken back",
  async ({ page, node }) => {
    await toView(page, "Settings");
    await page.getByTestId("blackout-add").click();
    const dialog = page.getByRole("dialog", { name: "New blackout window" });
    await dialog.getByLabel("Name").fill("freeze");
    await choose(page, "again and again");
    await choose(page, "Cron");
    await dialog.getByLabel("Cron expression").fill("0 25 * * *");
    await eventually(
      "the wrong hour is said beside the field",
      async () => (await dialog.getByLabel("Cron expression").getAttribute("aria-invalid")) === "true",
    );
    await dialog.getByLabel("Cron expression").fill("0 9 * * *");
    await dialog.getByRole("button", { name: /Time zone/ }).click();
    await page.getByRole("option", { name: "Asia/Shanghai", exact: true }).click();
    const lost = dialog.locator("[data-testid=effect-row][data-name=morning-report]");
    await lost.getByText("×31").waitFor();
    await lost.getByText("one run at the end of the window").waitFor();
    assert.deepEqual(await windows(node), [], "nothing is put before it is saved");
    await dialog.getByTestId("blackout-save").click();
    await toast(page, "Blackout window freeze is in place").waitFor();
    const [row] = await windows(node);
    assert.deepEqual([row.name, row.blackout.window.durationSeconds], ["freeze", 7_200]);
    const { preview } = await node.ask("get_job", { job: "morning-report" });
    assert.match(preview.runs[0].reason.en, /blackout window freeze/);

    const { date } = await wednesday(node);
    await toNextWeek(page);
    await onDay(page, date, "blackout").click();
    await page.getByTestId("blackout-popover").getByText("For everything", { exact: false }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("o");
    await page.locator(`[data-testid=month-day][data-date="${date}"] [data-testid=blackout-mark]`).waitFor();

    await toView(page, "Settings");
    await page.getByRole("button", { name: "Remove freeze" }).click();
    await toast(page, "Blackout window freeze is removed").waitFor();
    assert.deepEqual(await windows(node), []);
    await page.keyboard.press("Control+z");
    await toast(page, "Blackout window freeze is there again").waitFor();
    assert.equal((await windows(node)).length, 1);
  },
  { before: morning },
);

story(
  "the end of a window is pulled by the hand, and back; then by keys",
  async ({ page, node }) => {
    const day = await wednesday(node);
    const [from, until] = [day.start + 12 * HOUR_MS, day.start + 14 * HOUR_MS];
    await node.ask("put_blackout", { name: "move", blackout: { window: { from, until } } });
    await toNextWeek(page);
    await drag(page, onDay(page, day.date, "blackout-end"), { x: 0, y: HOUR });
    const dialog = page.getByTestId("pull-dialog");
    await dialog.getByTestId("blackout-effect").waitFor();
    assert.equal((await windows(node))[0].blackout.window.until, until, "nothing is changed before it is saved");
    await page.getByTestId("pull-save").click();
    await toast(page, "Blackout window move has another end").waitFor();
    assert.equal((await windows(node))[0].blackout.window.until, until + HOUR_MS);
    await page.keyboard.press("Control+z");
    await toast(page, "Blackout window move is as it was").waitFor();
    assert.equal((await windows(node))[0].blackout.window.until, until);

    const bar = onDay(page, day.date, "blackout");
    await bar.focus();
    await page.keyboard.press("m");
    for (let i = 0; i < 2; i++) await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Escape");
    assert.equal(await page.getByTestId("blackout-ghost").count(), 0, "Escape leaves it where it was");
    await bar.focus();
    await page.keyboard.press("m");
    for (let i = 0; i < 2; i++) await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await dialog.getByTestId("blackout-effect").waitFor();
    await page.getByTestId("pull-save").click();
    await eventually(
      "it ends half an hour earlier",
      async () => (await windows(node))[0].blackout.window.until === until - HOUR_MS / 2,
    );
  },
  { before: morning },
);

story(
  "of a window that comes again the dialog says that all of its times change",
  async ({ page, node }) => {
    const schedule = { kind: "cron", expression: "0 12 * * *", timeZone: "Asia/Shanghai" };
    await node.ask("put_blackout", { name: "noon", blackout: { window: { schedule, durationSeconds: 3_600 } } });
    const { date } = await wednesday(node);
    await toNextWeek(page);
    await drag(page, onDay(page, date, "blackout-end"), { x: 0, y: HOUR });
    const dialog = page.getByTestId("pull-dialog");
    await dialog.getByText("This changes all of its times").waitFor();
    await dialog.getByTestId("blackout-effect").waitFor();
    await page.getByTestId("pull-save").click();
    await toast(page, "Blackout window noon has another end").waitFor();
    assert.equal((await windows(node))[0].blackout.window.durationSeconds, 7_200);
  },
  { before: morning },
);

story(
  "a job names a window and has one of its own; what is wrong stands beside its field",
  async ({ page, node }) => {
    const { start } = await wednesday(node);
    const window = { from: start, until: start + HOUR_MS };
    await node.ask("put_blackout", { name: "move", blackout: { window, tags: ["nobody-has-this"] } });
    await toView(page, "Jobs");
    await editJob(page, "morning-report");
    const group = page.getByRole("group", { name: "Blackout windows" });
    await group.getByRole("button", { name: "Name one" }).click();
    await page.getByRole("menuitem", { name: "move" }).click();
    await group.getByRole("button", { name: "Its own" }).click();
    const end = group.getByLabel("Until");
    const was = await end.inputValue();
    await end.fill("2020-01-01 00:00");
    await group.getByText("it ends before it begins").waitFor();
    await end.fill(was);
    await eventually("it is right again", async () => (await end.getAttribute("aria-invalid")) !== "true");
    await page.keyboard.press("Control+s");
    await toast(page, "morning-report saved").waitFor();
    const { spec } = await node.ask("get_job", { job: "morning-report" });
    assert.equal(spec.blackouts[0], "move");
    assert.equal(spec.blackouts[1].until - spec.blackouts[1].from, 2 * HOUR_MS);
  },
  { before: morning },
);

story(
  "a change by hand that a new schedule leaves without meaning is shown before it is saved",
  async ({ page, node }) => {
    const { date } = await wednesday(node);
    await toNextWeek(page);
    await firing(page, "morning-report", date).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Skip this run" }).click();
    await toast(page, /will not run on/).waitFor();
    await toView(page, "Jobs");
    await editJob(page, "morning-report");
    await page.getByLabel("Cron expression").fill("30 11 * * *");
    await page.getByTestId("lapsed").getByText(`${date} 10:00:00 skipped`).waitFor();
    await page.keyboard.press("Control+s");
    const ask = page.getByRole("alertdialog", { name: "Save without them?" });
    await ask.getByText(`${date} 10:00:00 skipped`).waitFor();
    assert.equal((await node.ask("get_job", { job: "morning-report" })).spec.exceptions.length, 1, "it is only asked");
    await ask.getByRole("button", { name: "Save without them" }).click();
    await toast(page, "morning-report saved").waitFor();
    const { spec } = await node.ask("get_job", { job: "morning-report" });
    assert.deepEqual([spec.schedule.expression, spec.exceptions ?? []], ["30 11 * * *", []]);
  },
  { before: morning },
);

story(
  "a change by hand that a drag of all runs would leave without meaning is shown in its dialog",
  async ({ page, node }) => {
    const { date } = await wednesday(node);
    await toNextWeek(page);
    await firing(page, "morning-report", date).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Skip this run" }).click();
    await toast(page, /will not run on/).waitFor();
    await drag(page, firing(page, "morning-report", daysLater(date, 1)), { x: 0, y: HOUR });
    const dialog = page.getByRole("dialog", { name: "Move morning-report" });
    await dialog.getByTestId("scope-thisRun").waitFor();
    assert.equal(await dialog.getByTestId("reschedule-lapsed").count(), 0, "one run more or less changes no schedule");
    await dialog.getByTestId("scope-all").click();
    await dialog.getByTestId("reschedule-lapsed").getByText(`${date} 10:00:00 skipped`).waitFor();
    await dialog.getByTestId("reschedule-save").click();
    await toast(page, "morning-report was moved").waitFor();
    const { spec } = await node.ask("get_job", { job: "morning-report" });
    assert.deepEqual([spec.schedule.expression, spec.exceptions ?? []], ["0 11 * * *", []]);
  },
  { before: morning },
);

story(
  "a version that takes effect later is marked so, and the one before it is in force until then",
  async ({ page, node, go }) => {
    const { spec, row } = await node.ask("get_job", { job: "morning-report" });
    const { start } = await wednesday(node);
    const later = { ...spec, schedule: { ...spec.schedule, expression: "0 12 * * *" }, effectiveFrom: start };
    await node.ask("save_job", { spec: later, job: "morning-report", seen_version: row.version });
    await go(`/jobs/${row.id}?tab=versions`);
    const version = (n) => page.locator(`[data-testid=version][data-version="${n}"]`);
    await version(2)
      .getByText(/^takes effect \d{4}-/)
      .waitFor();
    await version(1).getByText("in force").waitFor();
    assert.equal(await version(2).getByText("in force").count(), 0);
    await page.getByTestId("version-diff").getByText("Schedule").waitFor();
  },
  { before: morning },
);
