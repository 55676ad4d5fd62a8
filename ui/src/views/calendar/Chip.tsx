// One firing on its day. What is to come wears its job's colour and can be taken hold of; what has been wears the shape
// and the colour of its outcome.
import { Hand, MoveRight } from "lucide-react";
import { memo } from "react";
import type { CalendarEntry } from "@/api/calendar";
import { Glyph, instanceLook, instanceState, stateWords } from "@/components";
import { clock } from "@/lib/civil";
import { cx } from "@/lib/cx";
import { marks, useSaid, useWords } from "@/lib/words";
import { toneSoft } from "@/primitives";
import { type Folded, type Placed, toY } from "./layout";
import { keyOf } from "./moving";
import { calendarWords } from "./words";

export const CHIP_PX = 20;

export function useEntryTitle() {
  const w = useWords(calendarWords);
  const s = useWords(stateWords);
  const said = useSaid();
  const m = useWords(marks);
  return (entry: CalendarEntry) =>
    [
      `${entry.name} · ${entry.due.text} ${entry.due.offset}`,
      said(entry.words),
      entry.state && s.instance[instanceState(entry.state)] + m.comma + w.origins[entry.origin],
      entry.reason && said(entry.reason),
      !entry.can_move.ok && !entry.state && (entry.can_move.why ? said(entry.can_move.why) : w.drag.cannot),
    ]
      .filter(Boolean)
      .join("\n");
}

interface ChipProps {
  entry: CalendarEntry;
  placed: Placed<CalendarEntry>;
  hourPx: number;
  /** Pixels that its day gives to chips. */
  width: number;
  /** The one that Tab and the arrow keys are at. */
  here: boolean;
}

export const Chip = memo(FiringChip, (a, b) => {
  const [p, q] = [a.placed, b.placed];
  return (
    a.entry === b.entry &&
    a.hourPx === b.hourPx &&
    a.width === b.width &&
    a.here === b.here &&
    p.minute === q.minute &&
    p.column === q.column &&
    p.span === q.span &&
    p.columns === q.columns
  );
});

function FiringChip({ entry, placed, hourPx, width, here }: ChipProps) {
  const title = useEntryTitle();
  const said = useSaid();
  const own = (width * placed.span) / placed.columns;
  const look = entry.state ? instanceLook[instanceState(entry.state)] : null;
  return (
    <div
      role="button"
      tabIndex={here ? 0 : -1}
      data-testid="calendar-entry"
      data-key={keyOf(entry)}
      data-job={entry.job}
      data-name={entry.name}
      data-planned={entry.planned ?? ""}
      data-state={entry.state ?? ""}
      data-movable={entry.can_move.ok}
      data-hue={look ? undefined : entry.hue % 12}
      title={title(entry)}
      className={cx(
        "absolute flex select-none items-center gap-1 overflow-hidden whitespace-nowrap rounded-sm text-2xs outline-none",
        "focus-visible:z-2 focus-visible:outline-2 focus-visible:outline-focus",
        look
          ? cx(toneSoft[look.tone], "pr-1 pl-1 ring-1 ring-current/15 ring-inset hover:ring-current/50")
          : "border-(--job-edge) border-l-3 bg-(--job-soft) pr-1 pl-1 text-(--job-ink) hover:bg-(--job-soft-hover)",
        entry.can_move.ok && "touch-none hover:cursor-grab",
      )}
      style={{
        top: toY(placed.minute, hourPx) + 0.5,
        height: CHIP_PX,
        left: `${(placed.column / placed.columns) * 100}%`,
        width: `calc(${(placed.span / placed.columns) * 100}% - 2px)`,
        maxWidth: 520,
      }}
    >
      {look && <Glyph shape={look.shape} tone={look.tone} size={13} />}
      {own > 128 && <span className={cx("shrink-0", look ? "text-ink-2" : "opacity-80")}>{clock(entry.minute)}</span>}
      {own > 30 && <span className={cx("truncate font-medium", look && "text-ink")}>{entry.name}</span>}
      {own > 360 && (
        <span className={cx("ml-2 truncate", look ? "text-ink-2" : "opacity-75")}>
          {said(entry.reason ?? entry.words)}
        </span>
      )}
      {own > 84 && entry.origin === "manual" && <Hand size={11} className="ml-auto shrink-0 opacity-70" />}
      {entry.can_move.ok && (
        <span
          aria-hidden="true"
          className="absolute inset-x-0 bottom-0 h-1.5 cursor-ns-resize hover:bg-(--job-edge)/50"
        />
      )}
      {own > 60 && !look && entry.reason && <MoveRight size={11} className="ml-auto shrink-0 opacity-80" />}
    </div>
  );
}

interface FoldChipProps {
  id: string;
  fold: Folded<CalendarEntry>;
  hourPx: number;
}

export function FoldChip({ id, fold, hourPx }: FoldChipProps) {
  const w = useWords(calendarWords);
  const bad = fold.items.some((entry) => entry.state === "failed");
  return (
    <div
      role="button"
      tabIndex={-1}
      data-testid="calendar-fold"
      data-fold={id}
      title={w.moreHint(fold.items.length, clock(fold.minute))}
      className={cx(
        "absolute flex select-none items-center justify-center overflow-hidden rounded-sm font-medium text-2xs ring-1 ring-inset",
        bad
          ? "bg-bad-soft text-bad ring-bad/30"
          : "bg-sunken text-ink-2 ring-line-strong hover:bg-hover hover:text-ink",
      )}
      style={{
        top: toY(fold.minute, hourPx) + 0.5,
        height: CHIP_PX,
        left: `${(fold.column / fold.columns) * 100}%`,
        width: `calc(${100 / fold.columns}% - 2px)`,
      }}
    >
      {w.more(fold.items.length)}
    </div>
  );
}
