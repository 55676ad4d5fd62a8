// The shards of a run with what can be done to them: what each state is and how many there are, marking, retrying and
// cancelling what is marked, zoom; as cells or as a table.
import { useQuery } from "@tanstack/react-query";
import {
  BoxSelect,
  Grid3x3,
  Hand,
  LassoSelect,
  Maximize,
  OctagonX,
  RotateCcw,
  Table2,
  X,
  ZoomIn,
  ZoomOut,
} from "lucide-react";
import { memo, useImperativeHandle, useRef, useState } from "react";
import { type CellCode, CODES, type ShardCells } from "@/api/shardCells";
import { shardCellsQuery, useCancelShards, useRetryShards } from "@/api/shards";
import type { InstanceRow, LevelColumns } from "@/api/types";
import { Answer, isTaskCode, stateWords } from "@/components";
import { cx } from "@/lib/cx";
import { figure, marks, useSaid, useWords } from "@/lib/words";
import { Ask, Button, EmptyState, Hint, IconButton, Segmented, Skeleton, toast } from "@/primitives";
import type { Point } from "./grid";
import { type CardHandle, HoverCard } from "./HoverCard";
import { type CanvasHandle, ShardCanvas, type Tool } from "./ShardCanvas";
import { CodeMark, ShardTable } from "./ShardTable";
import { useCells } from "./useCells";
import { shardsWords } from "./words";

/** The node refuses a selection of more pieces. */
const MOST_RANGES = 2_000;

const hasFailed = (code: CellCode) => code === 302 || code === 303 || code === 304 || code >= 400;
const isOpen = (code: CellCode) => code === 100 || code === 101 || code === 201 || code === 202 || code === 203;

export interface ShardPlace {
  level: number;
  shard: number;
}

interface ShardBoardProps {
  row: InstanceRow;
  levels: LevelColumns;
  chosen: ShardPlace | null;
  onChoose: (place: ShardPlace) => void;
  /** A further tool. */
  aside?: React.ReactNode;
}

export const ShardBoard = memo(function ShardBoard(props: ShardBoardProps) {
  const { row } = props;
  const w = useWords(shardsWords);
  const query = useQuery(shardCellsQuery(row.id));
  return (
    <section aria-label={w.group} className="panel flex h-full min-h-0 flex-col overflow-hidden">
      <Answer
        of={query}
        skeleton={
          <div className="grid flex-1 place-content-stretch p-3" aria-label={w.loading}>
            <Skeleton className="h-full" />
          </div>
        }
      >
        {(cells) => <Board {...props} cells={cells} />}
      </Answer>
    </section>
  );
});

function Board({ row, levels, cells, chosen, onChoose, aside }: ShardBoardProps & { cells: ShardCells }) {
  const w = useWords(shardsWords);
  const m = useWords(marks);
  const s = useWords(stateWords);
  const canvas = useRef<CanvasHandle>(null);
  const [tool, setTool] = useState<Tool>("rectangle");
  const hover = useRef<HoverHandle>(null);
  const [asTable, setAsTable] = useState(false);
  const empty = useCells(cells, (of) => of.size === 0);
  // A level that has just been cut is laid out before its first shard is told.
  if (levels.next === null && cells.lay(levels)) cells.tell();

  const toStart = levels.state.reduce(
    (sum, state, i) =>
      state === "waiting" && !levels.shards[i] ? { n: sum.n + 1, items: sum.items + (levels.items[i] ?? 0) } : sum,
    { n: 0, items: 0 },
  );
  const said = (cell: number) => {
    const of = cells.shardOf(cell);
    const code: number = CODES[cells.code[cell] ?? 0] ?? 0;
    if (!of) return "";
    const state = isTaskCode(code) ? `${code} ${s.task[code]}` : w.notMade;
    return w.name(of.level, of.shard) + m.colon + state + m.comma + w.items(cells.done[cell] ?? 0, of.items);
  };
  const chosenCell = chosen ? (cells.cellOf(chosen.level, chosen.shard) ?? null) : null;
  const over = row.finished !== null;

  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5 border-line border-b px-3 py-2">
        <Legend cells={cells} />
        <span className="ml-auto flex items-center gap-1">
          {!asTable && <Tools canvas={canvas} tool={tool} onTool={setTool} />}
          {aside}
          <IconButton
            size="sm"
            label={asTable ? w.asCells : w.asTable}
            icon={asTable ? <Grid3x3 /> : <Table2 />}
            onPress={() => setAsTable(!asTable)}
            data-testid="shards-as"
          />
        </span>
      </div>
      <div className="relative min-h-0 flex-1 p-2">
        {empty ? (
          <EmptyState title={over ? w.noneEver : w.none} hint={over ? undefined : w.noneHint} />
        ) : asTable ? (
          <ShardTable cells={cells} levels={levels} />
        ) : (
          <>
            <ShardCanvas
              ref={canvas}
              cells={cells}
              levels={levels}
              tool={tool}
              chosen={chosenCell}
              onChoose={(cell) => {
                const of = cells.shardOf(cell);
                if (of) onChoose({ level: of.level, shard: of.shard });
                hover.current?.look(null);
              }}
              onLook={(look) => hover.current?.look(look)}
              said={said}
            />
            <Hover ref={hover} instance={row.id} cells={cells} />
          </>
        )}
      </div>
      <Foot row={row} cells={cells} over={over} toStart={toStart} />
    </>
  );
}

interface HoverHandle {
  look: (look: { cell: number; at: Point } | null) => void;
}

/** By itself, so that a pointer that moves renders nothing else, and on one shard not even this. */
function Hover({ instance, cells, ref }: { instance: string; cells: ShardCells; ref: React.Ref<HoverHandle> }) {
  const [cell, setCell] = useState<number | null>(null);
  const at = useRef<Point>({ x: 0, y: 0 });
  const card = useRef<CardHandle>(null);
  useImperativeHandle(
    ref,
    () => ({
      look: (look) => {
        if (look) at.current = look.at;
        setCell(look?.cell ?? null);
        card.current?.place();
      },
    }),
    [],
  );
  return cell !== null && <HoverCard ref={card} instance={instance} cells={cells} cell={cell} at={at} />;
}

interface ToolsProps {
  canvas: React.RefObject<CanvasHandle | null>;
  tool: Tool;
  onTool: (tool: Tool) => void;
}

const Tools = memo(function Tools({ canvas, tool, onTool }: ToolsProps) {
  const w = useWords(shardsWords);
  return (
    <>
      <Segmented
        bare
        icons
        size="sm"
        label={w.tool}
        value={tool}
        onChange={onTool}
        options={[
          { value: "rectangle", label: w.tools.rectangle, icon: <BoxSelect /> },
          { value: "lasso", label: w.tools.lasso, icon: <LassoSelect /> },
          { value: "hand", label: w.tools.hand, icon: <Hand /> },
        ]}
      />
      <IconButton size="sm" label={w.zoomOut} kbd="-" icon={<ZoomOut />} onPress={() => canvas.current?.zoom(-1)} />
      <IconButton size="sm" label={w.zoomIn} kbd="+" icon={<ZoomIn />} onPress={() => canvas.current?.zoom(1)} />
      <IconButton size="sm" label={w.fit} kbd="0" icon={<Maximize />} onPress={() => canvas.current?.fit()} />
    </>
  );
});

/** Each state that there is, with its number; pressed, its shards are marked. */
const Legend = memo(function Legend({ cells }: { cells: ShardCells }) {
  const w = useWords(shardsWords);
  const s = useWords(stateWords);
  // Which there are, a bit for each.
  const there = useCells(cells, ({ counts }) => counts.reduce((bits, n, place) => bits | (n > 0 ? 1 << place : 0), 0));
  return (
    <div
      role="group"
      aria-label={w.legend}
      className="flex flex-wrap items-center gap-x-1 gap-y-0.5"
      data-testid="shard-legend"
    >
      {CODES.map((code, place) => {
        if ((there & (1 << place)) === 0) return null;
        const name = code === 0 ? w.notMade : `${code} ${s.task[code]}`;
        return (
          <Hint key={code} text={w.markThese(name)}>
            <Button
              variant="quiet"
              size="sm"
              onPress={() => {
                cells.unmarkAll();
                cells.markCodes((each) => each === code);
                cells.tellMarks();
              }}
              className="h-6! gap-1! px-1.5!"
            >
              <CodeMark code={code} />
              <span className="text-ink-2">{name}</span>
              <Count cells={cells} place={place} />
            </Button>
          </Hint>
        );
      })}
    </div>
  );
});

function Count({ cells, place }: { cells: ShardCells; place: number }) {
  const n = useCells(cells, ({ counts }) => counts[place] ?? 0);
  return (
    <span className="font-medium" data-testid="shard-count" data-code={CODES[place]} data-count={n}>
      {figure(n)}
    </span>
  );
}

interface FootProps {
  row: InstanceRow;
  cells: ShardCells;
  over: boolean;
  toStart: { n: number; items: number };
}

function Foot({ row, cells, over, toStart }: FootProps) {
  const w = useWords(shardsWords);
  const saidWords = useSaid();
  const retry = useRetryShards();
  const cancel = useCancelShards();
  const [asking, setAsking] = useState(false);
  const noneFailed = useCells(cells, ({ counts }) =>
    CODES.every((code, place) => !hasFailed(code) || counts[place] === 0),
  );
  const beyond = useCells(cells, (of) => of.beyond);
  const marked = useCells(cells, (of) => of.markedCount);
  // What can be done to them changes with them and with what becomes of them.
  useCells(cells, (of) => (of.markedCount === 0 ? 0 : of.said));
  const toRetry = marked > 0 ? cells.ranges(hasFailed) : { ranges: [], count: 0 };
  const toCancel = marked > 0 ? cells.ranges(isOpen) : { ranges: [], count: 0 };
  const why = (of: typeof toRetry, allowed: InstanceRow["can_retry"], none: string, wrongTime: string | null) => {
    if (marked === 0) return w.retryFirst;
    if (wrongTime) return wrongTime;
    if (!allowed.ok) return allowed.why ? saidWords(allowed.why) : "—";
    if (of.count === 0) return none;
    return of.ranges.length > MOST_RANGES ? w.tooMany : null;
  };
  const whyNotRetry = why(toRetry, row.can_retry, w.retryNone, over ? null : w.stillRuns);
  const whyNotCancel = why(toCancel, row.can_cancel, w.cancelNone, over ? w.hasEnded : null);
  const clear = () => {
    cells.unmarkAll();
    cells.tellMarks();
  };
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-x-2 gap-y-1 border-line border-t px-3 py-1.5 text-xs">
      <span className={cx("min-w-24", marked === 0 && "text-ink-3")} data-testid="shards-marked" data-count={marked}>
        {w.marked(marked)}
      </span>
      {marked > 0 ? (
        <IconButton size="sm" label={w.clear} kbd="Escape" icon={<X />} onPress={clear} />
      ) : (
        <Button
          size="sm"
          variant="quiet"
          why={noneFailed ? w.noFailed : null}
          onPress={() => {
            cells.markCodes(hasFailed);
            cells.tellMarks();
          }}
          data-testid="mark-failed"
        >
          {w.markFailed}
        </Button>
      )}
      <Button
        size="sm"
        icon={<RotateCcw />}
        why={whyNotRetry}
        isPending={retry.isPending}
        onPress={() =>
          retry.mutate(
            { instance: row.id, shards: toRetry.ranges },
            {
              onSuccess: () => {
                toast({ text: w.retried(toRetry.count) });
                clear();
              },
            },
          )
        }
        data-testid="retry-shards"
      >
        {w.retry(toRetry.count)}
      </Button>
      <Button
        size="sm"
        icon={<OctagonX />}
        why={whyNotCancel}
        onPress={() => setAsking(true)}
        data-testid="cancel-shards"
      >
        {w.cancel(toCancel.count)}
      </Button>
      <span className="ml-auto text-ink-3">
        {[toStart.n > 0 && !over ? w.waiting(toStart.n, toStart.items) : null, beyond > 0 ? w.beyond(beyond) : null]
          .filter((text) => text !== null)
          .join(" · ")}
      </span>
      <Ask
        open={asking}
        onClose={() => setAsking(false)}
        title={w.cancelTitle(toCancel.count)}
        lead={w.cancelLead}
        no={w.keep}
        yes={w.cancelYes}
        danger
        onYes={() =>
          cancel.mutate(
            { instance: row.id, shards: toCancel.ranges },
            {
              onSuccess: () => {
                toast({ text: w.cancelled(toCancel.count) });
                clear();
              },
            },
          )
        }
      />
    </div>
  );
}
