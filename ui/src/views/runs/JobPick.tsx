// Chooses the one job whose runs are shown, by typing a part of its name.
import { ListTodo } from "lucide-react";
import { Input } from "react-aria-components";
import { ChosenJob, JobBox } from "@/components";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { controlBox, controlRing } from "@/primitives/Field";
import { runsWords } from "./words";

export function JobPick({ job, onPick }: { job: string | null; onPick: (job: string | null) => void }) {
  const w = useWords(runsWords);
  if (job !== null)
    return <ChosenJob name={job} remove={w.anyJob} onRemove={() => onPick(null)} className="max-w-64 text-xs" />;
  return (
    <JobBox aria-label={w.jobFilter} onPick={onPick} className="w-44">
      {() => (
        <span className="relative block">
          <ListTodo size={14} className="pointer-events-none absolute top-1.75 left-2.5 text-ink-3" />
          <Input
            placeholder={w.jobFilter}
            spellCheck={false}
            className={cx(controlBox, controlRing, "h-7 pr-2 pl-8 text-xs")}
          />
        </span>
      )}
    </JobBox>
  );
}
