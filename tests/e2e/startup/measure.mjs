// How long the desktop app takes from the start of its process to a window that can be used, and how much memory all of
// its processes hold together. Prints figures; judges nothing.
//
// Usable is when the console has its first answers on the page, which it marks itself. Memory is PSS: what is shared is
// counted once.
import { readdirSync, readFileSync } from "node:fs";
import { desk, openWindow } from "../harness/desktop.mjs";
import { eventually } from "../harness/eventually.mjs";
import { freshFolder } from "../harness/programs.mjs";

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

async function round(place, data) {
  const before = new Set(processes().map(({ pid }) => pid));
  const shown = await openWindow(place, data);
  try {
    const app = processes().find(({ pid, name }) => !before.has(pid) && name.startsWith("campanile-desk"));
    if (!app) throw new Error("the app's process was not found");
    const begun = startedAt(app);
    const marks = await eventually("the window can be used", () =>
      shown.browser.execute(() => {
        const [usable] = performance.getEntriesByName("usable");
        const [painted] = performance.getEntriesByName("first-contentful-paint");
        return (
          usable && {
            usable: performance.timeOrigin + usable.startTime,
            painted: painted ? performance.timeOrigin + painted.startTime : null,
          }
        );
      }),
    );
    return {
      usable: marks.usable - begun,
      painted: marks.painted === null ? null : marks.painted - begun,
      pss: pssOf(app.pid),
    };
  } finally {
    await shown.close();
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const place = await desk();
const data = freshFolder();
const rounds = [];
for (let i = 0; i <= ROUNDS; i++) rounds.push(await round(place, data));
await place.stop();
const [first, ...others] = rounds;
const ms = (value) => (value === null || Number.isNaN(value) ? "?" : `${Math.round(value)} ms`);
process.stdout.write(`first start, on an empty folder: usable after ${ms(first.usable)}\n`);
process.stdout.write(
  `later starts, median of ${ROUNDS}: painted after ${ms(median(others.map((each) => each.painted ?? Number.NaN)))}, usable after ${ms(median(others.map((each) => each.usable)))} (${others.map((each) => Math.round(each.usable)).join(", ")})\n`,
);
const memory = others.toSorted((a, b) => a.pss.total - b.pss.total)[Math.floor(ROUNDS / 2)].pss;
process.stdout.write(
  `memory of all processes, median: ${Math.round(memory.total)} MB PSS (${memory.parts.map((part) => `${part.name} ${Math.round(part.megabytes)}`).join(", ")})\n`,
);
