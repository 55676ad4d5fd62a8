// A log: any number of lines, only those on the screen in the page; the colours of a terminal; follow and search.
//
//   <LogView lines={lines} live={!final} />   a line: { seq, text, stream?: "out" | "err" | "note", at?: "14:03:07.120" }
//
// It follows the end while one stands at the end, stops when one scrolls up, and says so. Ctrl+F or / searches.
// Lines do not wrap: they have one height, and long ones scroll sideways together.
import { ArrowDownToLine, ChevronDown, ChevronUp, Copy, Search } from "lucide-react";
import { memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { type Ink, parseAnsi, plainText } from "@/lib/ansi";
import { copyText } from "@/lib/clipboard";
import { cx } from "@/lib/cx";
import { useHotkey } from "@/lib/hotkeys";
import { useSlice } from "@/lib/window";
import { useWords } from "@/lib/words";
import { IconButton } from "./Button";
import { TextField } from "./Field";
import { toast } from "./Toast";
import { primitiveWords } from "./words";

export interface LogLine {
  seq: number;
  text: string;
  stream?: "out" | "err" | "note";
  at?: string;
}

const LINE = 20;
/** Text of one line that goes into the page; the whole of it stays in the file and in 'copy'. */
const LONGEST = 4_000;

function inkStyle(ink: Ink) {
  return {
    ...(ink.fg ? { color: ink.fg } : {}),
    ...(ink.bg ? { background: ink.bg } : {}),
    ...(ink.bold ? { fontWeight: 650 } : {}),
    ...(ink.dim ? { opacity: 0.7 } : {}),
    ...(ink.italic ? { fontStyle: "italic" } : {}),
    ...(ink.underline ? { textDecoration: "underline" } : {}),
  };
}

const Line = memo(function Line({
  line,
  digits,
  found,
  here,
}: {
  line: LogLine;
  /** Without them no numbers are shown. */
  digits: number | null;
  found: string;
  here: boolean;
}) {
  const runs = useMemo(() => parseAnsi(line.text.slice(0, LONGEST)), [line.text]);
  return (
    <div
      className={cx(
        "flex whitespace-pre pr-4 font-mono text-xs leading-5",
        here && "bg-picked",
        line.stream === "note" && "text-ink-3 italic",
      )}
      style={{ height: LINE }}
    >
      <span
        className={cx(
          "shrink-0 select-none border-r-2 text-right text-ink-3",
          line.stream === "err" ? "border-bad" : "border-transparent",
          digits !== null && "pr-2.5 pl-3",
        )}
        style={{ width: digits === null ? 2 : `calc(${digits}ch + 24px)` }}
      >
        {digits !== null && line.seq}
      </span>
      {line.at && <span className="shrink-0 select-none pr-3 pl-2 text-ink-3">{line.at}</span>}
      <span className={cx("pl-2", line.stream === "err" && "text-bad")}>
        {runs.map((run, i) => (
          <span key={i} style={inkStyle(run.ink)}>
            {found ? marked(run.text, found) : run.text}
          </span>
        ))}
        {line.text.length > LONGEST && <span className="text-ink-3"> …</span>}
      </span>
    </div>
  );
});

function marked(text: string, found: string): ReactNode {
  const parts: ReactNode[] = [];
  const low = text.toLowerCase();
  let from = 0;
  for (let i = low.indexOf(found); i >= 0; i = low.indexOf(found, from)) {
    parts.push(text.slice(from, i));
    parts.push(
      <mark key={i} className="rounded-xs bg-warn-soft text-ink ring-1 ring-warn">
        {text.slice(i, i + found.length)}
      </mark>,
    );
    from = i + found.length;
  }
  parts.push(text.slice(from));
  return parts;
}

interface LogViewProps {
  lines: readonly LogLine[];
  /** More is still coming. */
  live?: boolean;
  /** Begins at its first line instead of at its end. */
  start?: boolean;
  /** Shows each line's number; not where the lines are only the latest of many. */
  numbered?: boolean;
  empty?: string;
  tools?: ReactNode;
  className?: string;
}

export function LogView({
  lines,
  live = false,
  start = false,
  numbered = true,
  empty,
  tools,
  className,
}: LogViewProps) {
  const w = useWords(primitiveWords).log;
  const p = useWords(primitiveWords);
  const box = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLDivElement>(null);
  const [follow, setFollow] = useState(!start);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const { slice, reveal } = useSlice(box, lines.length, LINE);

  const needle = query.toLowerCase();
  const matches = useMemo(
    () =>
      needle === "" ? [] : lines.flatMap((line, i) => (plainText(line.text).toLowerCase().includes(needle) ? [i] : [])),
    [lines, needle],
  );

  // Every new line moves the view to the end while following; a line that only waits above does not move anything.
  const count = lines.length;
  useLayoutEffect(() => {
    if (follow && count > 0 && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, count]);
  // So does a change of its height, which would otherwise leave the end below the edge.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !follow) return;
    const watcher = new ResizeObserver(() => {
      element.scrollTop = element.scrollHeight;
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [follow]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let last = element.scrollTop;
    const onScroll = () => {
      const end = element.scrollHeight - element.clientHeight - element.scrollTop < LINE * 1.5;
      if (end) setFollow(true);
      else if (element.scrollTop < last) setFollow(false);
      last = element.scrollTop;
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => element.removeEventListener("scroll", onScroll);
  }, []);

  const jump = (by: number) => {
    if (matches.length === 0) return;
    const next = (at + by + matches.length) % matches.length;
    setAt(next);
    setFollow(false);
    reveal(matches[next] ?? 0, LINE * 3);
  };
  const focusSearch = () => search.current?.querySelector("input")?.focus();
  useHotkey("/", w.search, focusSearch, { palette: false });
  useHotkey("ctrl+f", w.search, focusSearch, { anywhere: true, palette: false });

  const digits = numbered ? String(lines.at(-1)?.seq ?? 1).length : null;
  const here = matches[at];
  return (
    <div className={cx("flex min-h-0 flex-col", className ?? "h-full")}>
      <div className="flex h-10 shrink-0 items-center gap-2 border-line border-b px-2">
        <div ref={search} className="w-56">
          <TextField
            bare
            label={w.search}
            placeholder={w.search}
            icon={<Search />}
            value={query}
            onChange={(next) => {
              setQuery(next);
              setAt(0);
            }}
            onKeyDown={(event) => event.key === "Enter" && jump(1)}
            inputClassName="h-7 text-xs"
          />
        </div>
        {query !== "" && (
          <>
            <span className="min-w-16 text-ink-3 text-xs">
              {w.matches(matches.length === 0 ? 0 : at + 1, matches.length)}
            </span>
            <IconButton size="sm" label={w.previous} icon={<ChevronUp />} onPress={() => jump(-1)} />
            <IconButton size="sm" label={w.next} icon={<ChevronDown />} onPress={() => jump(1)} />
          </>
        )}
        <span className="ml-auto text-ink-3 text-xs">{w.lines(lines.length)}</span>
        {tools}
        <IconButton
          size="sm"
          label={p.copy}
          icon={<Copy />}
          onPress={async () =>
            toast(
              (await copyText(lines.map((line) => plainText(line.text)).join("\n")))
                ? { text: p.copied }
                : { tone: "bad", text: p.notCopied },
            )
          }
        />
        <IconButton
          size="sm"
          variant={follow ? "plain" : "quiet"}
          label={follow && live ? w.following : w.toEnd}
          icon={<ArrowDownToLine />}
          onPress={() => {
            setFollow(true);
            if (box.current) box.current.scrollTop = box.current.scrollHeight;
          }}
        />
      </div>
      <div
        ref={box}
        role="log"
        aria-live="off"
        tabIndex={0}
        className="relative min-h-0 flex-1 select-text overflow-auto bg-sunken outline-none"
      >
        {lines.length === 0 && <div className="px-4 py-3 text-ink-3 text-xs">{empty ?? w.empty}</div>}
        <div className="relative min-w-full" style={{ height: lines.length * LINE }}>
          <div className="absolute left-0 min-w-full" style={{ top: slice.first * LINE }}>
            {lines.slice(slice.first, slice.end).map((line, i) => (
              <Line key={line.seq} line={line} digits={digits} found={needle} here={slice.first + i === here} />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}
