// One job: when it runs next and how the last runs went, what it does and by which rules, what did not fire and why, and
// every version it ever had, to compare and to restore.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Copy, FileDown, FileUp, MoreHorizontal, Pause, Pencil, Play, Trash2 } from "lucide-react";
import { jobQuery } from "@/api/jobs";
import type { JobDetail } from "@/api/types";
import { Answer, InstanceStateBadge, OutcomeStrip, stateWords, View } from "@/components";
import { askForData } from "@/components/data/asked";
import { dataWords } from "@/components/data/words";
import { useHotkey } from "@/lib/hotkeys";
import { figure, marks, useSaid, useWords } from "@/lib/words";
import { Button, Clip, CodeBlock, Facts, IconButton, Menu, SkeletonRows, Tabs, Tag } from "@/primitives";
import { Box } from "./Box";
import { outcomesOf } from "./outcomes";
import { RunsPreview } from "./RunsPreview";
import { jobRoute } from "./route";
import { timeWords } from "./timeWords";
import { useJobActions } from "./useJobActions";
import { Versions } from "./Versions";
import { jobWords } from "./words";

export function JobView() {
  const w = useWords(jobWords);
  const said = useSaid();
  const d = useWords(dataWords);
  const { job } = jobRoute.useParams();
  const { tab = "overview" } = jobRoute.useSearch();
  const navigate = useNavigate();
  const query = useQuery(jobQuery(job));
  const actions = useJobActions(() => void navigate({ to: "/jobs" }));
  const row = query.data?.row;

  const there = { enabled: row !== undefined };
  const toggle = () => row && (row.paused ? actions.resume([row.id]) : actions.pause([row.id]));
  const copy = () => row && void navigate({ to: "/jobs/new", search: { like: row.id } });
  useHotkey("r", w.run, () => row && actions.run([row.id]), there);
  useHotkey("p", row?.paused ? w.resume : w.pause, toggle, there);
  useHotkey("e", w.edit, () => row && actions.edit(row.id), there);
  useHotkey("d", w.remove, () => row && actions.remove([row.id]), there);

  return (
    <View
      title={
        <span className="flex items-baseline gap-2">
          <Link to="/jobs" className="font-normal text-ink-3 hover:text-ink">
            {w.title}
          </Link>
          <span className="font-normal text-ink-3">/</span>
          <span className="max-w-[40vw] truncate" title={row?.name}>
            {row?.name ?? ""}
          </span>
        </span>
      }
      lead={
        row && (
          <span className="inline-flex min-w-0 items-center gap-2">
            {row.paused && <Tag tone="warn">{w.paused}</Tag>}
            <Clip>{said(row.words)}</Clip>
          </span>
        )
      }
      actions={
        row && (
          <>
            <Button
              icon={<Play />}
              kbd="r"
              why={row.can_run.why && said(row.can_run.why)}
              onPress={() => actions.run([row.id])}
            >
              {w.run}
            </Button>
            <Button icon={row.paused ? <Play /> : <Pause />} onPress={toggle}>
              {row.paused ? w.resume : w.pause}
            </Button>
            <Button variant="primary" icon={<Pencil />} kbd="e" onPress={() => actions.edit(row.id)}>
              {w.edit}
            </Button>
            <Menu
              label={w.actions}
              items={[
                ...(query.data?.spec.mode === "sharding"
                  ? [
                      {
                        id: "data",
                        label: d.open,
                        icon: <FileUp />,
                        run: () => askForData({ handed: null, job: row.name }),
                      },
                    ]
                  : []),
                { id: "copy", label: w.duplicate, icon: <Copy />, run: copy },
                { id: "export", label: w.exportAll, icon: <FileDown />, run: () => actions.save([row.id], row.name) },
                "line",
                {
                  id: "remove",
                  label: w.remove,
                  icon: <Trash2 />,
                  kbd: "d",
                  danger: true,
                  run: () => actions.remove([row.id]),
                },
              ]}
            >
              <IconButton label={w.more} icon={<MoreHorizontal />} />
            </Menu>
          </>
        )
      }
    >
      <div className="flex h-full min-h-0 flex-col">
        <Tabs
          className="mx-5 shrink-0"
          label={row?.name ?? w.title}
          value={tab}
          onChange={(next) =>
            void navigate({
              to: "/jobs/$job",
              params: { job },
              search: next === "versions" ? { tab: next } : {},
              replace: true,
            })
          }
          tabs={[
            { id: "overview", label: w.detail.overview },
            { id: "versions", label: w.detail.versions, count: query.data?.versions.length },
          ]}
        />
        <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">
          <Answer of={query} skeleton={<SkeletonRows rows={8} />}>
            {(detail) => (tab === "versions" ? <Versions detail={detail} /> : <Overview detail={detail} />)}
          </Answer>
        </div>
      </div>
      {actions.question}
    </View>
  );
}

function Overview({ detail }: { detail: JobDetail }) {
  const w = useWords(jobWords);
  const d = w.detail;
  const m = useWords(marks);
  const f = w.form;
  const t = useWords(timeWords);
  const s = useWords(stateWords);
  const said = useSaid();
  const { row, spec, preview, omissions } = detail;
  const [retry, timeout, spread] = [spec.retry, spec.timeoutSeconds, spec.spreadSeconds];
  return (
    <div className="@container">
      <div className="grid grid-cols-2 items-start gap-3">
        <div className="col-span-2 flex flex-col gap-3 @3xl:col-span-1">
          <Box title={d.nextRuns}>
            {preview ? (
              <RunsPreview preview={preview} none={f.previewManual} most={10} />
            ) : (
              <p className="text-ink-3">{f.previewManual}</p>
            )}
          </Box>
          {omissions.length > 0 && (
            <Box title={d.omitted}>
              <ul>
                {omissions.map((each) => (
                  <li
                    key={`${each.from.ms}-${each.reason}`}
                    className="flex items-center gap-2.5 border-line border-b py-1.5 last:border-b-0"
                  >
                    <InstanceStateBadge state={each.missed ? "missed" : "skipped"} brief />
                    <Clip className="flex-1">{said(each.words)}</Clip>
                    <span className="shrink-0 text-ink-3 text-xs">
                      {figure(each.count)} × · {each.from.text.slice(5, 16)}
                    </span>
                  </li>
                ))}
              </ul>
            </Box>
          )}
        </div>
        <div className="col-span-2 flex flex-col gap-3 @3xl:col-span-1">
          <Box title={d.lastRuns}>
            {row.last.length === 0 ? (
              <p className="text-ink-3">{d.noLast}</p>
            ) : (
              <OutcomeStrip most={Math.min(40, row.last.length)} outcomes={outcomesOf(row)} />
            )}
          </Box>
          <Box
            title={d.what}
            note={<code className="text-ink-3 text-xs">{`${spec.executorGroup}/${spec.processor}`}</code>}
          >
            {spec.description && <p className="mb-2 text-ink-2">{spec.description}</p>}
            {Object.keys(spec.parameters).length === 0 ? (
              <p className="text-ink-3">
                {d.parameters}
                {m.colon}
                {d.noParameters}
              </p>
            ) : (
              <CodeBlock>
                {Object.entries(spec.parameters)
                  .map(([key, value]) => `${key}: ${asText(value)}`)
                  .join("\n")}
              </CodeBlock>
            )}
          </Box>
          <Box title={d.policies}>
            <Facts
              rows={[
                [f.priority, s.lane[spec.priority]],
                [t.overlap.label, t.overlap.kinds[spec.overlap]],
                [t.misfire.label, t.misfire.kinds[spec.misfire.policy]],
                [f.timeout, timeout ? d.seconds(timeout) + m.comma + f.overruns[spec.overrun] : d.none],
                [
                  f.retries,
                  retry.retries === 0
                    ? d.none
                    : d.retries(retry.retries, retry.baseSeconds, retry.multiplier, retry.maxSeconds),
                ],
                ...(spec.blackouts?.length
                  ? [
                      [
                        t.blackouts.title,
                        spec.blackouts
                          .map((each) => (typeof each === "string" ? each : t.blackouts.ownTitle))
                          .join(m.and),
                      ] as const,
                    ]
                  : []),
                [t.spread, spread ? d.seconds(spread) : d.none],
                [f.tenant, spec.tenant ?? d.none],
                [f.owner, spec.owner ?? d.none],
                [
                  f.tags,
                  row.tags.length === 0 ? (
                    d.none
                  ) : (
                    <span key="tags" className="flex flex-wrap gap-1">
                      {row.tags.map((tag) => (
                        <Tag key={tag}>{tag}</Tag>
                      ))}
                    </span>
                  ),
                ],
                [d.versions, d.version(row.version) + m.comma + detail.saved_at.text],
              ]}
            />
          </Box>
        </div>
      </div>
    </div>
  );
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
