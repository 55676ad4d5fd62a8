// Who may come in: the address with its token opens the console, anything else gets a page that says what to do.
import assert from "node:assert/strict";
import { story } from "../harness/stories.mjs";

story("a wrong token is refused with a page that says what to do", async ({ node, open }) => {
  const stranger = await open(`${node.origin}/#token=not-the-token`);
  stranger.mayComplain(/401|403|WebSocket/);
  await stranger.page.getByText("the access token is missing or wrong").first().waitFor();
  await stranger.page.getByText("Open the address that `campanile serve` printed.").first().waitFor();
  await stranger.page.getByText("k_sc_ec_400006").first().waitFor();
  assert.equal(await stranger.page.getByText("Try it with sample jobs").count(), 0);
});

story("no token at all is refused in the reader's language", async ({ node, open }) => {
  const stranger = await open(`${node.origin}/`, { lang: "zh" });
  stranger.mayComplain(/401|403|WebSocket/);
  await stranger.page.getByText("访问令牌缺失或不正确").first().waitFor();
});

story("the token is taken out of the address and outlasts a reload", async ({ page, node }) => {
  await page.getByRole("heading", { level: 1, name: "Pulse" }).waitFor();
  assert.ok(!page.url().includes("token"), page.url());
  assert.ok(!page.url().includes(node.token));
  await page.reload();
  await page.getByText("Nothing is scheduled").or(page.getByText("Try it with sample jobs")).first().waitFor();
});

story("what a page on another site sends is refused", async ({ node }) => {
  const asked = (headers) =>
    fetch(`${node.origin}/api/bootstrap`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ input: {}, zone: "local", lang: "en" }),
    });
  for (const headers of [
    {},
    { authorization: "Bearer " },
    { authorization: `Basic ${node.token}` },
    { authorization: `Bearer ${node.token}x` },
  ]) {
    const response = await asked(headers);
    assert.equal(response.status, 401, JSON.stringify(headers));
    assert.equal((await response.json()).code, "k_sc_ec_400006");
  }
  const known = await asked({ authorization: `Bearer ${node.token}` });
  assert.equal(known.status, 200);
});

story(
  "an operation that does not exist and input that is no input are refused, and change nothing",
  async ({ node }) => {
    await assert.rejects(node.ask("drop_everything"), (error) => error.fault.code === "k_sc_ec_400009");
    await assert.rejects(node.ask("get_job", { job: 7 }), (error) => error.fault?.code?.startsWith("k_sc_ec_"));
    await assert.rejects(node.ask("get_job", { job: "no such job" }), (error) => error.fault.code === "k_sc_ec_000004");
    await assert.rejects(
      node.ask("get_instance", { instance: "999" }),
      (error) => error.fault.code === "k_sc_ec_100004",
    );
    assert.equal((await node.ask("pulse")).jobs, 0);
  },
);
