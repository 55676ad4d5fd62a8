// The schedule builder and what stands around it: an expression is judged where it is wrong, single runs are changed by
// hand, versions are compared and restored, and a month is as much a schedule as a week.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { choose, daysLater, drag, editJob, firing, toast, toView } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

/** Rows of the grid at its first zoom. */
const HOUR = 48;

const morning = (node) =>
  node.job({
    name: "morning-report",
    schedule: { kind: "cron", expression: "0 10 * * *", timeZone: "Asia/Shanghai" },
    parameters: { command: "true" },
  });

async function toNextWeek(page, node) {
  const { days } = await node.ask("calendar", {});
  const wednesday = daysLater(days[0].date, 9);
  await toView(page, "Calendar");
  await page.getByTestId("calendar-grid").waitFor();
  await page.getByTestId("calendar-next").click();
  await firing(page, "morning-report", wednesday).waitFor();
  return wednesday;
}

async function due(node, date) {
  const { jobs, entries } = await node.ask("calendar", { date, days: 1 });
  return entries
    .filter((entry) => jobs[entry.job].name === "morning-report")
    .map((entry) => entry.due.text.slice(11, 16));
}

story(
  "a quartz job is built: six fields are asked about, the fault is marked, the words are live",
  async ({ page, node }) => {
    await toView(page, "Jobs");
    await page.keyboard.press("n");
    await page.getByRole("heading", { level: 1, name: "New job" }).waitFor();
    await page.getByLabel("Name", { exact: false }).first().fill("last-friday");
    await choose(page, "Cron");
    const expression = page.getByLabel("Cron expression");
    await expression.fill("0 30 9 * * 6");
    await page.getByRole("group", { name: "Six fields can be read in two ways. Which is meant?" }).waitFor();
    await expression.fill("0 30 9 ? * 6L");
    await page.getByRole("button", { name: /Read as Quartz/ }).click();
    await page
      .getByText(/last Friday/i)
      .first()
      .waitFor();
    await expression.fill("0 30 25 ? * 6L");
    await eventually("the hour is marked as wrong", async () =>
      (await page.locator("li code span.text-bad").allTextContents()).includes("25"),
    );
    await expression.fill("0 30 9 ? * 6L");
    await page.getByRole("textbox", { name: "Command" }).fill("true");
    await page.keyboard.press("Control+s");
    await toast(page, "last-friday saved").waitFor();
    const { spec, preview } = await node.ask("get_job", { job: "last-friday" });
    assert.deepEqual([spec.schedule.dialect, spec.schedule.expression], ["quartz", "0 30 9 ? * 6L"]);
    for (const run of preview.runs.slice(0, 3)) {
      const day = new Date(`${run.due.text.slice(0, 10)}T00:00:00Z`);
      assert.equal(day.getUTCDay(), 5, run.due.text);
      assert.notEqual(new Date(day.getTime() + 7 * 86_400_000).getUTCMonth(), day.getUTCMonth(), run.due.text);
    }
  },
);

story(
  "a single run is left out in the form, beside its time, and is there again when that is taken back",
  async ({ page, node }) => {
    await toView(page, "Jobs");
    await editJob(page, "morning-report");
    const runs = page.getByRole("complementary", { name: "Next runs" });
    const first = await runs.locator("li").first().textContent();
    await runs.locator("li").first().hover();
    await runs.getByRole("button", { name: "Change this run" }).first().click();
    await page.getByRole("menuitem", { name: "Leave this run out" }).click();
    await eventually(
      "the list begins with the next",
      async () => (await runs.locator("li").first().textContent()) !== first,
    );
    await page.keyboard.press("Control+s");
    await toast(page, "morning-report saved").waitFor();
    const { spec } = await node.ask("get_job", { job: "morning-report" });
    assert.deepEqual(
      spec.exceptions.map((each) => each.change),
      ["skip"],
    );
  },
  { before: morning },
);

story(
  "a run is skipped with the right button, put down a second time with Alt, and its edge pulled into a spread",
  async ({ page, node }) => {
    const wednesday = await toNextWeek(page, node);
    await firing(page, "morning-report", wednesday).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Skip this run" }).click();
    await toast(page, /will not run on/).waitFor();
    await eventually("it does not run that day", async () => (await due(node, wednesday)).length === 0);
    await page.keyboard.press("Control+z");
    await eventually("it does again", async () => (await due(node, wednesday)).join() === "10:00");

    const thursday = daysLater(wednesday, 1);
    await page.keyboard.down("Alt");
    await drag(page, firing(page, "morning-report", thursday), { x: 0, y: 2 * HOUR });
    await page.keyboard.up("Alt");
    const copy = page.getByRole("dialog", { name: "One run more of morning-report" });
    await copy.getByText("12:00").first().waitFor();
    await copy.getByTestId("change-save").click();
    await toast(page, "morning-report runs once more").waitFor();
    assert.deepEqual(await due(node, thursday), ["10:00", "12:00"]);

    const friday = daysLater(wednesday, 2);
    const chip = firing(page, "morning-report", friday);
    const box = await chip.boundingBox();
    await page.mouse.move(box.x + 20, box.y + box.height - 2);
    await page.mouse.down();
    await page.mouse.move(box.x + 20, box.y + HOUR, { steps: 6 });
    await page.mouse.up();
    const spread = page.getByRole("dialog", { name: "Spread morning-report" });
    await spread.getByTestId("change-save").click();
    await toast(page, "morning-report has a new spread").waitFor();
    const { spec } = await node.ask("get_job", { job: "morning-report" });
    assert.ok(spec.spreadSeconds >= 50 * 60 && spec.spreadSeconds <= 70 * 60, String(spec.spreadSeconds));
  },
  { before: morning },
);

story(
  "in the month a run is taken to another day, where it keeps its time",
  async ({ page, node }) => {
    const { days } = await node.ask("calendar", {});
    const monday = daysLater(days[0].date, 7);
    await toView(page, "Calendar");
    await page.keyboard.press("o");
    await page.getByTestId("calendar-month").waitFor();
    const day = (date) => page.locator(`[data-testid=month-day][data-date="${date}"]`);
    if ((await day(monday).count()) === 0) await page.keyboard.press("j");
    const chip = day(monday).locator('[data-testid=calendar-entry][data-name="morning-report"]');
    await chip.waitFor();
    const [from, to] = [await chip.boundingBox(), await day(daysLater(monday, 1)).boundingBox()];
    await drag(page, chip, { x: to.x + to.width / 2 - from.x - 20, y: 10 });
    const dialog = page.getByRole("dialog", { name: "Move morning-report" });
    await dialog.getByTestId("scope-thisRun").click();
    await dialog.getByTestId("reschedule-save").click();
    await toast(page, "morning-report was moved").waitFor();
    assert.deepEqual(await due(node, monday), []);
  },
  { before: morning },
);

story(
  "any two versions are compared, by field and by the runs they plan, and one is restored",
  async ({ page, node }) => {
    const { row, spec } = await node.ask("get_job", { job: "morning-report" });
    for (const [i, expression] of ["0 11 * * *", "0 12 * * *"].entries())
      await node.ask("save_job", {
        spec: { ...spec, schedule: { ...spec.schedule, expression } },
        job: row.id,
        seen_version: 1 + i,
      });
    await page.evaluate((job) => window.location.assign(`#/jobs/${job}?tab=versions`), row.id);
    const diff = page.getByTestId("version-diff");
    await diff.getByText("− daily at 11:00").waitFor();
    await page.getByRole("radio", { name: "Compare from version 1" }).check();
    await diff.getByText("− daily at 10:00").waitFor();
    await diff.getByText("+ daily at 12:00").waitFor();
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Restore" }).click();
    await toast(page, "Version 1 is in force again").waitFor();
    const after = await node.ask("get_job", { job: "morning-report" });
    assert.deepEqual([after.row.version, after.spec.schedule.expression], [4, "0 10 * * *"]);
  },
  { before: morning },
);
