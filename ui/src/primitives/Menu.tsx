// A menu of actions, from a button or at the pointer (`at`: a right click). An item that cannot be chosen says why.
//
//   <Menu label="More" items={[{ id: "run", label: "Run now", kbd: "r", run }, "line", { …, danger: true, why: "…" }]}>
//     <IconButton … />
//   </Menu>
//   <ContextMenu at={{ x, y } | null} onClose={…} label="…" items={…} />
import { type ReactElement, type ReactNode, useRef } from "react";
import { MenuItem, MenuTrigger, Popover, Menu as RacMenu, Separator, Text } from "react-aria-components";
import { cx } from "@/lib/cx";
import { keyCaps } from "./Kbd";

export interface MenuAction {
  id: string;
  label: string;
  icon?: ReactNode;
  kbd?: string;
  danger?: boolean;
  /** Why it cannot be chosen now. */
  why?: string | null | undefined;
  run: () => void;
}

export type MenuEntry = MenuAction | "line";

function Entries({ label, items }: { label: string; items: readonly MenuEntry[] }) {
  return (
    <RacMenu aria-label={label} className="max-h-[70vh] min-w-44 overflow-y-auto p-1 outline-none">
      {items.map((item, i) =>
        item === "line" ? (
          <Separator key={`line-${i}`} className="mx-1 my-1 h-px border-0 bg-line" />
        ) : (
          <MenuItem
            key={item.id}
            id={item.id}
            textValue={item.label}
            isDisabled={Boolean(item.why)}
            onAction={item.run}
            className={cx(
              "flex min-h-7 items-center gap-2 rounded-sm px-2 py-1 text-sm outline-none data-[focused]:bg-hover [&_svg]:size-3.75 [&_svg]:shrink-0",
              item.danger ? "text-bad" : "text-ink",
              item.why && "opacity-60",
            )}
          >
            {item.icon && <span className="text-ink-3">{item.icon}</span>}
            <span className="min-w-0 flex-1">
              <Text slot="label" className="block">
                {item.label}
              </Text>
              {item.why && (
                <Text slot="description" className="block text-ink-3 text-xs">
                  {item.why}
                </Text>
              )}
            </span>
            {item.kbd && (
              // Drawn and not written: the item's name is its label alone.
              <span
                data-keys={keyCaps(item.kbd).join(" ")}
                className="shrink-0 rounded-xs border border-line bg-sunken px-1 text-2xs text-ink-3 leading-3.5 after:content-[attr(data-keys)]"
              />
            )}
          </MenuItem>
        ),
      )}
    </RacMenu>
  );
}

const sheet = "enter-pop rounded-lg bg-surface shadow-pop";

export function Menu({
  label,
  items,
  children,
}: {
  label: string;
  items: readonly MenuEntry[];
  children: ReactElement;
}) {
  return (
    <MenuTrigger>
      {children}
      <Popover offset={4} className={sheet} data-overlay="">
        <Entries label={label} items={items} />
      </Popover>
    </MenuTrigger>
  );
}

interface ContextMenuProps {
  at: { x: number; y: number } | null;
  onClose: () => void;
  label: string;
  items: readonly MenuEntry[];
}

export function ContextMenu({ at, onClose, label, items }: ContextMenuProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  if (!at) return null;
  return (
    <>
      <span ref={anchor} className="pointer-events-none fixed size-0" style={{ left: at.x, top: at.y }} />
      <MenuTrigger isOpen onOpenChange={(open) => !open && onClose()}>
        <Popover
          triggerRef={anchor}
          placement="bottom start"
          offset={2}
          className={sheet}
          data-overlay=""
          aria-label={label}
        >
          <Entries label={label} items={items} />
        </Popover>
      </MenuTrigger>
    </>
  );
}
