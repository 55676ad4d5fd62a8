// Where a shard stands on the canvas: levels as blocks of cells, small ones side by side on a shelf, large ones on rows of
// their own; and back from a point, a rectangle or a lasso to the shards under it. Pure: sizes in, places out.
//
// A place is in pixels of the picture at one size of cells, before it is scrolled. A cell is a square of `cell` pixels with
// its gap inside, so that every cell begins on a whole pixel.

export interface LevelSize {
  level: number;
  shards: number;
}

export interface Block {
  level: number;
  /** Its first cell's number among all cells. */
  first: number;
  cells: number;
  /** In cells. */
  column: number;
  columns: number;
  rows: number;
  /** In pixels: the top of its cells. Its head stands above. */
  top: number;
}

export interface Grid {
  cell: number;
  /** In cells. */
  columns: number;
  /** Of the line above a shelf, in pixels. */
  head: number;
  blocks: readonly Block[];
  /** In pixels. */
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

/** Sizes of cells that one can zoom to. Below eight pixels a cell is too small for a shape. */
export const SIZES: readonly number[] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 56, 80];
const HEAD = 20;
/** A head without words: a line. */
const THIN_HEAD = 6;
/** Cells are not made larger than this to fill a window; one may zoom further. */
const MOST_FITTED = 24;
/** Cells between two levels on a shelf. */
const APART = 1;

export function gridOf(levels: readonly LevelSize[], cell: number, columns: number, head: number): Grid {
  const blocks: Block[] = [];
  const wide = Math.max(1, columns);
  let first = 0;
  let y = 0;
  let column = 0;
  let shelf = false;
  for (const { level, shards } of levels) {
    if (shards === 0) continue;
    const small = shards <= wide;
    if (shelf && (!small || column + shards > wide)) {
      y += cell + cell;
      shelf = false;
    }
    if (!shelf) {
      y += head;
      column = 0;
    }
    if (small) {
      blocks.push({ level, first, cells: shards, column, columns: shards, rows: 1, top: y });
      column += shards + APART;
      shelf = true;
    } else {
      const rows = Math.ceil(shards / wide);
      blocks.push({ level, first, cells: shards, column: 0, columns: wide, rows, top: y });
      y += (rows + 1) * cell;
    }
    first += shards;
  }
  if (shelf) y += cell;
  else if (blocks.length > 0) y -= cell;
  return { cell, columns: wide, head, blocks, width: wide * cell, height: Math.max(0, y) };
}

function headFor(levels: readonly LevelSize[], columns: number, height: number, scale: number): number {
  let shelves = 0;
  let column = 0;
  for (const { shards } of levels) {
    if (shards === 0) continue;
    if (shelves === 0 || shards > columns || column + shards > columns) {
      shelves += 1;
      column = 0;
    }
    column = shards > columns ? columns + 1 : column + shards + APART;
  }
  return Math.round((shelves * HEAD * scale > height * 0.5 ? THIN_HEAD : HEAD) * scale);
}

/** The grid with cells of one size in a window so wide. `scale`: pixels of the screen for one of the page. */
export function gridAt(levels: readonly LevelSize[], cell: number, width: number, height: number, scale = 1): Grid {
  const columns = Math.max(1, Math.floor(width / cell));
  return gridOf(levels, cell, columns, headFor(levels, columns, height, scale));
}

/** The largest size at which all of it is seen, up to one that is easily told apart. */
export function fittingSize(levels: readonly LevelSize[], width: number, height: number, scale = 1): number {
  let best = SIZES[0] ?? 1;
  for (const size of SIZES) {
    if (size > MOST_FITTED * scale) break;
    if (gridAt(levels, size, width, height, scale).height <= height) best = size;
  }
  return best;
}

/** The size one step larger or smaller. */
export function nextSize(size: number, steps: number): number {
  const at = SIZES.findIndex((each) => each >= size);
  const to = Math.min(SIZES.length - 1, Math.max(0, (at < 0 ? SIZES.length - 1 : at) + steps));
  return SIZES[to] ?? size;
}

/** The block that a cell is in. */
export function blockOf(grid: Grid, cell: number): Block | undefined {
  let low = 0;
  let high = grid.blocks.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const block = grid.blocks[middle] as Block;
    if (cell < block.first) high = middle - 1;
    else if (cell >= block.first + block.cells) low = middle + 1;
    else return block;
  }
  return undefined;
}

/** The upper left corner of a cell. */
export function placeOf(grid: Grid, cell: number): Point | undefined {
  const block = blockOf(grid, cell);
  if (!block) return undefined;
  const at = cell - block.first;
  return {
    x: (block.column + (at % block.columns)) * grid.cell,
    y: block.top + Math.floor(at / block.columns) * grid.cell,
  };
}

/** The first block whose cells end below a height. */
function firstBelow(grid: Grid, y: number): number {
  let low = 0;
  let high = grid.blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const block = grid.blocks[middle] as Block;
    if (block.top + block.rows * grid.cell > y) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The cell at a point; none between them. */
export function cellAt(grid: Grid, { x, y }: Point): number | null {
  if (x < 0 || y < 0) return null;
  const column = Math.floor(x / grid.cell);
  for (let i = firstBelow(grid, y); i < grid.blocks.length; i++) {
    const block = grid.blocks[i] as Block;
    if (y < block.top) return null;
    const row = Math.floor((y - block.top) / grid.cell);
    const inside = column >= block.column && column < block.column + block.columns && row < block.rows;
    if (!inside) continue;
    const at = row * block.columns + (column - block.column);
    return at < block.cells ? block.first + at : null;
  }
  return null;
}

/** Calls back with runs of cells that follow one another, of those that a rectangle touches. */
export function eachRun(grid: Grid, from: Point, to: Point, run: (first: number, count: number) => void) {
  const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
  const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
  const columnFrom = Math.floor(left / grid.cell);
  const columnTo = Math.floor(right / grid.cell);
  for (let i = firstBelow(grid, top); i < grid.blocks.length; i++) {
    const block = grid.blocks[i] as Block;
    if (block.top > bottom) break;
    const a = Math.max(0, columnFrom - block.column);
    const b = Math.min(block.columns - 1, columnTo - block.column);
    if (a > b) continue;
    const rowFrom = Math.max(0, Math.floor((top - block.top) / grid.cell));
    const rowTo = Math.min(block.rows - 1, Math.floor((bottom - block.top) / grid.cell));
    for (let row = rowFrom; row <= rowTo; row++) {
      const first = row * block.columns + a;
      const count = Math.min(b - a + 1, block.cells - first);
      if (count > 0) run(block.first + first, count);
    }
  }
}

/** Whether a point is inside a line that is drawn by hand and closed by itself. */
export function isInside(line: readonly Point[], { x, y }: Point): boolean {
  let inside = false;
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const a = line[i] as Point;
    const b = line[j] as Point;
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) inside = !inside;
  }
  return inside;
}

/** Calls back with runs of cells whose middle is inside a lasso. Row by row, by where the line crosses it. */
export function eachRunInside(grid: Grid, line: readonly Point[], run: (first: number, count: number) => void) {
  if (line.length < 3) return;
  const ys = line.map((point) => point.y);
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  for (let i = firstBelow(grid, top); i < grid.blocks.length; i++) {
    const block = grid.blocks[i] as Block;
    if (block.top > bottom) break;
    for (let row = 0; row < block.rows; row++) {
      const y = block.top + (row + 0.5) * grid.cell;
      if (y < top || y > bottom) continue;
      const crossings = crossingsAt(line, y);
      for (let c = 0; c + 1 < crossings.length; c += 2) {
        // Cells whose middle lies between the two crossings.
        const a = Math.ceil((crossings[c] as number) / grid.cell - 0.5) - block.column;
        const b = Math.floor((crossings[c + 1] as number) / grid.cell - 0.5) - block.column;
        const from = Math.max(0, a);
        const until = Math.min(block.columns - 1, b);
        const first = row * block.columns + from;
        const count = Math.min(until - from + 1, block.cells - first);
        if (count > 0) run(block.first + first, count);
      }
    }
  }
}

function crossingsAt(line: readonly Point[], y: number): number[] {
  const found: number[] = [];
  for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
    const a = line[i] as Point;
    const b = line[j] as Point;
    if (a.y > y !== b.y > y) found.push(((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x);
  }
  return found.sort((a, b) => a - b);
}

/** The cell that an arrow key leads to. */
export function step(grid: Grid, cell: number, way: "left" | "right" | "up" | "down"): number {
  const last = grid.blocks.at(-1);
  if (!last) return cell;
  const count = last.first + last.cells;
  if (way === "left") return Math.max(0, cell - 1);
  if (way === "right") return Math.min(count - 1, cell + 1);
  const block = blockOf(grid, cell);
  const place = placeOf(grid, cell);
  if (!block || !place) return 0;
  const inside = way === "up" ? cell - block.columns : cell + block.columns;
  if (inside >= block.first && inside < block.first + block.cells) return inside;
  // Onto the shelf above or below, as near as can be.
  const middle = place.x + grid.cell / 2;
  const others = grid.blocks.filter((each) => (way === "up" ? each.top < block.top : each.top > block.top));
  const top = way === "up" ? others.at(-1)?.top : others[0]?.top;
  if (top === undefined) return cell;
  let best: { cell: number; away: number } | undefined;
  for (const each of others.filter((other) => other.top === top)) {
    const column = Math.min(each.columns - 1, Math.max(0, Math.floor(middle / grid.cell) - each.column));
    const row = way === "up" ? each.rows - 1 : 0;
    const at = Math.min(each.cells - 1, row * each.columns + column);
    const away = Math.abs((each.column + column + 0.5) * grid.cell - middle);
    if (!best || away < best.away) best = { cell: each.first + at, away };
  }
  return best?.cell ?? cell;
}

/** How far to scroll so that what was under the pointer stays under it when cells become another size. */
export function anchored(before: Grid, after: Grid, scroll: Point, at: Point): Point {
  const y = scroll.y + at.y;
  const x = scroll.x + at.x;
  const i = Math.min(before.blocks.length - 1, firstBelow(before, y));
  const was = before.blocks[i];
  if (!was) return { x: 0, y: 0 };
  // By the cell, not by the pixel: with another number of columns it is on another row.
  const row = Math.min(was.rows - 1, Math.max(0, Math.floor((y - was.top) / before.cell)));
  const column = Math.min(was.columns - 1, Math.max(0, Math.floor(x / before.cell) - was.column));
  const cell = was.first + Math.min(was.cells - 1, row * was.columns + column);
  const now = placeOf(after, cell) ?? { x: 0, y: 0 };
  return { x: now.x + after.cell / 2 - at.x, y: now.y + after.cell / 2 - at.y };
}

/** A place to scroll to that shows as much as there is. */
export function kept(scroll: Point, grid: Grid, width: number, height: number): Point {
  const most = (content: number, window: number) => Math.max(0, content - window);
  return {
    x: Math.round(Math.min(most(grid.width, width), Math.max(0, scroll.x))),
    y: Math.round(Math.min(most(grid.height, height), Math.max(0, scroll.y))),
  };
}
