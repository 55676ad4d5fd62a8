// A failure comes in as an alarm, is read and answered by keys, and says so when it is over.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { toast, toView } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

const failing = async (node) => {
  for (const name of ["alpha", "beta"]) {
    await node.job({
      name,
      retry: { retries: 0, baseSeconds: 1, maxSeconds: 60, multiplier: 2 },
      parameters: { command: `test -e ${node.data}/mended-${name}` },
    });
  }
};

story(
  "an alarm arrives unasked, is acknowledged with j, a and a note, and resolves when the job is well again",
  async ({ page, node }) => {
    await toView(page, "Alarms");
    await page.getByText("No open alarms").waitFor();
    await node.ask("run_jobs", { jobs: ["alpha", "beta"] });
    const grid = page.getByRole("grid", { name: "Alarms" });
    await grid.getByText("alpha").first().waitFor();
    await grid.getByText("beta").first().waitFor();
    await page.getByRole("navigation").getByText("2", { exact: true }).waitFor();

    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("a");
    const dialog = page.getByRole("dialog", { name: "Acknowledge this alarm" });
    await dialog.getByLabel("Note").fill("the disk was moved; 已知");
    await page.keyboard.press("Enter");
    await toast(page, "1 alarm acknowledged").waitFor();
    const [acknowledged] = (await node.ask("list_alarms", { states: ["acknowledged"] })).rows;
    assert.equal(acknowledged.acknowledged.note, "the disk was moved; 已知");
    await page.getByRole("navigation").getByText("1", { exact: true }).waitFor();

    await grid.getByText("Acknowledged").dblclick();
    await page.getByRole("complementary", { name: "Alarms" }).getByText("the disk was moved; 已知").waitFor();
    await page.keyboard.press("Escape");

    const { writeFileSync } = await import("node:fs");
    for (const name of ["alpha", "beta"]) writeFileSync(`${node.data}/mended-${name}`, "");
    await node.ask("run_jobs", { jobs: ["alpha", "beta"] });
    await eventually(
      "both alarms resolve",
      async () => (await node.ask("list_alarms", { states: ["resolved"] })).rows.length === 2,
      { within: 40_000 },
    );
    await page.getByText("No open alarms").waitFor();
    await page.getByText("Nothing is firing.").waitFor();
  },
  { before: failing },
);

story(
  "a note is needed to acknowledge, and says so",
  async ({ page, node, mayComplain }) => {
    mayComplain(/400/);
    await node.ask("run_jobs", { jobs: ["alpha"] });
    await toView(page, "Alarms");
    await page.getByRole("grid", { name: "Alarms" }).getByText("alpha").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("a");
    await page.getByRole("dialog").getByRole("button", { name: "Acknowledge" }).click();
    await page
      .getByText(/acknowledging an alarm takes a note|Say what you know/i)
      .first()
      .waitFor();
    assert.equal((await node.ask("list_alarms", { states: ["acknowledged"] })).rows.length, 0);
  },
  { before: failing },
);
