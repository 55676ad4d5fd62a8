// Ctrl+K: go anywhere, find a job, do what can be done here. What can be done is read from the register of keys, so the
// palette never offers an action the view would refuse, and shows the key one may use next time.
import { Search } from "lucide-react";
import { type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import { Modal, ModalOverlay, Dialog as RacDialog } from "react-aria-components";
import { cx } from "@/lib/cx";
import { type Hotkey, useLiveHotkeys } from "@/lib/hotkeys";
import { useWords } from "@/lib/words";
import { Kbd } from "@/primitives";
import { score } from "./rank";
import { shellWords } from "./words";

export interface PaletteItem {
  id: string;
  group: string;
  label: string;
  detail?: string | undefined;
  icon?: ReactNode;
  kbd?: string;
  run: () => void;
}

interface PaletteProps {
  onClose: () => void;
  views: readonly PaletteItem[];
  /** Found by the node for what is typed. */
  found: readonly PaletteItem[];
  query: string;
  onQuery: (query: string) => void;
}

const MOST = 40;

export function Palette({ onClose, views, found, query, onQuery }: PaletteProps) {
  const w = useWords(shellWords);
  const hotkeys = useLiveHotkeys();
  const list = useRef<HTMLDivElement>(null);
  const base = useId();
  const [at, setAt] = useState(0);

  const items = useMemo(() => {
    const actions = hotkeys
      .filter((hotkey) => hotkey.palette && hotkey.group !== w.goGroup)
      .map((hotkey) => asItem(hotkey, w.paletteActions));
    return [...views, ...actions, ...found]
      .map((item) => ({ item, score: query === "" ? 1 : score(query, item.label) }))
      .filter((each) => each.score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, MOST)
      .map((each) => each.item);
  }, [hotkeys, views, found, query, w]);

  // Grouped as they are shown, the group of the best match first.
  const groups = useMemo(() => {
    const byName = new Map<string, PaletteItem[]>();
    for (const item of items) {
      const group = byName.get(item.group);
      if (group) group.push(item);
      else byName.set(item.group, [item]);
    }
    return [...byName];
  }, [items]);
  const flat = groups.flatMap(([, group]) => group);
  const chosen = flat[Math.min(at, flat.length - 1)];

  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  });

  const choose = (item: PaletteItem | undefined) => {
    if (!item) return;
    onClose();
    // After the palette is gone: the action may look at what has the focus.
    requestAnimationFrame(() => item.run());
  };

  return (
    <ModalOverlay
      isOpen
      onOpenChange={(open) => !open && onClose()}
      isDismissable
      className="enter-veil fixed inset-0 z-50 flex items-start justify-center bg-veil px-6 pt-[12vh]"
    >
      <Modal className="enter-sheet w-full max-w-150">
        <RacDialog
          aria-label={w.palette}
          data-overlay=""
          className="flex max-h-[64vh] flex-col overflow-hidden rounded-xl bg-surface shadow-sheet outline-none"
        >
          <div className="flex h-12 shrink-0 items-center gap-2.5 border-line border-b px-4">
            <Search size={17} className="text-ink-3" />
            <input
              // biome-ignore lint/a11y/noAutofocus: the palette is opened to type into it
              autoFocus
              role="combobox"
              aria-expanded="true"
              aria-controls={`${base}-list`}
              aria-activedescendant={chosen ? `${base}-${chosen.id}` : undefined}
              aria-label={w.palette}
              placeholder={w.palette}
              value={query}
              spellCheck={false}
              onChange={(event) => {
                onQuery(event.target.value);
                setAt(0);
              }}
              onKeyDown={(event) => {
                if (event.nativeEvent.isComposing) return;
                const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
                if (by !== 0) {
                  event.preventDefault();
                  setAt((old) => (Math.min(old, flat.length - 1) + by + flat.length) % Math.max(1, flat.length));
                } else if (event.key === "Enter") {
                  event.preventDefault();
                  choose(chosen);
                }
              }}
              className="min-w-0 flex-1 bg-transparent text-md outline-none placeholder:text-ink-3"
            />
            <Kbd keys="Escape" />
          </div>
          <div
            ref={list}
            id={`${base}-list`}
            role="listbox"
            aria-label={w.palette}
            className="min-h-24 overflow-y-auto p-1.5"
          >
            {flat.length === 0 && <div className="px-3 py-6 text-center text-ink-3">{w.paletteEmpty}</div>}
            {groups.map(([group, members]) => (
              <div key={group} role="group" aria-label={group}>
                <div className="eyebrow px-2.5 pt-2 pb-1">{group}</div>
                {members.map((item) => (
                  <div
                    key={item.id}
                    id={`${base}-${item.id}`}
                    role="option"
                    aria-selected={item === chosen}
                    onPointerMove={() => setAt(flat.indexOf(item))}
                    onClick={() => choose(item)}
                    className={cx(
                      "flex h-8 items-center gap-2.5 rounded-md px-2.5 [&_svg]:size-4",
                      item === chosen ? "bg-picked" : "",
                    )}
                  >
                    <span className="flex w-4 justify-center text-ink-3">{item.icon}</span>
                    <span className="min-w-0 truncate" title={item.label}>
                      {item.label}
                    </span>
                    {item.detail && <span className="min-w-0 flex-1 truncate text-ink-3 text-xs">{item.detail}</span>}
                    {item.kbd && (
                      <span className="ml-auto">
                        <Kbd keys={item.kbd} />
                      </span>
                    )}
                  </div>
                ))}
              </div>
            ))}
          </div>
        </RacDialog>
      </Modal>
    </ModalOverlay>
  );
}

function asItem(hotkey: Hotkey, group: string): PaletteItem {
  return {
    id: `key-${hotkey.keys.replaceAll(" ", "-")}`,
    group,
    label: hotkey.label,
    kbd: hotkey.keys,
    run: () => hotkey.run(new KeyboardEvent("keydown")),
  };
}
