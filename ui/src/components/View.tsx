// The frame of a view: a title line with its actions, filters under it where there are some, and the body, which scrolls
// by itself (`scroll`) or holds something that does (a table).
import type { ReactNode } from "react";
import { cx } from "@/lib/cx";

interface ViewProps {
  title: ReactNode;
  /** Is all well? In one line. */
  lead?: ReactNode;
  actions?: ReactNode;
  filters?: ReactNode;
  scroll?: boolean;
  children: ReactNode;
}

export function View({ title, lead, actions, filters, scroll = false, children }: ViewProps) {
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex min-h-14 shrink-0 flex-wrap items-center gap-x-4 gap-y-1 px-5 py-2.5">
        {/* What is said beside the title comes under it where there is no room. */}
        <div className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-3">
          <h1 className="prose-nums min-w-0 max-w-full font-semibold text-lg tracking-tight">{title}</h1>
          {lead && <div className="min-w-0 max-w-full truncate text-ink-2">{lead}</div>}
        </div>
        {actions && <div className="flex shrink-0 items-center gap-2">{actions}</div>}
      </header>
      {filters && <div className="flex min-h-10 shrink-0 flex-wrap items-center gap-2 px-5 pb-2.5">{filters}</div>}
      <div className={cx("min-h-0 flex-1", scroll && "overflow-y-auto px-5 pb-6")}>{children}</div>
    </div>
  );
}
