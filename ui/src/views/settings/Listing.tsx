// A part of the settings that is a list of things with names: what there is, one line each, a way to add one, and what to
// do where there is none.
import type { UseQueryResult } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import type { ReactNode } from "react";
import { Answer } from "@/components";
import { Button, EmptyState, Section, SkeletonRows } from "@/primitives";

interface ListingProps<R> {
  title: string;
  note?: ReactNode;
  of: UseQueryResult<{ rows: R[] }>;
  keyOf: (row: R) => string;
  children: (row: R) => ReactNode;
  empty: { icon: ReactNode; title: string; hint: string };
  /** Absent while it is not known whether one may. */
  add: { label: string; why: string | null; run: () => void; testid?: string } | undefined;
}

export function Listing<R>(props: ListingProps<R>) {
  const { title, note, of, keyOf, children, empty, add } = props;
  return (
    <Section
      title={title}
      note={note}
      actions={
        add && (
          <Button size="sm" icon={<Plus />} why={add.why} onPress={add.run} data-testid={add.testid}>
            {add.label}
          </Button>
        )
      }
    >
      <Answer of={of} skeleton={<SkeletonRows rows={2} />}>
        {({ rows }) => (
          <div className="panel">
            {rows.length === 0 ? (
              <EmptyState {...empty} small />
            ) : (
              <ul className="divide-y divide-line">
                {rows.map((row) => (
                  <li key={keyOf(row)} data-name={keyOf(row)} className="px-4 py-2">
                    {children(row)}
                  </li>
                ))}
              </ul>
            )}
          </div>
        )}
      </Answer>
    </Section>
  );
}

interface LineProps {
  name: string;
  tags?: ReactNode;
  actions: ReactNode;
  /** What is known of it, in small. */
  children: ReactNode;
}

export function Line({ name, tags, actions, children }: LineProps) {
  return (
    <div className="flex items-center gap-3">
      <div className="min-w-0 flex-1">
        <div className="flex min-w-0 items-center gap-2">
          <span className="prose-nums truncate font-medium" title={name}>
            {name}
          </span>
          {tags}
        </div>
        <div className="flex flex-wrap gap-x-2 text-ink-3 text-xs">{children}</div>
      </div>
      {actions}
    </div>
  );
}
