// Locks that tasks hold through a real executor, as people see them: who has one, for how long yet, who waits for it, what
// it is worth, and the way from there to the run.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { button, toView } from "../harness/hands.mjs";
import { freeAddress, joins } from "../harness/programs.mjs";
import { story } from "../harness/stories.mjs";

const EXECUTORS = await freeAddress();

const saves = (node, name, parameters) =>
  node.job({ name, executorGroup: "conformance", processor: "locks", parameters, overlap: "allow" });

story(
  "a lock is seen with its holder, its time and who waits for it, and leads to the run",
  async ({ page, node, go, also }) => {
    await go("/infrastructure");
    await page.getByTestId("infrastructure-verdict").getByText("This program drives the engine").waitFor();
    const locks = page.getByRole("grid", { name: "Locks" });
    await locks.getByText("Nothing is locked").waitFor();
    await page
      .getByTestId("locks-worth")
      .getByText(/until then two may believe that they have it/)
      .waitFor();

    const executor = joins(EXECUTORS, "one", { capacity: 4 });
    also({ program: executor });
    await saves(node, "book", { lock: "accounts/17", ms: 600_000, again: true });
    await saves(node, "月末结账", { lock: "账簿", ms: 600_000 });
    const { instances } = await node.ask("run_jobs", { jobs: ["book"] });
    const row = locks.getByRole("row").filter({ hasText: "accounts/17" });
    await row.getByRole("link", { name: "book" }).waitFor();
    await row.getByText("conformance/one").waitFor();
    await row.getByText("renewed").waitFor();
    await row.getByText("nobody").waitFor();

    // It comes and goes without being asked for, and who waits is counted.
    await node.ask("run_jobs", { jobs: ["book"], beside: true });
    await row.getByText("1 waits").waitFor();
    await node.ask("run_jobs", { jobs: ["月末结账"] });
    await locks.getByText("账簿").waitFor();
    await page.getByTestId("locks-count").getByText("2 locks").waitFor();

    // Its time goes down, and is renewed before it is over.
    const left = async () => Number(/(\d+) s/.exec(await row.getByTestId("lock-left").innerText())?.[1]);
    const first = await left();
    assert.ok(first > 10 && first <= 30, `${first} s`);
    await eventually("its time goes down", async () => (await left()) < first);
    await eventually("it is renewed", async () => (await left()) > 25, { within: 30_000 });

    await page.getByRole("textbox", { name: "Find a lock, a job or an executor" }).fill("月末");
    await page.getByTestId("locks-count").getByText("1 of 2 locks").waitFor();
    assert.equal(await row.count(), 0);
    await page.getByRole("textbox", { name: "Find a lock, a job or an executor" }).fill("nothing like it");
    await button(page, "Clear the search").click();

    await row.getByText("accounts/17").dblclick();
    const detail = page.getByTestId("lock-detail");
    await detail.getByText("Waiting for it").waitFor();
    await detail.getByRole("listitem").getByText("book").waitFor();
    await page.keyboard.press("Escape");
    await detail.waitFor({ state: "detached" });

    await row.getByRole("link", { name: "book" }).click();
    await page.getByTestId("run-chain").waitFor();
    assert.ok(page.url().includes(instances[0]), page.url());

    // Its executor dies: the lock is free, and nothing is shown that is not there.
    await executor.kill();
    await toView(page, "Infrastructure");
    await locks.getByText("Nothing is locked").waitFor();
  },
  { args: ["--executors", EXECUTORS] },
);
