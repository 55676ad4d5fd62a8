// The locks that tasks hold: who has each, for how long yet, and who waits; and what such a lock is worth here.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { LockKeyhole, LockOpen, Search, SearchX, ShieldCheck } from "lucide-react";
import { useMemo, useState } from "react";
import { locksQuery } from "@/api/infrastructure";
import type { LockList, LockView } from "@/api/types";
import { AnswerTable, DueIn } from "@/components";
import { figure, useLang, useWords } from "@/lib/words";
import { Button, Clip, type Column, Drawer, EmptyState, TextField } from "@/primitives";
import { Left, LockDetail, Party } from "./LockDetail";
import { infrastructureRoute } from "./route";
import { infrastructureWords } from "./words";

export function Locks() {
  const w = useWords(infrastructureWords).locks;
  const navigate = useNavigate();
  const search = infrastructureRoute.useSearch();
  const query = useQuery(locksQuery());
  const [cursor, setCursor] = useState<string | null>(search.lock ?? null);
  const [typed, setTyped] = useState(search.q ?? "");
  const all = query.data?.rows ?? [];
  const rows = useMemo(() => all.filter((row) => matches(row, typed)), [all, typed]);
  const open = all.find((row) => row.lock === search.lock);
  const go = (next: { q?: string; lock?: string | undefined }) => {
    const { q, lock } = { q: typed, lock: search.lock, ...next };
    void navigate({
      to: "/infrastructure",
      search: { ...(q.trim() ? { q: q.trim() } : {}), ...(lock ? { lock } : {}) },
      replace: true,
    });
  };
  const find = (q: string) => {
    setTyped(q);
    go({ q });
  };

  const columns = useMemo<Column<LockView>[]>(
    () => [
      {
        id: "lock",
        head: w.columns.lock,
        width: "minmax(150px, 1.3fr)",
        cell: (row) => <Clip className="font-medium">{row.lock}</Clip>,
      },
      {
        id: "holder",
        head: w.columns.holder,
        width: "minmax(190px, 2fr)",
        cell: (row) =>
          row.holder ? <Party of={row.holder} /> : <span className="truncate text-ink-3">{w.unknownHolder}</span>,
      },
      {
        id: "count",
        head: w.columns.count,
        width: 76,
        align: "right",
        atLeast: 760,
        cell: (row) => (
          <span className={row.count > 1 ? "" : "text-ink-3"}>{row.count > 0 ? w.times(row.count) : "—"}</span>
        ),
      },
      {
        id: "token",
        head: w.columns.token,
        width: 84,
        align: "right",
        atLeast: 980,
        cell: (row) => <span className="text-ink-3">{row.token === null ? "—" : figure(row.token)}</span>,
      },
      {
        id: "since",
        head: w.columns.since,
        width: 92,
        atLeast: 860,
        cell: (row) => (row.holder ? <DueIn at={row.holder.since.ms} quiet /> : <span className="text-ink-3">—</span>),
      },
      {
        id: "left",
        head: w.columns.left,
        width: 168,
        cell: (row) =>
          row.holder ? (
            <Left until={row.holder.until.ms} watched={row.watched} />
          ) : (
            <span className="text-ink-3">—</span>
          ),
      },
      {
        id: "waiters",
        head: w.columns.waiters,
        width: "minmax(110px, 1fr)",
        cell: (row) => <Waiters of={row} />,
      },
    ],
    [w],
  );

  return (
    <section aria-label={w.title} data-testid="locks" className="flex min-h-0 flex-1 flex-col">
      <header className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 px-5 pb-2">
        <h2 className="font-semibold text-sm">{w.title}</h2>
        {all.length > 0 && (
          <span className="text-ink-3 text-xs" data-testid="locks-count">
            {rows.length < all.length ? w.some(rows.length, all.length) : w.count(all.length)}
            {query.data && query.data.left_out > 0 && ` · ${w.more(query.data.left_out)}`}
          </span>
        )}
        <TextField
          bare
          className="ml-auto w-72"
          label={w.search}
          placeholder={w.search}
          icon={<Search />}
          value={typed}
          onChange={find}
          isDisabled={all.length === 0 && typed === ""}
        />
      </header>
      {query.data && <Worth of={query.data} />}
      <div className="min-h-0 flex-1">
        <AnswerTable
          of={query}
          label={w.title}
          rows={rows}
          rowKey={(row) => row.lock}
          columns={columns}
          rowHeight={38}
          cursor={cursor}
          onCursor={(next) => {
            setCursor(next);
            if (open && next) go({ lock: next });
          }}
          onOpen={(row) => go({ lock: row.lock })}
          empty={<Nothing list={query.data} typed={typed} onClear={() => find("")} />}
        />
      </div>
      <Drawer
        open={open !== undefined}
        onClose={() => go({ lock: undefined })}
        label={w.title}
        width={460}
        title={open?.lock}
      >
        {open && <LockDetail of={open} />}
      </Drawer>
    </section>
  );
}

/** What is typed is found in the name, and in whoever holds or waits. */
function matches(row: LockView, typed: string): boolean {
  const sought = typed.trim().toLowerCase();
  if (sought === "") return true;
  const parties = [...(row.holder ? [row.holder] : []), ...row.waiters];
  const said = parties.flatMap((party) => [party.of?.job_name ?? "", `${party.group}/${party.executor}`, party.task]);
  return [row.lock, ...said].some((text) => text.toLowerCase().includes(sought));
}

/** Where they are kept, and what that is worth. */
function Worth({ of: list }: { of: LockList }) {
  const w = useWords(infrastructureWords).locks;
  // Chinese sentences follow each other without one.
  const gap = useLang() === "zh" ? "" : " ";
  const { kept } = list;
  if (!kept) return null;
  return (
    <p
      data-testid="locks-worth"
      data-kept={kept}
      className="flex max-w-220 shrink-0 gap-2 px-5 pb-3 text-ink-2 text-xs"
    >
      <ShieldCheck size={16} className="mt-px shrink-0 text-ink-3" aria-hidden="true" />
      <span>
        <span className="font-medium text-ink">{w.kept[kept]}</span>
        {gap}
        {w.worth[kept]}
        {gap}
        {w.token}
      </span>
    </p>
  );
}

function Waiters({ of: { waiters } }: { of: LockView }) {
  const w = useWords(infrastructureWords).locks;
  const first = waiters[0];
  if (!first) return <span className="text-ink-3">{w.nobody}</span>;
  return (
    <span className="flex min-w-0 items-baseline gap-1.5">
      <span className="shrink-0 font-medium text-queued">{w.waiting(waiters.length)}</span>
      <span className="truncate text-ink-3 text-xs">{first.of?.job_name ?? `${first.group}/${first.executor}`}</span>
    </span>
  );
}

function Nothing({ list, typed, onClear }: { list: LockList | undefined; typed: string; onClear: () => void }) {
  const w = useWords(infrastructureWords).locks;
  if (list && list.rows.length > 0 && typed !== "")
    return (
      <EmptyState icon={<SearchX />} title={w.noMatch}>
        <Button onPress={onClear}>{w.clear}</Button>
      </EmptyState>
    );
  if (list && list.kept === null) return <EmptyState icon={<LockKeyhole />} title={w.empty} hint={w.noneHint} />;
  return <EmptyState icon={<LockOpen />} title={w.empty} hint={w.emptyHint} />;
}
