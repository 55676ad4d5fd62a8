import { expect, test } from "vitest";
import {
  anchored,
  cellAt,
  eachRun,
  eachRunInside,
  fittingSize,
  type Grid,
  gridAt,
  gridOf,
  isInside,
  kept,
  nextSize,
  placeOf,
  step,
} from "./grid";

const levels = (...shards: number[]) => shards.map((count, level) => ({ level, shards: count }));

/** A lasso or a rectangle, and the numbers of the cells that it takes. */
function cells(run: (each: (first: number, count: number) => void) => void): number[] {
  const found: number[] = [];
  run((first, count) => {
    for (let i = 0; i < count; i++) found.push(first + i);
  });
  return found.sort((a, b) => a - b);
}

const count = (grid: Grid) => grid.blocks.reduce((sum, block) => sum + block.cells, 0);

test("small levels stand beside one another, a large one has rows of its own", () => {
  // Ten columns of ten pixels, heads of twenty.
  const grid = gridOf(levels(3, 4, 5, 25, 0, 2), 10, 10, 20);
  expect(grid.blocks.map(({ level, first, column, rows, top }) => [level, first, column, rows, top])).toEqual([
    [0, 0, 0, 1, 20],
    [1, 3, 4, 1, 20],
    // It does not fit beside the others any more.
    [2, 7, 0, 1, 60],
    [3, 12, 0, 3, 100],
    // A level without shards is not drawn.
    [5, 37, 0, 1, 160],
  ]);
  expect([grid.width, grid.height]).toEqual([100, 170]);
});

test("every cell is found where it is drawn, and nothing between them", () => {
  for (const sizes of [[1], [7], [3, 4, 5, 25, 2], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [100, 33, 1, 250]]) {
    for (const [cell, columns] of [
      [1, 10],
      [6, 7],
      [24, 31],
    ] as const) {
      const grid = gridOf(levels(...sizes), cell, columns, 20);
      for (let at = 0; at < count(grid); at++) {
        const place = placeOf(grid, at);
        if (!place) throw new Error(`${at} has no place`);
        expect(cellAt(grid, place)).toBe(at);
        expect(cellAt(grid, { x: place.x + cell - 0.01, y: place.y + cell - 0.01 })).toBe(at);
      }
      expect(placeOf(grid, count(grid))).toBeUndefined();
    }
  }
  const grid = gridOf(levels(3, 4), 10, 10, 20);
  for (const [x, y] of [
    [5, 10],
    [35, 25],
    [85, 25],
    [5, 31],
    [-1, 25],
    [500, 25],
  ] as const)
    expect(cellAt(grid, { x, y })).toBeNull();
});

test("a rectangle takes every cell that it touches, whichever way it is drawn", () => {
  const grid = gridOf(levels(25, 3), 10, 10, 20);
  expect(cells((each) => eachRun(grid, { x: 15, y: 25 }, { x: 32, y: 45 }, each))).toEqual([
    1, 2, 3, 11, 12, 13, 21, 22, 23,
  ]);
  expect(cells((each) => eachRun(grid, { x: 32, y: 45 }, { x: 15, y: 25 }, each))).toEqual([
    1, 2, 3, 11, 12, 13, 21, 22, 23,
  ]);
  // The last row is not whole, and the head is no cell.
  expect(cells((each) => eachRun(grid, { x: 52, y: 41 }, { x: 99, y: 49 }, each))).toEqual([]);
  expect(cells((each) => eachRun(grid, { x: 0, y: 0 }, { x: 99, y: 999 }, each))).toHaveLength(28);
  expect(cells((each) => eachRun(grid, { x: 0, y: 0 }, { x: 99, y: 19 }, each))).toEqual([]);
});

test("a lasso takes the cells whose middle is inside", () => {
  const grid = gridOf(levels(100, 50), 10, 10, 20);
  const lines = [
    // A triangle, one that turns in on itself, and one beyond the edge.
    [
      [5, 22],
      [88, 30],
      [20, 118],
    ],
    [
      [0, 20],
      [100, 20],
      [100, 120],
      [50, 60],
      [0, 120],
    ],
    [
      [-50, -50],
      [400, -50],
      [400, 90],
      [-50, 90],
    ],
  ].map((points) => points.map(([x, y]) => ({ x: x as number, y: y as number })));
  for (const line of lines) {
    const expected: number[] = [];
    for (let at = 0; at < count(grid); at++) {
      const { x, y } = placeOf(grid, at) as { x: number; y: number };
      if (isInside(line, { x: x + 5, y: y + 5 })) expected.push(at);
    }
    expect(expected.length).toBeGreaterThan(10);
    expect(cells((each) => eachRunInside(grid, line, each))).toEqual(expected);
  }
  expect(cells((each) => eachRunInside(grid, [{ x: 0, y: 0 }], each))).toEqual([]);
});

test("what is there is shown whole where that can be, and not larger than it needs to be", () => {
  expect(fittingSize(levels(3), 800, 400)).toBe(24);
  expect(fittingSize(levels(1000), 800, 400)).toBe(16);
  const many = levels(60_000, 40_000);
  const size = fittingSize(many, 1000, 500);
  expect(size).toBe(2);
  expect(gridAt(many, size, 1000, 500).height).toBeLessThanOrEqual(500);
  // A thousand levels of one shard.
  const thousand = levels(...Array.from({ length: 1000 }, () => 1));
  expect(gridAt(thousand, fittingSize(thousand, 800, 400), 800, 400).height).toBeLessThanOrEqual(400);
  expect([nextSize(2, 1), nextSize(2, -1), nextSize(1, -1), nextSize(80, 1), nextSize(8, 2)]).toEqual([
    3, 1, 1, 80, 12,
  ]);
});

test("arrows go from cell to cell, and up and down from level to level", () => {
  const grid = gridOf(levels(25, 3, 4), 10, 10, 20);
  const table: [number, Parameters<typeof step>[2], number][] = [
    [0, "left", 0],
    [9, "right", 10],
    [31, "right", 31],
    [3, "down", 13],
    [13, "up", 3],
    [3, "up", 3],
    // The last row ends before it.
    [17, "down", 31],
    [21, "down", 26],
    [25, "up", 20],
    [30, "up", 24],
    [31, "down", 31],
  ];
  for (const [from, way, to] of table) expect([from, way, step(grid, from, way)]).toEqual([from, way, to]);
});

test("what is under the pointer stays there when cells grow", () => {
  const many = levels(5000, 300);
  const [before, after] = [gridAt(many, 8, 800, 400), gridAt(many, 16, 800, 400)];
  const at = { x: 300, y: 210 };
  const scroll = { x: 0, y: 40 };
  const cell = cellAt(before, { x: scroll.x + at.x, y: scroll.y + at.y });
  const there = anchored(before, after, scroll, at);
  expect(cellAt(after, { x: there.x + at.x, y: there.y + at.y })).toBe(cell);
  expect(kept({ x: -5, y: 1e9 }, after, 800, 400)).toEqual({ x: 0, y: after.height - 400 });
  expect(kept({ x: 10, y: 10 }, gridAt(levels(3), 8, 800, 400), 800, 400)).toEqual({ x: 0, y: 0 });
});
