// Everything that is known of one executor, what needs a hand first.
import { Link } from "@tanstack/react-router";
import { Info } from "lucide-react";
import type { ExecutorRow } from "@/api/types";
import { DueIn, TaskState, usePartName } from "@/components";
import { span } from "@/lib/relative";
import { useLang, useSaid, useWords } from "@/lib/words";
import { Facts, Notice, Section, Tag } from "@/primitives";
import { Load } from "./Load";
import { executorWords } from "./words";

export function Detail({ of: row }: { of: ExecutorRow }) {
  const w = useWords(executorWords);
  const partName = usePartName();
  const said = useSaid();
  const lang = useLang();
  return (
    <div className="flex flex-col gap-5 p-4">
      {row.remarks.length > 0 && (
        <Notice tone={row.state === "silent" ? "bad" : row.drain ? "stopped" : "running"} icon={<Info />}>
          <ul>
            {row.remarks.map((remark) => (
              <li key={remark.en}>{said(remark)}</li>
            ))}
          </ul>
        </Notice>
      )}
      <Section
        title={w.runsNow}
        note={<Load running={row.running} inHand={row.in_hand} capacity={row.capacity} quiet />}
      >
        {row.runs.length === 0 ? (
          <p className="text-ink-3">{w.idle}</p>
        ) : (
          <ul className="panel divide-y divide-line">
            {row.runs.map((run) => (
              <li key={run.task}>
                <Link
                  to="/runs/$instance"
                  params={{ instance: run.instance }}
                  className="flex items-center gap-3 px-3 py-1.5 outline-none hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus"
                  title={w.openRuns}
                >
                  <span className="min-w-0 flex-1 truncate">
                    <span className="font-medium">{run.job_name}</span>
                    {run.part && <span className="ml-2 text-ink-3 text-xs">{partName(run.part)}</span>}
                  </span>
                  <code className="text-ink-3 text-xs">{run.processor}</code>
                  <TaskState code={run.state} />
                  {run.since && <DueIn at={run.since.ms} quiet />}
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title={w.machine}>
        {row.machine ? (
          <Facts
            rows={[
              [w.cpu, percent(row.machine.cpu_percent, w.unknown)],
              [w.memory, percent(row.machine.memory_percent, w.unknown)],
              [w.disk, row.machine.disk_queue === null ? w.unknown : row.machine.disk_queue.toFixed(1)],
              [w.cores, row.machine.cores === null ? w.unknown : String(row.machine.cores)],
            ]}
          />
        ) : (
          <p className="text-ink-3">{w.noReadings}</p>
        )}
      </Section>
      <Section title={w.about}>
        <Facts
          rows={[
            [w.group, row.group],
            [
              w.columns.processors,
              <span key="processors" className="flex flex-wrap gap-1">
                {row.processors.map((processor) => (
                  <span key={processor.name} title={said(processor.title)}>
                    <Tag>{processor.name}</Tag>
                  </span>
                ))}
              </span>,
            ],
            [
              w.labels,
              Object.keys(row.labels).length === 0 ? (
                <span key="labels" className="text-ink-3">
                  {w.noLabels}
                </span>
              ) : (
                <span key="labels" className="flex flex-wrap gap-1">
                  {Object.entries(row.labels).map(([name, value]) => (
                    <Tag key={name}>{`${name}=${value}`}</Tag>
                  ))}
                </span>
              ),
            ],
            [w.capacity, w.capacityOf(row.capacity, row.queue)],
            [
              w.suggested,
              row.suggested_capacity === null ? (
                <span key="suggested" className="text-ink-3">
                  {w.tooFew}
                </span>
              ) : (
                w.suggestedBy(row.suggested_capacity, row.mean_ms === null ? "—" : span(row.mean_ms, lang))
              ),
            ],
            [w.ended, w.endedOf(row.ended)],
            [w.secrets, row.takes_secrets ? w.takesSecrets : w.noSecrets],
            [
              w.disregarded,
              <span key="disregarded">
                {row.disregarded}
                {row.disregarded > 0 && <span className="text-ink-3"> · {w.disregardedNote}</span>}
              </span>,
            ],
            [w.version, row.version || w.unknown],
            [w.node, row.node],
            [w.since, <DueIn key="since" at={row.since.ms} text={row.since.text} />],
            row.gone
              ? [w.left, <DueIn key="gone" at={row.gone.ms} text={row.gone.text} />]
              : [w.heard, <DueIn key="heard" at={row.heard.ms} text={row.heard.text} />],
            [
              w.boot,
              <code key="boot" className="text-xs">
                {row.boot}
              </code>,
            ],
          ]}
        />
      </Section>
    </div>
  );
}

function percent(value: number | null, unknown: string): string {
  return value === null ? unknown : `${Math.round(value)} %`;
}
