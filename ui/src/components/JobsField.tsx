// Several jobs, chosen by typing a part of a name. What is chosen stands above the box and can be taken away again.
//
//   <JobsField label="After these jobs" value={names} onChange={…} error={…} without={thisJob} />
import { useQuery } from "@tanstack/react-query";
import { ListTodo, X } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { ComboBox, Input, Label, ListBox, ListBoxItem, Popover, Text } from "react-aria-components";
import { findJobsQuery } from "@/api/jobs";
import { cx } from "@/lib/cx";
import { useSaid, useWords } from "@/lib/words";
import { controlBox, controlRing, FieldLabel, FieldNote } from "@/primitives/Field";
import { jobsFieldWords } from "./words";

interface JobsFieldProps {
  label: string;
  value: readonly string[];
  onChange: (names: string[]) => void;
  error?: string | null;
  required?: boolean;
  /** A job that cannot be among them. */
  without?: string | null;
  className?: string;
}

export function JobsField({ label, value, onChange, error, required, without, className }: JobsFieldProps) {
  const w = useWords(jobsFieldWords);
  const said = useSaid();
  const [typed, setTyped] = useState("");
  const wanted = useDeferredValue(typed.trim());
  const found = useQuery(findJobsQuery(wanted));
  const rows = (found.data?.rows ?? []).filter((row) => row.name !== without && !value.includes(row.name));
  return (
    <ComboBox
      items={rows}
      inputValue={typed}
      onInputChange={setTyped}
      selectedKey={null}
      onSelectionChange={(key) => {
        if (key === null) return;
        onChange([...value, String(key)]);
        setTyped("");
      }}
      menuTrigger="focus"
      allowsEmptyCollection
      isInvalid={Boolean(error)}
      className={cx("flex min-w-0 flex-col", className)}
    >
      <Label>
        <FieldLabel label={label} required={required} />
      </Label>
      {value.length > 0 && (
        <ul className="mb-1 flex flex-wrap gap-1">
          {value.map((name) => (
            <li
              key={name}
              className="flex h-7 min-w-0 max-w-full items-center gap-1.5 rounded-md bg-picked pr-1 pl-2 text-accent-ink"
            >
              <ListTodo size={14} className="shrink-0" />
              <span className="prose-nums min-w-0 truncate font-medium" title={name}>
                {name}
              </span>
              <button
                type="button"
                aria-label={w.remove(name)}
                onClick={() => onChange(value.filter((each) => each !== name))}
                className="flex size-5 shrink-0 items-center justify-center rounded-sm outline-none hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus"
              >
                <X size={13} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <Input
        placeholder={w.hint}
        spellCheck={false}
        autoComplete="off"
        className={cx(controlBox, controlRing, "h-8 px-2.5")}
        onKeyDown={(event) => {
          if (event.key === "Backspace" && typed === "" && value.length > 0) onChange(value.slice(0, -1));
        }}
      />
      <Text slot={error ? "errorMessage" : "description"}>
        <FieldNote error={error} />
      </Text>
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
