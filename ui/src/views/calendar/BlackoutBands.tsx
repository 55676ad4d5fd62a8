// Blackout windows on a day: the ground hatched for as long as nothing fires, a bar at the left with the name, which opens
// it, and its end, which can be taken hold of.
import { Ban } from "lucide-react";
import type { BlackoutSpan, CalendarDay } from "@/api/types";
import { clock } from "@/lib/civil";
import { cx } from "@/lib/cx";
import { stretch } from "@/lib/stretch";
import { marks, useWords } from "@/lib/words";
import { type Painted, type Pulling, paintedOn, readingOf } from "./blackouts";
import { DAY_MINUTES, toY } from "./layout";
import { useHeld } from "./moving";
import { calendarWords } from "./words";
import "./blackouts.css";

export const LANE_PX = 16;
/** Lower than this a bar has no room for the name. */
const NAMED_PX = 64;

export function useBlackoutLabel() {
  const w = useWords(calendarWords).blackout;
  const m = useWords(marks);
  return (span: BlackoutSpan) =>
    [w.named(span.name), stretch(span.from, span.until), span.everything ? w.everything : w.some].join(m.comma);
}

interface BandsProps {
  painted: readonly Painted[];
  hourPx: number;
  /** Where the bars begin. */
  left: number;
  /** Ends before this reading of the wall, `2026-11-18T10:30`, stay where they are. */
  nowLocal: string | null;
  onOpen: (span: BlackoutSpan, anchor: HTMLElement) => void;
  pull: React.HTMLAttributes<HTMLElement>;
}

export function BlackoutBands({ painted, hourPx, left, nowLocal, onOpen, pull }: BandsProps) {
  const label = useBlackoutLabel();
  return painted.map(({ span, from, to, ends, lane }) => {
    const [top, height] = [toY(from, hourPx), toY(to - from, hourPx)];
    const key = `${span.name}|${span.from.ms}`;
    const past = nowLocal !== null && span.until.text.replace(" ", "T").slice(0, 16) <= nowLocal;
    return (
      <div key={key} className="contents">
        <div
          aria-hidden="true"
          title={label(span)}
          className={cx("blackout-ground absolute inset-x-0", past && "opacity-60")}
          data-everything={span.everything}
          style={{ top, height }}
        />
        <button
          type="button"
          data-testid="blackout"
          data-name={span.name}
          data-blackout={key}
          aria-label={label(span)}
          title={label(span)}
          onPointerDown={(event) => event.stopPropagation()}
          onClick={(event) => onOpen(span, event.currentTarget)}
          className={cx(
            "absolute flex flex-col items-center gap-1 overflow-hidden rounded-sm pt-0.5 text-2xs outline-none focus-visible:z-2 focus-visible:outline-2 focus-visible:outline-focus",
            span.everything
              ? "bg-stopped text-surface"
              : "bg-stopped-soft text-stopped ring-1 ring-current/40 ring-inset",
            past && "opacity-60",
          )}
          style={{ top: top + 1, height: Math.max(10, height - 2), left: left + lane * LANE_PX, width: LANE_PX - 2 }}
        >
          {height > 16 && <Ban size={11} className="shrink-0" />}
          {height > NAMED_PX && (
            <span className="min-h-0 overflow-hidden text-ellipsis whitespace-nowrap font-medium [writing-mode:vertical-rl]">
              {span.name}
            </span>
          )}
        </button>
        {ends && !past && (
          <span
            aria-hidden="true"
            data-testid="blackout-end"
            data-name={span.name}
            data-blackout-end={key}
            {...pull}
            className="absolute inset-x-0 z-1 h-2 cursor-ns-resize touch-none border-stopped/50 border-b hover:border-b-2 hover:border-stopped"
            style={{ top: top + height - 8 }}
          />
        )}
      </div>
    );
  });
}

interface PullGhostProps {
  pulling: Pulling;
  first: string;
  from: number;
  count: number;
  hourPx: number;
}

/** The window as it would be, over all the days it would take, and what is changed, beside the pointer. */
export function PullGhost({ pulling, first, from, count, hourPx }: PullGhostProps) {
  const w = useWords(calendarWords);
  const pull = useHeld(pulling);
  if (!pull) return null;
  const { end, before, pointer } = pull;
  const days = Array.from({ length: count }, (_, i) => {
    const midnight = (from + i) * DAY_MINUTES;
    return [Math.max(0, pull.from - midnight), Math.min(DAY_MINUTES, end - midnight)] as const;
  });
  const last = Math.max(0, Math.min(count - 1, Math.floor((end - 1) / DAY_MINUTES) - from));
  const reading = readingOf(first, end);
  const delta = end - before;
  return (
    <div aria-hidden="true" className="pointer-events-none absolute inset-0 z-4 bg-surface/40">
      {days.map(
        ([begins, ends], i) =>
          begins < ends && (
            <div
              key={i}
              data-testid={i === last ? "blackout-ghost" : undefined}
              data-local={reading}
              className="blackout-ground absolute rounded-sm ring-2 ring-stopped ring-inset"
              data-everything="true"
              style={{
                left: `calc(${(i / count) * 100}% + 1px)`,
                width: `calc(${100 / count}% - 2px)`,
                top: toY(begins, hourPx),
                height: toY(ends - begins, hourPx),
              }}
            />
          ),
      )}
      {!pull.asked && (
        <div
          className="z-50 w-max max-w-72 rounded-md bg-surface px-2.5 py-1.5 text-ink text-xs shadow-pop"
          style={
            pointer
              ? {
                  position: "fixed",
                  top: Math.min(pointer.y + 14, window.innerHeight - 72),
                  left: Math.min(pointer.x + 16, window.innerWidth - 260),
                }
              : {
                  position: "absolute",
                  top: toY(end - (from + last) * DAY_MINUTES, hourPx) + 6,
                  ...(last > count / 2
                    ? { right: `calc(${((count - 1 - last) / count) * 100}% + 16px)` }
                    : { left: `calc(${(last / count) * 100}% + 4px)` }),
                }
          }
        >
          <div className="flex items-baseline gap-2">
            <span className="font-semibold text-md">{clock(end % DAY_MINUTES)}</span>
            <span className="text-ink-2">{w.dayOf(reading.slice(0, 10))}</span>
            <span className="text-ink-3">
              {delta === 0 ? w.blackout.same : delta > 0 ? w.drag.later(delta) : w.drag.earlier(-delta)}
            </span>
          </div>
          <div className="text-ink-3">{w.blackout.lasts(end - pull.from)}</div>
          {pull.by === "keys" && <div className="mt-0.5 text-ink-3">{w.drag.keys}</div>}
        </div>
      )}
    </div>
  );
}

/** In a square of the month, or over a day of the agenda: which windows touch it, and of a square when. */
export function BlackoutMark({
  day,
  named = false,
  onOpen,
  ...rest
}: {
  day: CalendarDay;
  named?: boolean;
  tabIndex?: number;
  onOpen: (spans: readonly BlackoutSpan[], anchor: HTMLElement) => void;
}) {
  const label = useBlackoutLabel();
  const painted = paintedOn(day);
  const [one] = painted;
  if (!one) return null;
  const all = painted.map(({ span }) => label(span)).join("\n");
  return (
    <button
      type="button"
      data-testid="blackout-mark"
      title={all}
      onClick={(event) => onOpen(day.blackouts, event.currentTarget)}
      {...rest}
      className="flex h-5 min-w-0 items-center gap-1 rounded-sm bg-stopped-soft px-1 font-normal text-2xs text-stopped outline-none hover:ring-1 hover:ring-current focus-visible:outline-2 focus-visible:outline-focus"
    >
      <span className="sr-only">{all}</span>
      <Ban size={11} className="shrink-0" />
      {named && (
        <span aria-hidden="true" className="truncate">
          {one.span.name} {clock(Math.floor(one.from))}–{one.to >= DAY_MINUTES ? "24:00" : clock(Math.floor(one.to))}
        </span>
      )}
      {painted.length > 1 && (
        <span aria-hidden="true" className="shrink-0">
          +{painted.length - 1}
        </span>
      )}
    </button>
  );
}

/** The day as a line from midnight to midnight, hatched where nothing fires. */
export function BlackoutStrip({ day }: { day: CalendarDay }) {
  const painted = paintedOn(day);
  if (painted.length === 0) return null;
  const percent = (minutes: number) => `${(minutes / DAY_MINUTES) * 100}%`;
  return (
    <div aria-hidden="true" className="blackout-strip absolute inset-x-0 top-0 h-1">
      {painted.map(({ span, from, to }) => (
        <div
          key={`${span.name}|${span.from.ms}`}
          className="blackout-ground absolute inset-y-0"
          data-everything="true"
          style={{ left: percent(from), width: percent(to - from) }}
        />
      ))}
    </div>
  );
}
