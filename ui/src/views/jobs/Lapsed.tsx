// What was changed by hand about single runs and would mean nothing any more, because the schedule no longer plans their
// times: told as one writes, and asked about before it is saved.
import { CalendarX2 } from "lucide-react";
import type { LapsedException } from "@/api/types";
import { useSaid, useWords } from "@/lib/words";
import { Ask, Button, Notice } from "@/primitives";
import { timeWords } from "./timeWords";

export function LapsedNotice({ of: lapsed, onDrop }: { of: readonly LapsedException[]; onDrop: () => void }) {
  const t = useWords(timeWords).lapsed;
  if (lapsed.length === 0) return null;
  return (
    <div className="mb-2" data-testid="lapsed">
      <Notice
        tone="warn"
        icon={<CalendarX2 />}
        title={t.title(lapsed.length)}
        actions={
          <Button size="sm" onPress={onDrop}>
            {t.drop}
          </Button>
        }
      >
        <Lapsed of={lapsed} />
      </Notice>
    </div>
  );
}

interface LapsedAskProps {
  /** None: there is nothing to ask. */
  of: readonly LapsedException[] | null;
  onClose: () => void;
  onSave: (lapsed: readonly LapsedException[]) => void;
}

export function LapsedAsk({ of: lapsed, onClose, onSave }: LapsedAskProps) {
  const t = useWords(timeWords).lapsed;
  return (
    <Ask
      open={lapsed !== null}
      onClose={onClose}
      title={t.ask}
      lead={t.lead}
      no={t.stay}
      yes={t.save}
      onYes={() => lapsed && onSave(lapsed)}
    >
      <Lapsed of={lapsed ?? []} />
    </Ask>
  );
}

/** In the node's words. */
function Lapsed({ of: lapsed }: { of: readonly LapsedException[] }) {
  const said = useSaid();
  return (
    <ul>
      {lapsed.map(({ words }) => (
        <li key={words.en}>{said(words)}</li>
      ))}
    </ul>
  );
}
