// A story in Chromium: a node on an empty folder, a console in a page, and the promise that the page never complained.
//
//   story("a job is paused", async ({ node, page, open }) => { … });
//
// One browser serves all stories of a file. When a story fails, the page as it stood and what the node printed are left
// in failures/.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { closeChrome, openConsole } from "./console.mjs";
import { serve } from "./programs.mjs";

const FAILURES = new URL("../failures/", import.meta.url).pathname;

after(closeChrome);

/** @typedef {Awaited<ReturnType<typeof openConsole>> & { node: Awaited<ReturnType<typeof serve>>, open: typeof openConsole, also: (node: Awaited<ReturnType<typeof serve>>) => void }} Scene */

/**
 * @param {string} name
 * @param {(scene: Scene) => Promise<void>} tell
 * @param {{ shell?: boolean, args?: string[], timeout?: number, looks?: Parameters<typeof openConsole>[1], before?: (node: Awaited<ReturnType<typeof serve>>) => Promise<void> }} [wishes]
 */
export function story(name, tell, { shell = true, args, timeout = 120_000, looks, before } = {}) {
  test(name, { timeout }, async () => {
    const node = await serve({ shell, args });
    const nodes = [node];
    /** @type {Awaited<ReturnType<typeof openConsole>>[]} */
    const consoles = [];
    const open = async (...args) => {
      const opened = await openConsole(...args);
      consoles.push(opened);
      return opened;
    };
    try {
      await before?.(node);
      const first = await open(node.address, looks);
      await tell({ ...first, node, open, also: (other) => nodes.push(other) });
      for (const each of consoles) assert.deepEqual(each.complaints, [], "the page complained");
    } catch (error) {
      await keep(name, consoles, nodes);
      throw error;
    } finally {
      for (const each of consoles) await each.close();
      for (const each of nodes) await each.program.stop();
    }
  });
}

async function keep(name, consoles, nodes) {
  mkdirSync(FAILURES, { recursive: true });
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9\u4e00-\u9fff]+/g, "-")
    .slice(0, 60);
  for (const [i, each] of consoles.entries()) {
    await each.page.screenshot({ path: join(FAILURES, `${slug}-${i + 1}.png`) }).catch(() => {});
  }
  const printed = nodes.map((node) => node.program.printed).join("\n---\n");
  const complaints = consoles.flatMap((each) => each.complaints).join("\n");
  writeFileSync(join(FAILURES, `${slug}.log`), `${complaints}\n\n${printed}`);
}
