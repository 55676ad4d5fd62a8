// What one executor was given and what its tasks wrote, as one stream: the latest of it, growing.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { executorLogQuery } from "@/api/executors";
import type { ExecutorLogRow, ExecutorRow } from "@/api/types";
import { RefusalNotice, stateWords, usePartName } from "@/components";
import { useSaid, useWords } from "@/lib/words";
import { type LogLine, LogView } from "@/primitives";
import { executorWords } from "./words";

export function Log({ of: executor }: { of: ExecutorRow }) {
  const w = useWords(executorWords);
  const s = useWords(stateWords);
  const said = useSaid();
  const partName = usePartName();
  const query = useQuery(executorLogQuery(executor.group, executor.name));
  const rows = query.data?.rows;
  const lines = useMemo(() => {
    const ofRow = (row: ExecutorLogRow, seq: number): LogLine => {
      const name = row.part ? `${row.job_name} (${partName(row.part)})` : row.job_name;
      const of = row.attempt > 1 ? `${name} #${row.attempt}` : name;
      if (row.said.kind === "line") {
        const { stream, text } = row.said;
        return { seq, at: row.time, text: `${of} │ ${text}`, stream: stream === "stderr" ? "err" : "out" };
      }
      const { to, reason } = row.said;
      const why = reason ? `: ${said(reason)}` : "";
      return { seq, at: row.time, text: `${of} → ${to} ${s.task[to as keyof typeof s.task]}${why}`, stream: "note" };
    };
    return (rows ?? []).map(ofRow);
  }, [rows, s, said, partName]);

  if (query.isError && !query.data) return <RefusalNotice error={query.error} onAgain={() => void query.refetch()} />;
  return (
    <div data-testid="executor-log" className="flex min-h-0 flex-1 flex-col">
      <p className="px-4 py-2 text-ink-3 text-xs">{query.data?.is_cut ? w.logCut : w.logWhole}</p>
      <LogView lines={lines} live numbered={false} empty={w.logEmpty} className="min-h-0 flex-1" />
    </div>
  );
}
