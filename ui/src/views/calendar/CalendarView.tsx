// The calendar: the schedule itself, as something one can take hold of. A week is asked for at a time; the day and the
// agenda show the same answer in another form. Where one is (date, form, filter) stands in the address.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { CalendarOff, ChevronLeft, ChevronRight, Search, X } from "lucide-react";
import { useDeferredValue, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { blackoutsQuery } from "@/api/blackouts";
import { type CalendarEntry, monthQuery, weekQuery } from "@/api/calendar";
import { getZone, onZone } from "@/api/door";
import type { BlackoutSpan } from "@/api/types";
import { Answer, View } from "@/components";
import { addDays, localOf, mondayOf, wallMinute, weekdayOf } from "@/lib/civil";
import { useMinute } from "@/lib/clock";
import { useHotkey } from "@/lib/hotkeys";
import { localOffsetMs } from "@/lib/offset";
import { useSaid, useWords } from "@/lib/words";
import { Button, EmptyState, IconButton, Segmented, SkeletonRows, TextField } from "@/primitives";
import { Agenda } from "./Agenda";
import { BlackoutPopover } from "./BlackoutPopover";
import { type Pull, Pulling } from "./blackouts";
import { ChangeDialog, type JobChange } from "./ChangeDialog";
import { EntryMenu, useSkipEntry } from "./EntryMenu";
import { EntryPopover } from "./EntryPopover";
import { MonthGrid } from "./MonthGrid";
import { monthDays, nextMonth } from "./month";
import { keyOf, Moving } from "./moving";
import { PullDialog } from "./PullDialog";
import { RescheduleDialog } from "./RescheduleDialog";
import type { CalendarSearch, Mode } from "./route";
import { type Opened, WeekGrid } from "./WeekGrid";
import { calendarWords } from "./words";

const HOUR_PX = [28, 36, 48, 64, 92, 140];

const here = getRouteApi("/calendar");

export function CalendarView() {
  const w = useWords(calendarWords);
  const said = useSaid();
  const router = useRouter();
  const navigate = here.useNavigate();
  const { date, mode = "week", text = "" } = here.useSearch();
  const [moving] = useState(() => new Moving());
  const [opened, setOpened] = useState<Opened | null>(null);
  const [asking, setAsking] = useState<{
    ask: { job: string; planned: number; to_local: string };
    name: string;
  } | null>(null);
  const [changing, setChanging] = useState<JobChange | null>(null);
  const [menu, setMenu] = useState<{ entry: CalendarEntry; at: { x: number; y: number } } | null>(null);
  const [pulling] = useState(() => new Pulling());
  const [pulled, setPulled] = useState<Pull | null>(null);
  const blackouts = useQuery(blackoutsQuery()).data?.rows;
  const skip = useSkipEntry();
  const [zoom, setZoom] = useState(2);
  const hourPx = HOUR_PX[zoom] ?? 48;
  // The present week is asked for in any form: it is where today is known from.
  const present = useQuery(weekQuery(date === undefined ? null : mondayOf(date), text));
  const inMonth = mode === "month";
  const monthDate = date ?? present.data?.days.find((day) => day.today)?.date;
  const span = monthDate === undefined ? null : monthDays(monthDate);
  const month = useQuery({
    ...monthQuery(span?.first ?? "", span?.days ?? 7, text),
    enabled: inMonth && span !== null,
  });
  const query = inMonth ? month : present;
  const week = query.data;

  const now = useMinute();
  const zone = useSyncExternalStore(onZone, getZone);
  const localOffset = useSyncExternalStore(localOffsetMs.subscribe, localOffsetMs.get);
  const todayIndex = week?.days.findIndex((day) => day.today) ?? -1;
  const today = week?.days[todayIndex];
  const nowMinute = today ? wallMinute(today, now, zone === "UTC" ? 0 : localOffset) : null;
  const first = week?.days[0];
  const shownDate = date ?? today?.date ?? first?.date;
  // Beside the present week the days are wholly before or wholly after now.
  const nowLocal =
    today && nowMinute !== null
      ? localOf(today.date, Math.floor(nowMinute))
      : first && week && first.start < week.now
        ? "9999"
        : null;

  const dayIndex = shownDate === undefined || !first ? 0 : Math.max(0, Math.min(6, weekdayOf(shownDate) - 1));
  const [from, count] = mode === "day" ? [dayIndex, 1] : [0, week?.days.length ?? 7];
  const shownMonth = monthDate?.slice(0, 7) ?? "";

  const go = (next: CalendarSearch, replace = false) => {
    moving.leave();
    pulling.leave();
    setOpened(null);
    void navigate({
      to: ".",
      replace,
      search: (old: CalendarSearch) => {
        const merged = { ...old, ...next };
        return Object.fromEntries(
          Object.entries(merged).filter(([key, value]) => value && !(key === "mode" && value === "week")),
        ) as CalendarSearch;
      },
    });
  };
  const step = (by: number) => {
    if (shownDate === undefined) return;
    if (inMonth) {
      const next = nextMonth(shownDate, by < 0 ? -1 : 1);
      go(today?.date.startsWith(next.slice(0, 7)) ? { date: "" } : { date: next });
      return;
    }
    const next = addDays(mode === "day" ? shownDate : mondayOf(shownDate), mode === "day" ? by : by * 7);
    const present = mode === "day" ? today?.date === next : today && mondayOf(today.date) === next;
    go(present ? { date: "" } : { date: next });
  };
  const toToday = () => go({ date: "" });

  const [back, forth] = {
    day: [w.previousDay, w.nextDay],
    month: [w.previousMonth, w.nextMonth],
    week: [w.previousWeek, w.nextWeek],
    agenda: [w.previousWeek, w.nextWeek],
  }[mode] as [string, string];
  const keys = { group: w.group };
  useHotkey("j", forth, () => step(1), keys);
  useHotkey("k", back, () => step(-1), keys);
  useHotkey("t", w.toToday, toToday, keys);
  useHotkey("d", w.modes.day, () => go({ mode: "day" }), keys);
  useHotkey("w", w.modes.week, () => go({ mode: "week" }), keys);
  useHotkey("o", w.modes.month, () => go({ mode: "month" }), keys);
  useHotkey("a", w.modes.agenda, () => go({ mode: "agenda" }), keys);
  useHotkey("+", w.taller, () => setZoom((old) => Math.min(HOUR_PX.length - 1, old + 1)), keys);
  useHotkey("-", w.flatter, () => setZoom((old) => Math.max(0, old - 1)), keys);

  const onDrop = () => {
    const move = moving.get();
    const day = move && week?.days[move.day];
    if (!move || !day || move.entry.planned === null) return;
    const { job, name } = move.entry;
    if (move.manner === "copy") {
      const local = localOf(day.date, move.minute);
      setChanging({
        job,
        name,
        title: w.change.copyTitle(name),
        lead: w.change.copyLead(w.when(day.weekday, day.date, local.slice(11))),
        done: w.change.copied(name),
        adjust: { is: "copy", to_local: local },
      });
      return;
    }
    if (move.manner === "stretch") {
      const minutes = move.minute - move.entry.minute;
      setChanging({
        job,
        name,
        title: w.change.spreadTitle(name),
        lead: w.change.spreadLead(minutes),
        done: w.change.spreadDone(name),
        adjust: { is: "spread", seconds: minutes * 60 },
      });
      return;
    }
    setAsking({
      ask: { job: move.entry.job, planned: move.entry.planned, to_local: localOf(day.date, move.minute) },
      name: move.entry.name,
    });
  };
  const closeAsking = () => {
    setAsking(null);
    setChanging(null);
    moving.leave();
  };

  const moveByKeys = (entry: CalendarEntry) => {
    setOpened(null);
    if (mode === "agenda" || inMonth) go({ mode: "day", date: week?.days[entry.day]?.date ?? "" });
    // After the popover has given the focus back.
    window.setTimeout(() => {
      const chip = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(keyOf(entry))}"]`);
      (chip ?? document.querySelector<HTMLElement>("[data-testid=calendar-grid] [role=group]"))?.focus();
      moving.begin(entry, "keys");
    }, 60);
  };

  const whyNotPull = (span: BlackoutSpan) => {
    const row = blackouts?.find((each) => each.name === span.name);
    if (!row) return w.blackout.unknown;
    if (span.until.ms <= now) return w.blackout.over;
    return row.can_edit.ok ? null : row.can_edit.why ? said(row.can_edit.why) : w.drag.cannot;
  };
  const pullByKeys = (span: BlackoutSpan, bar: HTMLElement) => {
    setOpened(null);
    // After the popover has given the focus back.
    window.setTimeout(() => {
      bar.focus();
      if (first) pulling.begin(span, first.date, "keys");
    }, 60);
  };
  const pulledRow = pulled && blackouts?.find((row) => row.name === pulled.span.name);

  const lead = useMemo(() => {
    if (!week) return null;
    const total = week.load
      .slice(from, from + count)
      .flat()
      .reduce((sum, n) => sum + n, 0);
    const shown = week.entries.filter((entry) => entry.day >= from && entry.day < from + count);
    const past = shown.some((entry) => entry.state);
    // Of those that are not drawn one by one it is not known here how they ended.
    const unknown = week.days
      .slice(from, from + count)
      .some((day, i) => day.start <= now && (day.unlisted > 0 || week.bands.some((band) => band.day === from + i)));
    return { total, failed: shown.filter((entry) => entry.state === "failed").length, past, unknown };
  }, [week, from, count, now]);
  const nothing = week && week.entries.length === 0 && week.bands.length === 0;
  const firstShown = week?.days[from];
  const lastShown = week?.days[from + count - 1];

  return (
    <View
      title={
        inMonth && monthDate
          ? w.monthOf(monthDate)
          : firstShown && lastShown
            ? w.range(firstShown.date, lastShown.date)
            : w.title
      }
      lead={
        lead && (
          <span className="text-xs">
            {w.firings(lead.total)}
            {lead.failed > 0 && (
              <span className="font-medium text-bad">
                {" · "}
                {lead.unknown ? w.failedAtLeast(lead.failed) : w.failed(lead.failed)}
              </span>
            )}
            {lead.failed === 0 && lead.past && !lead.unknown && <span className="text-ok"> · {w.allWell}</span>}
          </span>
        )
      }
      actions={
        <>
          <Filter text={text} onText={(next) => go({ text: next }, true)} />
          <Segmented<Mode>
            bare
            size="sm"
            label={w.mode}
            value={mode}
            onChange={(next) => go({ mode: next })}
            options={[
              { value: "day", label: w.modes.day },
              { value: "week", label: w.modes.week },
              { value: "month", label: w.modes.month },
              { value: "agenda", label: w.modes.agenda },
            ]}
          />
          <div className="flex items-center">
            <IconButton
              size="sm"
              label={back}
              kbd="k"
              icon={<ChevronLeft />}
              onPress={() => step(-1)}
              data-testid="calendar-previous"
            />
            <Button
              size="sm"
              variant={date === undefined ? "quiet" : "plain"}
              onPress={toToday}
              data-testid="calendar-today"
            >
              {w.today}
            </Button>
            <IconButton
              size="sm"
              label={forth}
              kbd="j"
              icon={<ChevronRight />}
              onPress={() => step(1)}
              data-testid="calendar-next"
            />
          </div>
        </>
      }
    >
      <Answer of={query} skeleton={<SkeletonRows rows={12} height={44} />}>
        {(shown) => (
          <div className="relative h-full" data-stale={query.isPlaceholderData}>
            {mode === "agenda" ? (
              <Agenda week={shown} onOpen={setOpened} onMenu={(entry, at) => setMenu({ entry, at })} />
            ) : inMonth ? (
              <MonthGrid
                month={shown}
                of={shownMonth}
                chosen={shownDate ?? ""}
                moving={moving}
                onOpen={setOpened}
                onMenu={(entry, at) => setMenu({ entry, at })}
                onDay={(day) => go({ mode: "day", date: day })}
                onChoose={(day) => go({ date: day }, true)}
                onDrop={onDrop}
              />
            ) : (
              <WeekGrid
                week={shown}
                from={from}
                count={count}
                hourPx={hourPx}
                moving={moving}
                pulling={pulling}
                whyNotPull={whyNotPull}
                onPulled={() => setPulled(pulling.get())}
                nowMinute={from <= todayIndex && todayIndex < from + count ? nowMinute : null}
                nowLocal={nowLocal}
                onOpen={setOpened}
                onMenu={(entry, at) => setMenu({ entry, at })}
                onDay={(day) => go({ mode: "day", date: day })}
                onCreate={(day, minute) => router.history.push(`/jobs/new?at=${localOf(day.date, minute)}`)}
                onDrop={onDrop}
                onSkip={skip}
              />
            )}
            {nothing && (
              <div className="pointer-events-none absolute inset-0 z-5 flex items-center justify-center">
                <div className="rounded-xl bg-surface/90 px-6 shadow-pop">
                  <EmptyState
                    icon={<CalendarOff />}
                    title={text === "" ? w.empty : w.emptyFilter}
                    hint={text === "" && nowLocal !== "9999" && mode !== "agenda" ? w.emptyHint : undefined}
                  />
                </div>
              </div>
            )}
          </div>
        )}
      </Answer>
      {opened?.is === "blackouts" && (
        <BlackoutPopover
          spans={opened.spans}
          anchor={opened.anchor}
          onClose={() => setOpened(null)}
          onPull={mode === "agenda" || inMonth ? undefined : pullByKeys}
          whyNotPull={whyNotPull}
        />
      )}
      {opened && opened.is !== "blackouts" && (
        <EntryPopover opened={opened} onClose={() => setOpened(null)} onMove={moveByKeys} />
      )}
      {menu && (
        <EntryMenu
          key={keyOf(menu.entry)}
          {...menu}
          onClose={() => setMenu(null)}
          onMove={() => moveByKeys(menu.entry)}
        />
      )}
      {pulled && pulledRow && first && week && (
        <PullDialog
          pull={pulled}
          row={pulledRow}
          first={first.date}
          zone={week.zone}
          onClose={() => {
            setPulled(null);
            pulling.leave();
          }}
        />
      )}
      {asking && <RescheduleDialog {...asking} onClose={closeAsking} />}
      {changing && <ChangeDialog change={changing} onClose={closeAsking} />}
    </View>
  );
}

function Filter({ text, onText }: { text: string; onText: (text: string) => void }) {
  const w = useWords(calendarWords);
  const box = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState(text);
  const settled = useDeferredValue(typed.trim());
  useHotkey("/", w.filter, () => box.current?.querySelector("input")?.focus(), { group: w.group, palette: false });
  const latest = useRef(onText);
  latest.current = onText;
  useEffect(() => {
    if (settled === text) return;
    const timer = window.setTimeout(() => latest.current(settled), 180);
    return () => window.clearTimeout(timer);
  }, [settled, text]);
  return (
    <div ref={box} className="w-52" data-testid="calendar-filter">
      <TextField
        bare
        label={w.filter}
        placeholder={w.filter}
        icon={<Search />}
        value={typed}
        onChange={setTyped}
        onKeyDown={(event) => event.key === "Escape" && setTyped("")}
        inputClassName="h-7 text-xs"
        {...(typed !== ""
          ? {
              after: (
                <IconButton
                  size="sm"
                  label={w.clearFilter}
                  icon={<X />}
                  onPress={() => setTyped("")}
                  className="-mt-0.5"
                />
              ),
            }
          : {})}
      />
    </div>
  );
}
