// A box in which one types a part of a job's name, and the jobs that have it, to choose from.
import { useQuery } from "@tanstack/react-query";
import { ListTodo, X } from "lucide-react";
import { type ReactNode, useDeferredValue, useState } from "react";
import { ComboBox, type ComboBoxProps, ListBox, ListBoxItem, Popover } from "react-aria-components";
import { findJobsQuery } from "@/api/jobs";
import { cx } from "@/lib/cx";
import { useSaid, useWords } from "@/lib/words";
import { jobsFieldWords } from "./words";

interface JobBoxProps extends Pick<ComboBoxProps<object>, "aria-label" | "isInvalid" | "className"> {
  /** Those that are not offered. */
  without?: (name: string) => boolean;
  onPick: (name: string) => void;
  /** What stands around the input, with what is typed in it. */
  children: (typed: string) => ReactNode;
}

export function JobBox({ without = () => false, onPick, children, ...rest }: JobBoxProps) {
  const w = useWords(jobsFieldWords);
  const said = useSaid();
  const [typed, setTyped] = useState("");
  const found = useQuery(findJobsQuery(useDeferredValue(typed.trim())));
  return (
    <ComboBox
      {...rest}
      items={(found.data?.rows ?? []).filter((row) => !without(row.name))}
      inputValue={typed}
      onInputChange={setTyped}
      selectedKey={null}
      onSelectionChange={(key) => {
        if (key === null) return;
        onPick(String(key));
        setTyped("");
      }}
      menuTrigger="focus"
      allowsEmptyCollection
    >
      {children(typed)}
      <Popover offset={4} className="enter-pop w-80 rounded-lg bg-surface shadow-pop" data-overlay="">
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

interface ChosenJobProps {
  name: string;
  /** What the button that takes it away is called. */
  remove: string;
  onRemove: () => void;
  className?: string;
}

export function ChosenJob({ name, remove, onRemove, className }: ChosenJobProps) {
  return (
    <span
      className={cx(
        "inline-flex h-7 min-w-0 items-center gap-1.5 rounded-md bg-picked pr-1 pl-2 text-accent-ink",
        className,
      )}
    >
      <ListTodo size={14} className="shrink-0" />
      <span className="prose-nums min-w-0 truncate font-medium" title={name}>
        {name}
      </span>
      <button
        type="button"
        aria-label={remove}
        onClick={onRemove}
        className="flex size-5 shrink-0 items-center justify-center rounded-sm outline-none hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus"
      >
        <X size={13} />
      </button>
    </span>
  );
}
