// The small things. `Tag` a quiet label; `EmptyState` what to do where nothing is; `Skeleton` the place of what is coming;
// `Notice` a sentence that stays on the page; `Section` a titled part; `Stat` one figure with its name; `CodeBlock` text
// to be copied; `Facts` a list of names and values.
import { Copy, X } from "lucide-react";
import type { ReactNode } from "react";
import { copyText } from "@/lib/clipboard";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { IconButton } from "./Button";
import { toast } from "./Toast";
import { primitiveWords } from "./words";

export type Tone = "idle" | "queued" | "running" | "ok" | "warn" | "lost" | "bad" | "stopped";

export const toneText: Record<Tone, string> = {
  idle: "text-idle",
  queued: "text-queued",
  running: "text-running",
  ok: "text-ok",
  warn: "text-warn",
  lost: "text-lost",
  bad: "text-bad",
  stopped: "text-stopped",
};

export const toneSoft: Record<Tone, string> = {
  idle: "bg-idle-soft text-idle",
  queued: "bg-queued-soft text-queued",
  running: "bg-running-soft text-running",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  lost: "bg-lost-soft text-lost",
  bad: "bg-bad-soft text-bad",
  stopped: "bg-stopped-soft text-stopped",
};

export const toneVar: Record<Tone, string> = {
  idle: "var(--idle)",
  queued: "var(--queued)",
  running: "var(--running)",
  ok: "var(--ok)",
  warn: "var(--warn)",
  lost: "var(--lost)",
  bad: "var(--bad)",
  stopped: "var(--stopped)",
};

interface TagProps {
  children: string;
  tone?: Tone;
  /** It is never cut. */
  whole?: boolean;
  onRemove?: () => void;
}

export function Tag({ children, tone, whole = false, onRemove }: TagProps) {
  const w = useWords(primitiveWords);
  return (
    <span
      title={children}
      className={cx(
        "prose-nums inline-flex h-5 min-w-0 items-center gap-1 rounded-sm px-1.5 text-2xs",
        !whole && "max-w-40",
        tone ? toneSoft[tone] : "bg-sunken text-ink-2 ring-1 ring-line ring-inset",
      )}
    >
      <span className="truncate">{children}</span>
      {onRemove && (
        <button
          type="button"
          aria-label={`${w.remove} ${children}`}
          onClick={onRemove}
          className="-mr-0.5 hover:text-ink"
        >
          <X size={11} />
        </button>
      )}
    </span>
  );
}

interface EmptyStateProps {
  icon?: ReactNode;
  title: string;
  hint?: ReactNode;
  /** One part of a page among others: it takes no more room than it has to say. */
  small?: boolean;
  children?: ReactNode;
}

export function EmptyState({ icon, title, hint, small = false, children }: EmptyStateProps) {
  return (
    <div
      className={cx(
        "flex h-full flex-col items-center justify-center px-6 text-center",
        small ? "py-5" : "min-h-40 gap-1 py-8",
      )}
    >
      {icon && (
        <div className={cx("text-ink-3 [&_svg]:stroke-[1.4]", small ? "mb-1 [&_svg]:size-5" : "mb-2 [&_svg]:size-7")}>
          {icon}
        </div>
      )}
      <div className={cx("font-medium", !small && "text-md")}>{title}</div>
      {hint && <div className="max-w-104 text-balance text-ink-2">{hint}</div>}
      {children && <div className="mt-3 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  );
}

/** Shown only where nothing is known yet; what was known stays until the new comes. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <div
      aria-hidden="true"
      data-skeleton=""
      className={cx("breathing rounded-sm bg-line", className ?? "h-4 w-full")}
    />
  );
}

export function SkeletonRows({ rows = 6, height = 34 }: { rows?: number; height?: number }) {
  return (
    <div aria-hidden="true">
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} className="flex items-center gap-4 border-line border-b px-3" style={{ height }}>
          <Skeleton className="h-3 w-4" />
          <div className="flex-1">
            <div style={{ width: `${30 + ((i * 37) % 45)}%` }}>
              <Skeleton className="h-3 w-full" />
            </div>
          </div>
          <Skeleton className="h-3 w-20" />
          <Skeleton className="h-3 w-14" />
        </div>
      ))}
    </div>
  );
}

interface NoticeProps {
  tone: Tone;
  icon?: ReactNode;
  title?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}

export function Notice({ tone, icon, title, actions, children }: NoticeProps) {
  return (
    <div
      role={tone === "bad" ? "alert" : "status"}
      className={cx("flex flex-wrap items-start gap-x-2.5 gap-y-1.5 rounded-md px-3 py-2", toneSoft[tone])}
    >
      {icon && <span className="mt-0.5 shrink-0 [&_svg]:size-4">{icon}</span>}
      {/* Where there is no room beside them, what is said comes first and the actions under it. */}
      <div className={cx("flex-1", actions ? "min-w-[min(12rem,100%_-_26px)]" : "min-w-0")}>
        {title && <div className="font-medium">{title}</div>}
        {children && <div className="text-ink-2">{children}</div>}
      </div>
      {actions && <div className="ml-auto flex shrink-0 gap-2">{actions}</div>}
    </div>
  );
}

interface SectionProps {
  title: string;
  note?: ReactNode;
  actions?: ReactNode;
  className?: string;
  children: ReactNode;
}

export function Section({ title, note, actions, className, children }: SectionProps) {
  return (
    <section className={cx("min-w-0", className)}>
      <header className="mb-2 flex min-h-7 items-center gap-2">
        <h2 className="font-semibold text-sm">{title}</h2>
        {note && <span className="min-w-0 text-ink-3 text-xs">{note}</span>}
        {actions && <div className="ml-auto flex gap-1">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

export function Stat({ label, value, tone, note }: { label: string; value: ReactNode; tone?: Tone; note?: ReactNode }) {
  return (
    <div className="min-w-0">
      <div className="eyebrow truncate" title={label}>
        {label}
      </div>
      <div className={cx("mt-0.5 font-semibold text-xl tracking-tight", tone && toneText[tone])}>{value}</div>
      {note && <div className="text-ink-3 text-xs">{note}</div>}
    </div>
  );
}

export function Facts({ rows }: { rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[minmax(88px,max-content)_1fr] gap-x-4 gap-y-1">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 select-text break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function CodeBlock({
  children,
  className,
  tall = false,
}: {
  children: string;
  className?: string;
  tall?: boolean;
}) {
  const w = useWords(primitiveWords);
  return (
    <div className={cx("group relative", className)}>
      <pre
        className={cx(
          "select-text overflow-auto whitespace-pre-wrap break-words rounded-md bg-sunken px-3 py-2 text-xs leading-5 ring-1 ring-line ring-inset",
          !tall && "max-h-64",
        )}
      >
        {children}
      </pre>
      <span className="absolute top-1 right-1 opacity-0 focus-within:opacity-100 group-hover:opacity-100">
        <IconButton
          size="sm"
          label={w.copy}
          icon={<Copy />}
          onPress={async () =>
            toast((await copyText(children)) ? { text: w.copied } : { tone: "bad", text: w.notCopied })
          }
        />
      </span>
    </div>
  );
}
