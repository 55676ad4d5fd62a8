// The same as the canvas, as a table: how many shards of each state there are in each level.
import { type CellCode, CODES, type ShardCells } from "@/api/shardCells";
import type { LevelColumns } from "@/api/types";
import { Glyph, stateWords, taskLook } from "@/components";
import { figure, useWords } from "@/lib/words";
import { useCells } from "./useCells";
import { shardsWords } from "./words";

interface ShardTableProps {
  cells: ShardCells;
  levels: LevelColumns;
}

export function ShardTable({ cells, levels }: ShardTableProps) {
  const w = useWords(shardsWords);
  const s = useWords(stateWords);
  useCells(cells, (of) => of.said);
  const rows = cells.table();
  const shown = CODES.map((code, place) => ({ code, place })).filter(({ place }) => (cells.counts[place] ?? 0) > 0);
  const state = (level: number) => levels.state[levels.level.indexOf(level)] ?? "waiting";
  const number = (n: number | undefined) => (n ? figure(n) : <span className="text-ink-3">·</span>);
  return (
    <div className="h-full overflow-auto" tabIndex={0} role="region" aria-label={w.legend}>
      <table className="w-full border-collapse text-xs" data-testid="shard-table">
        <thead className="sticky top-0 bg-surface text-left text-2xs text-ink-3">
          <tr>
            <th scope="col" className="px-2 py-1.5 font-medium">
              {w.table.level}
            </th>
            <th scope="col" className="px-2 py-1.5 font-medium">
              {w.table.state}
            </th>
            <th scope="col" className="px-2 py-1.5 text-right font-medium">
              {w.table.shards}
            </th>
            {shown.map(({ code }) => (
              <th key={code} scope="col" className="px-2 py-1.5 text-right font-medium">
                <span className="inline-flex items-center gap-1 whitespace-nowrap">
                  <CodeMark code={code} />
                  {code === 0 ? w.notMade : `${code} ${s.task[code]}`}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ level, counts }) => (
            <tr key={level} className="border-line border-t">
              <th scope="row" className="px-2 py-1 text-left font-normal">
                {w.level(level)}
              </th>
              <td className="px-2 py-1">{w.levelStates[state(level)]}</td>
              <td className="px-2 py-1 text-right">{number(counts.reduce((sum, each) => sum + each, 0))}</td>
              {shown.map(({ code, place }) => (
                <td key={code} className="px-2 py-1 text-right">
                  {number(counts[place])}
                </td>
              ))}
            </tr>
          ))}
          {rows.length > 1 && (
            <tr className="border-line-strong border-t font-medium">
              <th scope="row" colSpan={2} className="px-2 py-1 text-left font-medium">
                {w.table.total}
              </th>
              <td className="px-2 py-1 text-right">{figure(cells.size)}</td>
              {shown.map(({ code, place }) => (
                <td key={code} className="px-2 py-1 text-right">
                  {number(cells.counts[place])}
                </td>
              ))}
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

export function CodeMark({ code }: { code: CellCode }) {
  if (code === 0)
    return (
      <span aria-hidden="true" className="inline-block size-3 rounded-xs border border-line-strong border-dashed" />
    );
  return <Glyph shape={taskLook[code].shape} tone={taskLook[code].tone} size={14} />;
}
