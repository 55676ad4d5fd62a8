// The inbox of what went wrong: most severe first, the latest first among equals; read with j and k, acknowledged with a.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { BellOff, Check } from "lucide-react";
import { useMemo, useState } from "react";
import { alarmsQuery, useAcknowledge } from "@/api/alarms";
import { Refusal } from "@/api/door";
import { useLive } from "@/api/live";
import type { AlarmRow, AlarmState } from "@/api/types";
import {
  AnswerTable,
  bySeverity,
  DueIn,
  Severity,
  type SeverityLevel,
  severityTone,
  stateWords,
  View,
} from "@/components";
import { cx } from "@/lib/cx";
import { useHotkey } from "@/lib/hotkeys";
import { figure, useLang, useSaid, useWords } from "@/lib/words";
import {
  Button,
  Clip,
  type Column,
  Dialog,
  Drawer,
  EmptyState,
  Facts,
  Segmented,
  TextField,
  toast,
  toneText,
} from "@/primitives";
import { type AlarmsShow, alarmsRoute } from "./route";
import { alarmWords } from "./words";

const STATES: Record<AlarmsShow, AlarmState[]> = {
  open: ["firing", "acknowledged"],
  resolved: ["resolved"],
  all: [],
};

const ORDER: Record<AlarmState, number> = { firing: 0, acknowledged: 1, resolved: 2 };

export function AlarmsView() {
  const w = useWords(alarmWords);
  const said = useSaid();
  const lang = useLang();
  const navigate = useNavigate();
  const { show = "open", alarm: shown } = alarmsRoute.useSearch();
  const openAlarms = useLive(({ status }) => status?.open_alarms ?? 0);
  const query = useInfiniteQuery(alarmsQuery(STATES[show]));
  const [cursor, setCursor] = useState<string | null>(shown ?? null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<readonly AlarmRow[] | null>(null);

  const rows = useMemo(() => {
    const all = query.data?.pages.flatMap((page) => page.rows) ?? [];
    if (show === "resolved") return all;
    return all.toSorted(
      (a, b) => ORDER[a.state] - ORDER[b.state] || bySeverity(a.severity, b.severity) || b.last.ms - a.last.ms,
    );
  }, [query.data, show]);

  const go = (search: { show?: AlarmsShow | undefined; alarm?: string | undefined }) =>
    void navigate({
      to: "/alarms",
      search: {
        ...(search.show && search.show !== "open" ? { show: search.show } : {}),
        ...(search.alarm ? { alarm: search.alarm } : {}),
      },
      replace: true,
    });
  const open = rows.find((row) => row.id === shown);
  const current = rows.find((row) => row.id === cursor);
  const meant = selected.size > 0 ? rows.filter((row) => selected.has(row.id)) : current ? [current] : [];
  const able = meant.filter((row) => row.can_acknowledge.ok);
  const firing = rows.filter((row) => row.state === "firing").length;
  useHotkey("a", w.acknowledge, () => setAsking(able), { enabled: able.length > 0 });

  const columns = useMemo<Column<AlarmRow>[]>(
    () => [
      { id: "severity", head: w.columns.severity, width: 112, cell: (row) => <Severity level={row.severity} /> },
      {
        id: "message",
        head: w.columns.message,
        width: "minmax(200px, 2.4fr)",
        cell: (row) => <Clip className={row.state === "firing" ? "font-medium" : ""}>{row.message[lang]}</Clip>,
      },
      {
        id: "subject",
        head: w.columns.subject,
        width: "minmax(110px, 1fr)",
        // The message names it, too.
        atLeast: 880,
        cell: (row) => <Subject of={row.subject} />,
      },
      {
        id: "count",
        head: w.columns.count,
        width: 64,
        align: "right",
        cell: (row) => <span className={row.count > 1 ? "" : "text-ink-3"}>{figure(row.count)}</span>,
      },
      { id: "last", head: w.columns.last, width: 96, cell: (row) => <DueIn at={row.last.ms} quiet /> },
      {
        id: "state",
        head: w.columns.state,
        width: 136,
        cell: (row) => <StateText state={row.state} severity={row.severity} />,
      },
    ],
    [w, lang],
  );

  return (
    <View
      title={w.title}
      lead={
        query.data &&
        show !== "resolved" &&
        (firing === 0 ? (
          <span className="text-ok">✓ {w.calm}</span>
        ) : (
          <span className="font-medium text-bad">{w.firing(firing)}</span>
        ))
      }
      actions={
        <Button
          icon={<Check />}
          kbd="a"
          why={able.length > 0 ? null : w.cannot}
          onPress={() => setAsking(able)}
          variant={able.length > 0 ? "primary" : "plain"}
        >
          {w.acknowledge}
        </Button>
      }
      filters={
        <Segmented<AlarmsShow>
          bare
          label={w.show.label}
          value={show}
          onChange={(next) => {
            setSelected(new Set());
            go({ show: next });
          }}
          options={[
            {
              value: "open",
              label: openAlarms > 0 ? `${w.show.open} ${figure(openAlarms)}` : w.show.open,
            },
            { value: "resolved", label: w.show.resolved },
            { value: "all", label: w.show.all },
          ]}
        />
      }
    >
      <AnswerTable
        of={query}
        label={w.title}
        rows={rows}
        rowKey={(row) => row.id}
        columns={columns}
        rowHeight={36}
        cursor={cursor}
        onCursor={(next) => {
          setCursor(next);
          if (open && next) go({ show, alarm: next });
        }}
        selected={selected}
        onSelect={setSelected}
        onOpen={(row) => go({ show, alarm: row.id })}
        onEnd={() => query.hasNextPage && !query.isFetchingNextPage && void query.fetchNextPage()}
        dim={(row) => row.state === "resolved"}
        empty={
          <EmptyState
            icon={<BellOff />}
            title={show === "open" ? w.emptyOpen : show === "resolved" ? w.emptyResolved : w.empty}
            hint={show === "open" ? w.emptyOpenHint : undefined}
          />
        }
      />
      <Drawer
        open={open !== undefined}
        onClose={() => go({ show })}
        label={w.title}
        title={open && <Severity level={open.severity} />}
        actions={
          open && (
            <Button
              size="sm"
              variant="primary"
              icon={<Check />}
              kbd="a"
              why={open.can_acknowledge.why && said(open.can_acknowledge.why)}
              onPress={() => setAsking([open])}
            >
              {w.acknowledge}
            </Button>
          )
        }
      >
        {open && <Detail alarm={open} />}
      </Drawer>
      {asking && (
        <AcknowledgeDialog
          alarms={asking}
          onClose={() => setAsking(null)}
          onDone={() => {
            setAsking(null);
            setSelected(new Set());
          }}
        />
      )}
    </View>
  );
}

function StateText({ state, severity }: { state: AlarmState; severity: SeverityLevel }) {
  const w = useWords(alarmWords);
  const mark = state === "firing" ? "●" : state === "acknowledged" ? "◐" : "○";
  return (
    <span
      className={cx(
        "inline-flex items-center gap-1.5",
        state === "firing" ? toneText[severityTone(severity)] : "text-ink-3",
      )}
    >
      <span aria-hidden="true" className="text-2xs">
        {mark}
      </span>
      {w.states[state]}
    </span>
  );
}

/** 'job:nightly-report' as 'Job nightly-report'. */
function Subject({ of: subject }: { of: string }) {
  const w = useWords(alarmWords).subjects;
  const lanes = useWords(stateWords).lane;
  const at = subject.indexOf(":");
  const kind = subject.slice(0, at);
  const name = subject.slice(at + 1);
  const shown = kind === "lane" ? (lanes[name as keyof typeof lanes] ?? name) : name;
  return (
    <span className="prose-nums flex min-w-0 gap-1.5" title={subject}>
      {kind in w && <span className="shrink-0 text-ink-3">{w[kind as keyof typeof w]}</span>}
      <span className="truncate">{shown}</span>
    </span>
  );
}

function Detail({ alarm }: { alarm: AlarmRow }) {
  const w = useWords(alarmWords);
  const said = useSaid();
  return (
    <div className="flex flex-col gap-4 p-4">
      <p className="select-text break-words font-medium text-md">{said(alarm.message)}</p>
      <Facts
        rows={[
          [w.columns.state, <StateText key="state" state={alarm.state} severity={alarm.severity} />],
          [w.columns.subject, <Subject key="subject" of={alarm.subject} />],
          [w.rule, w.rules[alarm.rule]],
          [w.columns.count, w.times(alarm.count)],
          [w.first, <DueIn key="first" at={alarm.first.ms} text={alarm.first.text} />],
          [w.last, <DueIn key="last" at={alarm.last.ms} text={alarm.last.text} />],
          ...(alarm.resolved
            ? [[w.resolvedAt, <DueIn key="resolved" at={alarm.resolved.ms} text={alarm.resolved.text} />] as const]
            : []),
        ]}
      />
      {alarm.acknowledged && (
        <section className="rounded-md bg-sunken px-3 py-2 ring-1 ring-line ring-inset">
          <div className="text-ink-3 text-xs">
            {w.acknowledgedBy} · {w.by(alarm.acknowledged.by, alarm.acknowledged.at.text)}
          </div>
          {alarm.acknowledged.note && <p className="mt-0.5 select-text break-words">{alarm.acknowledged.note}</p>}
        </section>
      )}
      {alarm.job && (
        <Link to="/jobs/$job" params={{ job: alarm.job }} className="text-accent-ink hover:underline">
          {w.openJob} →
        </Link>
      )}
    </div>
  );
}

interface AcknowledgeDialogProps {
  alarms: readonly AlarmRow[];
  onClose: () => void;
  onDone: () => void;
}

function AcknowledgeDialog({ alarms, onClose, onDone }: AcknowledgeDialogProps) {
  const w = useWords(alarmWords);
  const said = useSaid();
  const [note, setNote] = useState("");
  const acknowledge = useAcknowledge();
  const submit = () =>
    acknowledge.mutate(
      { alarms: alarms.map((alarm) => alarm.id), note: note.trim() },
      {
        onSuccess: () => {
          toast({ text: w.didAcknowledge(alarms.length) });
          onDone();
        },
      },
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title={w.acknowledgeTitle(alarms.length)}
      lead={w.acknowledgeLead}
      footer={
        <>
          <Button onPress={onClose}>{w.cancel}</Button>
          <Button variant="primary" kbd="Enter" isPending={acknowledge.isPending} onPress={submit}>
            {w.acknowledge}
          </Button>
        </>
      }
    >
      <ul className="my-2 flex flex-col gap-1">
        {alarms.slice(0, 5).map((alarm) => (
          <li key={alarm.id} className="flex items-center gap-2">
            <Severity level={alarm.severity} brief />
            <Clip className="flex-1 text-ink-2">{said(alarm.message)}</Clip>
          </li>
        ))}
        {alarms.length > 5 && <li className="text-ink-3">… +{figure(alarms.length - 5)}</li>}
      </ul>
      <TextField
        autoFocus
        label={w.note}
        hint={w.noteHint}
        required
        error={acknowledge.error instanceof Refusal ? said(acknowledge.error.said) : acknowledge.error?.message}
        value={note}
        onChange={setNote}
        onKeyDown={(event) => event.key === "Enter" && submit()}
      />
    </Dialog>
  );
}
