// What a shard under the pointer is. What is known stands at once; who has it, which attempt it is and what it wrote last
// come when the pointer rests.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";
import { CODES, type ShardCells } from "@/api/shardCells";
import { shardQuery } from "@/api/shards";
import { isTaskCode, stateWords, TaskState } from "@/components";
import { useSaid, useWords } from "@/lib/words";
import { Facts } from "@/primitives";
import { runWords } from "../words";
import type { Point } from "./grid";
import { useCells } from "./useCells";
import { shardsWords } from "./words";

const REST_MS = 160;
const AWAY_PX = 14;

export interface CardHandle {
  /** Puts it where the pointer is now. */
  place: () => void;
}

interface HoverCardProps {
  instance: string;
  cells: ShardCells;
  cell: number;
  at: React.RefObject<Point>;
  ref: React.Ref<CardHandle>;
}

export function HoverCard({ instance, cells, cell, at, ref }: HoverCardProps) {
  const w = useWords(shardsWords);
  const r = useWords(runWords);
  const s = useWords(stateWords);
  const said = useSaid();
  const box = useRef<HTMLDivElement>(null);
  const shard = cells.shardOf(cell);
  const [rested, setRested] = useState<number | null>(null);
  useEffect(() => {
    const timer = window.setTimeout(() => setRested(cell), REST_MS);
    return () => window.clearTimeout(timer);
  }, [cell]);
  const code: number = useCells(cells, (of) => CODES[of.code[cell] ?? CODES.length - 1] ?? 0);
  const more = useQuery({
    ...shardQuery(instance, shard?.level ?? 0, shard?.shard ?? 0),
    enabled: rested === cell && code !== 0 && shard !== undefined,
  });
  const view = rested === cell ? more.data : undefined;

  // It stays inside the canvas, and off what it speaks of. Measured anew when there is more in it, not when it moves.
  const sizes = useRef({ wide: 0, high: 0, frameWide: 0, frameHigh: 0 });
  const place = () => {
    const card = box.current;
    if (!card) return;
    const { wide, high, frameWide, frameHigh } = sizes.current;
    const { x: left, y: top } = at.current;
    const x = left + AWAY_PX + wide > frameWide ? left - AWAY_PX - wide : left + AWAY_PX;
    const y = top + AWAY_PX + high > frameHigh ? top - AWAY_PX - high : top + AWAY_PX;
    card.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, Math.min(y, frameHigh - high - 4))}px)`;
  };
  useImperativeHandle(ref, () => ({ place }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: its size follows what is known
  useLayoutEffect(() => {
    const card = box.current;
    const frame = card?.parentElement;
    if (!card || !frame) return;
    sizes.current = {
      wide: card.offsetWidth,
      high: card.offsetHeight,
      frameWide: frame.clientWidth,
      frameHigh: frame.clientHeight,
    };
    place();
  }, [view, cell, code]);

  if (!shard) return null;
  const task = view?.task;
  const facts: [string, React.ReactNode][] = [];
  if (task) {
    facts.push(
      [r.executor, task.executor ? task.executor.name : r.noExecutor],
      [w.progress, w.items(task.part?.is === "shard" ? task.part.done : (cells.done[cell] ?? 0), shard.items)],
    );
  } else facts.push([w.progress, w.items(cells.done[cell] ?? 0, shard.items)]);
  return (
    <div
      ref={box}
      data-testid="shard-card"
      className="pointer-events-none absolute top-0 left-0 z-20 flex w-76 flex-col gap-1.5 rounded-lg bg-surface px-3 py-2.5 text-xs shadow-pop"
    >
      <div className="flex items-baseline justify-between gap-2">
        <span className="font-medium text-sm">{w.level(shard.level)}</span>
        <span className="text-ink-3">{w.shard(shard.shard, shard.of)}</span>
      </div>
      <div>
        {isTaskCode(code) ? (
          <>
            <span className="flex items-center justify-between gap-2">
              <TaskState code={code} />
              {task && <span className="text-2xs text-ink-3">{r.attempt(task.attempt, task.attempts_most)}</span>}
            </span>
            <span className="mt-0.5 block text-2xs text-ink-3">{s.taskMeaning[code]}</span>
          </>
        ) : (
          <>
            <span>{w.notMade}</span>
            <span className="block text-2xs text-ink-3">{w.notMadeMeaning}</span>
          </>
        )}
      </div>
      <Facts rows={facts} />
      {task?.failure && <p className="line-clamp-3 text-bad">{said(task.failure.message)}</p>}
      {view && (
        <pre className="max-h-24 overflow-hidden whitespace-pre-wrap break-all rounded-sm bg-sunken px-2 py-1 text-2xs text-ink-2">
          {view.tail.length === 0 ? w.noLines : view.tail.map((line) => line.text.slice(0, 200)).join("\n")}
        </pre>
      )}
    </div>
  );
}
