// The log of one task, growing while it runs; of an earlier attempt where that is chosen.
import { useQuery } from "@tanstack/react-query";
import { Download, FileSearch, History } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { sayRefusal } from "@/api/client";
import { saveLog } from "@/api/downloads";
import { logFromQuery, logQuery } from "@/api/logs";
import type { TaskRow } from "@/api/types";
import { RefusalNotice } from "@/components";
import { useNeedsNode } from "@/components/useNeedsNode";
import { useWords } from "@/lib/words";
import { Button, IconButton, LogView, Segmented, Select } from "@/primitives";
import { LogSearch } from "./LogSearch";
import { runWords } from "./words";

/** More attempts than this are in a list instead of beside one another. */
const FEW = 5;

export function LogPane({ task, jobName }: { task: TaskRow; jobName: string }) {
  const w = useWords(runWords);
  const [wanted, setWanted] = useState<number | null>(null);
  const [searching, setSearching] = useState(false);
  const why = useNeedsNode();
  const [from, setFrom] = useState<number | null>(null);
  const attempt = wanted ?? Math.max(1, task.attempt);
  const query = useQuery(logQuery(task.id, attempt, w.log.gap));
  const found = useQuery({ ...logFromQuery(task.id, attempt, from ?? 0), enabled: from !== null });
  const tail = from === null ? query.data : found.data;
  // That a task has ended closes its log, though nothing was written to it.
  const over = task.state >= 300;
  const { refetch } = query;
  useEffect(() => {
    if (over) void refetch();
  }, [over, refetch]);
  const lines = useMemo(() => (tail?.lines ?? []).map(({ time, ...line }) => ({ ...line, at: time })), [tail]);
  const attempts = useMemo(
    () => [...new Set([...(tail?.attempts ?? []), attempt])].sort((a, b) => a - b),
    [tail, attempt],
  );
  const choices = {
    bare: true as const,
    size: "sm" as const,
    label: w.attempts,
    value: String(attempt),
    onChange: (next: string) => {
      setFrom(null);
      setWanted(Number(next) === task.attempt ? null : Number(next));
    },
  };

  if (query.isError && !tail) return <RefusalNotice error={query.error} onAgain={() => void query.refetch()} />;
  return (
    <div data-testid="run-log" className="panel flex h-full min-h-0 flex-col overflow-hidden">
      {searching && (
        <LogSearch
          key={attempt}
          task={task.id}
          attempt={attempt}
          onClose={() => {
            setSearching(false);
            setFrom(null);
          }}
          onOpen={(hit) => setFrom(hit.offset)}
        />
      )}
      {from !== null && (
        <div className="flex items-center gap-2 border-line border-b bg-running-soft px-3 py-1 text-xs">
          <History className="size-3.5" />
          <span>{w.log.fromHere}</span>
          <Button size="sm" variant="quiet" className="ml-auto" onPress={() => setFrom(null)}>
            {w.log.backToEnd}
          </Button>
        </div>
      )}
      <LogView
        key={`${task.id}-${attempt}-${from ?? "live"}`}
        start={from !== null}
        lines={lines}
        live={from === null && !(tail?.closed ?? false)}
        empty={tail?.closed ? w.log.nothing : w.log.none}
        tools={
          <>
            {attempts.length > 1 &&
              (attempts.length <= FEW ? (
                <Segmented {...choices} options={attempts.map((n) => ({ value: String(n), label: String(n) }))} />
              ) : (
                <Select
                  {...choices}
                  className="w-28"
                  options={attempts.map((n) => ({ value: String(n), label: w.attemptShort(n) }))}
                />
              ))}
            <IconButton
              size="sm"
              label={w.log.searchAll}
              icon={<FileSearch />}
              why={why}
              onPress={() => setSearching(!searching)}
              data-testid="log-search-open"
            />
            <IconButton
              size="sm"
              label={w.log.download}
              icon={<Download />}
              why={why}
              onPress={() =>
                void saveLog({ task: task.id, attempt, name: `${jobName}-${task.id}-${attempt}.log` }).catch(sayRefusal)
              }
            />
          </>
        }
      />
    </div>
  );
}
