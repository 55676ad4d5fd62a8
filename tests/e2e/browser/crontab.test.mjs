// A crontab as it is found on real machines: what can be becomes jobs, what cannot is listed with its line and reason,
// and nothing is half done.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { eventually } from "../harness/eventually.mjs";
import { toast } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

const CRONTAB = readFileSync(new URL("forty-lines.crontab", import.meta.url), "utf8");
const LINES = CRONTAB.split("\n");
const WRONG = LINES.findIndex((line) => line.includes("no-such-hour")) + 1;
const SCHEDULED = LINES.filter((line) => /^(@|[\d*])/.test(line)).length - 1;

story(
  "a crontab of forty lines is pasted: each becomes a job but one, refused with its number and reason",
  async ({ page, node }) => {
    await page.getByRole("button", { name: /^Paste a crontab/ }).click();
    const dialog = page.getByRole("dialog", { name: "Import jobs" });
    await dialog.getByLabel("Paste the lines here").fill(CRONTAB);
    await dialog.getByText(`${SCHEDULED} jobs · 1 line refused`).waitFor();

    const reading = await node.ask("read_crontab", { text: CRONTAB, zone: null });
    const refused = reading.lines.filter((line) => line.outcome.is === "refused");
    assert.deepEqual(
      refused.map((line) => line.number),
      [WRONG],
    );
    await dialog.getByText(refused[0].outcome.fault.message.en).waitFor();
    await dialog
      .getByText(LINES[WRONG - 1])
      .last()
      .waitFor();
    assert.equal((await node.ask("pulse")).jobs, 0, "reading makes nothing");

    await dialog.getByRole("button", { name: `Create ${SCHEDULED} jobs` }).click();
    await toast(page, `${SCHEDULED} jobs created`).waitFor();
    const { rows, total } = await eventually("the jobs are there", async () => {
      const jobs = await node.ask("list_jobs", { limit: 100 });
      return jobs.total === SCHEDULED && jobs;
    });
    assert.equal(total, SCHEDULED);
    assert.equal(new Set(rows.map((row) => row.name)).size, SCHEDULED, "each has a name of its own");
    const details = await Promise.all(rows.map((row) => node.ask("get_job", { job: row.id })));
    const of = (command) => details.find((each) => each.spec.parameters.command.includes(command));
    assert.equal(of("berlin-open").spec.schedule.timeZone, "Europe/Berlin", "CRON_TZ holds for the lines below it");
    assert.notEqual(of("heartbeat").spec.schedule.timeZone, "Europe/Berlin");
    assert.ok(of("date +%F"), "an escaped percent sign is one");
    assert.ok(JSON.stringify(of("mail -s report").spec.parameters).includes("the report is attached"));
    assert.match(of("heartbeat").spec.parameters.environment.PATH, /^\/usr\/local\/sbin:/);
    assert.equal(of("heartbeat").spec.parameters.shell, "/bin/bash");
    await page.getByRole("grid", { name: "Jobs" }).getByText("every minute", { exact: false }).first().waitFor();
  },
);

story("lines can be left out, and pasting the same again makes nothing of the same name", async ({ page, node }) => {
  await page.getByRole("button", { name: /^Paste a crontab/ }).click();
  const dialog = page.getByRole("dialog", { name: "Import jobs" });
  await dialog
    .getByLabel("Paste the lines here")
    .fill("0 2 * * * /bin/one\n0 3 * * * /bin/two\n0 4 * * * /bin/three\n");
  await dialog.getByText("3 jobs · nothing refused").waitFor();
  await dialog.getByRole("checkbox", { name: "Take this line" }).nth(1).locator("xpath=ancestor::label").click();
  await dialog.getByRole("button", { name: "Create 2 jobs" }).click();
  await toast(page, "2 jobs created").waitFor();
  const { rows } = await node.ask("list_jobs", {});
  assert.deepEqual(rows.map((row) => row.name).sort(), ["one", "three"]);
  await node.ask("import_crontab", { text: "0 5 * * * /bin/one", zone: null });
  assert.deepEqual((await node.ask("list_jobs", {})).rows.map((row) => row.name).sort(), ["one", "one-2", "three"]);
});

story("where no line can become a job, nothing can be created", async ({ page, node }) => {
  await page.getByRole("button", { name: /^Paste a crontab/ }).click();
  const dialog = page.getByRole("dialog", { name: "Import jobs" });
  await dialog
    .getByLabel("Paste the lines here")
    .fill("this is no crontab\n61 * * * * /bin/never\n0 0 30 2 * /bin/neither\n");
  await dialog.getByText("0 jobs · 3 lines refused").waitFor();
  await assert.rejects(node.ask("import_crontab", { text: "61 * * * * /bin/never", zone: null }), (error) =>
    error.fault.code.startsWith("k_sc_ec_0"),
  );
  assert.equal((await node.ask("list_jobs", {})).total, 0);
});
