// What was missed while the node was away and is to be asked about waits on Pulse, and is run or left.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { toast } from "../harness/hands.mjs";
import { serve } from "../harness/programs.mjs";
import { story } from "../harness/stories.mjs";

/** Long enough for a page to be opened before, and for the node to be stopped. */
const SOON_MS = 15_000;

story(
  "runs missed while the node was stopped are asked about: one is run, the other left",
  async ({ node, close, open, also }) => {
    const { spec } = await node.ask("get_job", { job: "to-leave" });
    await close();
    await node.program.stop();
    await eventually("their time has passed", () => Date.now() > spec.schedule.at + 1_500, { within: 60_000 });
    const again = await serve({ data: node.data });
    also(again);
    await eventually("both are asked about", async () => (await again.ask("list_questions")).rows.length === 2);

    const { page } = await open(again.address);
    const question = (name) => page.getByTestId("question").filter({ hasText: name });
    await question("to-run").getByRole("button", { name: "Run", exact: true }).click();
    await toast(page, "to-run was started").waitFor();
    await question("to-run").waitFor({ state: "detached" });
    await again.instance("to-run", (row) => row.state === "succeeded");
    await question("to-leave").getByRole("button", { name: "Skip", exact: true }).click();
    await question("to-leave").waitFor({ state: "detached" });
    assert.deepEqual((await again.ask("list_questions")).rows, []);
    assert.deepEqual((await again.ask("list_instances", { job: "to-leave" })).rows, []);
  },
  {
    before: async (node) => {
      for (const name of ["to-run", "to-leave"])
        await node.job({
          name,
          schedule: { kind: "once", at: Date.now() + SOON_MS },
          misfire: { policy: "ask", graceSeconds: 0, max: 100 },
          parameters: { command: "true" },
        });
    },
  },
);
