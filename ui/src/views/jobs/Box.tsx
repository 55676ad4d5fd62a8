// A titled part of a job's page.
import type { ReactNode } from "react";
import { cx } from "@/lib/cx";

export function Box({
  title,
  note,
  children,
  className,
}: {
  title: string;
  note?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={cx("panel min-w-0 px-4 pt-2.5 pb-3", className)}>
      <header className="mb-1.5 flex min-h-7 items-center gap-2">
        <h2 className="font-semibold">{title}</h2>
        {note}
      </header>
      {children}
    </section>
  );
}
