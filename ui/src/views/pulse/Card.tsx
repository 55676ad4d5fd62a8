// A part of Pulse, and what stands in one where there is nothing.
import type { ReactNode } from "react";
import { cx } from "@/lib/cx";

interface CardProps {
  title: string;
  note?: ReactNode;
  action?: ReactNode;
  /** The rows inside bring their own padding. */
  flush?: boolean;
  className?: string;
  children: ReactNode;
}

export function Card({ title, note, action, flush = false, className, children }: CardProps) {
  return (
    <section className={cx("panel flex min-w-0 flex-col overflow-hidden", className)}>
      <header className="flex h-10 shrink-0 items-center gap-2 px-4">
        <h2 className="shrink-0 font-semibold">{title}</h2>
        {note && <span className="min-w-0 truncate text-ink-3 text-xs">{note}</span>}
        {action && <span className="ml-auto shrink-0">{action}</span>}
      </header>
      <div className={cx("min-h-0 flex-1", flush ? "pb-1.5" : "px-4 pb-4")}>{children}</div>
    </section>
  );
}

export function Nothing({ icon, children }: { icon?: ReactNode; children: string }) {
  return (
    <div className="flex h-full min-h-24 items-center justify-center gap-2 px-4 text-ink-3 [&_svg]:size-4">
      {icon}
      {children}
    </div>
  );
}
