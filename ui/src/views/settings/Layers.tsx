// The layers of a calendar and of those it stands on: which are looked at, and which one days are written into.
import { Eye, EyeOff, Plus } from "lucide-react";
import { useId, useState } from "react";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { Button, IconButton, TextField } from "@/primitives";
import { calendarsWords } from "./calendarWords";
import type { ShownLayer } from "./working";

interface LayersProps {
  layers: readonly ShownLayer[];
  chosen: string;
  hidden: ReadonlySet<string>;
  onChoose: (layer: string) => void;
  onHidden: (hidden: Set<string>) => void;
  onAdd: (layer: string) => void;
  readOnly: boolean;
}

export function Layers({ layers, chosen, hidden, onChoose, onHidden, onAdd, readOnly }: LayersProps) {
  const w = useWords(calendarsWords);
  const group = useId();
  const [adding, setAdding] = useState<string | null>(null);
  const flip = (key: string) => {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    onHidden(next);
  };
  return (
    <div>
      <p className="mb-1 text-ink-3 text-xs">{w.layersNote}</p>
      <ul className="rounded-md ring-1 ring-line ring-inset">
        {layers.map(({ calendar, name, days, own }) => {
          const key = `${calendar}/${name}`;
          return (
            <li key={key} className="flex min-h-9 items-center gap-2 border-line border-b px-2 last:border-b-0">
              <IconButton
                size="sm"
                label={w.layerShown(name)}
                aria-pressed={!hidden.has(key)}
                icon={hidden.has(key) ? <EyeOff /> : <Eye />}
                onPress={() => flip(key)}
              />
              {/* biome-ignore lint/a11y/noLabelWithoutControl: it labels the choice wherever there is one */}
              <label className={cx("flex min-w-0 flex-1 items-center gap-2", hidden.has(key) && "text-ink-3")}>
                {own && !readOnly && (
                  <input
                    type="radio"
                    name={group}
                    checked={name === chosen}
                    onChange={() => onChoose(name)}
                    className="accent-(--accent)"
                  />
                )}
                <span className="min-w-0 truncate font-medium" title={name}>
                  {name}
                </span>
                {!own && <span className="shrink-0 text-ink-3 text-xs">{w.ofBase(calendar)}</span>}
                <span className="ml-auto shrink-0 text-ink-3 text-xs">{w.nDays(days)}</span>
              </label>
            </li>
          );
        })}
      </ul>
      {!readOnly &&
        (adding === null ? (
          <Button size="sm" variant="quiet" icon={<Plus />} className="mt-1 -ml-2.5" onPress={() => setAdding("")}>
            {w.addLayer}
          </Button>
        ) : (
          <form
            className="mt-1 flex items-center gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              const name = adding.trim();
              if (name !== "") onAdd(name);
              setAdding(null);
            }}
          >
            <TextField
              bare
              autoFocus
              label={w.layerName}
              placeholder={w.layerName}
              value={adding}
              onChange={setAdding}
            />
            <Button size="sm" type="submit">
              {w.addLayer}
            </Button>
          </form>
        ))}
    </div>
  );
}
