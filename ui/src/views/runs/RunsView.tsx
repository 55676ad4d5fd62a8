// Runs as they happen: newest first, filtered by state, code and job; the filter stands in the address. The list asks
// again when the feed says so, and the cursor stays with its run while others come in above it.
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { CalendarDays, ChevronDown, FileUp, History, ListTodo, OctagonX, RotateCcw, SearchX, X } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { instancesQuery } from "@/api/instances";
import type { InstanceRow, ShardProgress } from "@/api/types";
import {
  AnswerTable,
  DueIn,
  Elapsed,
  Glyph,
  InstanceStateBadge,
  instanceLook,
  isTaskCode,
  ShardBar,
  stateWords,
  TASK_CODES,
  taskLook,
  View,
} from "@/components";
import { askForData } from "@/components/data/asked";
import { dataWords } from "@/components/data/words";
import { cx } from "@/lib/cx";
import { useHotkey } from "@/lib/hotkeys";
import { span } from "@/lib/relative";
import { useWider } from "@/lib/width";
import { useLang, useWords } from "@/lib/words";
import { Button, Clip, type Column, ContextMenu, EmptyState, IconButton, Menu, toneSoft } from "@/primitives";
import { ExecutorPick } from "./ExecutorPick";
import { codesOf, filterOf, type RunsSearch, STATES, statesOf, toggled } from "./filter";
import { JobPick } from "./JobPick";
import { useRunActions } from "./useRunActions";
import { runsWords } from "./words";

const here = getRouteApi("/runs");
/** Later than this after its time is worth a figure. */
const LATE_MS = 1_000;
const NO_FILTER = { state: undefined, code: undefined, job: undefined, executor: undefined };

export function RunsView() {
  const w = useWords(runsWords);
  const s = useWords(stateWords);
  const d = useWords(dataWords);
  const lang = useLang();
  const router = useRouter();
  const search = here.useSearch();
  const navigate = here.useNavigate();
  const [cursor, setCursor] = useState<string | null>(null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [menu, setMenu] = useState<{ row: InstanceRow; x: number; y: number } | null>(null);
  const query = useInfiniteQuery(instancesQuery(filterOf(search, TASK_CODES)));
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.rows) ?? [], [query.data]);
  const states = statesOf(search);
  const codes = codesOf(search, TASK_CODES);
  const box = useRef<HTMLDivElement>(null);
  const wide = useWider(box, 960);
  const filtered = states.length + codes.length > 0 || search.job !== undefined || search.executor !== undefined;

  const set = (part: { [K in keyof RunsSearch]: string | undefined }) => {
    setSelected(new Set());
    void navigate({
      to: ".",
      replace: true,
      search: (old: RunsSearch) =>
        Object.fromEntries(Object.entries({ ...old, ...part }).filter(([, value]) => value)) as RunsSearch,
    });
  };
  const open = (row: InstanceRow) => router.history.push(`/runs/${encodeURIComponent(row.id)}`);

  const chosen =
    selected.size > 0 ? rows.filter((row) => selected.has(row.id)) : rows.filter((row) => row.id === cursor);
  const actions = useRunActions(chosen);
  const forMenu = useRunActions(menu ? [menu.row] : []);
  const keys = { group: w.group, enabled: chosen.length > 0 };
  useHotkey("c", w.cancel, actions.cancel, keys);
  useHotkey("r", w.retry, actions.retry, keys);
  useHotkey("Escape", w.clearSelection, () => setSelected(new Set()), {
    group: w.group,
    enabled: selected.size > 0,
    palette: false,
  });

  const all: Column<InstanceRow>[] = [
    { id: "state", head: w.columns.state, width: 116, cell: (row) => <InstanceStateBadge state={row.state} /> },
    {
      id: "job",
      head: w.columns.job,
      width: "minmax(120px,2fr)",
      cell: (row) => <Clip className="font-medium">{row.job_name}</Clip>,
    },
    {
      id: "origin",
      head: w.columns.origin,
      width: 96,
      cell: (row) => <span className="text-ink-2">{w.origins[row.origin]}</span>,
    },
    {
      id: "due",
      head: w.columns.due,
      width: 208,
      // The year is in the title of the run; here it would only push the time out.
      cell: (row) => <DueIn at={row.due.ms} text={row.due.text.slice(5)} />,
    },
    { id: "late", head: w.columns.late, width: 84, align: "right", cell: (row) => <Late row={row} /> },
    {
      id: "took",
      head: w.columns.took,
      width: 96,
      align: "right",
      cell: (row) =>
        row.took_ms !== null ? (
          span(row.took_ms, lang)
        ) : row.started && !row.finished ? (
          <span className="text-running">
            <Elapsed since={row.started.ms} />
          </span>
        ) : null,
    },
    {
      id: "tasks",
      head: w.columns.tasks,
      width: "minmax(96px,0.9fr)",
      cell: (row) => (row.sharding ? <Shards row={row} of={row.sharding} /> : <Tasks row={row} />),
    },
    {
      id: "attempt",
      head: w.columns.attempt,
      width: 72,
      align: "right",
      cell: (row) => {
        const most = row.sharding?.round ?? Math.max(0, ...row.tasks.map((task) => task.attempt));
        return most === 0 ? null : <span className={most > 1 ? "text-warn" : "text-ink-3"}>{most}</span>;
      },
    },
  ];

  const columns = wide ? all : all.filter((column) => column.id !== "origin" && column.id !== "attempt");

  return (
    <View
      title={w.title}
      lead={rows.length > 0 && <span className="text-xs">{w.lead(rows.length, query.hasNextPage)}</span>}
      actions={
        <>
          {selected.size > 0 && (
            <span className="flex items-center gap-1 text-ink-2 text-xs">
              {w.selected(selected.size)}
              <IconButton size="sm" label={w.clearSelection} icon={<X />} onPress={() => setSelected(new Set())} />
            </span>
          )}
          <Button
            size="sm"
            variant="quiet"
            icon={<FileUp />}
            onPress={() => askForData({ handed: null, job: null })}
            data-testid="run-with-file"
          >
            {d.open}
          </Button>
          <Button
            size="sm"
            icon={<OctagonX />}
            kbd="c"
            why={actions.whyNotCancel}
            onPress={actions.cancel}
            data-testid="runs-cancel"
          >
            {selected.size > 0 ? w.cancelSelected(actions.toCancel.length) : w.cancel}
          </Button>
          <Button
            size="sm"
            icon={<RotateCcw />}
            kbd="r"
            why={actions.whyNotRetry}
            onPress={actions.retry}
            data-testid="runs-retry"
          >
            {selected.size > 0 ? w.retrySelected(actions.toRetry.length) : w.retry}
          </Button>
        </>
      }
      filters={
        <>
          <div role="group" aria-label={w.states} className="flex flex-wrap gap-1">
            {STATES.map((state) => (
              <Chip
                key={state}
                on={states.includes(state)}
                tone={toneSoft[instanceLook[state].tone]}
                onPress={() => set({ state: toggled(states, state) })}
              >
                <Glyph shape={instanceLook[state].shape} tone={instanceLook[state].tone} size={14} />
                {s.instance[state]}
              </Chip>
            ))}
          </div>
          <span className="h-5 w-px bg-line" />
          <Menu
            label={w.codes}
            items={TASK_CODES.map((code) => ({
              id: String(code),
              label: `${code} ${s.task[code]}`,
              icon: <Glyph shape={taskLook[code].shape} tone={taskLook[code].tone} />,
              ...(codes.includes(code) ? { kbd: "✓" } : {}),
              run: () => set({ code: toggled(codes, code) }),
            }))}
          >
            <Button size="sm" variant={codes.length > 0 ? "plain" : "quiet"}>
              {w.moreCodes}
              {codes.length > 0 && <span className="font-medium text-accent-ink">{codes.join(", ")}</span>}
              <ChevronDown />
            </Button>
          </Menu>
          <JobPick job={search.job ?? null} onPick={(job) => set({ job: job ?? undefined })} />
          <ExecutorPick executor={search.executor} onPick={(executor) => set({ executor })} />
          {filtered && <IconButton size="sm" label={w.clear} icon={<X />} onPress={() => set(NO_FILTER)} />}
        </>
      }
    >
      <div ref={box} className="h-full">
        <AnswerTable
          of={query}
          label={w.list}
          rows={rows}
          rowKey={(row) => row.id}
          columns={columns}
          cursor={cursor}
          onCursor={setCursor}
          onOpen={open}
          onMenu={(row, at) => setMenu({ row, ...at })}
          selected={selected}
          onSelect={setSelected}
          onEnd={() => query.hasNextPage && !query.isFetchingNextPage && void query.fetchNextPage()}
          empty={
            filtered ? (
              <EmptyState icon={<SearchX />} title={w.emptyFilter} hint={w.emptyFilterHint}>
                <Button onPress={() => set(NO_FILTER)}>{w.clear}</Button>
              </EmptyState>
            ) : (
              <EmptyState icon={<History />} title={w.empty} hint={w.emptyHint}>
                <Button icon={<CalendarDays />} onPress={() => router.history.push("/calendar")}>
                  {w.toCalendar}
                </Button>
                <Button icon={<ListTodo />} onPress={() => router.history.push("/jobs")}>
                  {w.toJobs}
                </Button>
              </EmptyState>
            )
          }
        />
      </div>
      <ContextMenu
        at={menu}
        onClose={() => setMenu(null)}
        label={menu?.row.job_name ?? ""}
        items={
          menu
            ? [
                { id: "open", label: w.open, kbd: "Enter", run: () => open(menu.row) },
                { id: "job", label: w.openJob, run: () => router.history.push(`/jobs/${menu.row.job}`) },
                { id: "only", label: w.onlyJob, run: () => set({ job: menu.row.job_name }) },
                "line",
                { id: "retry", label: w.retry, kbd: "r", why: forMenu.whyNotRetry, run: forMenu.retry },
                {
                  id: "cancel",
                  label: w.cancel,
                  kbd: "c",
                  danger: true,
                  why: forMenu.whyNotCancel,
                  run: forMenu.cancel,
                },
              ]
            : []
        }
      />
      {actions.question}
      {forMenu.question}
    </View>
  );
}

function Chip({
  on,
  tone,
  onPress,
  children,
}: {
  on: boolean;
  tone: string;
  onPress: () => void;
  children: React.ReactNode;
}) {
  return (
    <button
      type="button"
      aria-pressed={on}
      onClick={onPress}
      className={cx(
        "flex h-7 items-center gap-1.5 rounded-full px-2.5 text-xs outline-none ring-1 ring-inset transition-colors duration-100 focus-visible:outline-2 focus-visible:outline-focus",
        on ? cx(tone, "font-medium ring-current/40") : "bg-surface text-ink-2 ring-line hover:bg-hover hover:text-ink",
      )}
    >
      {children}
    </button>
  );
}

function Late({ row }: { row: InstanceRow }) {
  const w = useWords(runsWords);
  const lang = useLang();
  if (row.late_ms === null) return null;
  if (row.late_ms < LATE_MS) return <span className="text-ink-3 text-xs">{w.onTime}</span>;
  return <span className={row.late_ms > 60_000 ? "text-warn" : ""}>{span(row.late_ms, lang)}</span>;
}

/** How far it is; what has ended says how. */
function Shards({ row, of }: { row: InstanceRow; of: ShardProgress }) {
  const tone =
    row.finished === null ? "running" : row.state === "succeeded" ? "ok" : row.state === "failed" ? "bad" : "stopped";
  return <ShardBar of={of} tone={tone} />;
}

/** Each task's code where there are few; each code with its number of tasks where there are many. */
function Tasks({ row }: { row: InstanceRow }) {
  const w = useWords(runsWords);
  const s = useWords(stateWords);
  const counts = new Map<number, number>();
  for (const task of row.tasks) counts.set(task.state, (counts.get(task.state) ?? 0) + 1);
  const shown = [...counts].slice(0, 3);
  return (
    <span className="flex items-center gap-2.5">
      {shown.map(
        ([code, n]) =>
          isTaskCode(code) && (
            <span key={code} className="flex items-center gap-1" title={`${code} ${s.task[code]}`}>
              <Glyph shape={taskLook[code].shape} tone={taskLook[code].tone} />
              <span className="text-ink-2 text-xs">{code}</span>
              {n > 1 && <span className="text-ink-3 text-xs">×{n}</span>}
            </span>
          ),
      )}
      {counts.size > shown.length && <span className="text-ink-3 text-xs">{w.moreTasks(counts.size - 3)}</span>}
    </span>
  );
}
