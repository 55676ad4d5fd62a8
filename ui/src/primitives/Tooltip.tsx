// A sentence about what is under the pointer. `Hint` wraps something pressable; `Clip` is text that may be too long for
// its place: it ends in an ellipsis and carries the whole of it as its title.
import type { ReactElement, ReactNode } from "react";
import { Tooltip, TooltipTrigger } from "react-aria-components";
import { cx } from "@/lib/cx";
import { Kbd } from "./Kbd";

export function Hint({ text, kbd, children }: { text: ReactNode; kbd?: string | undefined; children: ReactElement }) {
  return (
    <TooltipTrigger delay={450} closeDelay={60}>
      {children}
      <Tooltip
        offset={6}
        className="enter-pop z-60 flex max-w-80 items-center gap-2 rounded-md bg-surface px-2.5 py-1.5 text-xs text-ink shadow-pop"
      >
        <span>{text}</span>
        {kbd && <Kbd keys={kbd} />}
      </Tooltip>
    </TooltipTrigger>
  );
}

export function Clip({ children, className, title }: { children: string; className?: string; title?: string }) {
  return (
    <span className={cx("prose-nums block min-w-0 truncate", className)} title={title ?? children}>
      {children}
    </span>
  );
}
