// Single runs that a person changed: left out, moved, or added. They are made beside a time in the list of next runs, and
// stand here until they are taken back.
import { CalendarX2, MoveRight, Plus, X } from "lucide-react";
import type { LapsedException, PreviewRow } from "@/api/types";
import { WallField } from "@/components/schedule";
import { useWords } from "@/lib/words";
import { Button, IconButton } from "@/primitives";
import type { Draft, ExceptionDraft, PartProps } from "./draft";
import { timeWords } from "./timeWords";

/** The same with one run left out, moved to where it was, or added; of two about one run the later counts. */
export function withException(draft: Draft, next: ExceptionDraft): ExceptionDraft[] {
  const same = (each: ExceptionDraft) =>
    each.change !== "added" && next.change !== "added" && each.planned === next.planned;
  const before = draft.exceptions.find(same);
  // It goes on being called by the time that was planned, wherever it has been moved to meanwhile.
  const named = before && before.change !== "added" && next.change !== "added" ? { ...next, wall: before.wall } : next;
  return [...draft.exceptions.filter((each) => !same(each)), named];
}

/** The same without those that the schedule no longer plans a time for. */
export function withoutLapsed(
  exceptions: readonly ExceptionDraft[],
  lapsed: readonly LapsedException[],
): ExceptionDraft[] {
  return exceptions.filter(
    (each) =>
      each.change === "added" ||
      !lapsed.some(({ exception }) => exception.change !== "added" && exception.planned === each.planned),
  );
}

/** The wall-clock time of a row of the preview, as the form writes it. */
export function wallOf(row: PreviewRow): string {
  const local = row.local.slice(0, 19);
  return local.endsWith(":00") ? local.slice(0, 16) : local;
}

const LOOKS = { skip: <CalendarX2 />, moveTo: <MoveRight />, added: <Plus /> };

export function Exceptions({ draft, set, error }: PartProps) {
  const t = useWords(timeWords).exceptions;
  const change = (i: number, next: ExceptionDraft) =>
    set((old) => ({ exceptions: old.exceptions.map((each, k) => (k === i ? next : each)) }));
  const drop = (i: number) => set((old) => ({ exceptions: old.exceptions.filter((_, k) => k !== i) }));
  const add = () =>
    set((old) => ({ exceptions: [...old.exceptions, { change: "added", at: old.repeat.start.slice(0, 16) }] }));
  return (
    <div role="group" aria-label={t.title} className="mb-2">
      <div className="flex min-h-8 items-center gap-2">
        <span className="font-medium text-ink-2 text-xs">{t.title}</span>
        <span className="min-w-0 flex-1 text-ink-3 text-xs">
          {draft.exceptions.length === 0 ? `${t.none} ` : ""}
          {t.hint}
        </span>
        <Button size="sm" icon={<Plus />} onPress={add}>
          {t.add}
        </Button>
      </div>
      {draft.exceptions.length > 0 && (
        <ul className="mt-1 rounded-md ring-1 ring-line ring-inset">
          {draft.exceptions.map((each, i) => (
            <li
              key={each.change === "added" ? `added-${i}` : `${each.change}-${each.planned}`}
              className="flex min-h-10 items-center gap-2 border-line border-b px-3 py-1 last:border-b-0 [&>svg]:size-3.75 [&>svg]:shrink-0 [&>svg]:text-ink-3"
            >
              {LOOKS[each.change]}
              {each.change !== "added" && (
                <span className={each.change === "skip" ? "text-ink-3 line-through" : "text-ink-2"}>
                  {each.wall.replace("T", " ")}
                </span>
              )}
              <span className="shrink-0 text-ink-2">{t.kinds[each.change]}</span>
              {each.change !== "skip" && (
                <WallField
                  bare
                  className="w-44"
                  label={t.at}
                  value={each.at}
                  onChange={(at) => change(i, { ...each, at })}
                  error={error(`exceptions.${i}`)}
                />
              )}
              <span className="min-w-0 flex-1 text-bad text-xs">{error(`exceptions.${i}`)}</span>
              <IconButton
                size="sm"
                label={each.change === "added" ? t.forget : t.remove}
                icon={<X />}
                onPress={() => drop(i)}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
