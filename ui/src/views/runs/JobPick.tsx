// Chooses the one job whose runs are shown, by typing a part of its name.
import { useQuery } from "@tanstack/react-query";
import { ListTodo, X } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { ComboBox, Input, ListBox, ListBoxItem, Popover } from "react-aria-components";
import { findJobsQuery } from "@/api/jobs";
import { cx } from "@/lib/cx";
import { useSaid, useWords } from "@/lib/words";
import { controlBox, controlRing } from "@/primitives/Field";
import { runsWords } from "./words";

export function JobPick({ job, onPick }: { job: string | null; onPick: (job: string | null) => void }) {
  const w = useWords(runsWords);
  const said = useSaid();
  const [typed, setTyped] = useState("");
  const wanted = useDeferredValue(typed.trim());
  const found = useQuery({ ...findJobsQuery(wanted), enabled: job === null });

  if (job !== null)
    return (
      <span className="flex h-7 min-w-0 max-w-64 items-center gap-1.5 rounded-md bg-picked pr-1 pl-2.5 text-accent-ink text-xs">
        <ListTodo size={14} className="shrink-0" />
        <span className="truncate font-medium" title={job}>
          {job}
        </span>
        <button
          type="button"
          aria-label={w.anyJob}
          onClick={() => {
            setTyped("");
            onPick(null);
          }}
          className="flex size-5 shrink-0 items-center justify-center rounded-sm outline-none hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus"
        >
          <X size={13} />
        </button>
      </span>
    );
  return (
    <ComboBox
      aria-label={w.jobFilter}
      items={found.data?.rows ?? []}
      inputValue={typed}
      onInputChange={setTyped}
      selectedKey={null}
      onSelectionChange={(key) => {
        if (key !== null) onPick(String(key));
      }}
      menuTrigger="focus"
      allowsEmptyCollection
      className="w-44"
    >
      <span className="relative block">
        <ListTodo size={14} className="pointer-events-none absolute top-1.75 left-2.5 text-ink-3" />
        <Input
          placeholder={w.jobFilter}
          spellCheck={false}
          className={cx(controlBox, controlRing, "h-7 pr-2 pl-8 text-xs")}
        />
      </span>
      <Popover offset={4} className="enter-pop w-72 rounded-lg bg-surface shadow-pop" data-overlay="">
        <ListBox
          className="max-h-72 overflow-y-auto p-1 outline-none"
          renderEmptyState={() => <div className="px-3 py-3 text-center text-ink-3 text-xs">{w.noJob}</div>}
        >
          {(row: { name: string; words: { en: string; zh: string } }) => (
            <ListBoxItem
              key={row.name}
              id={row.name}
              textValue={row.name}
              className="flex min-w-0 flex-col rounded-sm px-2 py-1 outline-none data-[focused]:bg-hover"
            >
              <span className="truncate font-medium">{row.name}</span>
              <span className="truncate text-ink-3 text-xs">{said(row.words)}</span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
