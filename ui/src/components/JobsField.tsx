// Several jobs, chosen by typing a part of a name. What is chosen stands above the box and can be taken away again.
//
//   <JobsField label="After these jobs" value={names} onChange={…} error={…} without={thisJob} />
import { Input, Label, Text } from "react-aria-components";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { controlBox, controlRing, FieldLabel, FieldNote } from "@/primitives/Field";
import { ChosenJob, JobBox } from "./JobBox";
import { jobsFieldWords } from "./words";

interface JobsFieldProps {
  label: string;
  value: readonly string[];
  onChange: (names: string[]) => void;
  error?: string | null;
  required?: boolean;
  /** A job that cannot be among them. */
  without?: string | null;
  className?: string;
}

export function JobsField({ label, value, onChange, error, required, without, className }: JobsFieldProps) {
  const w = useWords(jobsFieldWords);
  return (
    <JobBox
      without={(name) => name === without || value.includes(name)}
      onPick={(name) => onChange([...value, name])}
      isInvalid={Boolean(error)}
      className={cx("flex min-w-0 flex-col", className)}
    >
      {(typed) => (
        <>
          <Label>
            <FieldLabel label={label} required={required} />
          </Label>
          {value.length > 0 && (
            <ul className="mb-1 flex flex-wrap gap-1">
              {value.map((name) => (
                <li key={name} className="min-w-0 max-w-full">
                  <ChosenJob
                    name={name}
                    remove={w.remove(name)}
                    onRemove={() => onChange(value.filter((each) => each !== name))}
                    className="max-w-full"
                  />
                </li>
              ))}
            </ul>
          )}
          <Input
            placeholder={w.hint}
            spellCheck={false}
            autoComplete="off"
            className={cx(controlBox, controlRing, "h-8 px-2.5")}
            onKeyDown={(event) => {
              if (event.key === "Backspace" && typed === "" && value.length > 0) onChange(value.slice(0, -1));
            }}
          />
          <Text slot={error ? "errorMessage" : "description"}>
            <FieldNote error={error} />
          </Text>
        </>
      )}
    </JobBox>
  );
}
