// All jobs: what each is, when next, how the last ones went; found by typing, acted on one by one or many at once.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  ArrowRight,
  ClipboardPaste,
  Copy,
  FileDown,
  FileUp,
  ListTodo,
  MoreHorizontal,
  Pause,
  Pencil,
  Play,
  Plus,
  Search,
  Trash2,
} from "lucide-react";
import { useCallback, useDeferredValue, useMemo, useRef, useState } from "react";
import { jobsQuery } from "@/api/jobs";
import type { JobRow } from "@/api/types";
import { AnswerTable, DueIn, JobName, OutcomeStrip, ScheduleWords, stateWords, View } from "@/components";
import { useHotkey } from "@/lib/hotkeys";
import { figure, useLang, useSaid, useWords } from "@/lib/words";
import {
  Button,
  type Column,
  ContextMenu,
  EmptyState,
  Menu,
  type MenuEntry,
  Segmented,
  Tag,
  TextField,
} from "@/primitives";
import { parseFilter, withState, withTag } from "./filter";
import { ImportDialog } from "./ImportDialog";
import { outcomesOf } from "./outcomes";
import { type JobsSearch, jobsRoute } from "./route";
import { useJobActions } from "./useJobActions";
import { jobWords } from "./words";

const COUNTED = 10_000;

export function JobsView() {
  const w = useWords(jobWords);
  const s = useWords(stateWords);
  const said = useSaid();
  const lang = useLang();
  const search = jobsRoute.useSearch();
  const navigate = useNavigate();
  const box = useRef<HTMLDivElement>(null);
  const typed = search.q ?? "";
  const filter = useMemo(() => parseFilter(typed), [typed]);
  const query = useInfiniteQuery(jobsQuery(useDeferredValue(filter)));
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.rows) ?? [], [query.data]);
  const total = query.data?.pages[0]?.total ?? 0;

  const [cursor, setCursor] = useState<string | null>(null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [menu, setMenu] = useState<{ row: JobRow; at: { x: number; y: number } } | null>(null);
  const actions = useJobActions(() => setSelected(new Set()));

  const setTyped = (q: string) => void navigate({ to: "/jobs", search: q === "" ? {} : { q }, replace: true });
  const openImport = (kind: "crontab" | "yaml") => void navigate({ to: "/jobs", search: { ...search, import: kind } });
  const closeImport = () => void navigate({ to: "/jobs", search: typed === "" ? {} : { q: typed } });
  const create = () => void navigate({ to: "/jobs/new" });
  const open = (job: JobRow) => void navigate({ to: "/jobs/$job", params: { job: job.id } });

  const current = rows.find((row) => row.id === cursor);
  const meant = selected.size > 0 ? [...selected] : current ? [current.id] : [];
  const some = { enabled: meant.length > 0 };
  const oneOrMore = rows.filter((row) => meant.includes(row.id));
  const anyActive = oneOrMore.some((row) => !row.paused);
  useHotkey("n", w.newJob, create);
  useHotkey("/", w.filter, () => box.current?.querySelector("input")?.focus(), { palette: false });
  useHotkey("r", w.run, () => actions.run(meant), some);
  useHotkey(
    "p",
    anyActive ? w.pause : w.resume,
    () => (anyActive ? actions.pause(meant) : actions.resume(meant)),
    some,
  );
  useHotkey("e", w.edit, () => current && actions.edit(current.id), { enabled: current !== undefined });
  useHotkey("d", w.remove, () => actions.remove(meant), some);
  useHotkey("i", w.pasteCrontab, () => openImport("crontab"));
  useHotkey("Escape", w.clearFilter, () => setSelected(new Set()), { enabled: selected.size > 0, palette: false });

  const addTag = useCallback(
    (tag: string) =>
      void navigate({
        to: "/jobs",
        search: (old: JobsSearch) => ({ ...old, q: withTag(old.q ?? "", tag) }),
        replace: true,
      }),
    [navigate],
  );

  const columns = useMemo<Column<JobRow>[]>(
    () => [
      {
        id: "name",
        head: w.columns.name,
        width: "minmax(170px, 1.5fr)",
        cell: (row) => <JobName name={row.name} tenant={row.tenant} paused={row.paused} />,
      },
      {
        id: "schedule",
        head: w.columns.schedule,
        width: "minmax(150px, 1.6fr)",
        cell: (row) => <ScheduleWords text={row.words[lang]} />,
      },
      {
        id: "next",
        head: w.columns.next,
        width: "minmax(168px, 0.9fr)",
        cell: (row) =>
          row.paused ? (
            <span className="inline-flex items-center gap-1.5 text-ink-3">
              <Pause size={13} />
              {w.paused}
            </span>
          ) : row.next ? (
            <DueIn at={row.next.ms} text={row.next.text.slice(5, 16)} />
          ) : (
            <span className="text-ink-3">{w.noNext}</span>
          ),
      },
      {
        id: "last",
        head: w.columns.last,
        width: 108,
        cell: (row) => <OutcomeStrip outcomes={outcomesOf(row)} />,
      },
      {
        id: "tags",
        head: w.columns.tags,
        atLeast: 900,
        width: "minmax(80px, 0.8fr)",
        cell: (row) => (
          <span className="flex min-w-0 items-center gap-1">
            {row.tags.slice(0, 2).map((tag) => (
              <button key={tag} type="button" className="flex min-w-0 first:shrink-0" onClick={() => addTag(tag)}>
                <Tag>{tag}</Tag>
              </button>
            ))}
            {row.tags.length > 2 && (
              <span className="shrink-0 text-ink-3 text-xs" title={row.tags.join(", ")}>
                +{row.tags.length - 2}
              </span>
            )}
          </span>
        ),
      },
      {
        id: "processor",
        head: w.columns.processor,
        atLeast: 980,
        width: 84,
        cell: (row) => <code className="text-ink-2 text-xs">{row.processor}</code>,
      },
      {
        id: "priority",
        head: w.columns.priority,
        atLeast: 820,
        width: 84,
        cell: (row) => <span className={row.priority === "normal" ? "text-ink-3" : ""}>{s.lane[row.priority]}</span>,
      },
      {
        id: "menu",
        head: "",
        width: 44,
        cell: (row) => (
          <button
            type="button"
            aria-haspopup="menu"
            aria-label={w.more}
            title={w.more}
            className="flex size-6 items-center justify-center rounded-md text-ink-2 hover:bg-line hover:text-ink"
            onClick={(event) => {
              const { left, bottom } = event.currentTarget.getBoundingClientRect();
              setMenu({ row, at: { x: left, y: bottom } });
            }}
          >
            <MoreHorizontal size={14} />
          </button>
        ),
      },
    ],
    [w, s, lang, addTag],
  );

  function entries(row: JobRow): MenuEntry[] {
    return [
      { id: "open", label: w.open, icon: <ArrowRight />, kbd: "Enter", run: () => open(row) },
      {
        id: "run",
        label: w.run,
        icon: <Play />,
        kbd: "r",
        why: row.can_run.why && said(row.can_run.why),
        run: () => actions.run([row.id]),
      },
      row.paused
        ? { id: "resume", label: w.resume, icon: <Play />, kbd: "p", run: () => actions.resume([row.id]) }
        : { id: "pause", label: w.pause, icon: <Pause />, kbd: "p", run: () => actions.pause([row.id]) },
      { id: "edit", label: w.edit, icon: <Pencil />, kbd: "e", run: () => actions.edit(row.id) },
      {
        id: "copy",
        label: w.duplicate,
        icon: <Copy />,
        run: () => void navigate({ to: "/jobs/new", search: { like: row.id } }),
      },
      { id: "export", label: w.exportAll, icon: <FileDown />, run: () => actions.save([row.id], row.name) },
      "line",
      { id: "remove", label: w.remove, icon: <Trash2 />, kbd: "d", danger: true, run: () => actions.remove([row.id]) },
    ];
  }

  // Only what is loaded can be selected by hand; the rest of what matches is fetched when it is asked for.
  const selectAll = async () => {
    let result = await query.fetchNextPage();
    while (result.hasNextPage && !result.isError) result = await result.fetchNextPage();
    setSelected(new Set(result.data?.pages.flatMap((page) => page.rows.map((row) => row.id)) ?? []));
  };
  const state = filter.paused === null ? "all" : filter.paused ? "paused" : "active";
  return (
    <View
      title={w.title}
      lead={query.data && <span className="text-ink-3">{w.total(total, total >= COUNTED)}</span>}
      actions={
        <>
          <Menu
            label={w.importThings}
            items={[
              {
                id: "crontab",
                label: w.pasteCrontab,
                icon: <ClipboardPaste />,
                kbd: "i",
                run: () => openImport("crontab"),
              },
              { id: "yaml", label: w.importYaml, icon: <FileUp />, run: () => openImport("yaml") },
              "line",
              {
                id: "export",
                label: w.exportAll,
                icon: <FileDown />,
                why: rows.length === 0 ? w.empty : null,
                run: () => actions.save(selected.size > 0 ? [...selected] : [], "jobs"),
              },
            ]}
          >
            <Button icon={<FileUp />}>{w.importThings}</Button>
          </Menu>
          <Button variant="primary" icon={<Plus />} kbd="n" onPress={create}>
            {w.newJob}
          </Button>
        </>
      }
      filters={
        selected.size > 0 ? (
          <div className="flex h-8 w-full items-center gap-1.5 rounded-md bg-picked pr-1 pl-3">
            <span className="mr-2 font-medium">{w.total(selected.size, false)}</span>
            <Button size="sm" variant="quiet" icon={<Play />} kbd="r" onPress={() => actions.run(meant)}>
              {w.run}
            </Button>
            <Button
              size="sm"
              variant="quiet"
              icon={<Pause />}
              onPress={() => actions.pause(meant)}
              why={anyActive ? null : w.alreadyPaused}
            >
              {w.pause}
            </Button>
            <Button
              size="sm"
              variant="quiet"
              icon={<Play />}
              onPress={() => actions.resume(meant)}
              why={oneOrMore.some((row) => row.paused) ? null : w.notPaused}
            >
              {w.resume}
            </Button>
            <Button size="sm" variant="quiet" icon={<FileDown />} onPress={() => actions.save(meant, "jobs")}>
              {w.exportAll}
            </Button>
            <Button size="sm" variant="quiet" icon={<Trash2 />} kbd="d" onPress={() => actions.remove(meant)}>
              {w.remove}
            </Button>
            <span className="ml-auto flex">
              {query.hasNextPage && selected.size >= rows.length && (
                <Button size="sm" variant="quiet" onPress={() => void selectAll()} isPending={query.isFetchingNextPage}>
                  {w.selectAll(total, total >= COUNTED)}
                </Button>
              )}
              <Button size="sm" variant="quiet" kbd="Escape" onPress={() => setSelected(new Set())}>
                {w.cancel}
              </Button>
            </span>
          </div>
        ) : (
          <>
            <div ref={box} className="w-80">
              <TextField
                bare
                label={w.filter}
                placeholder={w.filter}
                icon={<Search />}
                value={typed}
                onChange={setTyped}
              />
            </div>
            <Segmented
              bare
              label={w.states.label}
              value={state}
              onChange={(next) => setTyped(withState(typed, next))}
              options={[
                { value: "all", label: w.states.all },
                { value: "active", label: w.states.active },
                { value: "paused", label: w.states.paused },
              ]}
            />
          </>
        )
      }
    >
      <AnswerTable
        of={query}
        label={w.title}
        rows={rows}
        rowKey={(row) => row.id}
        columns={columns}
        cursor={cursor}
        onCursor={setCursor}
        selected={selected}
        onSelect={setSelected}
        onOpen={open}
        onMenu={(row, at) => setMenu({ row, at })}
        onEnd={() => query.hasNextPage && !query.isFetchingNextPage && void query.fetchNextPage()}
        dim={(row) => row.paused}
        empty={
          typed === "" ? (
            <EmptyState icon={<ListTodo />} title={w.empty} hint={w.emptyHint}>
              <Button variant="primary" icon={<Plus />} onPress={create}>
                {w.newJob}
              </Button>
              <Button icon={<ClipboardPaste />} onPress={() => openImport("crontab")}>
                {w.pasteCrontab}
              </Button>
            </EmptyState>
          ) : (
            <EmptyState icon={<Search />} title={w.noMatch} hint={<code>{typed}</code>}>
              <Button onPress={() => setTyped("")}>{w.clearFilter}</Button>
            </EmptyState>
          )
        }
      />
      <ContextMenu
        at={menu?.at ?? null}
        onClose={() => setMenu(null)}
        label={w.actions}
        items={menu ? entries(menu.row) : []}
      />
      {search.import && <ImportDialog kind={search.import} onKind={openImport} onClose={closeImport} />}
      {actions.question}
      <span className="sr-only" aria-live="polite">
        {query.data ? figure(total) : ""}
      </span>
    </View>
  );
}
