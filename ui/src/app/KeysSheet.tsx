// `?`: the keys that work at this moment, by group, as the register has them.
import { useLiveHotkeys } from "@/lib/hotkeys";
import { useWords } from "@/lib/words";
import { Dialog, Kbd } from "@/primitives";
import { shellWords } from "./words";

export function KeysSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const w = useWords(shellWords);
  const live = useLiveHotkeys();
  const groups = new Map<string, Map<string, string>>();
  for (const hotkey of live) {
    const name = hotkey.group === "" ? w.thisView : hotkey.group;
    const group = groups.get(name) ?? new Map<string, string>();
    group.set(hotkey.keys, hotkey.label);
    groups.set(name, group);
  }
  return (
    <Dialog open={open} onClose={onClose} title={w.keys} lead={w.keysLead} width={680}>
      <div className="columns-2 gap-8 pt-2">
        {[...groups].reverse().map(([name, keys]) => (
          <section key={name} className="mb-4 break-inside-avoid">
            <h3 className="eyebrow mb-1">{name}</h3>
            <dl>
              {[...keys].map(([key, label]) => (
                <div key={key} className="flex min-h-7 items-center justify-between gap-3 border-line border-b py-0.5">
                  <dt>{label}</dt>
                  <dd>
                    <Kbd keys={key} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
