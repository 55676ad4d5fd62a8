// One calendar: a year at a glance. A click on a day changes it, in the layer that is chosen; what that does to jobs' times
// stands beside it before anything is saved. Saving is one key, and leaving with changes is asked about.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { CalendarOff, ChevronLeft, ChevronRight, Download, MoreHorizontal, Trash2, Undo2, Upload } from "lucide-react";
import { useMemo, useState } from "react";
import { calendarQuery, useExportCalendar, usePutCalendar, useRemoveCalendar } from "@/api/calendars";
import { sayRefusal } from "@/api/client";
import type { WorkCalendar as Calendar, FileKind, WorkCalendarView } from "@/api/types";
import { Answer, LeaveGuard, RefusalNotice, useLeaveGuard, View } from "@/components";
import { saveText } from "@/lib/clipboard";
import { useHotkey } from "@/lib/hotkeys";
import { useSaid, useWords } from "@/lib/words";
import { Ask, Button, IconButton, Menu, Notice, Segmented, SkeletonRows, toast } from "@/primitives";
import { CalendarEffect } from "./CalendarEffect";
import { calendarsWords } from "./calendarWords";
import { DayPopover } from "./DayPopover";
import { ImportCalendar } from "./ImportCalendar";
import { Layers } from "./Layers";
import { calendarRoute } from "./route";
import { changedDays, laidOver, layersOf, takenBack, withDay, withoutLayers, type YearDay } from "./working";
import { DayFace, YearGrid } from "./YearGrid";
import "./year.css";

export function CalendarEditorView() {
  const { calendar } = calendarRoute.useParams();
  const { year } = calendarRoute.useSearch();
  const query = useQuery(calendarQuery(calendar, year ?? null));
  const w = useWords(calendarsWords);
  return (
    <Answer
      of={query}
      skeleton={
        <View title={w.title}>
          <SkeletonRows rows={10} />
        </View>
      }
    >
      {(view) => <Editor key={`${calendar}-${view.row.revision}`} view={view} />}
    </Answer>
  );
}

function Editor({ view }: { view: WorkCalendarView }) {
  const w = useWords(calendarsWords);
  const said = useSaid();
  const navigate = useNavigate();
  const put = usePutCalendar();
  const remove = useRemoveCalendar();
  const exportIt = useExportCalendar();
  const { row } = view;
  // A calendar the program carries is changed by one of the same name that stands on it.
  const [first] = useState<Calendar>(() =>
    row.built_in
      ? { apiVersion: view.document.apiVersion, name: row.name, base: row.name, layers: [], revision: 0 }
      : view.document,
  );
  const [draft, setDraft] = useState(first);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [layer, setLayer] = useState(first.layers.at(-1)?.name ?? w.ownLayer);
  const [opened, setOpened] = useState<{ date: string; anchor: HTMLElement } | null>(null);
  const [at, setAt] = useState(`${view.year.year}-01-01`);
  const [importing, setImporting] = useState(false);
  const [removing, setRemoving] = useState(false);
  const dirty = draft !== first;
  const guard = useLeaveGuard(dirty);

  const { year } = view.year;
  const before = useMemo(() => view.year.days.map(asYearDay), [view.year]);
  // The days as the node told them, with what was changed here laid over them.
  const drawn = useMemo(() => laidOver(before, first, draft), [before, first, draft]);
  const week = draft.week ?? row.week;
  const after = useMemo(() => withoutLayers(drawn, hidden, week), [drawn, hidden, week]);
  const changes = useMemo(() => changedDays(before, drawn), [before, drawn]);
  const changed = useMemo(() => new Set(changes.map((each) => each.date)), [changes]);
  const readOnly = !row.can_edit.ok;
  const worked = after.filter((day) => day.works).length;

  const toYear = (next: number) => {
    setOpened(null);
    void navigate({
      to: "/settings/calendars/$calendar",
      params: { calendar: row.name },
      search: { year: next },
      replace: true,
    });
  };
  const save = () => {
    if (!dirty || put.isPending) return;
    const { built_in: builtIn, name, title } = row;
    // The editor begins anew with what was saved, so what follows hangs on the promise; a refusal stands on the page.
    void put.mutateAsync({ calendar: draft, seen_revision: row.revision }).then(
      ({ revision }) => {
        guard.release();
        const back = () =>
          builtIn
            ? remove.mutateAsync({ calendar: name, seen_revision: revision })
            : put.mutateAsync({ calendar: first, seen_revision: revision });
        toast({
          text: w.saved(said(title)),
          undo: () => void back().then(() => toast({ text: w.restored }), sayRefusal),
        });
      },
      () => undefined,
    );
  };
  const saveFile = (kind: FileKind) =>
    exportIt.mutate(
      { calendar: row.name, kind },
      { onSuccess: ({ text }) => saveText(`${row.name}.${kind}`, text, kind === "ics" ? "text/calendar" : "text/csv") },
    );
  useHotkey("ctrl+s", w.save, save, { anywhere: true });
  useHotkey("[", w.previousYear, () => toYear(year - 1));
  useHotkey("]", w.nextYear, () => toYear(year + 1));

  const openedDay = opened && after.find((day) => day.date === opened.date);
  return (
    <View
      title={
        <span className="flex items-baseline gap-2">
          <Link to="/settings" className="font-normal text-ink-3 hover:text-ink">
            {w.back}
          </Link>
          <span className="font-normal text-ink-3">/</span>
          <span className="max-w-[30vw] truncate">{said(row.title)}</span>
        </span>
      }
      lead={<span className="text-ink-3">{dirty ? w.unsaved : w.jobs(row.jobs)}</span>}
      actions={
        <>
          <div className="flex items-center">
            <IconButton
              size="sm"
              label={w.previousYear}
              kbd="["
              icon={<ChevronLeft />}
              onPress={() => toYear(year - 1)}
            />
            <span className="w-12 text-center font-semibold">{year}</span>
            <IconButton size="sm" label={w.nextYear} kbd="]" icon={<ChevronRight />} onPress={() => toYear(year + 1)} />
          </div>
          <Button icon={<Upload />} why={row.can_edit.why && said(row.can_edit.why)} onPress={() => setImporting(true)}>
            {w.importFile}
          </Button>
          <Menu
            label={w.exportFile}
            items={[
              ...(["ics", "csv"] as const).map((kind) => ({
                id: kind,
                label: w.exportKinds[kind],
                icon: <Download />,
                run: () => saveFile(kind),
              })),
              "line",
              {
                id: "remove",
                label: w.remove,
                icon: <Trash2 />,
                danger: true,
                why: row.can_remove.ok ? null : row.can_remove.why ? said(row.can_remove.why) : w.removeBuiltIn,
                run: () => setRemoving(true),
              },
            ]}
          >
            <IconButton label={w.exportFile} icon={<MoreHorizontal />} />
          </Menu>
          <Button
            variant="primary"
            kbd="ctrl+s"
            why={readOnly && row.can_edit.why ? said(row.can_edit.why) : dirty ? null : w.changes(0)}
            isPending={put.isPending}
            onPress={save}
          >
            {w.save}
          </Button>
        </>
      }
    >
      <div className="flex h-full min-h-0 gap-4 px-5 pb-4">
        <div className="@container min-w-0 flex-1 overflow-y-auto pr-1">
          {put.error && (
            <div className="mb-3">
              <RefusalNotice error={put.error} />
            </div>
          )}
          {!view.year.covered && (
            <div className="mb-3">
              <Notice tone="warn" icon={<CalendarOff />} title={w.noData(year)}>
                {row.uncovered === "hold" ? w.noDataHold : w.noDataWeekly}
              </Notice>
            </div>
          )}
          <div className="panel p-4">
            <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-1">
              <span className="font-medium">{w.yearCounts(worked, after.length - worked)}</span>
              <Legend />
            </div>
            <YearGrid
              year={year}
              days={after}
              changed={changed}
              covered={view.year.covered}
              at={at}
              today={null}
              onAt={setAt}
              onOpen={(date, anchor) => !readOnly && setOpened({ date, anchor })}
            />
          </div>
        </div>
        <aside
          className="panel flex w-[30%] min-w-64 max-w-92 flex-col gap-4 overflow-y-auto px-4 py-3"
          aria-label={w.changes(changes.length)}
        >
          <section>
            <h2 className="mb-1 font-semibold">{w.layers}</h2>
            <Layers
              layers={layersOf(before, draft)}
              chosen={layer}
              hidden={hidden}
              readOnly={readOnly}
              onChoose={setLayer}
              onHidden={setHidden}
              onAdd={(name) => {
                setDraft((old) =>
                  old.layers.some((each) => each.name === name)
                    ? old
                    : { ...old, layers: [...old.layers, { name, days: [] }] },
                );
                setLayer(name);
              }}
            />
          </section>
          <section>
            <h2 className="mb-1 font-semibold">{w.weekTitle}</h2>
            <Week value={week} readOnly={readOnly} onChange={(week) => setDraft((old) => ({ ...old, week }))} />
          </section>
          <Segmented<"weekly" | "hold">
            label={w.uncoveredTitle}
            size="sm"
            isDisabled={readOnly}
            value={draft.uncovered ?? row.uncovered}
            onChange={(uncovered) => setDraft((old) => ({ ...old, uncovered }))}
            options={(["weekly", "hold"] as const).map((value) => ({ value, label: w.uncoveredKinds[value] }))}
          />
          <section>
            <h2 className="mb-1 font-semibold">{w.changes(changes.length)}</h2>
            {changes.length === 0 && <p className="text-ink-3 text-xs">{w.changesHint}</p>}
            <ul>
              {changes.map(({ date, after: day }) => (
                <li key={date} className="flex min-h-8 items-center gap-2">
                  <DayFace day={day} />
                  <span className="shrink-0 text-xs">{w.dateOf(date)}</span>
                  <span className="min-w-0 flex-1 truncate text-ink-2 text-xs">
                    {day.mark?.name && said(day.mark.name)}
                  </span>
                  <IconButton
                    size="sm"
                    label={w.takeBack(w.dateOf(date))}
                    icon={<Undo2 />}
                    onPress={() => setDraft((old) => takenBack(old, first, date))}
                  />
                </li>
              ))}
            </ul>
          </section>
          {dirty && <CalendarEffect calendar={draft} revision={row.revision} />}
        </aside>
      </div>
      {opened && openedDay && (
        <DayPopover
          key={opened.date}
          day={openedDay}
          covered={view.year.covered}
          anchor={opened.anchor}
          layer={layer}
          onChange={(mark) =>
            setDraft((old) =>
              withDay(old, layer, opened.date, mark && { kind: mark.kind, ...(mark.name ? { name: mark.name } : {}) }),
            )
          }
          onClose={() => setOpened(null)}
        />
      )}
      {importing && (
        <ImportCalendar
          calendar={row.name}
          title={said(row.title)}
          revision={row.revision}
          onClose={() => setImporting(false)}
        />
      )}
      <Ask
        open={removing}
        onClose={() => setRemoving(false)}
        title={w.removeTitle(said(row.title))}
        lead={w.removeLead}
        no={w.cancel}
        yes={w.remove}
        danger
        onYes={() =>
          remove.mutate(
            { calendar: row.name, seen_revision: row.revision },
            {
              onSuccess: () => {
                guard.release();
                toast({ text: w.removed(said(row.title)) });
                void navigate({ to: "/settings" });
              },
            },
          )
        }
      />
      <LeaveGuard of={guard} />
    </View>
  );
}

function asYearDay(day: WorkCalendarView["year"]["days"][number]): YearDay {
  return { date: day.date, weekday: day.weekday, works: day.works ?? false, mark: day.mark };
}

function Legend() {
  const w = useWords(calendarsWords);
  const date = "2026-01-08";
  const mark = (kind: "off" | "work") => ({ kind, name: null, layer: "", calendar: "" });
  return (
    <span role="group" aria-label={w.legend} className="flex flex-wrap items-center gap-x-3 gap-y-1 text-ink-2 text-xs">
      {[
        { label: w.ordinary, works: true, mark: null },
        { label: w.weekend, works: false, mark: null },
        { label: w.holiday, works: false, mark: mark("off") },
        { label: w.makeUp, works: true, mark: mark("work") },
      ].map(({ label, ...day }) => (
        <span key={label} className="flex items-center gap-1.5">
          <span aria-hidden="true">
            <DayFace day={{ date, ...day }} />
          </span>
          {label}
        </span>
      ))}
    </span>
  );
}

function Week({
  value,
  readOnly,
  onChange,
}: {
  value: readonly number[];
  readOnly: boolean;
  onChange: (week: number[]) => void;
}) {
  const w = useWords(calendarsWords);
  return (
    <div role="group" aria-label={w.weekTitle} className="flex flex-wrap gap-1">
      {[1, 2, 3, 4, 5, 6, 7].map((day) => {
        const on = value.includes(day);
        return (
          <button
            key={day}
            type="button"
            disabled={readOnly}
            aria-pressed={on}
            onClick={() => onChange(on ? value.filter((each) => each !== day) : [...value, day].sort((a, b) => a - b))}
            className={
              on
                ? "h-7 rounded-md bg-accent-soft px-2 font-medium text-accent-ink text-xs ring-1 ring-accent-ink ring-inset"
                : "h-7 rounded-md bg-surface px-2 text-ink-2 text-xs ring-1 ring-line-strong ring-inset hover:bg-hover"
            }
          >
            {w.shortWeekday(day)}
          </button>
        );
      })}
    </div>
  );
}
