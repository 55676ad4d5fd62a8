// Searching the whole of a log, which may be longer than what a window holds: the node looks through it, so much at a
// time, and each find stands between its neighbours.
import { useMutation } from "@tanstack/react-query";
import { Search, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Refusal } from "@/api/door";
import { searchLog } from "@/api/logs";
import type { LogHit } from "@/api/types";
import { plainText } from "@/lib/ansi";
import { useHotkey } from "@/lib/hotkeys";
import { figure, useSaid, useWords } from "@/lib/words";
import { Button, IconButton, TextField } from "@/primitives";
import { runWords } from "./words";

interface LogSearchProps {
  task: string;
  attempt: number;
  onClose: () => void;
  /** Show the log from this place on. */
  onOpen: (hit: LogHit) => void;
}

export function LogSearch({ task, attempt, onClose, onOpen }: LogSearchProps) {
  const w = useWords(runWords).log;
  const said = useSaid();
  const [text, setText] = useState("");
  const [hits, setHits] = useState<readonly LogHit[] | null>(null);
  const [next, setNext] = useState<number | null>(null);
  const asked = useRef(0);
  const search = useMutation({
    mutationFn: (from: number | null) => searchLog(task, attempt, text, from),
    meta: { quiet: true },
  });
  useHotkey("Escape", w.closeSearch, onClose, { anywhere: true, palette: false });
  // Whoever closes it, or asks for something else, has cancelled what is under way: its answer is passed over.
  useEffect(
    () => () => {
      asked.current += 1;
    },
    [],
  );
  const look = (from: number | null) => {
    if (text === "") return;
    const mine = ++asked.current;
    if (from === null) setHits(null);
    search.mutate(from, {
      onSuccess: (answer) => {
        if (mine !== asked.current) return;
        setHits((before) => (from === null ? answer.hits : [...(before ?? []), ...answer.hits]));
        setNext(answer.next);
      },
    });
  };
  return (
    <div className="flex max-h-[55%] shrink-0 flex-col border-line border-b" data-testid="log-search">
      <div className="flex items-center gap-2 px-2 py-1.5">
        <TextField
          bare
          autoFocus
          className="w-72"
          label={w.searchAll}
          placeholder={w.searchAll}
          icon={<Search />}
          value={text}
          onChange={setText}
          onKeyDown={(event) => {
            if (event.key === "Enter") look(null);
          }}
          inputClassName="h-7 text-xs"
        />
        <Button size="sm" isPending={search.isPending} onPress={() => look(null)}>
          {search.isPending ? w.searching : w.search}
        </Button>
        <span className="text-ink-3 text-xs" role="status">
          {search.error instanceof Refusal
            ? said(search.error.said)
            : hits && w.found(figure(hits.length), next !== null)}
        </span>
        <IconButton size="sm" label={w.closeSearch} icon={<X />} className="ml-auto" onPress={onClose} />
      </div>
      {hits && hits.length > 0 && (
        <ul className="min-h-0 flex-1 divide-y divide-line overflow-y-auto border-line border-t bg-sunken">
          {hits.map((hit) => (
            <li key={hit.offset}>
              <button
                type="button"
                onClick={() => onOpen(hit)}
                className="block w-full px-3 py-1 text-left font-mono text-2xs leading-4 outline-none hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus"
              >
                {hit.before.map((line, i) => (
                  <span key={i} className="block truncate text-ink-3">
                    {line.time} {plainText(line.text)}
                  </span>
                ))}
                <span className="block truncate font-medium text-ink">
                  {hit.line.time} {plainText(hit.line.text)}
                </span>
                {hit.after.map((line, i) => (
                  <span key={i} className="block truncate text-ink-3">
                    {line.time} {plainText(line.text)}
                  </span>
                ))}
              </button>
            </li>
          ))}
          {next !== null && (
            <li className="px-3 py-1.5">
              <Button size="sm" isPending={search.isPending} onPress={() => look(next)}>
                {w.searchOn}
              </Button>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}
