// Writing a job: what is wrong stands beside its field, in both languages, and every version can be had back.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { button, choose, toast, writeJob } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

/** The one line under a field, which says what is wrong with it. */
const noteUnder = (page, label) =>
  page.getByLabel(label).first().locator("xpath=ancestor::div[contains(@class,'flex-col')][1]");

for (const [lang, words] of [
  [
    "en",
    {
      title: "New job",
      expression: "Cron expression",
      never: /never|30 February|does not exist/i,
      command: "Command",
      name: "Name",
    },
  ],
  ["zh", { title: "新建任务", expression: "Cron 表达式", never: /永远|不会|不存在/, command: "命令", name: "名称" }],
]) {
  story(
    `what is wrong with a job stands beside its field (${lang})`,
    async ({ page, node, go }) => {
      await go("/jobs/new");
      await page.getByRole("heading", { level: 1, name: words.title }).waitFor();
      await page.getByLabel(words.expression).fill("0 0 30 2 *");
      await noteUnder(page, words.expression).getByText(words.never).waitFor();
      // Nothing else is blamed before one has been there; after trying to save, everything is.
      assert.equal(await page.getByRole("textbox", { name: words.command }).getAttribute("aria-invalid"), null);
      await page.keyboard.press("Control+s");
      await eventually(
        "the missing name is marked",
        async () => (await page.getByLabel(words.name).first().getAttribute("aria-invalid")) === "true",
      );
      await eventually(
        "the missing command is marked",
        async () => (await page.getByRole("textbox", { name: words.command }).getAttribute("aria-invalid")) === "true",
      );
      assert.equal((await node.ask("list_jobs", {})).total, 0, "nothing was saved");

      await page.getByLabel(words.expression).fill("61 * * * *");
      await noteUnder(page, words.expression).getByText(/61/).waitFor();
      await page.getByLabel(words.expression).fill("0 0 * * *");
      await page.getByLabel(words.name).first().fill("right");
      await page.getByRole("textbox", { name: words.command }).fill("true");
      await page.keyboard.press("Control+s");
      await eventually("the job is saved", async () => (await node.ask("list_jobs", {})).total === 1);
    },
    { looks: { lang } },
  );
}

story("a name that is taken is refused beside the name", async ({ page, node, go, mayComplain }) => {
  mayComplain(/409|400/);
  await node.job({ name: "taken", parameters: { command: "true" } });
  await go("/jobs/new");
  await writeJob(page, { name: "taken", manually: true, command: "true" });
  await page.keyboard.press("Control+s");
  await noteUnder(page, "Name").getByText(/taken/).waitFor();
  assert.equal((await node.ask("list_jobs", {})).total, 1);
});

story(
  "a zone that nobody knows and parameters that cannot be are refused, wherever they come from",
  async ({ page, node, mayComplain }) => {
    mayComplain(/400|404/);
    const document = (more) =>
      `name: far-away\nprocessor: shell\nparameters: {command: "true"}\nschedule: {kind: cron, expression: "0 2 * * *", timeZone: ${more}}\n`;
    await assert.rejects(
      node.ask("apply_jobs", { text: document("Mars/Phobos") }),
      (error) => /Mars\/Phobos/.test(error.fault.message.en) && /Mars\/Phobos/.test(error.fault.message.zh),
    );
    await assert.rejects(
      node.job({ name: "no-command", parameters: {} }),
      (error) => error.fault.field?.startsWith("parameters") && error.fault.code.startsWith("k_sc_ec_"),
    );
    await assert.rejects(
      node.job({ name: "unknown", processor: "telepathy", parameters: {} }),
      (error) => error.fault.code === "k_sc_ec_300001",
    );
    assert.equal((await node.ask("list_jobs", {})).total, 0);

    // The same in the dialog: said before anything can be applied.
    await page.evaluate(() => window.location.assign("#/jobs?import=yaml"));
    const dialog = page.getByRole("dialog", { name: "Import jobs" });
    await dialog.getByLabel("Paste the lines here").fill(document("Mars/Phobos"));
    await dialog
      .getByText(/Mars\/Phobos/)
      .last()
      .waitFor();
    await dialog.getByText(/k_sc_ec_/).waitFor();
  },
);

story(
  "a changed job has a version for each change, and an old one can be restored and taken back",
  async ({ page, node }) => {
    const id = await node.job({
      name: "report",
      schedule: { kind: "cron", expression: "0 2 * * *", timeZone: "Asia/Shanghai" },
      parameters: { command: "echo one" },
    });
    await page.evaluate((job) => window.location.assign(`#/jobs/${job}/edit`), id);
    await page.getByLabel("Cron expression").fill("30 4 * * *");
    await page.getByRole("textbox", { name: "Command" }).fill("echo two\necho three");
    await page.keyboard.press("Control+s");
    await toast(page, "report saved").waitFor();
    const changed = await node.ask("get_job", { job: id });
    assert.equal(changed.row.version, 2);
    assert.equal(changed.spec.parameters.command, "echo two\necho three", "lines stay lines");

    await page.getByRole("tab", { name: /Versions/ }).click();
    const diff = page.getByTestId("version-diff");
    await diff.getByText("− daily at 02:00").waitFor();
    await diff.getByText("+ daily at 04:30").waitFor();
    await button(page, "Restore version 1").click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Restore" }).click();
    await toast(page, "Version 1 is in force again").waitFor();
    const restored = await node.ask("get_job", { job: id });
    assert.deepEqual(
      [restored.row.version, restored.spec.schedule.expression, restored.spec.parameters.command],
      [3, "0 2 * * *", "echo one"],
    );
    await page.keyboard.press("Control+z");
    await eventually(
      "the restoring is taken back",
      async () => (await node.ask("get_job", { job: id })).spec.schedule.expression === "30 4 * * *",
    );
  },
);

story("two people who change one job do not overwrite each other unseen", async ({ page, node, mayComplain }) => {
  mayComplain(/409/);
  const id = await node.job({ name: "shared", parameters: { command: "echo one" } });
  await page.evaluate((job) => window.location.assign(`#/jobs/${job}/edit`), id);
  await page.getByRole("textbox", { name: "Command" }).fill("echo mine");
  const { spec } = await node.ask("get_job", { job: id });
  await node.ask("save_job", { spec: { ...spec, parameters: { command: "echo theirs" } }, job: id, seen_version: 1 });
  await page.keyboard.press("Control+s");
  await button(page, "Reload").waitFor();
  assert.equal((await node.ask("get_job", { job: id })).spec.parameters.command, "echo theirs");
  await button(page, "Reload").click();
  await eventually(
    "the form shows what the other saved",
    async () => (await page.getByRole("textbox", { name: "Command" }).inputValue()) === "echo theirs",
  );
});

story("a schedule is built from every kind, and the next runs are shown before it is saved", async ({ page, go }) => {
  await go("/jobs/new");
  const preview = page.getByRole("complementary", { name: "Next runs" });
  await page.getByRole("heading", { level: 1, name: "New job" }).waitFor();
  await page.getByLabel("Cron expression").fill("0 9 * * 1-5");
  await preview.getByText(/09:00/).first().waitFor();
  await choose(page, "Repeat");
  await choose(page, "week");
  await page.getByRole("button", { name: "Tue", exact: true }).click();
  await preview
    .getByText(/Tuesday|Tue/)
    .first()
    .waitFor();
  await choose(page, "Interval");
  await preview
    .getByText(/15 min|every 15/i)
    .first()
    .waitFor();
  await choose(page, "Once");
  await page.getByLabel("Date and time").fill("2031-01-02 03:04");
  await preview.getByText(/2031/).first().waitFor();
  await page.getByLabel("Date and time").fill("2031-01-02 and some");
  await page.getByText("A date and a time, such as 2026-12-01 03:00").waitFor();
  await choose(page, "By hand");
  await preview.getByText("None is planned").waitFor();
});
