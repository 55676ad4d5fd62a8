// Rows, any number of them, moved through by keys.
//
//   <Table label="Jobs" rows={jobs} rowKey={(job) => job.id} columns={columns}
//          cursor={id} onCursor={setId} onOpen={open} selected={set} onSelect={setSet} onEnd={loadMore}
//          empty={<EmptyState …/>} loading={query.isPending} />
//
// A column: { id, head, width: 120 | "minmax(160px,2fr)", align?, cell: (row) => node, sort?, onSort? }. Only the rows on
// the screen are in the page. A click puts the cursor on a row, a double click opens it. While it is mounted j/k move the
// cursor, x selects, Shift+X selects up to the cursor, Enter opens; further one-letter actions are the view's own `useHotkey`s, reading the cursor it holds. Cells clip, and put the
// whole text in their title (use `Clip`). Keep `columns` the same between renders (useMemo) and their cells light (no
// button with a tooltip of its own): then only rows that changed are drawn again.
import { ArrowDown, ArrowUp } from "lucide-react";
import { type MouseEvent, memo, type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
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

export interface TableProps<Row> {
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
  const columns = useMemo(
    () => props.columns.filter((column) => column.atLeast === undefined || width === 0 || width >= column.atLeast),
    [props.columns, width],
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

  const act = useRef<Act>({ click: () => {}, open: () => {}, menu: undefined, toggle: () => {} });
  Object.assign(act.current, {
    click: (row: Row, index: number, event: MouseEvent) => {
      setCursor(rowKey(row));
      if (event.shiftKey) extend(index);
      else if (event.ctrlKey || event.metaKey) toggle(rowKey(row));
    },
    open: (row: Row) => onOpen?.(row),
    menu:
      onMenu &&
      ((row: Row, where: { x: number; y: number }) => {
        setCursor(rowKey(row));
        onMenu(row, where);
      }),
    toggle: (row: Row) => toggle(rowKey(row)),
  });

  const latestEnd = useRef(onEnd);
  latestEnd.current = onEnd;
  useEffect(() => {
    if (rows.length > 0 && slice.end >= rows.length) latestEnd.current?.();
  }, [slice.end, rows.length]);

  const template = `${selecting ? "34px " : ""}${columns.map((c) => (typeof c.width === "number" ? `${c.width}px` : c.width)).join(" ")}`;
  const everything = selecting && rows.length > 0 && selected.size >= rows.length;

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
            className={cx("eyebrow flex min-w-0 items-center px-2.5", alignment(column.align))}
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
          return (
            <Line
              key={key}
              id={`${base}-${index}`}
              row={row}
              index={index}
              columns={columns as readonly Column<unknown>[]}
              template={template}
              height={rowHeight}
              on={index === at}
              picked={selecting ? selected.has(key) : null}
              dim={dim?.(row) ?? false}
              act={act.current}
            />
          );
        })}
      </div>
    </div>
  );
}

function alignment(align: Column<unknown>["align"]) {
  return align === "right" ? "justify-end text-right" : align === "center" ? "justify-center" : "";
}

interface Act {
  click: (row: unknown, index: number, event: MouseEvent) => void;
  open: (row: unknown) => void;
  menu: ((row: unknown, at: { x: number; y: number }) => void) | undefined;
  toggle: (row: unknown) => void;
}

interface LineProps {
  id: string;
  row: unknown;
  index: number;
  columns: readonly Column<unknown>[];
  template: string;
  height: number;
  on: boolean;
  /** Null: rows are not selected here. */
  picked: boolean | null;
  dim: boolean;
  /** The same object for the life of the table, so that a row is drawn again only when it changed itself. */
  act: Act;
}

const INSIDE = "a,button,label,input";

const Line = memo(function Line({ id, row, index, columns, template, height, on, picked, dim, act }: LineProps) {
  const w = useWords(primitiveWords).list;
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={picked ?? on}
      data-cursor={on || undefined}
      onClick={(event) => {
        if (event.defaultPrevented || (event.target as HTMLElement).closest(INSIDE)) return;
        act.click(row, index, event);
      }}
      onDoubleClick={(event) => {
        if (!(event.target as HTMLElement).closest(INSIDE)) act.open(row);
      }}
      onContextMenu={(event) => {
        if (!act.menu) return;
        event.preventDefault();
        act.menu(row, { x: event.clientX, y: event.clientY });
      }}
      className={cx(
        "absolute inset-x-0 grid select-none border-line border-b",
        picked ? "bg-picked" : on ? "bg-hover" : "hover:bg-hover",
        on && "shadow-[inset_2px_0_0_0_var(--cursor,var(--accent-ink))]",
        dim && "text-ink-3",
      )}
      style={{ gridTemplateColumns: template, height, top: index * height }}
    >
      {picked !== null && (
        <div role="gridcell" className="flex items-center justify-center">
          {/* The browser's own: hundreds of these go by while one scrolls. */}
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={w.select}
            checked={picked}
            onChange={() => act.toggle(row)}
            className="tick"
          />
        </div>
      )}
      {columns.map((column) => (
        <div
          key={column.id}
          role="gridcell"
          className={cx("flex min-w-0 items-center overflow-hidden px-2.5 whitespace-nowrap", alignment(column.align))}
        >
          {column.cell(row)}
        </div>
      ))}
    </div>
  );
});
