// Every version a job ever had: any two compared, field by field and by the runs they plan, and any of them restored.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeftRight, History } from "lucide-react";
import { useId, useState, useSyncExternalStore } from "react";
import { getZone, onZone } from "@/api/door";
import { compareQuery, previewQuery, useRestoreVersion } from "@/api/jobs";
import { bootstrapQuery } from "@/api/node";
import type { JobDetail, JobSpec, VersionRow } from "@/api/types";
import { wallAt } from "@/api/walltime";
import { Answer } from "@/components";
import { useNow } from "@/lib/clock";
import { cx } from "@/lib/cx";
import { marks, useSaid, useWords } from "@/lib/words";
import { Ask, Button, Clip, EmptyState, IconButton, Skeleton, Tag, toast } from "@/primitives";
import { Box } from "./Box";
import { timeWords } from "./timeWords";
import { inForce, startsLater } from "./versions";
import { jobWords } from "./words";

export function Versions({ detail }: { detail: JobDetail }) {
  const w = useWords(jobWords);
  const d = w.detail;
  const m = useWords(marks);
  const t = useWords(timeWords).versions;
  const said = useSaid();
  const restore = useRestoreVersion();
  const group = useId();
  const { versions } = detail;
  const newest = versions[0];
  const [pair, setPair] = useState<{ from: number; to: number } | null>(null);
  const [asking, setAsking] = useState<VersionRow | null>(null);
  const find = (n: number | undefined) => versions.find((each) => each.version === n);
  const to = find(pair?.to) ?? newest;
  const from = find(pair?.from) ?? versions[1] ?? newest;
  const compared = useQuery({
    ...compareQuery({ job: detail.row.id, from: from?.version ?? 0, to: to?.version ?? 0 }),
    enabled: from !== undefined && from !== to,
  });
  const now = useNow();
  const held = inForce(versions, now);
  if (!newest || !from || !to) return <EmptyState icon={<History />} title={d.versions} />;
  const onRestore = (back: VersionRow) => {
    const { id, version } = detail.row;
    restore.mutate(
      { job: id, version: back.version, seen_version: version },
      {
        onSuccess: (done) =>
          toast({
            text: d.restored(back.version),
            undo: () => restore.mutate({ job: id, version, seen_version: done.version }),
          }),
      },
    );
  };
  const choose = (side: "from" | "to", version: number) =>
    setPair({ from: from.version, to: to.version, [side]: version });
  return (
    <div className="grid grid-cols-[minmax(240px,320px)_1fr] items-start gap-3">
      <div className="panel overflow-hidden">
        <p className="border-line border-b px-3.5 py-2 text-ink-3 text-xs">{t.pickTwo}</p>
        <ul>
          {versions.map((each) => (
            <li
              key={each.version}
              data-testid="version"
              data-version={each.version}
              className={cx(
                "flex gap-2.5 border-line border-b py-2 pr-3.5 pl-3 last:border-b-0",
                (each === from || each === to) && "bg-picked",
              )}
            >
              <span className="flex shrink-0 gap-1.5 pt-1">
                {(["from", "to"] as const).map((side) => (
                  <input
                    key={side}
                    type="radio"
                    name={`${group}-${side}`}
                    aria-label={side === "from" ? t.asOlder(each.version) : t.asNewer(each.version)}
                    title={side === "from" ? t.asOlder(each.version) : t.asNewer(each.version)}
                    checked={each === (side === "from" ? from : to)}
                    onChange={() => choose(side, each.version)}
                    className="size-3.5 accent-(--accent)"
                  />
                ))}
              </span>
              <span className="min-w-0 flex-1">
                <span className="flex flex-wrap items-center gap-x-2">
                  <span className="font-medium">{d.version(each.version)}</span>
                  {each === held && <Tag tone="ok">{d.current}</Tag>}
                  {startsLater(each) && <TakesEffect of={each} now={now} />}
                </span>
                <span className="block text-ink-3 text-xs">{d.savedBy(each.saved_by, each.saved_at.text)}</span>
                <Clip className="text-ink-2 text-xs">{said(each.words)}</Clip>
              </span>
            </li>
          ))}
        </ul>
      </div>
      <Box
        title={`${d.version(from.version)} → ${d.version(to.version)}`}
        note={
          <>
            <IconButton
              size="sm"
              label={t.swap}
              icon={<ArrowLeftRight />}
              onPress={() => setPair({ from: to.version, to: from.version })}
            />
            <span className="ml-auto flex flex-wrap justify-end gap-2">
              {[from, to]
                .filter((each, i, both) => each !== newest && both.indexOf(each) === i)
                .map((each) => (
                  <Button key={each.version} size="sm" icon={<History />} onPress={() => setAsking(each)}>
                    {t.restore(each.version)}
                  </Button>
                ))}
            </span>
          </>
        }
      >
        {from === to ? (
          <p className="py-2 text-ink-3">{d.same}</p>
        ) : (
          <Answer of={compared} skeleton={<Skeleton className="h-24 w-full" />}>
            {({ changes }) =>
              changes.length === 0 ? (
                <p className="py-2 text-ink-3">{t.same}</p>
              ) : (
                <div
                  data-testid="version-diff"
                  aria-busy={compared.isPlaceholderData}
                  className="grid grid-cols-[max-content_1fr_1fr] gap-x-4"
                >
                  <span className="eyebrow border-line border-b pb-1">{d.field}</span>
                  <span className="eyebrow border-line border-b pb-1">{d.version(from.version)}</span>
                  <span className="eyebrow border-line border-b pb-1">{d.version(to.version)}</span>
                  {changes.map((change) => (
                    <div key={change.field} className="contents">
                      <span className="border-line border-b py-1.5 text-ink-2" title={change.field}>
                        {said(change.name)}
                      </span>
                      <Side sign="−" text={change.before && said(change.before)} tone="bad" />
                      <Side sign="+" text={change.after && said(change.after)} tone="ok" />
                    </div>
                  ))}
                </div>
              )
            }
          </Answer>
        )}
        <div className="mt-4 grid grid-cols-2 gap-4">
          <Planned title={t.runs + m.colon + d.version(from.version)} spec={from.spec} other={to.spec} />
          <Planned title={t.runs + m.colon + d.version(to.version)} spec={to.spec} other={from.spec} />
        </div>
      </Box>
      <Ask
        open={asking !== null}
        onClose={() => setAsking(null)}
        title={d.restoreTitle(asking?.version ?? 0)}
        lead={d.restoreLead}
        no={w.cancel}
        yes={d.restore}
        onYes={() => asking && onRestore(asking)}
      />
    </div>
  );
}

/** A version that was saved to hold from a later moment on. */
function TakesEffect({ of: version, now }: { of: VersionRow; now: number }) {
  const t = useWords(timeWords).versions;
  const client = useQueryClient();
  const zone = useSyncExternalStore(onZone, getZone);
  const own = useQuery(bootstrapQuery()).data?.zone ?? "UTC";
  const at = version.spec.effectiveFrom ?? 0;
  const shown = useQuery({
    queryKey: ["wall", "text", zone === "local" ? own : zone, at],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await wallAt(client, at, zone === "local" ? own : zone)).slice(0, 16).replace("T", " "),
  });
  if (!shown.data) return null;
  return at > now ? (
    <Tag whole tone="queued">
      {t.takesEffect(shown.data)}
    </Tag>
  ) : (
    <Tag whole>{t.tookEffect(shown.data)}</Tag>
  );
}

/** What a version would run from now on, if it were in force; what the other would not run stands out. */
function Planned({ title, spec, other }: { title: string; spec: JobSpec; other: JobSpec }) {
  const d = useWords(jobWords);
  const own = useQuery(previewQuery(spec));
  const theirs = useQuery(previewQuery(other));
  const known = new Set((theirs.data?.runs ?? []).map((run) => run.due.ms));
  return (
    <div className="min-w-0">
      <div className="eyebrow mb-1">{title}</div>
      {own.isPending && <Skeleton className="h-24 w-full" />}
      {own.data?.runs.length === 0 && <p className="text-ink-3">{d.form.previewManual}</p>}
      <ol>
        {(own.data?.runs ?? []).slice(0, 6).map((run) => (
          <li
            key={`${run.due.ms}-${run.planned}`}
            className={cx(
              "h-6 rounded-sm px-1.5 leading-6",
              theirs.data && !known.has(run.due.ms) && "bg-accent-soft font-medium text-accent-ink",
            )}
          >
            {run.due.text.replace(/:00$/, "")}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Side({ sign, text, tone }: { sign: string; text: string | null; tone: "ok" | "bad" }) {
  return (
    <span className="min-w-0 border-line border-b py-1.5">
      {text !== null && (
        <code
          className={cx(
            "inline-block max-w-full select-text break-words rounded-xs px-1.5 text-xs",
            tone === "ok" ? "bg-ok-soft text-ok" : "bg-bad-soft text-bad",
          )}
        >
          {sign} {text}
        </code>
      )}
    </span>
  );
}
