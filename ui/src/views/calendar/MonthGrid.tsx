// A month: one square a day, with as many firings as it has room for. A firing can be taken to another day, where it keeps
// its time; the arrow keys go from day to day, Enter opens one.
import { ClockAlert, Repeat } from "lucide-react";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import type { CalendarBand, CalendarEntry, CalendarView } from "@/api/calendar";
import type { CalendarDay } from "@/api/types";
import { Glyph, instanceLook, instanceState } from "@/components";
import { clock, parts } from "@/lib/civil";
import { cx } from "@/lib/cx";
import { figure, marks, useSaid, useWords } from "@/lib/words";
import { BlackoutMark, BlackoutStrip } from "./BlackoutBands";
import { useEntryTitle } from "./Chip";
import { DayMarks } from "./DayMarks";
import { lines } from "./month";
import { keyOf, type Moving, useHeld } from "./moving";
import type { Opened } from "./WeekGrid";
import { calendarWords } from "./words";
import "./hues.css";

const LINE_PX = 20;
const HEAD_PX = 28;
const DRAG_FROM_PX = 4;

interface MonthGridProps {
  month: CalendarView;
  /** '2026-11': days of other months stand back. */
  of: string;
  chosen: string;
  moving: Moving;
  onOpen: (opened: Opened) => void;
  onMenu: (entry: CalendarEntry, at: { x: number; y: number }) => void;
  onDay: (date: string) => void;
  onChoose: (date: string) => void;
  onDrop: () => void;
}

interface Press {
  entry: CalendarEntry;
  anchor: HTMLElement;
  x: number;
  y: number;
  dragging: boolean;
}

export function MonthGrid(props: MonthGridProps) {
  const { month, of, chosen, moving, onOpen, onMenu, onDay, onChoose, onDrop } = props;
  const w = useWords(calendarWords);
  const box = useRef<HTMLDivElement>(null);
  const press = useRef<Press | null>(null);
  const [height, setHeight] = useState(640);
  const weeks = month.days.length / 7;
  const most = Math.max(1, Math.floor((height / weeks - HEAD_PX - 4) / LINE_PX));
  const move = useHeld(moving);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const watcher = new ResizeObserver(() => setHeight(element.clientHeight));
    watcher.observe(element);
    setHeight(element.clientHeight);
    return () => watcher.disconnect();
  }, []);

  const { entries, bands } = month;
  const byDay = useMemo(() => {
    const days = month.days.map(() => ({ entries: [] as CalendarEntry[], bands: [] as CalendarBand[] }));
    for (const entry of entries) days[entry.day]?.entries.push(entry);
    for (const band of bands) days[band.day]?.bands.push(band);
    return days;
  }, [month.days, entries, bands]);

  const dayAt = (x: number, y: number) => {
    const square = document
      .elementsFromPoint(x, y)
      .map((each) => each.closest<HTMLElement>("[data-day]"))
      .find((each) => each !== null);
    return square ? Number(square.dataset.day) : null;
  };
  const onPointerMove = (event: React.PointerEvent) => {
    const held = press.current;
    if (!held) return;
    if (!held.dragging) {
      if (Math.hypot(event.clientX - held.x, event.clientY - held.y) < DRAG_FROM_PX) return;
      if (!held.entry.can_move.ok || held.entry.planned === null) return;
      held.dragging = true;
      moving.begin(held.entry, "pointer");
    }
    moving.copying(event.altKey);
    const day = dayAt(event.clientX, event.clientY);
    if (day !== null) moving.to(day, held.entry.minute, { x: event.clientX, y: event.clientY });
  };
  const onPointerUp = () => {
    const held = press.current;
    press.current = null;
    if (!held) return;
    if (held.dragging) {
      if (moving.drop()) onDrop();
    } else onOpen({ is: "entries", entries: [held.entry], anchor: held.anchor });
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key];
    const at = month.days.findIndex((day) => day.date === chosen);
    if (by === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = month.days[at + by];
    if (!next) return;
    onChoose(next.date);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-date="${next.date}"] button`)?.focus());
  };

  return (
    <div
      className="flex h-full flex-col border-line border-t bg-surface"
      data-testid="calendar-month"
      data-zone={month.zone}
    >
      <div aria-hidden="true" className="grid shrink-0 grid-cols-7 border-line border-b">
        {month.days.slice(0, 7).map((day) => (
          <span
            key={day.weekday}
            className={cx(
              "border-line border-l px-2 py-1 text-xs first:border-l-0",
              day.weekday > 5 ? "text-ink-3" : "text-ink-2",
            )}
          >
            {w.weekday(day.weekday)}
          </span>
        ))}
      </div>
      <div
        ref={box}
        role="group"
        aria-label={w.range(month.days[0]?.date ?? of, month.days.at(-1)?.date ?? of)}
        className={cx("grid min-h-0 flex-1 select-none grid-cols-7", move?.by === "pointer" && "cursor-grabbing")}
        style={{ gridTemplateRows: `repeat(${weeks}, minmax(0, 1fr))` }}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => {
          press.current = null;
          moving.leave();
        }}
        onKeyDown={onKeyDown}
      >
        {month.days.map((day, i) => (
          <Square
            key={day.date}
            day={day}
            index={i}
            other={!day.date.startsWith(of)}
            chosen={day.date === chosen}
            target={move !== null && move.day === i && !move.asked}
            ghost={move !== null && move.day === i && move.entry.day !== i ? move.entry : null}
            held={move?.entry.day === i ? keyOf(move.entry) : null}
            firings={(month.load[i] ?? []).reduce((sum, n) => sum + n, 0)}
            most={most}
            {...(byDay[i] ?? { entries: [], bands: [] })}
            onDay={onDay}
            onOpen={onOpen}
            onMenu={onMenu}
            onPress={(entry, event) => {
              if (event.button !== 0) return;
              event.preventDefault();
              event.currentTarget.focus({ preventScroll: true });
              box.current?.setPointerCapture(event.pointerId);
              press.current = {
                entry,
                anchor: event.currentTarget,
                x: event.clientX,
                y: event.clientY,
                dragging: false,
              };
            }}
          />
        ))}
      </div>
    </div>
  );
}

interface SquareProps {
  day: CalendarDay;
  index: number;
  other: boolean;
  chosen: boolean;
  target: boolean;
  ghost: CalendarEntry | null;
  held: string | null;
  firings: number;
  most: number;
  entries: readonly CalendarEntry[];
  bands: readonly CalendarBand[];
  onDay: (date: string) => void;
  onOpen: (opened: Opened) => void;
  onMenu: (entry: CalendarEntry, at: { x: number; y: number }) => void;
  onPress: (entry: CalendarEntry, event: React.PointerEvent<HTMLElement>) => void;
}

function Square({ day, index, entries, bands, most, ghost, onOpen, onMenu, onPress, ...is }: SquareProps) {
  const w = useWords(calendarWords);
  const said = useSaid();
  const title = useEntryTitle();
  // What failed is never among those for which there is no room.
  const ordered = [...entries].sort((a, b) => Number(b.state === "failed") - Number(a.state === "failed"));
  const shown = lines(ordered, bands, ghost ? most - 1 : most);
  const m = useWords(marks);
  const label = `${w.longWeekday(day.weekday)} ${w.dayOf(day.date)}${m.comma}${w.firings(is.firings)}`;
  return (
    <section
      data-day={index}
      data-date={day.date}
      data-testid="month-day"
      className={cx(
        "relative flex min-w-0 flex-col overflow-hidden border-line border-b border-l px-1 pb-0.5 [&:nth-child(7n+1)]:border-l-0",
        day.today ? "bg-accent-soft/25" : is.other ? "bg-sunken/70" : day.weekday > 5 && "bg-sunken/40",
        is.target && "ring-2 ring-accent-ink/70 ring-inset",
      )}
    >
      <header className="flex h-7 shrink-0 items-center gap-1">
        <button
          type="button"
          aria-label={label}
          tabIndex={is.chosen ? 0 : -1}
          onClick={() => is.onDay(day.date)}
          className={cx(
            "flex h-5.5 min-w-5.5 items-center justify-center rounded-full px-1 font-semibold outline-none hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus",
            day.today && "bg-accent text-on-accent hover:bg-accent-hover",
            is.other && !day.today && "font-normal text-ink-3",
          )}
        >
          {parts(day.date).day}
        </button>
        <DayMarks day={day} brief />
        <BlackoutMark
          day={day}
          tabIndex={is.chosen ? 0 : -1}
          onOpen={(spans, anchor) => onOpen({ is: "blackouts", spans, anchor })}
        />
        {day.clock_change && (
          <span title={said(day.clock_change)} className="text-warn">
            <ClockAlert size={13} />
          </span>
        )}
        {is.firings > 0 && (
          <span className="ml-auto shrink-0 text-2xs text-ink-3" title={w.firings(is.firings)}>
            {figure(is.firings)}
          </span>
        )}
      </header>
      <BlackoutStrip day={day} />
      <ul className="min-h-0 flex-1">
        {ghost && (
          <li className="flex h-5 items-center gap-1 overflow-hidden rounded-sm bg-accent-soft px-1 font-medium text-2xs text-accent-ink">
            {clock(ghost.minute)} <span className="truncate">{ghost.name}</span>
          </li>
        )}
        {shown.entries.map((entry) => {
          const look = entry.state ? instanceLook[instanceState(entry.state)] : null;
          return (
            <li key={keyOf(entry)}>
              <button
                type="button"
                tabIndex={is.chosen ? 0 : -1}
                data-testid="calendar-entry"
                data-key={keyOf(entry)}
                data-job={entry.job}
                data-name={entry.name}
                data-planned={entry.planned ?? ""}
                data-state={entry.state ?? ""}
                data-movable={entry.can_move.ok}
                data-hue={entry.hue % 12}
                title={title(entry)}
                onPointerDown={(event) => onPress(entry, event)}
                onKeyDown={(event) => {
                  if (event.key !== "Enter" && event.key !== " ") return;
                  event.preventDefault();
                  onOpen({ is: "entries", entries: [entry], anchor: event.currentTarget });
                }}
                onContextMenu={(event) => {
                  event.preventDefault();
                  onMenu(entry, { x: event.clientX, y: event.clientY });
                }}
                className={cx(
                  "flex h-5 w-full items-center gap-1 overflow-hidden whitespace-nowrap rounded-sm px-1 text-left text-2xs outline-none hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus",
                  is.held === keyOf(entry) && "opacity-45",
                )}
              >
                {look ? (
                  <Glyph shape={look.shape} tone={look.tone} size={12} />
                ) : (
                  <span className="h-3 w-1 shrink-0 rounded-full bg-(--job-edge)" />
                )}
                <span className="shrink-0 text-ink-3">{clock(entry.minute)}</span>
                <span className={cx("truncate", !look && "font-medium")}>{entry.name}</span>
              </button>
            </li>
          );
        })}
        {shown.bands.map((band) => (
          <li key={`${band.job}-${band.from_minute}`}>
            <button
              type="button"
              tabIndex={is.chosen ? 0 : -1}
              data-testid="calendar-band"
              data-hue={band.hue % 12}
              title={`${band.name}\n${said(band.words)}`}
              onClick={(event) => onOpen({ is: "band", band, anchor: event.currentTarget })}
              className="flex h-5 w-full items-center gap-1 overflow-hidden whitespace-nowrap rounded-sm px-1 text-left text-2xs text-ink-2 outline-none hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus"
            >
              <Repeat size={11} className="shrink-0 text-(--job-edge)" />
              <span className="truncate">{band.name}</span>
              <span className="ml-auto shrink-0 text-ink-3">×{figure(band.count)}</span>
            </button>
          </li>
        ))}
        {shown.hidden > 0 && (
          <li>
            <button
              type="button"
              tabIndex={is.chosen ? 0 : -1}
              onClick={(event) =>
                shown.entries.length < ordered.length
                  ? onOpen({ is: "entries", entries: ordered.slice(shown.entries.length), anchor: event.currentTarget })
                  : is.onDay(day.date)
              }
              className="h-5 w-full truncate rounded-sm px-1 text-left text-2xs text-ink-3 outline-none hover:bg-hover hover:text-ink focus-visible:outline-2 focus-visible:outline-focus"
            >
              {w.more(shown.hidden)}
            </button>
          </li>
        )}
      </ul>
    </section>
  );
}
