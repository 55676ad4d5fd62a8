// What is known of the shards of a run: a code, a fill and a mark for each, in arrays of numbers, so that a hundred thousand
// of them cost a megabyte and a change costs a write. Changed cells are noted for whoever draws them.
//
// It is no part of what React renders: a change is told to those who listen, and they draw, or write a number.
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

/** What is written in words is written anew at most this often: nobody reads faster. */
const WORDS_MS = 250;

/** A cell's code, fill and mark as one number. */
export function lookOf(place: number, fill: number, marked: number): number {
  return (place * (FILLS + 1) + fill) * 2 + marked;
}
export const LOOKS = lookOf(CODES.length, 0, 0);

/** How far a shard is, 0 to `FILLS`: one that has begun shows something, and only one that is done is full. */
function fillOf(place: number, done: number, items: number): number {
  if (place === SUCCEEDED) return FILLS;
  if (done === 0 || items === 0) return 0;
  return done >= items ? FILLS : Math.min(FILLS - 1, Math.max(1, Math.floor((done / items) * FILLS)));
}

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
  /** What each looks like, by `lookOf`. */
  look = new Uint16Array(0);
  markedCount = 0;
  counts = new Uint32Array(CODES.length);
  /** How often there was something to say in words. */
  said = 0;
  /** Grows where cells came to stand elsewhere. */
  shape = 0;
  #byLevel = new Map<number, CellLevel>();
  #dirty = new Uint32Array(4_096);
  #dirtyCount = 0;
  #allDirty = true;
  readonly #drawers = new Set<() => void>();
  readonly #readers = new Set<() => void>();
  #wordsAt = 0;
  #words: number | undefined;

  /** Calls back when there is something to draw. */
  onDirty(draw: () => void): () => void {
    this.#drawers.add(draw);
    return () => this.#drawers.delete(draw);
  }

  /** Calls back when there is something to say in words: at once where marks changed, else now and then. */
  onWords(read: () => void): () => void {
    this.#readers.add(read);
    return () => this.#readers.delete(read);
  }

  /** Said by whoever has changed something, once for all of it. */
  tell() {
    for (const draw of this.#drawers) draw();
    if (this.#words !== undefined) return;
    this.#words = window.setTimeout(() => this.#say(), Math.max(0, this.#wordsAt + WORDS_MS - performance.now()));
  }

  #say() {
    window.clearTimeout(this.#words);
    this.#words = undefined;
    this.#wordsAt = performance.now();
    this.said += 1;
    for (const read of this.#readers) read();
  }

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
    const look = new Uint16Array(first).fill(lookOf(UNMADE, 0, 0));
    for (const level of next) {
      const old = this.#byLevel.get(level.level);
      if (!old) continue;
      const count = Math.min(old.shards, level.shards);
      code.set(this.code.subarray(old.first, old.first + count), level.first);
      done.set(this.done.subarray(old.first, old.first + count), level.first);
      marked.set(this.marked.subarray(old.first, old.first + count), level.first);
      look.set(this.look.subarray(old.first, old.first + count), level.first);
    }
    this.levels = next;
    this.#byLevel = new Map(next.map((level) => [level.level, level]));
    this.size = first;
    this.beyond = beyond;
    this.code = code;
    this.done = done;
    this.marked = marked;
    this.look = look;
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
      this.#set(of, index, PLACE.get(state[i] as number) ?? UNMADE, done[i] as number);
    }
    return known;
  }

  #set(of: CellLevel, index: number, code: number, done: number) {
    const cell = of.first + index;
    const before = this.code[cell] as number;
    if (before === code && this.done[cell] === done) return;
    this.counts[before] = (this.counts[before] ?? 1) - 1;
    this.counts[code] = (this.counts[code] ?? 0) + 1;
    this.code[cell] = code;
    this.done[cell] = done;
    const look = lookOf(code, fillOf(code, done, sizeOf(of.items, of.of, index)), this.marked[cell] as number);
    if (this.look[cell] === look) return;
    this.look[cell] = look;
    this.#touch(cell);
  }

  mark(first: number, count: number, on: boolean) {
    for (let cell = first; cell < first + count; cell++) this.#mark(cell, on ? 1 : 0);
  }

  unmarkAll() {
    if (this.markedCount === 0) return;
    for (let cell = 0; cell < this.size; cell++) this.#mark(cell, 0);
  }

  /** Marks every shard of some codes, of those that are drawn. */
  markCodes(is: (code: CellCode) => boolean) {
    const wanted = CODES.map(is);
    for (let cell = 0; cell < this.size; cell++) if (wanted[this.code[cell] as number]) this.#mark(cell, 1);
  }

  #mark(cell: number, on: 0 | 1) {
    if (this.marked[cell] === on) return;
    this.marked[cell] = on;
    this.markedCount += on === 1 ? 1 : -1;
    this.look[cell] = ((this.look[cell] as number) & ~1) | on;
    this.#touch(cell);
  }

  /** Said by whoever has marked something, once for all of it. */
  tellMarks() {
    for (const draw of this.#drawers) draw();
    this.#say();
  }

  #touch(cell: number) {
    if (this.#allDirty) return;
    if (this.#dirtyCount === this.#dirty.length) {
      this.#allDirty = true;
      return;
    }
    this.#dirty[this.#dirtyCount++] = cell;
  }

  #touchAll() {
    this.#allDirty = true;
  }

  /** What has changed since it was asked last: those cells, or all of them. */
  takeDirty(): Uint32Array<ArrayBuffer> | "all" {
    const dirty = this.#allDirty ? ("all" as const) : this.#dirty.slice(0, this.#dirtyCount);
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
