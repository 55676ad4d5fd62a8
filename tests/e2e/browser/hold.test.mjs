// Hold everything: one reason, nothing more is dispatched, every console shows it; released, what waited goes out.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { button } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

story(
  "everything is held with a reason, nothing is dispatched meanwhile, and released it goes on",
  async ({ page, node, open }) => {
    await node.instance("each-second", (row) => row.state === "succeeded");
    const other = await open(node.address);
    await other.page.getByRole("heading", { level: 1, name: "Pulse" }).waitFor();

    await button(page, "Hold everything").click();
    const dialog = page.getByRole("alertdialog", { name: "Hold everything?" });
    await dialog.getByRole("button", { name: "Hold everything" }).click();
    await dialog.getByText("Say why, so that whoever sees it knows").waitFor();
    await dialog.getByLabel("Reason").fill("the orders database is being restored");
    await page.keyboard.press("Enter");
    for (const each of [page, other.page]) {
      await each.getByRole("alert").getByText("Everything is held.").waitFor();
      await each
        .getByRole("alert")
        .getByText(/the orders database is being restored/)
        .waitFor();
    }

    const { hold } = await node.ask("status");
    // Launching goes on: three seconds' firings come and wait.
    const waiting = await eventually("firings after the hold wait", async () => {
      const { rows } = await node.ask("list_instances", { job: "each-second", limit: 50 });
      const later = rows.filter((row) => row.due.ms > hold.since + 1_000);
      return later.length >= 3 && later;
    });
    for (const row of waiting) {
      assert.equal(
        row.started,
        null,
        `due ${row.due.text} started ${row.started?.text} while held since ${hold.since}`,
      );
    }
    const { tasks } = await node.ask("get_instance", { instance: waiting[0].id });
    assert.ok(
      tasks.every((task) => task.state < 200),
      JSON.stringify(tasks.map((task) => task.state)),
    );
    const { chain } = await node.ask("get_instance", { instance: waiting[0].id });
    assert.ok(
      chain.some((link) => link.at === null && /held|hold/i.test(link.words.en)),
      JSON.stringify(chain),
    );

    await other.page.getByRole("alert").getByRole("button", { name: "Release" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    await eventually(
      "what waited has run",
      async () => {
        const { row } = await node.ask("get_instance", { instance: waiting[0].id });
        return row.state === "succeeded";
      },
      { within: 70_000 },
    );
    const { rows } = await node.ask("list_audit", {});
    assert.ok(
      rows.some((row) => /hold/i.test(row.action) && JSON.stringify(row).includes("the orders database")),
      "it is in the audit log",
    );
  },
  {
    timeout: 180_000,
    before: (node) =>
      node.job({
        name: "each-second",
        overlap: "allow",
        schedule: { kind: "fixedRate", everySeconds: 1 },
        parameters: { command: "true" },
      }),
  },
);
