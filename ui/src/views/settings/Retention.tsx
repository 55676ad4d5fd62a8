// How long what has ended is kept. Nothing is let go of by a slip: what is changed here holds once it is saved.
import { useState } from "react";
import { useSetSetting } from "@/api/node";
import { type Retention as Kept, retentionMost } from "@/api/types";
import { useWords } from "@/lib/words";
import { Button, NumberField, Section, toast } from "@/primitives";
import { retentionWords } from "./retentionWords";

const FIELDS = ["instanceDays", "instancesPerJob", "logDays", "logGigabytes", "alarmDays"] as const;

export function Retention({ kept }: { kept: Kept }) {
  const w = useWords(retentionWords);
  const save = useSetSetting();
  const [draft, setDraft] = useState<Partial<Record<keyof Kept, number | null>>>({});
  const next = { ...kept, ...draft };
  const changed = FIELDS.filter((name) => next[name] !== kept[name]);
  const whole = FIELDS.every((name) => next[name] !== null);
  const keep = () =>
    save.mutate(
      { key: "retention", value: next },
      {
        onSuccess: () => {
          setDraft({});
          toast({ text: w.saved });
        },
      },
    );
  return (
    <Section
      title={w.title}
      note={w.note}
      actions={
        changed.length > 0 && (
          <>
            <Button size="sm" variant="quiet" onPress={() => setDraft({})}>
              {w.discard}
            </Button>
            <Button
              size="sm"
              variant="primary"
              isPending={save.isPending}
              why={whole ? null : w.incomplete}
              onPress={keep}
              data-testid="retention-save"
            >
              {w.save}
            </Button>
          </>
        )
      }
    >
      <div className="panel divide-y divide-line" data-testid="retention">
        {FIELDS.map((name) => (
          <div key={name} className="flex min-h-12 items-center justify-between gap-4 px-4 py-2">
            <div className="min-w-0">
              <div>{w.fields[name].label}</div>
              <div className="text-ink-3 text-xs">{w.fields[name].hint}</div>
            </div>
            <NumberField
              bare
              className="w-36 shrink-0"
              label={w.fields[name].label}
              unit={w.fields[name].unit}
              min={1}
              max={retentionMost[name]}
              value={next[name]}
              onChange={(value) => setDraft({ ...draft, [name]: value })}
            />
          </div>
        ))}
      </div>
    </Section>
  );
}
