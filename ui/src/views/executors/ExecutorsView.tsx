// Executors: whether all is well, who needs a hand, and of each what it runs, how full it is and how its machine does.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { CirclePause, Gauge, Play, ServerOff } from "lucide-react";
import { useMemo, useState } from "react";
import { executorsQuery, useDrainExecutor, useResumeExecutor } from "@/api/executors";
import type { ExecutorRow, ExecutorState } from "@/api/types";
import { AnswerTable, DueIn, Glyph, type Shape, View } from "@/components";
import { cx } from "@/lib/cx";
import { useHotkey } from "@/lib/hotkeys";
import { marks, useSaid, useWords } from "@/lib/words";
import {
  Button,
  Clip,
  type Column,
  Dialog,
  Drawer,
  EmptyState,
  Segmented,
  Tag,
  TextField,
  type Tone,
  toast,
  toneText,
} from "@/primitives";
import { Detail } from "./Detail";
import { Held } from "./Held";
import { LimitsDialog } from "./Limits";
import { Load, Reading } from "./Load";
import { Log } from "./Log";
import { limitWords } from "./limitWords";
import { executorsRoute } from "./route";
import { executorWords } from "./words";

const LOOK: Record<ExecutorState, { shape: Shape; tone: Tone }> = {
  live: { shape: "check", tone: "ok" },
  draining: { shape: "slash", tone: "stopped" },
  silent: { shape: "broken", tone: "bad" },
  gone: { shape: "circle", tone: "idle" },
};

/** From these on a machine keeps work waiting. */
const BUSY_CPU = 80;
const BUSY_MEMORY = 75;

const keyOf = (row: ExecutorRow) => `${row.group}/${row.name}`;

export function ExecutorsView() {
  const w = useWords(executorWords);
  const l = useWords(limitWords);
  const said = useSaid();
  const navigate = useNavigate();
  const { executor: shown } = executorsRoute.useSearch();
  const query = useQuery(executorsQuery());
  const resume = useResumeExecutor();
  const [cursor, setCursor] = useState<string | null>(shown ?? null);
  const [limits, setLimits] = useState(false);
  const [tab, setTab] = useState<"now" | "log">("now");
  const [draining, setDraining] = useState<ExecutorRow | null>(null);

  const rows = query.data?.rows ?? [];
  const current = rows.find((row) => keyOf(row) === cursor) ?? (rows.length === 1 ? rows[0] : undefined);
  const open = rows.find((row) => keyOf(row) === shown);
  const go = (executor?: string) =>
    void navigate({ to: "/executors", search: executor ? { executor } : {}, replace: true });
  const no = (allowed: ExecutorRow["can_drain"] | undefined) =>
    allowed ? (allowed.ok ? null : allowed.why ? said(allowed.why) : "—") : w.cannot;
  const onDrain = (row: ExecutorRow | undefined) => row?.can_drain.ok && setDraining(row);
  const onResume = (row: ExecutorRow | undefined) => {
    if (!row?.can_resume.ok) return;
    resume.mutate({ group: row.group, name: row.name }, { onSuccess: () => toast({ text: w.resumed(row.name) }) });
  };
  const keys = { group: w.group_keys };
  useHotkey("d", w.drain, () => onDrain(current), { ...keys, enabled: current?.can_drain.ok ?? false });
  useHotkey("u", w.resume, () => onResume(current), { ...keys, enabled: current?.can_resume.ok ?? false });

  useHotkey("l", l.open, () => setLimits(true), keys);

  const columns = useMemo<Column<ExecutorRow>[]>(
    () => [
      {
        id: "name",
        head: w.columns.name,
        width: "minmax(150px, 1.2fr)",
        cell: (row) => (
          <span className="flex min-w-0 items-baseline gap-1.5" title={keyOf(row)}>
            <span className="truncate font-medium">{row.name}</span>
            <span className="shrink-0 text-ink-3 text-xs">{row.group}</span>
          </span>
        ),
      },
      {
        id: "state",
        head: w.columns.state,
        width: 104,
        cell: (row) => <StateMark state={row.state} />,
      },
      {
        id: "load",
        head: w.columns.load,
        width: 216,
        cell: (row) =>
          row.state === "gone" ? (
            <span className="text-ink-3">—</span>
          ) : (
            <Load running={row.running} inHand={row.in_hand} capacity={row.capacity} />
          ),
      },
      {
        id: "runs",
        head: w.columns.runs,
        width: "minmax(120px, 1.4fr)",
        atLeast: 860,
        cell: (row) => <RunsNow of={row} />,
      },
      {
        id: "machine",
        head: w.columns.machine,
        width: 200,
        atLeast: 1000,
        cell: (row) =>
          row.machine && row.state !== "gone" ? (
            <span className="flex gap-3">
              <Reading label={w.cpu} value={row.machine.cpu_percent} busy={BUSY_CPU} />
              <Reading label={w.memory} value={row.machine.memory_percent} busy={BUSY_MEMORY} />
            </span>
          ) : (
            <span className="text-ink-3">—</span>
          ),
      },
      {
        id: "heard",
        head: w.columns.heard,
        width: 92,
        cell: (row) => <DueIn at={(row.gone ?? row.heard).ms} quiet />,
      },
      {
        id: "remarks",
        head: w.columns.remarks,
        width: "minmax(160px, 1.8fr)",
        cell: (row) => <Remarks of={row} />,
      },
    ],
    [w],
  );

  return (
    <View
      title={w.title}
      lead={query.data && <Verdict rows={rows}>{said(query.data.verdict)}</Verdict>}
      actions={
        <>
          <Button icon={<CirclePause />} kbd="d" why={no(current?.can_drain)} onPress={() => onDrain(current)}>
            {w.drain}
          </Button>
          <Button icon={<Play />} kbd="u" why={no(current?.can_resume)} onPress={() => onResume(current)}>
            {w.resume}
          </Button>
          <Button icon={<Gauge />} kbd="l" onPress={() => setLimits(true)}>
            {l.open}
          </Button>
        </>
      }
    >
      <div className="flex h-full min-h-0 flex-col">
        <Held />
        <div className="min-h-0 flex-1">
          <AnswerTable
            of={query}
            label={w.title}
            rows={rows}
            rowKey={keyOf}
            columns={columns}
            rowHeight={38}
            cursor={cursor}
            onCursor={(next) => {
              setCursor(next);
              if (open && next) go(next);
            }}
            onOpen={(row) => go(keyOf(row))}
            dim={(row) => row.state === "gone"}
            empty={<EmptyState icon={<ServerOff />} title={w.empty} hint={w.emptyHint} />}
          />
        </div>
      </div>
      <Drawer
        open={open !== undefined}
        onClose={() => go()}
        label={w.title}
        width={tab === "log" ? 760 : 500}
        title={
          open && (
            <span className="flex min-w-0 items-baseline gap-2">
              <span className="truncate">{open.name}</span>
              <span className="font-normal text-sm">
                <StateMark state={open.state} />
              </span>
            </span>
          )
        }
        actions={
          open &&
          (open.drain ? (
            <Button size="sm" icon={<Play />} why={no(open.can_resume)} onPress={() => onResume(open)}>
              {w.resume}
            </Button>
          ) : (
            <Button size="sm" icon={<CirclePause />} why={no(open.can_drain)} onPress={() => onDrain(open)}>
              {w.drain}
            </Button>
          ))
        }
      >
        {open && (
          <div className="flex h-full min-h-0 flex-col">
            <div className="flex items-center justify-between gap-2 border-line border-b px-4 py-2">
              <Segmented
                bare
                size="sm"
                label={w.show}
                value={tab}
                onChange={setTab}
                options={[
                  { value: "now", label: w.about_tab },
                  { value: "log", label: w.log },
                ]}
              />
              <Link
                to="/runs"
                search={{ executor: keyOf(open) }}
                className="text-accent-ink text-xs hover:underline focus-visible:outline-2 focus-visible:outline-focus"
              >
                {w.openAll}
              </Link>
            </div>
            {tab === "log" ? (
              <Log key={keyOf(open)} of={open} />
            ) : (
              <div className="min-h-0 flex-1 overflow-auto">
                <Detail of={open} />
              </div>
            )}
          </div>
        )}
      </Drawer>
      {limits && <LimitsDialog onClose={() => setLimits(false)} />}
      {draining && <DrainDialog of={draining} onClose={() => setDraining(null)} />}
    </View>
  );
}

function Verdict({ rows, children }: { rows: readonly ExecutorRow[]; children: string }) {
  const live = rows.some((row) => row.state === "live");
  const trouble = rows.some((row) => row.state === "silent");
  const tone: Tone = !live ? "bad" : trouble ? "warn" : "ok";
  return (
    <span data-testid="executors-verdict" className={cx(toneText[tone], tone !== "ok" && "font-medium")}>
      {tone === "ok" && "✓ "}
      {children}
    </span>
  );
}

function StateMark({ state }: { state: ExecutorState }) {
  const w = useWords(executorWords);
  const look = LOOK[state];
  return (
    <span
      data-state={state}
      className="inline-flex items-center gap-1.5 whitespace-nowrap"
      title={w.stateMeaning[state]}
    >
      <Glyph shape={look.shape} tone={look.tone} />
      <span className={cx("self-baseline", toneText[look.tone])}>{w.state[state]}</span>
    </span>
  );
}

function RunsNow({ of: row }: { of: ExecutorRow }) {
  const w = useWords(executorWords);
  const m = useWords(marks);
  if (row.runs.length === 0) return <span className="text-ink-3">{w.nothing}</span>;
  const names = [...new Set(row.runs.map((run) => run.job_name))];
  const first = names.slice(0, 2).join(m.and);
  const more = row.in_hand - Math.min(2, names.length);
  return <Clip>{more > 0 && names.length > 2 ? `${first} ${w.more(names.length - 2)}` : first}</Clip>;
}

function Remarks({ of: row }: { of: ExecutorRow }) {
  const w = useWords(executorWords);
  const said = useSaid();
  const [first] = row.remarks;
  const all = row.remarks.map(said).join("\n");
  return (
    <span className="flex min-w-0 items-center gap-1.5" title={all}>
      {row.embedded && row.remarks.length === 0 && <Tag>{w.embedded}</Tag>}
      {first && (
        <span className={cx("truncate", row.state === "silent" ? "text-bad" : "text-ink-2")}>{said(first)}</span>
      )}
      {row.remarks.length > 1 && <span className="shrink-0 text-ink-3 text-xs">+{row.remarks.length - 1}</span>}
    </span>
  );
}

function DrainDialog({ of: row, onClose }: { of: ExecutorRow; onClose: () => void }) {
  const w = useWords(executorWords);
  const drain = useDrainExecutor();
  const [reason, setReason] = useState("");
  const submit = () =>
    drain.mutate(
      { group: row.group, name: row.name, reason: reason.trim() },
      {
        onSuccess: () => {
          toast({ text: w.drained(row.name) });
          onClose();
        },
      },
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title={w.drainTitle(row.name)}
      lead={w.drainLead}
      footer={
        <>
          <Button onPress={onClose}>{w.cancel}</Button>
          <Button variant="primary" kbd="Enter" isPending={drain.isPending} onPress={submit}>
            {w.drain}
          </Button>
        </>
      }
    >
      <TextField
        autoFocus
        label={w.reason}
        hint={w.reasonHint}
        value={reason}
        onChange={setReason}
        onKeyDown={(event) => event.key === "Enter" && submit()}
      />
    </Dialog>
  );
}
