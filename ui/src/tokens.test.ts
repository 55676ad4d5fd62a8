// Every text colour on every ground it is used on has at least the contrast that WCAG AA asks: 4.5 to 1.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const css = readFileSync("src/tokens.css", "utf8");

function theme(name: "light" | "dark"): Map<string, string> {
  const tokens = new Map<string, string>();
  for (const block of css.matchAll(/\[data-theme="(\w+)"\]\s*\{([^}]*)\}/g)) {
    if (block[1] !== name) continue;
    for (const line of (block[2] ?? "").matchAll(/--([\w-]+):\s*([^;]+);/g))
      tokens.set(line[1] ?? "", (line[2] ?? "").trim());
  }
  return tokens;
}

/** Relative luminance of an opaque oklch colour. */
function luminance(colour: string): number {
  const match = /^oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)$/.exec(colour);
  if (!match) throw new Error(`${colour} is not an opaque oklch colour`);
  const [l, c, h] = match.slice(1).map(Number) as [number, number, number];
  const a = c * Math.cos((h * Math.PI) / 180);
  const b = c * Math.sin((h * Math.PI) / 180);
  const [x, y, z] = [
    l + 0.3963377774 * a + 0.2158037573 * b,
    l - 0.1055613458 * a - 0.0638541728 * b,
    l - 0.0894841775 * a - 1.291485548 * b,
  ].map((v) => v ** 3) as [number, number, number];
  const clamp = (v: number) => Math.min(1, Math.max(0, v));
  const red = clamp(4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z);
  const green = clamp(-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z);
  const blue = clamp(-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const GROUNDS = ["canvas", "surface", "sunken", "hover", "picked"];
const STATES = ["idle", "queued", "running", "ok", "warn", "lost", "bad", "stopped"];
const PAIRS: [string, string][] = [
  ...["ink", "ink-2", "ink-3", "accent-ink"].flatMap((ink) => GROUNDS.map((ground): [string, string] => [ink, ground])),
  ...STATES.flatMap((state) =>
    ["surface", "canvas", "hover", `${state}-soft`].map((ground): [string, string] => [state, ground]),
  ),
  ...["local", "red", "amber", "violet", "blue"].flatMap((link) =>
    ["surface", "canvas"].map((ground): [string, string] => [`link-${link}`, ground]),
  ),
  ["ink", "bad-soft"],
  ["ink-2", "bad-soft"],
  ["ink-2", "warn-soft"],
  ["accent-ink", "accent-soft"],
  ["on-accent", "accent"],
  ["surface", "bad"],
  ["rail-ink", "rail"],
  ["rail-ink", "rail-hover"],
  ["rail-ink-picked", "rail-picked"],
];

test.each(["light", "dark"] as const)("in the %s theme every text can be read", (name) => {
  const tokens = theme(name);
  const poor = PAIRS.map(([ink, ground]) => {
    const [one, other] = [tokens.get(ink), tokens.get(ground)];
    if (!one || !other) throw new Error(`${ink} or ${ground} is not a token`);
    return { pair: `${ink} on ${ground}`, contrast: Math.round(contrast(one, other) * 100) / 100 };
  }).filter((each) => each.contrast < 4.5);
  expect(poor).toEqual([]);
});

test("black on white is twenty-one to one, so the arithmetic can be trusted", () => {
  expect(contrast("oklch(0 0 0)", "oklch(1 0 0)")).toBeCloseTo(21, 1);
});
