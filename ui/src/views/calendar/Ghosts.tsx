// What is seen while a firing is moved: where it was, where it would be, the runs of the same job before and after it,
// where those after it would come if the change were for them, too; and the time, beside the pointer.
import { Copy } from "lucide-react";
import { type RefObject, useEffect } from "react";
import type { CalendarView } from "@/api/calendar";
import { clock, localOf } from "@/lib/civil";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { CHIP_PX } from "./Chip";
import { DAY_MINUTES, toY } from "./layout";
import { keyOf, type Move, type Moving, useHeld } from "./moving";
import { calendarWords } from "./words";

interface GhostsProps {
  moving: Moving;
  week: CalendarView;
  from: number;
  count: number;
  hourPx: number;
  /** The wall's own now, `2026-11-18T10:30`. */
  nowLocal: string | null;
  area: RefObject<HTMLDivElement | null>;
  /** Where the chips of each day begin. */
  insets: readonly number[];
}

const timeOf = (at: { day: number; minute: number }) => at.day * DAY_MINUTES + at.minute;

export function Ghosts({ moving, week, from, count, hourPx, nowLocal, area, insets }: GhostsProps) {
  const w = useWords(calendarWords);
  const move = useHeld(moving);
  const active = move !== null;

  useEffect(() => {
    const element = area.current;
    if (!element || !active) return;
    element.dataset.moving = "";
    return () => {
      delete element.dataset.moving;
    };
  }, [area, active]);

  if (!move) return null;
  const { entry } = move;
  if (move.manner === "stretch")
    return <Stretch move={move} from={from} count={count} hourPx={hourPx} insets={insets} />;
  const copy = move.manner === "copy";
  const day = week.days[move.day];
  if (!day) return null;
  const target = timeOf(move);
  const delta = target - timeOf(entry);
  const others = week.entries.filter((other) => other.job === entry.job && keyOf(other) !== keyOf(entry));
  const before = others.filter((other) => timeOf(other) < target).at(-1);
  const after = others.find((other) => timeOf(other) > target);
  const following = others.filter((other) => !other.state && timeOf(other) > timeOf(entry) && other.can_move.ok);
  const past = nowLocal !== null && localOf(day.date, move.minute) < nowLocal;

  const place = (at: { day: number; minute: number }) => ({
    left: `calc(${((at.day - from) / count) * 100}% + ${insets[at.day - from] ?? 3}px)`,
    width: `calc(${100 / count}% - ${(insets[at.day - from] ?? 3) + 16}px)`,
    top: Math.min(toY(at.minute, hourPx), 24 * hourPx - CHIP_PX),
    height: CHIP_PX,
  });
  const shown = (at: { day: number }) => at.day >= from && at.day < from + count;
  const apart = (minutes: number) => Math.abs(minutes);

  return (
    // One veil over the days sets everything else back; a thousand dimmed chips would be a thousand layers to paint.
    <div
      aria-hidden="true"
      className="pointer-events-none absolute inset-0 z-4 bg-surface/60"
      data-hue={entry.hue % 12}
    >
      {delta !== 0 &&
        !copy &&
        following.map((other) => {
          const to = timeOf(other) + delta;
          const at = { day: Math.floor(to / DAY_MINUTES), minute: to % DAY_MINUTES };
          return shown(at) ? (
            <div
              key={keyOf(other)}
              className="absolute rounded-sm border border-(--job-edge) border-dashed opacity-55"
              style={place(at)}
            />
          ) : null;
        })}
      {[before, after].map(
        (other) =>
          other &&
          shown(other) && (
            <div
              key={keyOf(other)}
              className="absolute flex items-center overflow-hidden rounded-sm border-(--job-edge) border-l-3 bg-(--job-soft) px-1 text-(--job-ink) text-2xs opacity-85 ring-1 ring-(--job-edge) ring-inset"
              style={place(other)}
            >
              <span className="truncate">
                {clock(other.minute)} {other.name}
              </span>
            </div>
          ),
      )}
      {shown(entry) && delta !== 0 && (
        <div
          className={cx(
            "absolute rounded-sm border-[1.5px] border-(--job-edge)",
            copy ? "bg-(--job-soft)" : "border-dashed bg-surface/70",
          )}
          style={place(entry)}
        />
      )}
      <div
        data-testid="calendar-ghost"
        data-local={localOf(day.date, move.minute)}
        className={cx(
          "absolute flex items-center gap-1 overflow-hidden rounded-sm border-l-3 px-1 font-medium text-2xs shadow-pop",
          past ? "border-warn bg-warn-soft text-warn" : "border-(--job-edge) bg-(--job-soft-hover) text-(--job-ink)",
        )}
        style={place(move)}
      >
        {copy && <Copy size={11} className="shrink-0" />}
        <span className="shrink-0">{clock(move.minute)}</span>
        <span className="truncate">{entry.name}</span>
      </div>
      <div
        className="absolute right-0 left-0 border-(--job-edge) border-t opacity-60"
        style={{ top: place(move).top }}
      />
      {!move.asked && (
        <div
          className="z-50 w-max max-w-72 rounded-md bg-surface px-2.5 py-1.5 text-ink text-xs shadow-pop"
          style={
            move.pointer
              ? {
                  position: "fixed",
                  top: Math.min(move.pointer.y + 18, window.innerHeight - 96),
                  ...(move.pointer.x > window.innerWidth - 300
                    ? { right: window.innerWidth - move.pointer.x + 14 }
                    : { left: move.pointer.x + 18 }),
                }
              : {
                  position: "absolute",
                  top: place(move).top + CHIP_PX + 6,
                  ...(move.day - from > count / 2
                    ? { right: `calc(${((count - 1 - move.day + from) / count) * 100}% + 16px)` }
                    : { left: place(move).left }),
                }
          }
        >
          <div className="flex items-baseline gap-2">
            <span className="font-semibold text-md">{clock(move.minute)}</span>
            <span className="text-ink-2">
              {w.weekday(day.weekday)} {w.dayOf(day.date)}
            </span>
            <span className="text-ink-3">
              {delta === 0
                ? w.drag.same
                : copy
                  ? w.drag.copy
                  : delta > 0
                    ? w.drag.later(delta)
                    : w.drag.earlier(-delta)}
            </span>
          </div>
          {past && <div className="font-medium text-warn">{w.drag.inPast}</div>}
          {before && <div className="text-ink-3">{w.drag.afterLast(apart(target - timeOf(before)))}</div>}
          {after && <div className="text-ink-3">{w.drag.beforeNext(apart(timeOf(after) - target))}</div>}
          {move.by === "pointer" && !copy && <div className="mt-0.5 text-ink-3">{w.drag.altCopies}</div>}
          {move.by === "keys" && <div className="mt-0.5 text-ink-3">{w.drag.keys}</div>}
        </div>
      )}
    </div>
  );
}

interface StretchProps extends Pick<GhostsProps, "from" | "count" | "hourPx" | "insets"> {
  move: Move;
}

/** The window in which the run may start, from the firing down to the pointer. */
function Stretch({ move, from, count, hourPx, insets }: StretchProps) {
  const w = useWords(calendarWords).drag;
  const { entry, minute, pointer } = move;
  const minutes = minute - entry.minute;
  const inset = insets[entry.day - from] ?? 3;
  return (
    <div aria-hidden="true" className="pointer-events-none absolute inset-0 z-4" data-hue={entry.hue % 12}>
      <div
        data-testid="calendar-stretch"
        data-minutes={minutes}
        className="absolute rounded-sm border-(--job-edge) border-l-3 bg-(--job-soft-hover) px-1 text-(--job-ink) text-2xs ring-1 ring-(--job-edge) ring-inset"
        style={{
          left: `calc(${((entry.day - from) / count) * 100}% + ${inset}px)`,
          width: `calc(${100 / count}% - ${inset + 16}px)`,
          top: toY(entry.minute, hourPx),
          height: Math.max(CHIP_PX, toY(minutes, hourPx)),
        }}
      >
        {clock(entry.minute)} {entry.name}
      </div>
      {!move.asked && pointer && (
        <div
          className="fixed z-50 w-max max-w-72 rounded-md bg-surface px-2.5 py-1.5 text-ink text-xs shadow-pop"
          style={{
            top: Math.min(pointer.y + 14, window.innerHeight - 60),
            left: Math.min(pointer.x + 16, window.innerWidth - 260),
          }}
        >
          {minutes === 0 ? w.noSpread : w.spread(minutes, clock(entry.minute), clock(minute))}
        </div>
      )}
    </div>
  );
}

/** Why a firing does not follow the pointer, beside the pointer. */
export function Refused({ at, text }: { at: { x: number; y: number }; text: string }) {
  return (
    <div
      role="status"
      data-testid="calendar-refused"
      className="pointer-events-none fixed z-50 max-w-72 rounded-md bg-surface px-2.5 py-1.5 text-warn text-xs shadow-pop"
      style={{
        top: Math.min(at.y + 18, window.innerHeight - 80),
        ...(at.x > window.innerWidth - 300 ? { right: window.innerWidth - at.x + 14 } : { left: at.x + 18 }),
      }}
    >
      {text}
    </div>
  );
}
