// The days beside one another, hours downwards. Takes hold of firings (pointer or keys), tells what was opened, dropped
// or clicked, and keeps no truth: what a drop means is asked of the node by whoever shows this.
//
// Drags are pointer events throughout: the web views of desktops do not agree on the browser's own drag and drop.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { CalendarBand, CalendarEntry, CalendarView } from "@/api/calendar";
import type { BlackoutSpan, CalendarDay } from "@/api/types";
import { clock } from "@/lib/civil";
import { cx } from "@/lib/cx";
import { useHotkey } from "@/lib/hotkeys";
import { useSaid, useWords } from "@/lib/words";
import { BlackoutBands, LANE_PX, PullGhost } from "./BlackoutBands";
import { lanesOf, type Pulling, paintedOn } from "./blackouts";
import { CHIP_PX, Chip, FoldChip } from "./Chip";
import { DayHeads } from "./DayHeads";
import { DayGround } from "./DayMarks";
import { Ghosts, Refused } from "./Ghosts";
import { LoadStrip } from "./LoadStrip";
import { DAY_MINUTES, type Direction, type Folded, layoutDay, neighbour, shifted, toMinute, toY } from "./layout";
import { keyOf, type Manner, type Moving } from "./moving";
import { NowLine } from "./NowLine";
import { usePull } from "./usePull";
import { calendarWords } from "./words";
import "./hues.css";

export const GUTTER = 52;
const RIBBONS = 3;
const RIBBON_PX = 5;
const LOAD_PX = 14;
/** Narrower than this a chip says nothing. */
const LEAST_CHIP_PX = 44;
const DRAG_FROM_PX = 4;
const EDGE_PX = 48;
/** So much of a chip, at its foot, is the edge that can be pulled. */
const FOOT_PX = 6;

const ARROWS: Record<string, Direction> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

export type Opened =
  | { is: "entries"; entries: readonly CalendarEntry[]; anchor: HTMLElement }
  | { is: "band"; band: CalendarBand; anchor: HTMLElement }
  | { is: "blackouts"; spans: readonly BlackoutSpan[]; anchor: HTMLElement };

interface WeekGridProps {
  week: CalendarView;
  /** The first day shown, and how many. */
  from: number;
  count: number;
  hourPx: number;
  moving: Moving;
  pulling: Pulling;
  /** Why the end of a window cannot be pulled. */
  whyNotPull: (span: BlackoutSpan) => string | null;
  nowMinute: number | null;
  nowLocal: string | null;
  onOpen: (opened: Opened) => void;
  onMenu: (entry: CalendarEntry, at: { x: number; y: number }) => void;
  onDay: (date: string) => void;
  onCreate: (day: CalendarDay, minute: number) => void;
  onDrop: () => void;
  onPulled: () => void;
  onSkip: (entry: CalendarEntry) => void;
}

interface Press {
  key: string | null;
  fold: string | null;
  x: number;
  y: number;
  /** From the top of the chip to the pointer. */
  grip: number;
  /** Taken at the foot of the chip. */
  foot: boolean;
  phase: "down" | "drag" | "refused";
}

export function WeekGrid(props: WeekGridProps) {
  const { week, from, count, hourPx, moving, nowMinute, nowLocal, onOpen, onMenu, onDay, onCreate, onDrop, onSkip } =
    props;
  const { pulling } = props;
  const w = useWords(calendarWords);
  const said = useSaid();
  const box = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const hover = useRef<HTMLDivElement>(null);
  const press = useRef<Press | null>(null);
  const [width, setWidth] = useState(900);
  const [cursor, setCursor] = useState<string | null>(null);
  const [refused, setRefused] = useState<{ at: { x: number; y: number }; text: string } | null>(null);

  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    const watcher = new ResizeObserver(() => setWidth(element.clientWidth));
    watcher.observe(element);
    setWidth(element.clientWidth);
    return () => watcher.disconnect();
  }, []);

  // These keep their identity from answer to answer where nothing changed in them; the week itself does not.
  const { entries: firings, bands: often, days: weekDays } = week;
  const days = weekDays.slice(from, from + count);
  const chipMinutes = ((CHIP_PX + 2) / hourPx) * 60;
  const layouts = useMemo(
    () =>
      weekDays.slice(from, from + count).map((day, i) => {
        const bands = often.filter((band) => band.day === from + i);
        const painted = paintedOn(day);
        const ribbons = Math.min(RIBBONS, new Set(bands.map((band) => band.job)).size) * RIBBON_PX + 3;
        const left = ribbons + lanesOf(painted) * LANE_PX;
        const room = width / count - left - LOAD_PX;
        const most = Math.max(2, Math.floor(room / LEAST_CHIP_PX));
        const entries = firings.filter((entry) => entry.day === from + i);
        return { bands, painted, ribbons, left, room, ...layoutDay(entries, chipMinutes, most) };
      }),
    [weekDays, firings, often, from, count, width, chipMinutes],
  );
  const byKey = useMemo(
    () => new Map(layouts.flatMap((day) => day.placed.map(({ item }) => [keyOf(item), item] as const))),
    [layouts],
  );
  const byFold = useMemo(() => {
    const folds = new Map<string, Folded<CalendarEntry>>();
    layouts.forEach((day, i) => {
      for (const fold of day.folded) folds.set(`${from + i}|${fold.minute}`, fold);
    });
    return folds;
  }, [layouts, from]);

  const first = days[0]?.date;
  // Opens where one wants to look: at the present, or at the first firing, with some hours above it.
  const looked = useRef<string | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || first === undefined || looked.current === first) return;
    looked.current = first;
    const earliest = Math.min(...week.entries.map((entry) => entry.minute), 8 * 60);
    const at = nowMinute ?? earliest;
    element.scrollTop = Math.max(0, toY(at, hourPx) - element.clientHeight * (nowMinute === null ? 0.05 : 0.4));
  }, [first, week, nowMinute, hourPx]);

  const target = useCallback(
    (x: number, y: number, step: number) => {
      const rect = area.current?.getBoundingClientRect();
      if (!rect) return null;
      const column = Math.max(0, Math.min(count - 1, Math.floor(((x - rect.left) / rect.width) * count)));
      return { day: from + column, minute: toMinute(y - rect.top, hourPx, step) };
    },
    [from, count, hourPx],
  );

  const pull = usePull({
    pulling,
    days: weekDays,
    most: (from + count) * DAY_MINUTES,
    minuteAt: (x, y, step) => {
      const rect = area.current?.getBoundingClientRect();
      const at = target(x, y, step);
      if (!rect || !at) return null;
      // An end can be that of the day, too.
      const exact = ((y - rect.top) / hourPx) * 60;
      return at.day * DAY_MINUTES + Math.max(0, Math.min(DAY_MINUTES, Math.round(exact / step) * step));
    },
    whyNot: props.whyNotPull,
    onRefused: (at, text) => setRefused({ at, text }),
    onDrop: props.onPulled,
  });

  // While something is held at the upper or lower edge, the hours go on under it.
  const last = useRef({ x: 0, y: 0, step: 5, alt: false });
  const follow = useCallback(() => {
    const held = press.current;
    if (held?.phase !== "drag") return;
    const { x, y, step, alt } = last.current;
    const move = moving.get();
    if (move?.manner === "stretch") {
      const end = target(x, y, step);
      if (end) moving.to(move.entry.day, Math.max(move.entry.minute, end.minute), { x, y });
      return;
    }
    moving.copying(alt);
    const at = target(x, y - held.grip, step);
    if (at) moving.to(at.day, at.minute, { x, y });
  }, [moving, target]);
  const edge = useRef<number | undefined>(undefined);
  const scrollAtEdge = useCallback(() => {
    const element = box.current;
    if (!element || press.current?.phase !== "drag") {
      edge.current = undefined;
      return;
    }
    const rect = element.getBoundingClientRect();
    const head = area.current ? Math.max(0, area.current.offsetTop) : 0;
    const { y } = last.current;
    const up = rect.top + head + EDGE_PX - y;
    const down = y - (rect.bottom - EDGE_PX);
    const by = up > 0 ? -Math.min(14, up / 4) : down > 0 ? Math.min(14, down / 4) : 0;
    if (by !== 0) {
      element.scrollTop += by;
      follow();
    }
    edge.current = requestAnimationFrame(scrollAtEdge);
  }, [follow]);

  const letGo = useCallback(() => {
    press.current = null;
    setRefused(null);
    if (edge.current !== undefined) cancelAnimationFrame(edge.current);
    edge.current = undefined;
  }, []);

  // Escape leaves a firing where it was, wherever the focus is.
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const move = moving.get();
      if (event.key !== "Escape" || !move || move.asked) return;
      event.preventDefault();
      event.stopPropagation();
      letGo();
      moving.leave();
    };
    window.addEventListener("keydown", onKey, true);
    return () => window.removeEventListener("keydown", onKey, true);
  }, [moving, letGo]);

  const hideHover = () => {
    if (hover.current) hover.current.style.visibility = "hidden";
  };

  const onPointerDown = (event: React.PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0) return;
    const chip = (event.target as HTMLElement).closest<HTMLElement>("[data-key],[data-fold]");
    const rect = chip?.getBoundingClientRect();
    if (moving.get()?.by === "keys") moving.leave();
    press.current = {
      key: chip?.dataset.key ?? null,
      fold: chip?.dataset.fold ?? null,
      x: event.clientX,
      y: event.clientY,
      grip: rect ? event.clientY - rect.top : 0,
      foot: rect !== undefined && chip?.dataset.movable === "true" && event.clientY > rect.bottom - FOOT_PX,
      phase: "down",
    };
    // Held by its key, so that the grip survives a redrawing of the chip.
    event.currentTarget.setPointerCapture(event.pointerId);
    if (chip?.dataset.key) {
      setCursor(chip.dataset.key);
      chip.focus({ preventScroll: true });
    }
    event.preventDefault();
    hideHover();
  };

  const onPointerMove = (event: React.PointerEvent<HTMLDivElement>) => {
    const held = press.current;
    if (!held) {
      hint(event);
      return;
    }
    last.current = { x: event.clientX, y: event.clientY, step: event.shiftKey ? 1 : 5, alt: event.altKey };
    if (held.phase === "refused") {
      setRefused((old) => old && { ...old, at: { x: event.clientX, y: event.clientY } });
      return;
    }
    if (held.phase === "down") {
      if (held.key === null || Math.hypot(event.clientX - held.x, event.clientY - held.y) < DRAG_FROM_PX) return;
      const entry = byKey.get(held.key);
      if (!entry) return;
      if (!entry.can_move.ok || entry.planned === null) {
        held.phase = "refused";
        setRefused({
          at: { x: event.clientX, y: event.clientY },
          text: entry.can_move.why ? said(entry.can_move.why) : w.drag.cannot,
        });
        return;
      }
      held.phase = "drag";
      moving.begin(entry, "pointer", held.foot ? "stretch" : "move");
      edge.current ??= requestAnimationFrame(scrollAtEdge);
    }
    follow();
  };

  const onPointerUp = (event: React.PointerEvent<HTMLDivElement>) => {
    const held = press.current;
    letGo();
    if (!held) return;
    if (held.phase === "drag") {
      if (moving.drop()) onDrop();
      return;
    }
    if (held.phase === "refused" || Math.hypot(event.clientX - held.x, event.clientY - held.y) >= DRAG_FROM_PX * 2)
      return;
    if (held.key !== null) open(held.key);
    else if (held.fold !== null) {
      const fold = byFold.get(held.fold);
      const anchor = area.current?.querySelector<HTMLElement>(`[data-fold="${CSS.escape(held.fold)}"]`);
      if (fold && anchor) onOpen({ is: "entries", entries: fold.items, anchor });
    } else {
      const slot = slotAt(event.clientX, event.clientY);
      if (slot) onCreate(slot.day, slot.minute);
    }
  };

  const chipOf = (key: string) => area.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`) ?? null;

  const open = (key: string) => {
    const entry = byKey.get(key);
    const anchor = chipOf(key);
    if (entry && anchor) onOpen({ is: "entries", entries: [entry], anchor });
  };

  /** The quarter of an hour under the pointer, where something can still be planned. */
  const slotAt = (x: number, y: number) => {
    const at = target(x, y - (15 / 60) * hourPx * 0.5, 15);
    const day = at && week.days[at.day];
    if (!at || !day) return null;
    if (nowLocal !== null && `${day.date}T${clock(at.minute)}` <= nowLocal) return null;
    return { day, minute: at.minute, column: at.day - from };
  };

  // Written into the page directly: this follows every movement of the pointer.
  const hint = (event: React.PointerEvent<HTMLDivElement>) => {
    const element = hover.current;
    if (!element) return;
    const over =
      (event.target as HTMLElement).closest(
        "[data-key],[data-fold],[data-load],[data-blackout],[data-blackout-end]",
      ) !== null;
    const slot = over || moving.get() || pulling.get() ? null : slotAt(event.clientX, event.clientY);
    if (!slot) {
      hideHover();
      return;
    }
    element.style.visibility = "visible";
    const inset = layouts[slot.column]?.left ?? 3;
    element.style.left = `calc(${(slot.column / count) * 100}% + ${inset}px)`;
    element.style.width = `calc(${100 / count}% - ${inset + LOAD_PX}px)`;
    element.style.top = `${toY(slot.minute, hourPx)}px`;
    element.textContent = `+ ${clock(slot.minute)}`;
  };

  const focusOn = (entry: CalendarEntry | undefined) => {
    if (!entry) return;
    const key = keyOf(entry);
    setCursor(key);
    const chip = chipOf(key);
    chip?.focus({ preventScroll: true });
    chip?.scrollIntoView({ block: "nearest" });
  };
  const reachable = [...byKey.values()];
  const walk = (direction: Direction) => {
    const at = cursor === null ? undefined : byKey.get(cursor);
    focusOn(at ? neighbour(reachable, at, direction) : (reachable.find((entry) => !entry.state) ?? reachable[0]));
  };
  const grasp = (manner: Manner = "move") => {
    const entry = cursor === null ? undefined : byKey.get(cursor);
    if (!entry) return;
    if (!entry.can_move.ok || entry.planned === null) {
      const rect = chipOf(keyOf(entry))?.getBoundingClientRect();
      if (!rect) return;
      setRefused({
        at: { x: rect.left, y: rect.bottom },
        text: entry.can_move.why ? said(entry.can_move.why) : w.drag.cannot,
      });
      return;
    }
    focusOn(entry);
    moving.begin(entry, "keys", manner);
  };
  const skip = () => {
    const entry = cursor === null ? undefined : byKey.get(cursor);
    if (entry) onSkip(entry);
  };
  const keys = { group: w.group, palette: false, enabled: reachable.length > 0 };
  useHotkey("ArrowUp", w.keys.up, () => walk("up"), keys);
  useHotkey("ArrowDown", w.keys.down, () => walk("down"), keys);
  useHotkey("ArrowLeft", w.keys.left, () => walk("left"), keys);
  useHotkey("ArrowRight", w.keys.right, () => walk("right"), keys);
  useHotkey("Enter", w.keys.open, () => cursor !== null && open(cursor), { ...keys, enabled: cursor !== null });
  useHotkey("m", w.keys.move, () => grasp(), { ...keys, enabled: cursor !== null });
  useHotkey("c", w.keys.copy, () => grasp("copy"), { ...keys, enabled: cursor !== null });
  useHotkey("x", w.keys.skip, () => skip(), { ...keys, enabled: cursor !== null });

  const onKeyDown = (event: React.KeyboardEvent<HTMLDivElement>) => {
    if (pull.onKey(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const move = moving.get();
    const direction = ARROWS[event.key];
    if (move?.by === "keys" && !move.asked) {
      // Everything else waits until it is dropped or left.
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Enter") {
        if (moving.drop()) onDrop();
      } else if (direction) {
        const minutes = event.shiftKey ? 5 : 15;
        const by = {
          up: { minutes: -minutes },
          down: { minutes },
          left: { days: -1 },
          right: { days: 1 },
        }[direction];
        const at = shifted({ day: move.day - from, minute: move.minute }, by, count);
        moving.to(at.day + from, at.minute);
        area.current?.querySelector("[data-testid=calendar-ghost]")?.scrollIntoView({ block: "nearest" });
      }
      return;
    }
    if (refused) setRefused(null);
    const chip = (event.target as HTMLElement).closest<HTMLElement>("[data-key]");
    if (!chip?.dataset.key || event.ctrlKey || event.metaKey || event.altKey) return;
    if (direction) walk(direction);
    else if (event.key === "Enter" || event.key === " ") open(chip.dataset.key);
    else if (event.key === "m") grasp();
    else if (event.key === "c") grasp("copy");
    else if (event.key === "x") skip();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const here = cursor !== null && byKey.has(cursor) ? cursor : reachable[0] ? keyOf(reachable[0]) : null;
  const busiest = Math.max(1, ...week.load.flat());
  const quietest = Math.min(busiest, ...week.load.flat());
  return (
    <div
      ref={box}
      data-testid="calendar-grid"
      data-zone={week.zone}
      className="relative h-full select-none overflow-y-auto overflow-x-hidden border-line border-t bg-surface"
    >
      <DayHeads week={week} from={from} count={count} onDay={onDay} onOpen={onOpen} />
      <div className="relative flex" style={{ height: 24 * hourPx, ["--hour" as string]: `${hourPx}px` }}>
        <div aria-hidden="true" className="relative shrink-0" style={{ width: GUTTER }}>
          {Array.from({ length: 23 }, (_, i) => (
            <span
              key={i}
              hidden={nowMinute !== null && Math.abs(toY(nowMinute - (i + 1) * 60, hourPx)) < 14}
              className="absolute right-2 -translate-y-1/2 text-2xs text-ink-3"
              style={{ top: toY((i + 1) * 60, hourPx) }}
            >
              {clock((i + 1) * 60)}
            </span>
          ))}
        </div>
        <div
          ref={area}
          role="group"
          // Takes the keys for a firing that has no chip of its own to take them.
          tabIndex={-1}
          aria-label={w.title}
          className="group/days hour-rows relative min-w-0 flex-1 outline-none data-[moving]:cursor-grabbing"
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerCancel={() => {
            letGo();
            moving.leave();
          }}
          onPointerLeave={hideHover}
          onKeyDown={onKeyDown}
          onBlur={(event) => {
            if (
              !event.currentTarget.contains(event.relatedTarget) &&
              [moving.get(), pulling.get()].some((held) => held?.by === "keys" && !held.asked)
            ) {
              moving.leave();
              pulling.leave();
            }
          }}
          onContextMenu={(event) => {
            const key = (event.target as HTMLElement).closest<HTMLElement>("[data-key]")?.dataset.key;
            if (key === undefined) return;
            event.preventDefault();
            const entry = byKey.get(key);
            if (!entry) return;
            setCursor(key);
            const rect = event.currentTarget.getBoundingClientRect();
            // The key that opens a menu tells no place.
            const chip = event.clientX === 0 && event.clientY === 0 ? chipOf(key)?.getBoundingClientRect() : null;
            onMenu(
              entry,
              chip ? { x: chip.left, y: chip.bottom } : { x: event.clientX || rect.left, y: event.clientY },
            );
          }}
        >
          <div
            ref={hover}
            aria-hidden="true"
            className="pointer-events-none invisible absolute z-1 flex items-center rounded-sm border border-accent-ink/40 border-dashed bg-accent-soft/60 px-1.5 text-2xs text-accent-ink"
            style={{ height: Math.max(14, hourPx / 4) }}
          />
          {days.map((day, i) => {
            const layout = layouts[i];
            if (!layout) return null;
            const gone =
              nowLocal === null ? 0 : day.today ? (nowMinute ?? 0) : `${day.date}T24:00` <= nowLocal ? 1440 : 0;
            return (
              <div
                key={day.date}
                data-testid="calendar-day"
                data-date={day.date}
                className={cx(
                  "absolute inset-y-0 border-line border-l",
                  day.today ? "bg-accent-soft/25" : day.weekday > 5 && "bg-sunken/50",
                )}
                style={{ left: `${(i / count) * 100}%`, width: `${100 / count}%` }}
              >
                <DayGround date={day.date} />
                {gone > 0 && (
                  <div
                    aria-hidden="true"
                    className="absolute inset-x-0 top-0 bg-canvas/55"
                    style={{ height: toY(gone, hourPx) }}
                  />
                )}
                {ribbons(layout.bands).map((band, k) => (
                  <div
                    key={`${band.job}-${band.from_minute}`}
                    aria-hidden="true"
                    data-hue={band.hue % 12}
                    className="absolute w-[3px] rounded-full bg-(--job-edge) opacity-40"
                    style={{
                      left: 2 + k * RIBBON_PX,
                      top: toY(band.from_minute, hourPx) + 1,
                      height: Math.max(4, toY(band.to_minute - band.from_minute, hourPx) - 2),
                    }}
                  />
                ))}
                <BlackoutBands
                  painted={layout.painted}
                  hourPx={hourPx}
                  left={layout.ribbons}
                  nowLocal={nowLocal}
                  onOpen={(span, anchor) => onOpen({ is: "blackouts", spans: [span], anchor })}
                  pull={pull.pointer}
                />
                <LoadStrip
                  counts={week.load[from + i] ?? []}
                  quietest={quietest}
                  busiest={busiest}
                  width={LOAD_PX - 4}
                />
                <div
                  // What lies under it is to be reached between the chips.
                  className="pointer-events-none absolute inset-y-0 *:pointer-events-auto"
                  style={{ left: layout.left, right: LOAD_PX }}
                >
                  {layout.placed.map((placed) => {
                    const key = keyOf(placed.item);
                    return (
                      <Chip
                        key={key}
                        entry={placed.item}
                        placed={placed}
                        hourPx={hourPx}
                        width={layout.room}
                        here={key === here}
                      />
                    );
                  })}
                  {layout.folded.map((fold) => (
                    <FoldChip
                      key={`${fold.minute}-${fold.column}`}
                      id={`${from + i}|${fold.minute}`}
                      fold={fold}
                      hourPx={hourPx}
                    />
                  ))}
                </div>
              </div>
            );
          })}
          <NowLine minute={nowMinute} column={days.findIndex((day) => day.today)} count={count} hourPx={hourPx} />
          <PullGhost pulling={pulling} first={weekDays[0]?.date ?? ""} from={from} count={count} hourPx={hourPx} />
          <Ghosts
            moving={moving}
            week={week}
            from={from}
            count={count}
            hourPx={hourPx}
            nowLocal={nowLocal}
            area={area}
            insets={layouts.map((layout) => layout.left)}
          />
        </div>
      </div>
      {refused && <Refused {...refused} />}
    </div>
  );
}

/** At most so many jobs, each in one place, however often its band is broken. */
function ribbons(bands: readonly CalendarBand[]): CalendarBand[] {
  const jobs = [...new Set(bands.map((band) => band.job))].slice(0, RIBBONS);
  return jobs.flatMap((job) => bands.filter((band) => band.job === job));
}
