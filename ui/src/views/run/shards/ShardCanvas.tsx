// The canvas of shards: zooms, moves, marks, and says which shard is under the pointer or the cursor. The cells are painted
// by `surface`, which hears of their changes directly; what lies over them is drawn here, once for each frame that needs it.
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";
import type { ShardCells } from "@/api/shardCells";
import type { LevelColumns } from "@/api/types";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import {
  anchored,
  cellAt,
  eachRun,
  eachRunInside,
  fittingSize,
  type Grid,
  gridAt,
  kept,
  nextSize,
  type Point,
  placeOf,
  step,
} from "./grid";
import { type Drawn, drawOver } from "./overlay";
import { readColours, type Surface, surfaceIn } from "./surface";
import { useCells } from "./useCells";
import { shardsWords } from "./words";

export type Tool = "rectangle" | "lasso" | "hand";

export interface CanvasHandle {
  zoom: (steps: number) => void;
  fit: () => void;
}

interface ShardCanvasProps {
  cells: ShardCells;
  levels: LevelColumns;
  tool: Tool;
  chosen: number | null;
  onChoose: (cell: number) => void;
  /** Under the pointer or the cursor, with where that is on the canvas. */
  onLook: (look: { cell: number; at: Point } | null) => void;
  /** What the cursor's shard is, in words. */
  said: (cell: number) => string;
  ref: React.Ref<CanvasHandle>;
}

interface View {
  grid: Grid;
  scroll: Point;
  width: number;
  height: number;
  ratio: number;
  /** It follows what there is until somebody zooms. */
  fitted: boolean;
}

const viewOf = ({ scroll, width, height }: View) => ({ scroll, width, height });

const WHEEL_STEP = 60;
/** A pointer that moves less than this was not dragged. */
const STILL_PX = 4;

export function ShardCanvas({ cells, levels, tool, chosen, onChoose, onLook, said, ref }: ShardCanvasProps) {
  const w = useWords(shardsWords);
  const shape = useCells(cells, (of) => of.shape);
  const box = useRef<HTMLDivElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const view = useRef<View | null>(null);
  const surface = useRef<Surface | null>(null);
  /** What the surface has not been told yet. */
  const unsaid = useRef({ grid: false, view: false });
  /** What the next frame has to do for what lies over the cells. */
  const due = useRef({ over: false, look: null as null | (() => void) });
  const frame = useRef(0);
  const cursor = useRef<number | null>(null);
  const hover = useRef<number | null>(null);
  const ring = useRef<HTMLSpanElement>(null);
  const drag = useRef<{
    from: Point;
    line: Point[];
    scroll: Point;
    how: Tool;
    on: boolean;
    add: boolean;
    moved: boolean;
  } | null>(null);
  const wheel = useRef(0);
  const [spoken, setSpoken] = useState("");
  const [moving, setMoving] = useState(false);
  const shown = useRef<Drawn>({ levels, chosen: null, words: w });
  shown.current = { levels, chosen, words: w };

  const draw = () => {
    frame.current = 0;
    const at = view.current;
    if (!at || !over.current || !box.current) return;
    const { grid, view: moved } = unsaid.current;
    const { over: anew, look: looked } = due.current;
    unsaid.current = { grid: false, view: false };
    due.current = { over: false, look: null };
    looked?.();
    if (grid || moved) surface.current?.say(grid ? { grid: at.grid, view: viewOf(at) } : { view: viewOf(at) });
    if (!anew) return;
    drawOver(over.current, box.current, at, shown.current, {
      cursor: document.activeElement === box.current ? cursor.current : null,
      line: drag.current?.on && drag.current.how !== "hand" ? drag.current.line : [],
      rectangle: drag.current?.how === "rectangle",
    });
  };
  /** What lies over the cells is drawn anew. */
  const soon = () => {
    due.current.over = true;
    nextFrame();
  };
  const nextFrame = () => {
    if (frame.current === 0) frame.current = requestAnimationFrame(draw);
  };
  /** Other cells are in sight, or elsewhere. */
  const moved = () => {
    unsaid.current.view = true;
    soon();
  };

  /** Lays the cells out anew: the window or what there is has another size. */
  const lay = (wanted?: { size: number; at: Point } | "fit") => {
    const element = box.current;
    if (!element) return;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(element.clientWidth * ratio);
    const height = Math.round(element.clientHeight * ratio);
    const before = view.current;
    const fitted = wanted === "fit" || (wanted === undefined && (before?.fitted ?? true));
    const size = fitted
      ? fittingSize(cells.levels, width, height, ratio)
      : typeof wanted === "object"
        ? wanted.size
        : (before?.grid.cell ?? 8);
    // Zoomed in, there are as many columns as there were: a neighbour stays a neighbour.
    const columns = before && !fitted && typeof wanted === "object" ? before.grid.columns * size : width;
    const grid = gridAt(cells.levels, size, Math.max(width, columns), height, ratio);
    const at = typeof wanted === "object" ? wanted.at : { x: 0, y: 0 };
    const scroll =
      fitted || !before
        ? { x: 0, y: 0 }
        : typeof wanted === "object"
          ? anchored(before.grid, grid, before.scroll, at)
          : before.scroll;
    view.current = { grid, scroll: kept(scroll, grid, width, height), width, height, ratio, fitted };
    unsaid.current.grid = true;
    moved();
  };

  const zoom = (steps: number, at?: Point) => {
    const of = view.current;
    if (!of) return;
    const size = nextSize(of.grid.cell, steps);
    if (size === of.grid.cell) return;
    // Smaller than all of it in the window is of no use.
    if (steps < 0 && size <= fittingSize(cells.levels, of.width, of.height, of.ratio)) lay("fit");
    else lay({ size, at: at ?? { x: of.width / 2, y: of.height / 2 } });
  };
  useImperativeHandle(ref, () => ({ zoom: (steps) => zoom(steps), fit: () => lay("fit") }));

  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn when any of these changes, by what is then current
  useLayoutEffect(() => soon(), [levels, chosen, w]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: cells stand elsewhere when their shape has changed
  useLayoutEffect(() => lay(), [shape]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: for the life of the element
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const painted = surfaceIn(element, () => {
      cells.takeDirty();
      const at = view.current;
      const seen = at ? { grid: at.grid, view: viewOf(at) } : {};
      return { ...seen, all: cells.look.slice(), colours: readColours(element) };
    });
    surface.current = painted;
    const tell = () => {
      const dirty = cells.takeDirty();
      if (dirty === "all") painted.say({ all: cells.look.slice() });
      else if (dirty.length > 0)
        painted.say({ some: { cells: dirty, looks: Uint16Array.from(dirty, (cell) => cells.look[cell] as number) } });
    };
    const told = cells.onDirty(tell);
    const sized = new ResizeObserver(() => lay());
    sized.observe(element);
    const themed = new MutationObserver(() => {
      painted.say({ colours: readColours(element) });
      soon();
    });
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const of = view.current;
      if (!of) return;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        scrollBy((event.shiftKey ? event.deltaY : event.deltaX) * of.ratio, 0);
        return;
      }
      wheel.current += event.deltaY;
      const steps = Math.trunc(wheel.current / WHEEL_STEP);
      if (steps === 0) return;
      wheel.current -= steps * WHEEL_STEP;
      zoom(-steps, pointOf(event));
    };
    // React's own listener could not keep the page from scrolling.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      told();
      painted.close();
      surface.current = null;
      sized.disconnect();
      themed.disconnect();
      element.removeEventListener("wheel", onWheel);
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, []);

  const pointOf = (event: { clientX: number; clientY: number }): Point => {
    const frameOf = box.current?.getBoundingClientRect();
    const ratio = view.current?.ratio ?? 1;
    return { x: (event.clientX - (frameOf?.left ?? 0)) * ratio, y: (event.clientY - (frameOf?.top ?? 0)) * ratio };
  };
  const inPicture = (at: Point): Point => ({
    x: at.x + (view.current?.scroll.x ?? 0),
    y: at.y + (view.current?.scroll.y ?? 0),
  });

  const scrollBy = (x: number, y: number) => {
    const of = view.current;
    if (!of) return;
    of.scroll = kept({ x: of.scroll.x + x, y: of.scroll.y + y }, of.grid, of.width, of.height);
    moved();
  };

  /** A ring around the shard under the pointer. */
  const ringAt = (cell: number | null) => {
    const of = view.current;
    const element = ring.current;
    const place = of && cell !== null ? placeOf(of.grid, cell) : undefined;
    if (!element || !of) return;
    element.hidden = !place;
    if (!place) return;
    const out = of.grid.cell < 6 ? 3 : 1;
    const [x, y] = [(place.x - of.scroll.x) / of.ratio - out, (place.y - of.scroll.y) / of.ratio - out];
    element.style.transform = `translate(${x}px, ${y}px)`;
    element.style.width = element.style.height = `${of.grid.cell / of.ratio + 2 * out - (of.grid.cell > 2 ? 1 : 0)}px`;
  };

  const look = (cell: number | null, at: Point | null) => {
    const of = view.current;
    if (cell === hover.current && cell === null) return;
    hover.current = cell;
    // A pointer may move several times within a frame; only where it ends is looked at.
    due.current.look = () => {
      onLook(cell === null || !at || !of ? null : { cell, at: { x: at.x / of.ratio, y: at.y / of.ratio } });
      ringAt(cell);
    };
    nextFrame();
  };

  const cursorTo = (cell: number) => {
    const of = view.current;
    const place = of && placeOf(of.grid, cell);
    if (!of || !place) return;
    cursor.current = cell;
    // It is kept in sight.
    const { cell: size } = of.grid;
    const x = Math.min(place.x, Math.max(of.scroll.x, place.x + size - of.width));
    const y = Math.min(place.y - of.grid.head, Math.max(of.scroll.y, place.y + size - of.height));
    of.scroll = kept({ x, y }, of.grid, of.width, of.height);
    moved();
    look(cell, { x: place.x - of.scroll.x + size, y: place.y - of.scroll.y + size });
    setSpoken(said(cell));
  };

  const onKeyDown = (event: React.KeyboardEvent) => {
    const of = view.current;
    if (!of || cells.size === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const way = ({ ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" } as const)[event.key];
    const at = cursor.current;
    if (way) {
      const next = at === null ? (chosen ?? 0) : step(of.grid, at, way);
      if (event.shiftKey) {
        if (at !== null) cells.mark(at, 1, true);
        cells.mark(next, 1, true);
        cells.tellMarks();
      }
      cursorTo(next);
    } else if (event.key === "Home" || event.key === "End") cursorTo(event.key === "Home" ? 0 : cells.size - 1);
    else if (event.key === "+" || event.key === "=") zoom(1);
    else if (event.key === "-") zoom(-1);
    else if (event.key === "0") lay("fit");
    else if (at !== null && (event.key === " " || event.key === "x")) {
      cells.mark(at, 1, cells.marked[at] !== 1);
      cells.tellMarks();
    } else if (at !== null && event.key === "Enter") onChoose(at);
    else if (event.key === "Escape" && cells.markedCount > 0) {
      cells.unmarkAll();
      cells.tellMarks();
    } else return;
    event.preventDefault();
    event.stopPropagation();
    soon();
  };

  const onPointerDown = (event: React.PointerEvent) => {
    const of = view.current;
    if (!of || (event.button !== 0 && event.button !== 1)) return;
    const at = pointOf(event);
    const how: Tool = event.button === 1 ? "hand" : event.altKey ? "lasso" : tool;
    drag.current = {
      from: at,
      line: [inPicture(at)],
      scroll: of.scroll,
      how,
      on: false,
      add: event.shiftKey || event.ctrlKey,
      moved: false,
    };
    event.currentTarget.setPointerCapture(event.pointerId);
    box.current?.focus({ preventScroll: true });
    if (event.button === 1) event.preventDefault();
  };

  const onPointerMove = (event: React.PointerEvent) => {
    const of = view.current;
    if (!of) return;
    const at = pointOf(event);
    const held = drag.current;
    if (!held) {
      look(cellAt(of.grid, inPicture(at)), at);
      return;
    }
    if (!held.on && Math.hypot(at.x - held.from.x, at.y - held.from.y) < STILL_PX * of.ratio) return;
    if (!held.on) {
      held.on = true;
      look(null, null);
      setMoving(held.how === "hand");
    }
    if (held.how === "hand") {
      of.scroll = kept(
        { x: held.scroll.x - (at.x - held.from.x), y: held.scroll.y - (at.y - held.from.y) },
        of.grid,
        of.width,
        of.height,
      );
      moved();
    } else if (held.how === "rectangle") held.line[1] = inPicture(at);
    else held.line.push(inPicture(at));
    soon();
  };

  const onPointerUp = (event: React.PointerEvent) => {
    const of = view.current;
    const held = drag.current;
    drag.current = null;
    setMoving(false);
    if (!of || !held) return;
    const mark = (first: number, count: number) => cells.mark(first, count, true);
    if (!held.on) {
      const cell = cellAt(of.grid, inPicture(pointOf(event)));
      if (held.add && cell !== null) {
        cells.mark(cell, 1, cells.marked[cell] !== 1);
        cursor.current = cell;
      } else {
        cells.unmarkAll();
        if (cell !== null && held.how !== "hand") {
          cursor.current = cell;
          onChoose(cell);
        }
      }
    } else if (held.how !== "hand") {
      if (!held.add) cells.unmarkAll();
      const [from, to] = held.line;
      if (held.how === "rectangle" && from && to) eachRun(of.grid, from, to, mark);
      else eachRunInside(of.grid, held.line, mark);
    }
    cells.tellMarks();
    soon();
  };

  return (
    <div
      ref={box}
      role="application"
      aria-label={w.canvas}
      aria-description={w.canvasHelp}
      tabIndex={0}
      data-testid="shard-canvas"
      onKeyDown={onKeyDown}
      onFocus={soon}
      onBlur={() => {
        look(null, null);
        soon();
      }}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={() => {
        drag.current = null;
        setMoving(false);
        soon();
      }}
      onPointerLeave={() => !drag.current && look(null, null)}
      className={cx(
        "relative h-full min-h-0 w-full touch-none select-none overflow-hidden rounded-md outline-none focus-visible:outline-2 focus-visible:outline-focus",
        moving ? "cursor-grabbing" : tool === "hand" ? "cursor-grab" : "cursor-crosshair",
      )}
    >
      <canvas ref={over} className="pointer-events-none absolute inset-0 size-full" />
      <span
        ref={ring}
        hidden
        aria-hidden="true"
        className="pointer-events-none absolute top-0 left-0 border-[1.5px] border-ink"
      />
      <span className="sr-only" aria-live="polite">
        {spoken}
      </span>
    </div>
  );
}
