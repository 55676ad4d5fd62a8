// One task: where it stands, who has it, what went wrong, and every step it made.
import { ArrowUp, Copy, MessageSquareWarning, OctagonX } from "lucide-react";
import type { HistoryRow, Part, TaskRow } from "@/api/types";
import { Glyph, isTaskCode, LaneName, stateWords, TaskState, taskLook, usePartName } from "@/components";
import { copyText } from "@/lib/clipboard";
import { cx } from "@/lib/cx";
import { useSaid, useWords } from "@/lib/words";
import { Facts, IconButton, Notice, toast } from "@/primitives";
import { shardsWords } from "./shards/words";
import { runWords } from "./words";

interface TaskCardProps {
  task: TaskRow;
  /** Its log is the one that is shown. */
  chosen: boolean;
  onChoose: (() => void) | null;
  number: number;
}

export function TaskCard({ task, chosen, onChoose, number }: TaskCardProps) {
  const w = useWords(runWords);
  return (
    <article
      data-testid="run-task"
      data-task={task.id}
      data-state={task.state}
      className={cx("panel overflow-hidden", chosen && onChoose && "border-accent-ink/60")}
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line border-b px-3 py-2">
        {onChoose ? (
          <button
            type="button"
            aria-pressed={chosen}
            onClick={onChoose}
            className="rounded-sm font-medium outline-none hover:text-accent-ink focus-visible:outline-2 focus-visible:outline-focus"
          >
            {w.task(number)}
          </button>
        ) : null}
        {task.part && <PartName of={task.part} />}
        <TaskState code={task.state} />
        <span className={cx("ml-auto text-xs", task.attempt > 1 ? "text-warn" : "text-ink-3")}>
          {w.attempt(Math.max(1, task.attempt), task.attempts_most)}
        </span>
      </header>
      <div className="flex flex-col gap-3 px-3 py-2.5">
        {task.stop && (
          <Notice tone="stopped" icon={<OctagonX />} title={w.stop.causes[task.stop.cause]}>
            {w.stop.stages[task.stop.stage]}
          </Notice>
        )}
        <Facts
          rows={[
            [
              w.executor,
              task.executor ? (
                <span key="executor">
                  {task.executor.group}/{task.executor.name}
                </span>
              ) : (
                w.noExecutor
              ),
            ],
            [
              w.lane,
              <span key="lane" className="inline-flex items-baseline gap-2">
                <LaneName lane={task.lane} />
                {task.promotions > 0 && <span className="text-warn text-xs">{w.promoted(task.promotions)}</span>}
              </span>,
            ],
            [w.key, <Key key="key" text={task.idempotency_key} />],
          ]}
        />
        <div>
          <div className="eyebrow mb-1">{w.history}</div>
          <History rows={task.history} />
        </div>
      </div>
    </article>
  );
}

function Key({ text }: { text: string }) {
  const w = useWords(runWords);
  return (
    <span className="flex items-center gap-1">
      <code className="min-w-0 break-all text-2xs">{text}</code>
      <IconButton
        size="sm"
        label={w.copyKey}
        icon={<Copy />}
        onPress={async () => toast((await copyText(text)) ? { text: w.copied } : { tone: "bad", text: w.notCopied })}
      />
    </span>
  );
}

function History({ rows }: { rows: readonly HistoryRow[] }) {
  const w = useWords(runWords);
  const s = useWords(stateWords);
  const said = useSaid();
  if (rows.length === 0) return <p className="text-ink-3 text-xs">{w.noHistory}</p>;
  return (
    <ol className="flex flex-col" data-testid="task-history">
      {rows.map((row, i) => {
        const known = isTaskCode(row.to) ? row.to : null;
        const look = known === null ? null : taskLook[known];
        // Nothing moved but its lane, or something was said that changed nothing.
        const stays = row.from === row.to;
        const anew = i > 0 && rows[i - 1]?.attempt !== row.attempt;
        return (
          <li
            key={`${row.at.ms}-${i}`}
            className={cx(
              "grid grid-cols-[88px_20px_1fr] gap-x-1.5",
              anew && "mt-1 border-line border-t border-dashed pt-1",
            )}
            title={w.node(row.node)}
          >
            <time className="prose-nums pt-0.5 text-2xs text-ink-3" title={`${row.at.text} ${row.at.offset}`}>
              {row.at.text.slice(11)}.{String(row.at.ms % 1000).padStart(3, "0")}
            </time>
            <span className="flex flex-col items-center">
              <span className="pt-0.5">
                {stays ? (
                  row.to === 101 ? (
                    <ArrowUp size={14} className="text-warn" />
                  ) : (
                    <MessageSquareWarning size={14} className="text-warn" />
                  )
                ) : (
                  look && <Glyph shape={look.shape} tone={look.tone} size={14} />
                )}
              </span>
              {i < rows.length - 1 && <span className="w-px flex-1 bg-line-strong" />}
            </span>
            <span className="min-w-0 pb-1.5">
              <span className="text-xs">
                <span className="text-ink-3">{stays ? row.to : `${row.from} → ${row.to}`}</span>{" "}
                <span className="font-medium">
                  {stays ? (row.to === 101 ? w.movedUp : w.remark) : known === null ? "" : s.task[known]}
                </span>
                {anew && <span className="ml-1.5 text-warn">{w.attemptShort(row.attempt)}</span>}
                {row.executor && <span className="ml-1.5 text-ink-3">{w.by(row.executor)}</span>}
              </span>
              {row.reason && <span className="block break-words text-2xs text-ink-2">{said(row.reason)}</span>}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** Which part of a run that is cut into shards. */
function PartName({ of: part }: { of: Part }) {
  const w = useWords(shardsWords);
  const name = usePartName();
  return (
    <span className="font-medium" data-testid="task-part">
      {name(part)}
      {part.is === "shard" && (
        <span className="ml-2 font-normal text-ink-3 text-xs">{w.items(part.done, part.items)}</span>
      )}
    </span>
  );
}
