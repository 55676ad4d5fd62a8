// Buttons. One of them on a screen is `primary`; the rest are quiet. A button that cannot work says why: give `why`, and
// it stays where it is, focusable, does nothing, and its tooltip holds the reason.
//
//   <Button variant="primary" kbd="ctrl+s" onPress={save}>Save</Button>
//   <Button why={job.cannotRun}>Run now</Button>
//   <IconButton label="Refresh" icon={<RefreshCw />} onPress={…} />
import type { ReactNode } from "react";
import { Button as RacButton, type ButtonProps as RacButtonProps } from "react-aria-components";
import { cx } from "@/lib/cx";
import { Kbd } from "./Kbd";
import { Hint } from "./Tooltip";

type Variant = "primary" | "plain" | "quiet" | "danger";

export interface ButtonProps extends Omit<RacButtonProps, "children" | "className" | "style"> {
  variant?: Variant;
  size?: "sm" | "md";
  icon?: ReactNode;
  /** Shown at the right of the label, as a reminder of the key that does the same. */
  kbd?: string;
  /** Why it cannot be pressed now. Absent: it can. */
  why?: string | null | undefined;
  /** Shown on hover when it can be pressed. */
  hint?: string;
  className?: string;
  children?: ReactNode;
}

const LOOK: Record<Variant, string> = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover font-medium",
  plain: "bg-surface text-ink ring-1 ring-inset ring-line-strong hover:bg-hover",
  quiet: "text-ink-2 hover:bg-hover hover:text-ink",
  danger: "bg-surface text-bad ring-1 ring-inset ring-line-strong hover:bg-bad-soft hover:ring-bad",
};

export const controlFocus =
  "outline-none focus-visible:outline-2 focus-visible:outline-focus focus-visible:outline-offset-1";

/**
 * Pressed, and not done yet: it stays where it is and keeps the focus. Said by ourselves, because the library announces it
 * by the button's own label, which is gone where the button goes with its dialog.
 */
const pending = (isPending: boolean) =>
  isPending ? { "aria-busy": true, "aria-disabled": true, "data-pending": "" } : {};

export function Button({
  variant = "plain",
  size = "md",
  icon,
  kbd,
  why,
  hint,
  className,
  children,
  onPress,
  isPending = false,
  ...rest
}: ButtonProps) {
  const blocked = why !== undefined && why !== null && why !== "";
  const button = (
    <RacButton
      {...rest}
      {...(onPress && !blocked && !isPending ? { onPress } : {})}
      aria-disabled={blocked || undefined}
      {...pending(isPending)}
      className={cx(
        "inline-flex shrink-0 select-none items-center justify-center gap-1.5 whitespace-nowrap rounded-md transition-colors duration-100",
        controlFocus,
        size === "sm" ? "h-7 px-2.5 text-xs" : "h-8 px-3 text-sm",
        LOOK[variant],
        "disabled:opacity-45 data-[pending]:opacity-60",
        blocked && "opacity-45",
        "[&_svg]:size-3.75 [&_svg]:shrink-0",
        className,
      )}
    >
      {icon}
      {children}
      {kbd && <Kbd keys={kbd} on={variant === "primary" ? "accent" : "surface"} />}
    </RacButton>
  );
  const text = blocked ? why : hint;
  return text ? <Hint text={text}>{button}</Hint> : button;
}

export interface IconButtonProps extends Omit<ButtonProps, "icon" | "children" | "kbd"> {
  label: string;
  icon: ReactNode;
  kbd?: string;
}

export function IconButton({
  label,
  icon,
  kbd,
  why,
  size = "md",
  variant = "quiet",
  className,
  onPress,
  isPending = false,
  ...rest
}: IconButtonProps) {
  const blocked = why !== undefined && why !== null && why !== "";
  return (
    <Hint text={blocked ? why : label} kbd={blocked ? undefined : kbd}>
      <RacButton
        {...rest}
        {...(onPress && !blocked && !isPending ? { onPress } : {})}
        aria-label={label}
        aria-disabled={blocked || undefined}
        {...pending(isPending)}
        className={cx(
          "inline-flex shrink-0 items-center justify-center rounded-md transition-colors duration-100",
          controlFocus,
          size === "sm" ? "size-6 [&_svg]:size-3.5" : "size-8 [&_svg]:size-4",
          LOOK[variant],
          "disabled:opacity-45 data-[pending]:opacity-60",
          blocked && "opacity-45",
          className,
        )}
      >
        {icon}
      </RacButton>
    </Hint>
  );
}
