import { expect, test, vi } from "vitest";
import { CODES, FILLS, lookOf, MOST_CELLS, ShardCells, sizeOf, UNMADE } from "./shardCells";

const laid = (...shards: number[]) => {
  const cells = new ShardCells();
  cells.lay({ level: shards.map((_, i) => i), items: shards.map((n) => n * 10), shards });
  return cells;
};

const said = (...rows: [level: number, shard: number, state: number, done: number][]) => ({
  level: rows.map((row) => row[0]),
  shard: rows.map((row) => row[1]),
  state: rows.map((row) => row[2]),
  done: rows.map((row) => row[3]),
});

const codes = (cells: ShardCells) => [...cells.code].map((place) => CODES[place]);

test("what is said of a shard finds its cell, and what has changed is told once", () => {
  const cells = laid(3, 2);
  expect(cells.takeDirty()).toBe("all");
  expect(cells.take(said([0, 1, 202, 5], [1, 0, 301, 10]))).toBe(true);
  expect(codes(cells)).toEqual([0, 202, 0, 301, 0]);
  expect([...cells.takeDirty()]).toEqual([1, 3]);
  // The same again is no change.
  cells.take(said([0, 1, 202, 5]));
  expect([...cells.takeDirty()]).toEqual([]);
  expect([cells.counts[UNMADE], cells.counts[CODES.indexOf(301)]]).toEqual([3, 1]);
  expect(cells.shardOf(3)).toEqual({ level: 1, shard: 0, of: 2, items: 10 });
  expect(cells.cellOf(1, 1)).toBe(4);
});

test("a shard of a level that is not laid out yet is asked for again", () => {
  const cells = laid(2, 0);
  expect(cells.take(said([0, 0, 301, 10], [1, 0, 100, 0]))).toBe(false);
  expect(cells.lay({ level: [0, 1], items: [20, 30], shards: [2, 3] })).toBe(true);
  expect(codes(cells)).toEqual([301, 0, 0, 0, 0]);
  expect(cells.lay({ level: [0, 1], items: [20, 30], shards: [2, 3] })).toBe(false);
});

test("a level that starts before others moves them, with what is marked of them", () => {
  const cells = laid(2, 0, 2);
  cells.take(said([2, 1, 302, 0]));
  cells.mark(3, 1, true);
  cells.lay({ level: [0, 1, 2], items: [20, 10, 20], shards: [2, 3, 2] });
  expect(codes(cells)).toEqual([0, 0, 0, 0, 0, 0, 302]);
  expect([...cells.marked]).toEqual([0, 0, 0, 0, 0, 0, 1]);
  expect(cells.markedCount).toBe(1);
});

test("a cell is full only when all is done, and shows something as soon as anything is", () => {
  const cells = new ShardCells();
  cells.lay({ level: [0], items: [1_000], shards: [1] });
  for (const [done, fill] of [
    [0, 0],
    [1, 1],
    [500, 4],
    [999, FILLS - 1],
    [1000, FILLS],
  ] as const) {
    cells.take(said([0, 0, 202, done]));
    expect(cells.look[0]).toBe(lookOf(CODES.indexOf(202), fill, 0));
  }
  // Of one that succeeded without a word on its items nothing is missing.
  cells.take(said([0, 0, 301, 0]));
  expect(cells.look[0]).toBe(lookOf(CODES.indexOf(301), FILLS, 0));
});

test("a mark is part of the look, and what happens to a marked cell leaves it", () => {
  const cells = laid(2);
  cells.mark(1, 1, true);
  cells.take(said([0, 1, 202, 0]));
  expect([...cells.look]).toEqual([lookOf(UNMADE, 0, 0), lookOf(CODES.indexOf(202), 0, 1)]);
  cells.unmarkAll();
  expect(cells.look[1]).toBe(lookOf(CODES.indexOf(202), 0, 0));
});

test("what draws is told of each change, what writes words of marks at once and of the rest now and then", () => {
  vi.useFakeTimers();
  const cells = laid(2);
  let [drawn, written] = [0, 0];
  cells.onDirty(() => drawn++);
  cells.onWords(() => written++);
  cells.mark(0, 1, true);
  cells.tellMarks();
  expect([drawn, written]).toEqual([1, 1]);
  for (let i = 0; i < 5; i++) cells.tell();
  expect([drawn, written]).toEqual([6, 1]);
  vi.runAllTimers();
  expect([drawn, written]).toEqual([6, 2]);
  vi.useRealTimers();
});

test("marked shards are told as ranges, over what nothing can be done to", () => {
  const cells = laid(6, 2);
  cells.take(said([0, 0, 302, 0], [0, 1, 301, 10], [0, 2, 403, 0], [0, 3, 302, 0], [0, 4, 302, 0], [1, 1, 303, 0]));
  cells.mark(0, 3, true);
  cells.mark(4, 4, true);
  const failed = (code: number) => code === 302 || code === 303 || code >= 400;
  expect(cells.ranges(failed)).toEqual({
    count: 4,
    ranges: [
      { level: 0, from: 0, until: 3 },
      // One that failed and is not marked stands between.
      { level: 0, from: 4, until: 5 },
      { level: 1, from: 1, until: 2 },
    ],
  });
  cells.unmarkAll();
  expect(cells.ranges(failed)).toEqual({ count: 0, ranges: [] });
  cells.markCodes((code) => code === 302);
  expect(cells.markedCount).toBe(3);
});

test("more shards than are drawn are counted", () => {
  const cells = laid(MOST_CELLS - 1, 5, 7);
  expect([cells.size, cells.beyond]).toEqual([MOST_CELLS, 11]);
  expect(cells.take(said([1, 4, 301, 10], [2, 0, 301, 10]))).toBe(true);
});

test("items are dealt as evenly as can be", () => {
  expect([0, 1, 2].map((shard) => sizeOf(25, 3, shard))).toEqual([9, 8, 8]);
  expect(sizeOf(5, 0, 0)).toBe(0);
});
