// Puts cells on a canvas: each state is a small picture, made once for a size of cells and a theme, and copied as numbers to
// where a cell stands. Nothing is drawn cell by cell with the canvas's own commands, which for a hundred thousand of them
// would take many frames.
//
// Where it is done is not said here: in a worker where the window can, else on the page (see `surface`).
//
// A state is told by a pattern besides its colour, down to cells of two pixels: what succeeded is solid, what failed is
// crossed, what runs fills from below, what waits is hollow.
import { CODES, FILLS, LOOKS, lookOf } from "@/api/shardCells";
import { type Grid, type Point, placeOf } from "./grid";

/** Colours as one number each, in the order of bytes that an `ImageData` has. */
export interface Colours {
  ground: number;
  line: number;
  mark: number;
  tone: readonly number[];
  soft: readonly number[];
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
  const all = new Uint32Array(LOOKS * area).fill(colours.ground);
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
        const at = lookOf(place, fill, marked) * area;
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

/** What is in sight. */
export interface View {
  scroll: Point;
  width: number;
  height: number;
}

/** What has changed for whoever paints; what is left out is as it was. */
export interface News {
  grid?: Grid;
  view?: View;
  colours?: Colours;
  /** How all cells look. */
  all?: Uint16Array<ArrayBuffer>;
  /** How some of them look now. */
  some?: { cells: Uint32Array<ArrayBuffer>; looks: Uint16Array<ArrayBuffer> };
}

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export class Painter {
  readonly #context: Context | null;
  #image: ImageData | null = null;
  #pixels: Uint32Array = new Uint32Array(0);
  #pictures: Uint32Array = new Uint32Array(0);
  #picturesOf = "";
  #grid: Grid | undefined;
  #view: View | undefined;
  #colours: Colours | undefined;
  #looks: Uint16Array = new Uint16Array(0);
  /** Cells that look different from what is on the picture; null: all of it has to be drawn. */
  #changed: Uint32Array[] | null = null;

  constructor(canvas: HTMLCanvasElement | OffscreenCanvas) {
    this.#context = canvas.getContext("2d", { alpha: false }) as Context | null;
  }

  take({ grid, view, colours, all, some }: News) {
    if (grid) this.#grid = grid;
    if (view) this.#view = view;
    if (colours) this.#colours = colours;
    if (all) this.#looks = all;
    if (grid || view || colours || all) this.#changed = null;
    if (!some) return;
    some.cells.forEach((cell, i) => {
      this.#looks[cell] = some.looks[i] as number;
    });
    this.#changed?.push(some.cells);
  }

  /** Draws what has changed, or all of it where it stands elsewhere. */
  paint() {
    const context = this.#context;
    const [grid, view, colours] = [this.#grid, this.#view, this.#colours];
    if (!context || !grid || !view || !colours || view.width === 0 || view.height === 0) return;
    const { width, height } = view;
    if (context.canvas.width !== width || context.canvas.height !== height || !this.#image) {
      context.canvas.width = width;
      context.canvas.height = height;
      this.#image = context.createImageData(width, height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
      this.#changed = null;
    }
    const look = `${grid.cell} ${colours.ground} ${colours.mark}`;
    if (look !== this.#picturesOf) {
      this.#pictures = pictures(grid.cell, colours);
      this.#picturesOf = look;
      this.#changed = null;
    }
    const changed = this.#changed;
    this.#changed = [];
    if (changed === null) {
      this.#pixels.fill(colours.ground);
      this.#all(grid, view);
      context.putImageData(this.#image, 0, 0);
    } else if (changed.length > 0) this.#some(context, this.#image, changed, grid, view);
  }

  #all(grid: Grid, { scroll, width, height }: View) {
    const size = grid.cell;
    for (const block of grid.blocks) {
      const top = block.top - scroll.y;
      if (top >= height) break;
      if (top + block.rows * size <= 0) continue;
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
          this.#put(block.first + at, left + column * size, top + row * size, size, width, height);
        }
      }
    }
  }

  #some(
    context: Context,
    image: ImageData,
    changed: readonly Uint32Array[],
    grid: Grid,
    { scroll, width, height }: View,
  ) {
    let [left, top, right, bottom] = [width, height, 0, 0];
    for (const cells of changed) {
      for (const cell of cells) {
        const place = placeOf(grid, cell);
        if (!place) continue;
        const [x, y] = [place.x - scroll.x, place.y - scroll.y];
        if (x + grid.cell <= 0 || y + grid.cell <= 0 || x >= width || y >= height) continue;
        this.#put(cell, x, y, grid.cell, width, height);
        left = Math.min(left, x);
        top = Math.min(top, y);
        right = Math.max(right, x + grid.cell);
        bottom = Math.max(bottom, y + grid.cell);
      }
    }
    if (right <= left) return;
    left = Math.max(0, left);
    top = Math.max(0, top);
    context.putImageData(image, 0, 0, left, top, Math.min(width, right) - left, Math.min(height, bottom) - top);
  }

  #put(cell: number, x: number, y: number, size: number, width: number, height: number) {
    const from = (this.#looks[cell] ?? 0) * size * size;
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
