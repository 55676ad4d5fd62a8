import { expect, test } from "vitest";
import { type Catalogue, plural } from "./words";

const modules = import.meta.glob("../**/words.ts", { eager: true }) as Record<string, Record<string, unknown>>;

function catalogues(): [string, Catalogue<Record<string, unknown>>][] {
  return Object.entries(modules).flatMap(([path, module]) =>
    Object.entries(module).flatMap(([name, value]) =>
      typeof value === "object" && value !== null && "en" in value && "zh" in value
        ? [
            [`${path} ${name}`, value as Catalogue<Record<string, unknown>>] as [
              string,
              Catalogue<Record<string, unknown>>,
            ],
          ]
        : [],
    ),
  );
}

/** Said with threes; with a date where a number will not do. */
function saidWith(tree: (...args: unknown[]) => string): string {
  try {
    return tree(...Array.from({ length: tree.length }, () => 3));
  } catch {
    return tree(...Array.from({ length: tree.length }, () => "2026-11-21"));
  }
}

/** Every sentence by its path. */
function sentences(tree: unknown, path = ""): [string, string][] {
  if (typeof tree === "string") return [[path, tree]];
  if (typeof tree === "function") {
    return [[path, String(saidWith(tree as (...args: unknown[]) => string))]];
  }
  return Object.entries(tree as object).flatMap(([key, value]) =>
    sentences(value, path === "" ? key : `${path}.${key}`),
  );
}

test("there are words to look at", () => {
  expect(catalogues().length).toBeGreaterThan(5);
});

test.each(catalogues())("%s says everything in both languages", (_, { en, zh }) => {
  const english = sentences(en);
  const chinese = new Map(sentences(zh));
  expect([...chinese.keys()].sort()).toEqual(english.map(([path]) => path).sort());
  for (const [path, text] of english) {
    expect(text.trim(), path).not.toBe("");
    expect(chinese.get(path)?.trim(), path).not.toBe("");
  }
});

test.each(catalogues())("%s is not left in English where Chinese was meant", (_, { en, zh }) => {
  const chinese = new Map(sentences(zh));
  for (const [path, text] of sentences(en)) {
    const words = text.match(/[A-Za-z]{3,}/g) ?? [];
    // One word may be a name (Cron, YAML, UTC); a sentence may not.
    if (words.length > 1 && chinese.get(path) === text) throw new Error(`${path}: ${text}`);
  }
});

test("one is not said as many", () => {
  expect([plural(1, "job"), plural(0, "job"), plural(1204, "job"), plural(2, "entry", "entries")]).toEqual([
    "1 job",
    "0 jobs",
    "1,204 jobs",
    "2 entries",
  ]);
});
