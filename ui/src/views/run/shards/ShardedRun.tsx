// A run that is cut into shards: how far it is, its phases, its shards, and beside them the one that is looked at.
import { useQuery } from "@tanstack/react-query";
import { Info, MousePointerClick, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { shardingQuery, shardQuery } from "@/api/shards";
import type { InstanceDetail, TaskRow } from "@/api/types";
import { Answer } from "@/components";
import { useWords } from "@/lib/words";
import { EmptyState, IconButton, SkeletonRows, Tabs } from "@/primitives";
import { LogPane } from "../LogPane";
import { TaskCard } from "../TaskCard";
import { PhaseLine } from "./PhaseLine";
import { ShardBoard, type ShardPlace } from "./ShardBoard";
import { shardsWords } from "./words";

export type Side = "shard" | "run";

interface ShardedRunProps {
  of: InstanceDetail;
  wide: boolean;
  /** What is said of the run as a whole. */
  about: React.ReactNode;
  /** What is shown beside the shards; null: they have all of the room. */
  side: Side | null;
  onSide: (side: Side | null) => void;
  actions?: React.ReactNode;
}

export function ShardedRun({ of: detail, wide, about, side: tab, onSide, actions }: ShardedRunProps) {
  const w = useWords(shardsWords);
  const { row } = detail;
  const sharding = useQuery(shardingQuery(row.id));
  const [chosen, setChosen] = useState<ShardPlace | null>(null);
  const below = useRef<HTMLDivElement>(null);
  // The board is not drawn anew each time that progress is told: what it is given stays the same.
  const choose = useCallback(
    (place: ShardPlace) => {
      setChosen(place);
      onSide("shard");
    },
    [onSide],
  );
  const aside = useMemo(
    () => (
      <IconButton
        size="sm"
        label={w.tabs.run}
        icon={<Info />}
        onPress={() => onSide(tab === "run" ? null : "run")}
        data-testid="about-run"
      />
    ),
    [w, tab, onSide],
  );
  // Where it stands below the shards it may be out of sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time that another one is chosen
  useEffect(() => {
    if (!wide && tab !== null) below.current?.scrollIntoView({ block: "nearest" });
  }, [wide, tab, chosen]);
  const tone =
    row.state === "succeeded"
      ? "ok"
      : row.state === "failed"
        ? "bad"
        : row.state === "running" || row.state === "waiting"
          ? "running"
          : "stopped";
  const side = tab !== null && (
    <div className="flex h-full min-h-0 flex-col gap-2">
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1">
          <Tabs
            label={w.chosen}
            value={tab}
            onChange={onSide}
            tabs={[
              { id: "shard", label: chosen ? w.name(chosen.level, chosen.shard) : w.tabs.shard },
              { id: "run", label: w.tabs.run },
            ]}
          />
        </span>
        <IconButton size="sm" label={w.closeSide} icon={<X />} onPress={() => onSide(null)} data-testid="close-side" />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto pr-0.5">
        {tab === "run" ? about : <Chosen instance={row.id} jobName={row.job_name} place={chosen} />}
      </div>
    </div>
  );
  return (
    <Answer of={sharding} skeleton={<SkeletonRows rows={8} />}>
      {(view) => (
        <>
          <PhaseLine run={row.id} sharding={view} startedAt={row.started?.ms ?? null} tone={tone} actions={actions} />
          <div
            className={
              wide && side
                ? "grid min-h-96 flex-1 grid-cols-[minmax(0,3fr)_minmax(340px,2fr)] grid-rows-[minmax(0,1fr)] gap-3"
                : "flex min-h-96 flex-1 flex-col gap-3"
            }
          >
            <div className={wide && side ? "min-h-0" : side ? "h-96 shrink-0" : "min-h-0 flex-1"}>
              <ShardBoard
                row={row}
                levels={view.levels}
                chosen={tab === "shard" ? chosen : null}
                onChoose={choose}
                aside={aside}
              />
            </div>
            {side && (
              <div ref={below} className={wide ? "min-h-0" : "min-h-96"}>
                {side}
              </div>
            )}
          </div>
        </>
      )}
    </Answer>
  );
}

function Chosen({ instance, jobName, place }: { instance: string; jobName: string; place: ShardPlace | null }) {
  const w = useWords(shardsWords);
  const query = useQuery({ ...shardQuery(instance, place?.level ?? 0, place?.shard ?? 0), enabled: place !== null });
  if (!place)
    return (
      <div className="panel h-full">
        <EmptyState icon={<MousePointerClick />} title={w.chosen} hint={w.chooseHint} />
      </div>
    );
  return (
    <Answer of={query} skeleton={<SkeletonRows rows={6} />}>
      {(view) => <ShardDetail task={view.task} jobName={jobName} />}
    </Answer>
  );
}

function ShardDetail({ task, jobName }: { task: TaskRow; jobName: string }) {
  return (
    <div className="flex min-h-full flex-col gap-3">
      <TaskCard task={task} number={1} chosen onChoose={null} />
      <div className="min-h-60 flex-1">
        <LogPane key={task.id} task={task} jobName={jobName} />
      </div>
    </div>
  );
}
