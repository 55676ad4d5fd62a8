// Puts cells on a canvas: each state is a small picture, made once for a size of cells and a theme, and copied as numbers to
// where a cell stands. Nothing is drawn cell by cell with the canvas's own commands, which for a hundred thousand of them
// would take many frames.
//
// A state is told by a pattern besides its colour, down to cells of two pixels: what succeeded is solid, what failed is
// crossed, what runs fills from below, what waits is hollow.
import { CODES, FILLS, type ShardCells, UNMADE } from "@/api/shardCells";
import { type TaskCode, taskLook } from "@/components/states";
import { type Grid, type Point, placeOf } from "./grid";

/** Colours as one number each, in the order of bytes that an `ImageData` has. */
export interface Colours {
  ground: number;
  line: number;
  mark: number;
  tone: readonly number[];
  soft: readonly number[];
}

export function readColours(of: Element): Colours {
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const style = getComputedStyle(of);
  const read = (name: string) => {
    if (!context) return 0;
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = style.getPropertyValue(name).trim();
    context.fillRect(0, 0, 1, 1);
    return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0] ?? 0;
  };
  const tones = CODES.map((code) => (code === 0 ? "idle" : taskLook[code as TaskCode].tone));
  return {
    ground: read("--surface"),
    line: read("--line-strong"),
    mark: read("--accent-ink"),
    tone: tones.map((tone) => read(`--${tone}`)),
    soft: tones.map((tone) => read(`--${tone}-soft`)),
  };
}

/** Between two colours; `part` of a 100 is the second. */
function mixed(a: number, b: number, part: number): number {
  let out = 0;
  for (let shift = 0; shift < 32; shift += 8) {
    const [x, y] = [(a >>> shift) & 255, (b >>> shift) & 255];
    out |= Math.round(x + ((y - x) * part) / 100) << shift;
  }
  return out >>> 0;
}

type Shade = "ground" | "soft" | "mid" | "tone" | "line";

/** Cells that are too small for a sign have a pattern of their own: rows from above, a letter for each shade. */
const TINY: Record<number, Partial<Record<number, string>>> = {
  2: {
    100: "#...",
    101: "----",
    201: "##--",
    302: "#  #",
    303: ".##.",
    304: ".#.#",
    401: "##..",
    402: "###.",
    403: " ## ",
    0: ":   ",
  },
  3: {
    100: "....#....",
    101: "----.----",
    201: "----#----",
    302: " # # # # ",
    303: ".-#-#-#-.",
    304: ".#...#.#.",
    401: "###.#.###",
    402: "###.#####",
    403: "# ## ## #",
    0: ": :   : :",
  },
  4: {
    100: ".....##..##.....",
    101: "-----..--..-----",
    201: "-----##--##-----",
    302: " ## #  ##  # ## ",
    303: "---#-.#--#.-#---",
    304: ".#....#...#..#..",
    401: "####.##..##.####",
    402: "####..##..######",
    403: "## ## ### ## ###",
    0: ": :    :: :    :",
  },
};
const LETTERS: Record<string, Shade> = { "#": "tone", "-": "mid", ".": "soft", ":": "line", " ": "ground" };

/** Which shade a pixel has, in a cell of n by n. */
export function shadeAt(code: number, fill: number, x: number, y: number, n: number): Shade {
  const last = n - 1;
  const thick = Math.max(0.5, n / 14);
  const middle = last / 2;
  const onDown = Math.abs(x - y) <= thick;
  const onUp = Math.abs(x + y - last) <= thick;
  const edge = x === 0 || y === 0 || x === last || y === last;
  const dot = Math.abs(x - middle) <= Math.max(0.5, n / 8) && Math.abs(y - middle) <= Math.max(0.5, n / 8);
  // A sign keeps off the edge, where there is room.
  const margin = n >= 8 ? n * 0.22 : 0;
  const within = x >= margin && x <= last - margin && y >= margin && y <= last - margin;
  const filled = fill > 0 && y >= n - Math.max(1, Math.round((fill / FILLS) * n));
  const ground: Shade = filled ? "mid" : "soft";
  const tiny = TINY[n]?.[code]?.[y * n + x];
  if (tiny !== undefined) {
    const shade = LETTERS[tiny] ?? "ground";
    return shade === "soft" ? ground : shade;
  }
  switch (code) {
    case 100:
      return dot ? "tone" : ground;
    case 101:
      return edge ? "mid" : ground;
    case 201:
      return edge || dot ? "tone" : ground;
    case 202:
      return filled || y === last ? "tone" : "soft";
    case 203:
      return filled || y === last || (n > 2 ? y <= thick * 1.5 : x === 0) ? "tone" : "soft";
    case 301: {
      if (n < 9) return "tone";
      // A tick: down to the foot at two fifths, and up from there.
      const foot = last * 0.42;
      const low = last * 0.7;
      const short = x <= foot && Math.abs(y - (low - (foot - x))) <= thick + 0.3 && x >= last * 0.22;
      const long = x > foot && Math.abs(y - (low - (x - foot))) <= thick + 0.3 && x <= last * 0.78;
      return short || long ? "ground" : "tone";
    }
    case 302:
      return (onDown || onUp) && within ? "ground" : "tone";
    case 303:
      return onUp && within ? "tone" : edge ? "mid" : ground;
    case 304:
      return Math.abs(x - middle - (middle / 2 - Math.abs(y - middle))) <= thick && within ? "tone" : ground;
    case 401:
      return y <= thick || y >= last - thick ? "tone" : n >= 5 && (onDown || onUp) && within ? "tone" : ground;
    case 402:
      return y <= thick || y >= last - thick || x >= last - thick
        ? "tone"
        : n >= 5 && onDown && within
          ? "tone"
          : ground;
    case 403:
      return Math.abs(x - middle - (y % 4 < 2 ? thick : -thick)) <= thick ? "ground" : "tone";
    default:
      return edge && (x + y) % 2 === 0 ? "line" : "ground";
  }
}

/** The pictures of all states at one size, one after the other. */
function pictures(size: number, colours: Colours): Uint32Array {
  // The gap between cells is part of the picture.
  const n = size >= 3 ? size - (size >= 12 ? 2 : 1) : size;
  const area = size * size;
  const all = new Uint32Array(CODES.length * (FILLS + 1) * 2 * area).fill(colours.ground);
  CODES.forEach((code, place) => {
    const tone = colours.tone[place] as number;
    const soft = colours.soft[place] as number;
    const shades: Record<Shade, number> = {
      ground: colours.ground,
      soft,
      mid: mixed(soft, tone, 45),
      tone,
      line: colours.line,
    };
    for (let fill = 0; fill <= FILLS; fill++) {
      for (let marked = 0; marked < 2; marked++) {
        const at = pictureOf(place, fill, marked) * area;
        for (let y = 0; y < n; y++) {
          for (let x = 0; x < n; x++) {
            let colour =
              size === 1
                ? code === 0
                  ? colours.line
                  : onePixel(code, soft, tone)
                : shades[shadeAt(code, fill, x, y, n)];
            if (marked === 1) {
              const ring = n >= 10 ? 2 : 1;
              const atEdge = x < ring || y < ring || x >= n - ring || y >= n - ring;
              if (n < 4) colour = mixed(colour, colours.mark, 65);
              else if (atEdge) colour = colours.mark;
            }
            all[at + y * size + x] = colour;
          }
        }
      }
    }
  });
  return all;
}

/** What went well is dark, what did not is bright among it, what is to come is faint. */
function onePixel(code: number, soft: number, tone: number): number {
  if (code === 301 || code === 202 || code === 201) return tone;
  return mixed(soft, tone, code === 302 || code >= 400 || code === 203 ? 60 : 30);
}

function pictureOf(place: number, fill: number, marked: number): number {
  return (place * (FILLS + 1) + fill) * 2 + marked;
}

export class Painter {
  readonly #context: CanvasRenderingContext2D | null;
  #image: ImageData | null = null;
  #pixels: Uint32Array = new Uint32Array(0);
  #pictures: Uint32Array = new Uint32Array(0);
  #picturesOf = "";
  #drawn = "";

  constructor(canvas: HTMLCanvasElement) {
    this.#context = canvas.getContext("2d", { alpha: false });
  }

  /** Draws what has changed, or all of it where it stands elsewhere. How many cells it drew. */
  paint(cells: ShardCells, grid: Grid, scroll: Point, width: number, height: number, colours: Colours): number {
    const context = this.#context;
    if (!context || width === 0 || height === 0) return 0;
    if (context.canvas.width !== width || context.canvas.height !== height || !this.#image) {
      context.canvas.width = width;
      context.canvas.height = height;
      this.#image = context.createImageData(width, height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
      this.#drawn = "";
    }
    const look = `${grid.cell} ${colours.ground} ${colours.mark}`;
    if (look !== this.#picturesOf) {
      this.#pictures = pictures(grid.cell, colours);
      this.#picturesOf = look;
      this.#drawn = "";
    }
    const where = `${cells.shape} ${grid.columns} ${grid.head} ${scroll.x} ${scroll.y}`;
    const dirty = cells.takeDirty();
    if (dirty === "all" || this.#drawn !== where) {
      this.#drawn = where;
      this.#pixels.fill(colours.ground);
      const drawn = this.#all(cells, grid, scroll, width, height);
      context.putImageData(this.#image, 0, 0);
      return drawn;
    }
    return this.#some(dirty, cells, grid, scroll, width, height);
  }

  #all(cells: ShardCells, grid: Grid, scroll: Point, width: number, height: number): number {
    const size = grid.cell;
    let drawn = 0;
    for (const block of grid.blocks) {
      const top = block.top - scroll.y;
      if (top >= height) break;
      if (top + block.rows * size <= 0) continue;
      const { items, of } = cells.shardOf(block.first) ?? { items: 0, of: 0 };
      // All shards of a level have as many items, or one less.
      const rowFrom = Math.max(0, Math.floor(-top / size));
      const rowTo = Math.min(block.rows - 1, Math.floor((height - 1 - top) / size));
      const left = block.column * size - scroll.x;
      const columnFrom = Math.max(0, Math.floor(-left / size));
      const columnTo = Math.min(block.columns - 1, Math.floor((width - 1 - left) / size));
      for (let row = rowFrom; row <= rowTo; row++) {
        const rowFirst = row * block.columns;
        for (let column = columnFrom; column <= columnTo; column++) {
          const at = rowFirst + column;
          if (at >= block.cells) break;
          this.#put(
            cells,
            block.first + at,
            of === 0 ? 0 : items,
            left + column * size,
            top + row * size,
            size,
            width,
            height,
          );
          drawn += 1;
        }
      }
    }
    return drawn;
  }

  #some(dirty: Uint32Array, cells: ShardCells, grid: Grid, scroll: Point, width: number, height: number): number {
    const context = this.#context;
    if (!context || !this.#image || dirty.length === 0) return 0;
    let [left, top, right, bottom] = [width, height, 0, 0];
    let drawn = 0;
    for (const cell of dirty) {
      const place = placeOf(grid, cell);
      if (!place) continue;
      const [x, y] = [place.x - scroll.x, place.y - scroll.y];
      if (x + grid.cell <= 0 || y + grid.cell <= 0 || x >= width || y >= height) continue;
      this.#put(cells, cell, cells.shardOf(cell)?.items ?? 0, x, y, grid.cell, width, height);
      drawn += 1;
      left = Math.min(left, x);
      top = Math.min(top, y);
      right = Math.max(right, x + grid.cell);
      bottom = Math.max(bottom, y + grid.cell);
    }
    if (drawn > 0) {
      left = Math.max(0, left);
      top = Math.max(0, top);
      context.putImageData(this.#image, 0, 0, left, top, Math.min(width, right) - left, Math.min(height, bottom) - top);
    }
    return drawn;
  }

  #put(
    cells: ShardCells,
    cell: number,
    items: number,
    x: number,
    y: number,
    size: number,
    width: number,
    height: number,
  ) {
    const code = cells.code[cell] ?? UNMADE;
    const from = pictureOf(code, cells.fillOf(cell, items), cells.marked[cell] ?? 0) * size * size;
    const pixels = this.#pixels;
    const source = this.#pictures;
    const [x0, x1] = [Math.max(0, -x), Math.min(size, width - x)];
    const [y0, y1] = [Math.max(0, -y), Math.min(size, height - y)];
    for (let row = y0; row < y1; row++) {
      let to = (y + row) * width + x + x0;
      let at = from + row * size + x0;
      const end = from + row * size + x1;
      while (at < end) pixels[to++] = source[at++] as number;
    }
  }
}
