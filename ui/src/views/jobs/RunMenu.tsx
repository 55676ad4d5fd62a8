// What can be done with one of the next runs: leave it out, move it, or let it be as planned again.
import { CalendarX2, MoreHorizontal, MoveRight, Undo2 } from "lucide-react";
import type { PreviewRow } from "@/api/types";
import { useWords } from "@/lib/words";
import { IconButton, Menu, type MenuEntry } from "@/primitives";
import type { Draft, SetDraft } from "./draft";
import { wallOf, withException } from "./Exceptions";
import { timeWords } from "./timeWords";

export function RunMenu({ row, draft, set }: { row: PreviewRow; draft: Draft; set: SetDraft }) {
  const t = useWords(timeWords).exceptions;
  const { planned } = row;
  const wall = wallOf(row);
  const known = draft.exceptions.some((each) => each.change !== "added" && each.planned === planned);
  const items: MenuEntry[] = [
    {
      id: "skip",
      label: t.skip,
      icon: <CalendarX2 />,
      run: () => set((old) => ({ exceptions: withException(old, { change: "skip", planned, wall }) })),
    },
    {
      id: "move",
      label: t.move,
      icon: <MoveRight />,
      run: () => set((old) => ({ exceptions: withException(old, { change: "moveTo", planned, wall, at: wall }) })),
    },
  ];
  if (known)
    items.push("line", {
      id: "back",
      label: t.remove,
      icon: <Undo2 />,
      run: () =>
        set((old) => ({
          exceptions: old.exceptions.filter((each) => each.change === "added" || each.planned !== planned),
        })),
    });
  return (
    <Menu label={t.change} items={items}>
      <IconButton size="sm" label={t.change} icon={<MoreHorizontal />} />
    </Menu>
  );
}
