// What lies over the cells: the heads of levels with their state in words, the cursor, the shard that is open, and what is
// being marked. The one under the pointer has an element of its own: it moves too often.
import type { LevelColumns, LevelState } from "@/api/types";
import { type Block, type Grid, type Point, placeOf } from "./grid";

export interface Drawn {
  levels: LevelColumns;
  chosen: number | null;
  words: { level: (n: number) => string; levelStates: Record<LevelState, string> };
}

interface Place {
  grid: Grid;
  scroll: Point;
  width: number;
  height: number;
  ratio: number;
}

interface Marks {
  cursor: number | null;
  line: readonly Point[];
  rectangle: boolean;
}

const TONE: Record<LevelState, string> = {
  waiting: "--idle",
  running: "--running",
  succeeded: "--ok",
  failed: "--bad",
  cancelled: "--stopped",
};

let places = new Map<number, number>();
let placesOf: LevelColumns | null = null;

export function drawOver(canvas: HTMLCanvasElement, of: Element, at: Place, drawn: Drawn, marks: Marks) {
  const context = canvas.getContext("2d");
  if (!context) return;
  const { grid, scroll, width, height, ratio } = at;
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  } else context.clearRect(0, 0, width, height);
  const style = getComputedStyle(of);
  const colour = (name: string) => style.getPropertyValue(name);
  if (placesOf !== drawn.levels) {
    placesOf = drawn.levels;
    places = new Map(drawn.levels.level.map((level, i) => [level, i]));
  }
  context.font = `500 ${Math.round(11 * ratio)}px ${style.fontFamily}`;
  context.textBaseline = "middle";
  const line = Math.max(1, Math.round(ratio));
  for (const block of grid.blocks) {
    const top = block.top - grid.head - scroll.y;
    if (top > height) break;
    if (top + grid.head < 0) continue;
    head(context, block, at, drawn, top, line, colour);
  }
  const ring = (cell: number | null, name: string, wide: number) => {
    const place = cell === null ? undefined : placeOf(grid, cell);
    if (!place) return;
    context.strokeStyle = colour(name);
    context.lineWidth = wide * ratio;
    const out = grid.cell < 6 ? 3 * ratio : ratio;
    context.strokeRect(place.x - scroll.x - out, place.y - scroll.y - out, grid.cell + out, grid.cell + out);
  };
  ring(drawn.chosen, "--accent-ink", 2);
  ring(marks.cursor, "--focus", 2);
  const [first, ...rest] = marks.line;
  if (!first || rest.length === 0) return;
  context.beginPath();
  const [x, y] = [first.x - scroll.x, first.y - scroll.y];
  if (marks.rectangle) {
    const to = rest[0] as Point;
    context.rect(x, y, to.x - first.x, to.y - first.y);
  } else {
    context.moveTo(x, y);
    for (const point of rest) context.lineTo(point.x - scroll.x, point.y - scroll.y);
    context.closePath();
  }
  context.globalAlpha = 0.14;
  context.fillStyle = colour("--accent");
  context.fill("evenodd");
  context.globalAlpha = 1;
  context.strokeStyle = colour("--accent-ink");
  context.lineWidth = 1.5 * ratio;
  context.setLineDash([4 * ratio, 3 * ratio]);
  context.stroke();
  context.setLineDash([]);
}

/** A line in the colour of the level's state, and above it, where there is room, its number and that state in words. */
function head(
  context: CanvasRenderingContext2D,
  block: Block,
  { grid, scroll, ratio }: Place,
  { levels, words }: Drawn,
  top: number,
  line: number,
  colour: (name: string) => string,
) {
  const state = levels.state[places.get(block.level) ?? -1] ?? "waiting";
  const left = block.column * grid.cell - scroll.x;
  const wide = block.columns * grid.cell - (grid.cell >= 3 ? 1 : 0);
  const foot = top + grid.head - 3 * ratio;
  context.fillStyle = colour(TONE[state]);
  // What failed is broken, what was cancelled thin, what runs thick: told without the colour, too.
  if (state === "failed") {
    for (let x = 0; x < wide; x += 8 * ratio)
      context.fillRect(left + x, foot - line, Math.min(5 * ratio, wide - x), line * 2);
  } else context.fillRect(left, foot - (state === "running" ? line : 0), wide, state === "running" ? line * 2 : line);
  if (grid.head < 12 * ratio) return;
  const texts = [
    `${words.level(block.level)} · ${words.levelStates[state]}`,
    words.level(block.level),
    String(block.level),
  ];
  const room = Math.max(wide, 0);
  const text = texts.find((each) => context.measureText(each).width <= room);
  if (!text) return;
  context.fillStyle = colour("--ink-2");
  // Scrolled aside it stays in sight.
  context.fillText(text, Math.max(left, 0), top + (grid.head - 4 * ratio) / 2);
}
