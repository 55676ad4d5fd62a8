// Rows, any number of them, moved through by keys.
//
//   <Table label="Jobs" rows={jobs} rowKey={(job) => job.id} columns={columns}
//          cursor={id} onCursor={setId} onOpen={open} selected={set} onSelect={setSet} onEnd={loadMore}
//          empty={<EmptyState …/>} loading={query.isPending} />
//
// A column: { id, head, width: 120 | "minmax(160px,2fr)", align?, cell: (row) => node, sort?, onSort? }. Only the rows on
// the screen are in the page. A click puts the cursor on a row, a double click opens it. While it is mounted j/k move the
// cursor, x selects, Shift+X selects up to the cursor, Enter opens; further one-letter actions are the view's own `useHotkey`s, reading the cursor it holds. Cells clip, and put the
// whole text in their title (use `Clip`).
import { ArrowDown, ArrowUp } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { cx } from "@/lib/cx";
import { useHotkey } from "@/lib/hotkeys";
import { useSlice } from "@/lib/window";
import { useWords } from "@/lib/words";
import { SkeletonRows } from "./Bits";
import { Check } from "./Choose";
import { primitiveWords } from "./words";

export interface Column<Row> {
  id: string;
  head: string;
  width: number | string;
  align?: "left" | "right" | "center";
  cell: (row: Row) => ReactNode;
  sorted?: "up" | "down" | undefined;
  onSort?: () => void;
  /** Left out where the table is narrower than this. */
  atLeast?: number;
}

interface TableProps<Row> {
  label: string;
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  columns: readonly Column<Row>[];
  rowHeight?: number;
  cursor?: string | null;
  onCursor?: (key: string | null) => void;
  onOpen?: (row: Row) => void;
  onMenu?: (row: Row, at: { x: number; y: number }) => void;
  selected?: ReadonlySet<string>;
  onSelect?: (keys: ReadonlySet<string>) => void;
  onEnd?: () => void;
  /** A row that needs to stand back (paused, resolved). */
  dim?: (row: Row) => boolean;
  loading?: boolean;
  empty?: ReactNode;
  className?: string;
}

const HEAD = 30;

export function Table<Row>(props: TableProps<Row>) {
  const w = useWords(primitiveWords).list;
  const { label, rows, rowKey, rowHeight = 34, selected, onSelect, onOpen, onMenu, onEnd, dim, className } = props;
  const box = useRef<HTMLDivElement>(null);
  const base = useId();
  const [own, setOwn] = useState<string | null>(null);
  const cursor = props.cursor === undefined ? own : props.cursor;
  const setCursor = props.onCursor ?? setOwn;
  const anchor = useRef<string | null>(null);
  const { slice, reveal, width } = useSlice(box, rows.length, rowHeight);
  const columns = props.columns.filter(
    (column) => column.atLeast === undefined || width === 0 || width >= column.atLeast,
  );
  const at = cursor === null ? -1 : rows.findIndex((row) => rowKey(row) === cursor);
  const keys = { group: w.group, enabled: rows.length > 0, palette: false };

  const go = (to: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, to));
    const row = rows[index];
    if (row === undefined) return;
    setCursor(rowKey(row));
    reveal(index, HEAD);
  };
  const toggle = (key: string) => {
    if (!onSelect || !selected) return;
    const next = new Set(selected);
    if (!next.delete(key)) next.add(key);
    anchor.current = key;
    onSelect(next);
  };
  const extend = (to: number) => {
    if (!onSelect || !selected) return;
    const from = rows.findIndex((row) => rowKey(row) === anchor.current);
    const [low, high] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
    onSelect(new Set([...selected, ...rows.slice(low, high + 1).map(rowKey)]));
  };
  const current = at < 0 ? undefined : rows[at];
  const selecting = onSelect !== undefined && selected !== undefined;

  useHotkey("j", w.next, () => go(at + 1), keys);
  useHotkey("k", w.previous, () => go(at < 0 ? 0 : at - 1), keys);
  useHotkey("x", w.select, () => current && toggle(rowKey(current)), { ...keys, enabled: keys.enabled && selecting });
  useHotkey("X", w.selectTo, () => at >= 0 && extend(at), { ...keys, enabled: keys.enabled && selecting });
  useHotkey("ctrl+a", w.selectAll, () => onSelect?.(new Set(rows.map(rowKey))), {
    ...keys,
    enabled: keys.enabled && selecting,
  });
  useHotkey("Enter", w.open, () => current && onOpen?.(current), {
    ...keys,
    enabled: keys.enabled && onOpen !== undefined,
  });

  const latestEnd = useRef(onEnd);
  latestEnd.current = onEnd;
  useEffect(() => {
    if (rows.length > 0 && slice.end >= rows.length) latestEnd.current?.();
  }, [slice.end, rows.length]);

  const template = `${selecting ? "34px " : ""}${columns.map((c) => (typeof c.width === "number" ? `${c.width}px` : c.width)).join(" ")}`;
  const everything = selecting && rows.length > 0 && selected.size >= rows.length;
  const align = (column: Column<Row>) =>
    column.align === "right" ? "justify-end text-right" : column.align === "center" ? "justify-center" : "";

  return (
    // The grid itself takes the keys and names the row the cursor is on; rows are not tab stops, so Tab leaves the list.
    <div
      ref={box}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-multiselectable={selecting || undefined}
      aria-busy={props.loading || undefined}
      aria-activedescendant={at >= 0 ? `${base}-${at}` : undefined}
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget) return;
        const page = Math.max(1, Math.floor((event.currentTarget.clientHeight - HEAD) / rowHeight) - 1);
        const to = {
          ArrowDown: at + 1,
          ArrowUp: at - 1,
          Home: 0,
          End: rows.length - 1,
          PageDown: at + page,
          PageUp: at - page,
        }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        go(to);
      }}
      className={cx(
        "relative min-h-0 overflow-auto outline-none focus-visible:[--cursor:var(--focus)]",
        className ?? "h-full",
      )}
    >
      <div
        role="row"
        aria-rowindex={1}
        className="sticky top-0 z-10 grid min-w-full border-line border-b bg-surface"
        style={{ gridTemplateColumns: template, height: HEAD }}
      >
        {selecting && (
          <div role="columnheader" className="flex items-center justify-center">
            <Check
              bare
              label={w.selectAll}
              value={everything}
              some={!everything && selected.size > 0}
              onChange={() => onSelect(everything ? new Set() : new Set(rows.map(rowKey)))}
            />
          </div>
        )}
        {columns.map((column) => (
          <div
            key={column.id}
            role="columnheader"
            aria-sort={column.sorted === "up" ? "ascending" : column.sorted === "down" ? "descending" : undefined}
            className={cx("eyebrow flex min-w-0 items-center px-2.5", align(column))}
          >
            {column.onSort ? (
              <button type="button" onClick={column.onSort} className="flex min-w-0 items-center gap-1 hover:text-ink">
                <span className="truncate">{column.head}</span>
                {column.sorted === "up" && <ArrowUp size={12} />}
                {column.sorted === "down" && <ArrowDown size={12} />}
              </button>
            ) : (
              <span className="truncate" title={column.head}>
                {column.head}
              </span>
            )}
          </div>
        ))}
      </div>
      {rows.length === 0 && props.loading && <SkeletonRows rows={8} height={rowHeight} />}
      {rows.length === 0 && !props.loading && (
        <div role="row" aria-rowindex={2} style={{ height: `calc(100% - ${HEAD}px)` }}>
          <div role="gridcell" className="h-full">
            {props.empty}
          </div>
        </div>
      )}
      <div role="presentation" className="relative min-w-full" style={{ height: rows.length * rowHeight }}>
        {rows.slice(slice.first, slice.end).map((row, i) => {
          const index = slice.first + i;
          const key = rowKey(row);
          const on = index === at;
          const picked = selected?.has(key) ?? false;
          return (
            <div
              key={key}
              id={`${base}-${index}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={selecting ? picked : on}
              data-cursor={on || undefined}
              onClick={(event) => {
                if (event.defaultPrevented || (event.target as HTMLElement).closest("a,button,label,input")) return;
                setCursor(key);
                if (event.shiftKey) extend(index);
                else if (event.ctrlKey || event.metaKey) toggle(key);
              }}
              onDoubleClick={(event) => {
                if ((event.target as HTMLElement).closest("a,button,label,input")) return;
                onOpen?.(row);
              }}
              onContextMenu={
                onMenu &&
                ((event) => {
                  event.preventDefault();
                  setCursor(key);
                  onMenu(row, { x: event.clientX, y: event.clientY });
                })
              }
              className={cx(
                "absolute inset-x-0 grid select-none border-line border-b",
                picked ? "bg-picked" : "hover:bg-hover",
                on && "bg-hover shadow-[inset_2px_0_0_0_var(--cursor,var(--accent-ink))]",
                on && picked && "bg-picked",
                dim?.(row) && "text-ink-3",
              )}
              style={{ gridTemplateColumns: template, height: rowHeight, top: index * rowHeight }}
            >
              {selecting && (
                <div role="gridcell" className="flex items-center justify-center">
                  <Check bare label={w.select} value={picked} onChange={() => toggle(key)} />
                </div>
              )}
              {columns.map((column) => (
                <div
                  key={column.id}
                  role="gridcell"
                  className={cx("flex min-w-0 items-center overflow-hidden px-2.5 whitespace-nowrap", align(column))}
                >
                  {column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
