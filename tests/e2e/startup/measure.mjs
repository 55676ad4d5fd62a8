// How long the desktop app takes from the start of its process to a window that can be used, and how much memory all of
// its processes hold together. Prints figures; judges nothing.
//
// Usable is when the console has its first answers on the page, which it marks itself. Memory is PSS: what is shared is
// counted once.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { desk, openWindow } from "../harness/desktop.mjs";
import { eventually } from "../harness/eventually.mjs";
import { freshFolder, required } from "../harness/programs.mjs";

const ROUNDS = 5;
/** Of the kernel's clock, on every Linux. */
const TICKS_A_SECOND = 100;

/** What /proc tells of each process: its parent, its name, when it began. */
function processes() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return [
          {
            pid: Number(pid),
            parent: Number(fields[1]),
            name: stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")")),
            ticks: Number(fields[19]),
          },
        ];
      } catch {
        return [];
      }
    });
}

/** On the wall clock: the kernel tells it in ticks since boot. */
function startedAt(process) {
  const uptime = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
  return Date.now() - (uptime - process.ticks / TICKS_A_SECOND) * 1000;
}

function pssOf(root) {
  const all = processes();
  const family = new Set([root]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent } of all) if (family.has(parent) && !family.has(pid)) grown = family.add(pid).size > 0;
  }
  const parts = [...family].map((pid) => {
    const kilobytes = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    return { name: all.find((each) => each.pid === pid)?.name ?? "?", megabytes: kilobytes / 1024 };
  });
  return { total: parts.reduce((sum, part) => sum + part.megabytes, 0), parts };
}

/** When a page was painted, and when it could be used, on the wall clock. The empty one can be used once it is painted. */
const marks = () => {
  const [painted] = performance.getEntriesByName("first-contentful-paint");
  const empty = document.title === "Empty";
  const usable = empty ? painted : performance.getEntriesByName("usable")[0];
  const at = (mark) => mark && performance.timeOrigin + mark.startTime;
  return usable && { painted: at(painted), usable: at(usable) };
};

async function round(place, data, application) {
  const before = new Set(processes().map(({ pid }) => pid));
  const shown = await openWindow(place, data, application);
  try {
    // The kernel keeps fifteen characters of a name.
    const called = basename(application).slice(0, 15);
    const app = processes().find(({ pid, name }) => !before.has(pid) && name === called);
    if (!app) throw new Error(`the process of ${application} was not found`);
    const begun = startedAt(app);
    const { painted, usable } = await eventually("the window can be used", () => shown.browser.execute(marks));
    return { painted: painted - begun, usable: usable - begun, pss: pssOf(app.pid) };
  } finally {
    await shown.close();
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const ms = (value) => (Number.isFinite(value) ? `${Math.round(value)} ms` : "not told");

/** Starts a program several times over, and says what came of it. The first time is told apart. */
async function measure(place, name, application) {
  const data = freshFolder();
  const first = await round(place, data, application);
  const rounds = [];
  for (let i = 0; i < ROUNDS; i++) rounds.push(await round(place, data, application));
  const usable = median(rounds.map((each) => each.usable));
  const { pss } = rounds.toSorted((a, b) => a.pss.total - b.pss.total)[Math.floor(ROUNDS / 2)];
  const all = rounds.map((each) => Math.round(each.usable)).join(", ");
  const parts = pss.parts.map((part) => `${part.name} ${Math.round(part.megabytes)}`).join(", ");
  process.stdout.write(`${name}\n`);
  process.stdout.write(`  first start: usable after ${ms(first.usable)}\n`);
  process.stdout.write(`  median of ${ROUNDS}: painted after ${ms(median(rounds.map((each) => each.painted)))}, `);
  process.stdout.write(`usable after ${ms(usable)} (${all})\n`);
  process.stdout.write(`  memory of all its processes: ${Math.round(pss.total)} MB PSS (${parts})\n`);
  return usable;
}

const desktop = required("CAMPANILE_DESKTOP_BIN");
const empty = join(dirname(desktop), "examples", "empty_window");
const place = await desk();
const usable = await measure(place, "Campanile", desktop);
if (existsSync(empty)) {
  const bare = await measure(place, "an empty window of the same kind", empty);
  process.stdout.write(`Campanile takes ${(usable / bare).toFixed(2)} times as long as the empty window\n`);
} else {
  process.stdout.write(`no empty window to compare with: ${empty} is not built\n`);
}
await place.stop();
