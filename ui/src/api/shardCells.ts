// What is known of the shards of a run: a code, a fill and a mark for each, in arrays of numbers, so that a hundred thousand
// of them cost a megabyte and a change costs a write. Changed cells are noted for whoever draws them.
import type { LevelColumns, ShardColumns } from "./types";

/** In the order of the legend. The last is a shard that is not a task yet. */
export const CODES = [100, 101, 201, 202, 203, 301, 302, 401, 402, 403, 303, 304, 0] as const;
export type CellCode = (typeof CODES)[number];
export const UNMADE = CODES.length - 1;

/** Shards that are drawn of a run that has more. */
export const MOST_CELLS = 100_000;

const PLACE = new Map<number, number>(CODES.map((code, i) => [code, i]));
const SUCCEEDED = CODES.indexOf(301);

/** So many steps of filling are told apart. */
export const FILLS = 8;

export interface CellLevel {
  level: number;
  first: number;
  /** Those of them that are drawn. */
  shards: number;
  of: number;
  items: number;
}

export class ShardCells {
  levels: CellLevel[] = [];
  size = 0;
  /** Shards that there are beyond those that are drawn. */
  beyond = 0;
  /** Places in `CODES`. */
  code = new Uint8Array(0);
  done = new Uint32Array(0);
  marked = new Uint8Array(0);
  markedCount = 0;
  counts = new Uint32Array(CODES.length);
  /** Grows with every change of the cells; of marks too. */
  version = 0;
  /** Grows where cells came to stand elsewhere. */
  shape = 0;
  #byLevel = new Map<number, CellLevel>();
  #dirty = new Uint32Array(4_096);
  #dirtyCount = 0;
  #allDirty = true;

  /** The levels as they are now; what is known of their shards stays. True: cells stand elsewhere. */
  lay(levels: Pick<LevelColumns, "level" | "items" | "shards">): boolean {
    const next: CellLevel[] = [];
    let first = 0;
    let beyond = 0;
    levels.level.forEach((level, i) => {
      const of = levels.shards[i] ?? 0;
      const shards = Math.min(of, MOST_CELLS - first);
      next.push({ level, first, shards, of, items: levels.items[i] ?? 0 });
      first += shards;
      beyond += of - shards;
    });
    const same =
      next.length === this.levels.length &&
      next.every((level, i) => level.of === this.levels[i]?.of && level.level === this.levels[i]?.level);
    if (same) return false;
    const [code, done, marked] = [new Uint8Array(first).fill(UNMADE), new Uint32Array(first), new Uint8Array(first)];
    for (const level of next) {
      const old = this.#byLevel.get(level.level);
      if (!old) continue;
      const count = Math.min(old.shards, level.shards);
      code.set(this.code.subarray(old.first, old.first + count), level.first);
      done.set(this.done.subarray(old.first, old.first + count), level.first);
      marked.set(this.marked.subarray(old.first, old.first + count), level.first);
    }
    this.levels = next;
    this.#byLevel = new Map(next.map((level) => [level.level, level]));
    this.size = first;
    this.beyond = beyond;
    this.code = code;
    this.done = done;
    this.marked = marked;
    this.counts.fill(0);
    for (const each of code) this.counts[each] = (this.counts[each] ?? 0) + 1;
    this.markedCount = marked.reduce((sum, each) => sum + each, 0);
    this.shape += 1;
    this.#touchAll();
    return true;
  }

  /** What the node says of some shards. False: one of them is of a level that is not laid out yet. */
  take({ level, shard, state, done }: ShardColumns): boolean {
    let known = true;
    for (let i = 0; i < level.length; i++) {
      const of = this.#byLevel.get(level[i] as number);
      const index = shard[i] as number;
      if (!of || index >= of.of) {
        known = false;
        continue;
      }
      // Beyond what is drawn.
      if (index >= of.shards) continue;
      this.#set(of.first + index, PLACE.get(state[i] as number) ?? UNMADE, done[i] as number);
    }
    return known;
  }

  #set(cell: number, code: number, done: number) {
    const before = this.code[cell] as number;
    if (before === code && this.done[cell] === done) return;
    this.counts[before] = (this.counts[before] ?? 1) - 1;
    this.counts[code] = (this.counts[code] ?? 0) + 1;
    this.code[cell] = code;
    this.done[cell] = done;
    this.#touch(cell);
  }

  mark(first: number, count: number, on: boolean) {
    for (let cell = first; cell < first + count; cell++) {
      if (this.marked[cell] === (on ? 1 : 0)) continue;
      this.marked[cell] = on ? 1 : 0;
      this.markedCount += on ? 1 : -1;
      this.#touch(cell);
    }
  }

  unmarkAll() {
    if (this.markedCount === 0) return;
    this.marked.fill(0);
    this.markedCount = 0;
    this.#touchAll();
  }

  /** Marks every shard of a code, of those that are drawn. */
  markCode(code: CellCode) {
    const place = PLACE.get(code);
    for (let cell = 0; cell < this.size; cell++) if (this.code[cell] === place) this.mark(cell, 1, true);
  }

  #touch(cell: number) {
    this.version += 1;
    if (this.#allDirty) return;
    if (this.#dirtyCount === this.#dirty.length) {
      this.#allDirty = true;
      return;
    }
    this.#dirty[this.#dirtyCount++] = cell;
  }

  #touchAll() {
    this.version += 1;
    this.#allDirty = true;
  }

  /** What has changed since it was asked last: those cells, or all of them. */
  takeDirty(): Uint32Array | "all" {
    const dirty = this.#allDirty ? ("all" as const) : this.#dirty.subarray(0, this.#dirtyCount);
    this.#allDirty = false;
    this.#dirtyCount = 0;
    return dirty;
  }

  /** Level and number of a cell's shard. */
  shardOf(cell: number): { level: number; shard: number; of: number; items: number } | undefined {
    const level = this.#levelOf(cell);
    if (!level) return undefined;
    const shard = cell - level.first;
    return { level: level.level, shard, of: level.of, items: sizeOf(level.items, level.of, shard) };
  }

  cellOf(level: number, shard: number): number | undefined {
    const of = this.#byLevel.get(level);
    return of && shard < of.shards ? of.first + shard : undefined;
  }

  #levelOf(cell: number): CellLevel | undefined {
    let low = 0;
    let high = this.levels.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const level = this.levels[middle] as CellLevel;
      if (cell < level.first) high = middle - 1;
      else if (cell >= level.first + level.shards) low = middle + 1;
      else return level;
    }
    return undefined;
  }

  /** How far a shard is, 0 to `FILLS`: one that has begun shows something, and only one that is done is full. */
  fillOf(cell: number, items: number): number {
    if (this.code[cell] === SUCCEEDED) return FILLS;
    const done = this.done[cell] as number;
    if (done === 0 || items === 0) return 0;
    return done >= items ? FILLS : Math.min(FILLS - 1, Math.max(1, Math.floor((done / items) * FILLS)));
  }

  /** How many shards of each code there are in each level. */
  table(): { level: number; counts: Uint32Array }[] {
    return this.levels
      .filter((level) => level.shards > 0)
      .map((level) => {
        const counts = new Uint32Array(CODES.length);
        for (let cell = level.first; cell < level.first + level.shards; cell++) {
          const code = this.code[cell] as number;
          counts[code] = (counts[code] ?? 0) + 1;
        }
        return { level: level.level, counts };
      });
  }

  /**
   * The marked shards that something can be done to, as ranges. Between two of them those that it cannot be done to are
   * taken along, for nothing happens to them and the ranges are fewer.
   */
  ranges(can: (code: CellCode) => boolean): {
    ranges: { level: number; from: number; until: number }[];
    count: number;
  } {
    const may = CODES.map((code) => can(code));
    const ranges: { level: number; from: number; until: number }[] = [];
    let count = 0;
    for (const level of this.levels) {
      let open: { level: number; from: number; until: number } | null = null;
      for (let shard = 0; shard < level.shards; shard++) {
        const cell = level.first + shard;
        if (!may[this.code[cell] as number]) continue;
        if (this.marked[cell] === 1) {
          count += 1;
          if (open) open.until = shard + 1;
          else {
            open = { level: level.level, from: shard, until: shard + 1 };
            ranges.push(open);
          }
        } else open = null;
      }
    }
    return { ranges, count };
  }
}

/** How many of a level's items a shard has. */
export function sizeOf(items: number, shards: number, shard: number): number {
  return shards === 0 ? 0 : Math.floor(items / shards) + (shard < items % shards ? 1 : 0);
}
