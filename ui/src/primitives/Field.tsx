// A label, a control, and one line beneath it that is always there: the hint, or in its place what is wrong. The line has
// its height from the start, so nothing jumps when an error comes or goes.
//
//   <TextField label="Name" value={name} onChange={setName} error={errors.name} hint="Unique" required />
//   <NumberField label="Priority" value={3} onChange={…} min={0} max={9} unit="s" />
//   <Field label="Anything" error={…}>{(ids) => <Custom {...ids} />}</Field>
import { ChevronDown, ChevronUp } from "lucide-react";
import { type ReactNode, useId } from "react";
import {
  Button,
  Group,
  Input,
  Label,
  NumberField as RacNumberField,
  TextField as RacTextField,
  Text,
  TextArea,
} from "react-aria-components";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { primitiveWords } from "./words";

export interface FieldBase {
  label: string;
  hint?: ReactNode;
  error?: string | null | undefined;
  required?: boolean;
  /** The label is only heard, not seen (a search box, a cell of a table). Takes the line beneath away, too. */
  bare?: boolean;
  className?: string;
}

export const controlBox =
  "prose-nums w-full rounded-md bg-surface text-ink ring-1 ring-inset ring-line-strong placeholder:text-ink-3 outline-none transition-shadow duration-100 hover:ring-ink-3/60 disabled:opacity-50";
export const controlRing = "focus:ring-2 focus:ring-focus data-[invalid]:ring-bad";

export function FieldLabel({ label, required }: { label: string; required?: boolean | undefined }) {
  const w = useWords(primitiveWords);
  return (
    <span
      // Drawn and not written: the field's name is its label alone; that it is required is said by `aria-required`.
      data-note={required ? w.required : undefined}
      className="mb-1 flex items-baseline gap-1.5 font-medium text-ink-2 text-xs data-[note]:after:font-normal data-[note]:after:text-ink-3 data-[note]:after:content-[attr(data-note)]"
    >
      {label}
    </span>
  );
}

export function FieldNote({ error, hint, id }: { error?: string | null | undefined; hint?: ReactNode; id?: string }) {
  return (
    <span id={id} className={cx("mt-0.5 block min-h-4.5 text-xs", error ? "text-bad" : "text-ink-3")}>
      {error ?? hint}
    </span>
  );
}

interface FieldProps extends FieldBase {
  children: (aria: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => ReactNode;
}

export function Field({ label, hint, error, required, bare, className, children }: FieldProps) {
  const id = useId();
  const note = `${id}-note`;
  return (
    <div className={cx("flex min-w-0 flex-col", className)}>
      <label htmlFor={id} className={bare ? "sr-only" : undefined}>
        <FieldLabel label={label} required={required} />
      </label>
      {children({ id, "aria-describedby": note, "aria-invalid": Boolean(error) })}
      {!bare && <FieldNote id={note} error={error} hint={hint} />}
    </div>
  );
}

interface TextFieldProps extends FieldBase {
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  /** More than one line. */
  rows?: number;
  code?: boolean;
  icon?: ReactNode;
  after?: ReactNode;
  autoFocus?: boolean;
  isDisabled?: boolean;
  onKeyDown?: (event: { key: string; preventDefault?: () => void }) => void;
  inputClassName?: string;
  name?: string;
  type?: string;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, error, required, bare, className, value, onChange, placeholder, rows, code, icon, after } =
    props;
  const shape = cx(
    controlBox,
    controlRing,
    code && "font-mono text-xs",
    rows ? "resize-y px-2.5 py-1.5 leading-5" : "h-8 px-2.5",
    Boolean(icon) && "pl-8",
    Boolean(after) && "pr-8",
    props.inputClassName,
  );
  return (
    <RacTextField
      value={value}
      onChange={onChange}
      isInvalid={Boolean(error)}
      isRequired={false}
      isDisabled={props.isDisabled ?? false}
      aria-required={required}
      {...(props.name ? { name: props.name } : {})}
      {...(props.type ? { type: props.type } : {})}
      {...(bare ? { "aria-label": label } : {})}
      autoFocus={props.autoFocus ?? false}
      className={cx("flex min-w-0 flex-col", className)}
      onKeyDown={(event) => {
        props.onKeyDown?.(event);
        // What a field does not use is still heard by dialogs and hotkeys.
        event.continuePropagation();
      }}
    >
      {!bare && (
        <Label>
          <FieldLabel label={label} required={required} />
        </Label>
      )}
      <span className="relative block">
        {icon && <span className="pointer-events-none absolute top-2 left-2.5 text-ink-3 [&_svg]:size-4">{icon}</span>}
        {rows ? (
          <TextArea rows={rows} placeholder={placeholder ?? ""} spellCheck={!code} className={shape} />
        ) : (
          <Input placeholder={placeholder ?? ""} spellCheck={false} autoComplete="off" className={shape} />
        )}
        {after && <span className="absolute top-1 right-1">{after}</span>}
      </span>
      {!bare && (
        <Text slot={error ? "errorMessage" : "description"}>
          <FieldNote error={error} hint={hint} />
        </Text>
      )}
    </RacTextField>
  );
}

interface NumberFieldProps extends FieldBase {
  value: number | null;
  onChange: (value: number | null) => void;
  min?: number;
  max?: number;
  step?: number;
  /** Shown inside, after the figure: 's', '%', '次'. */
  unit?: string;
  isDisabled?: boolean;
}

export function NumberField(props: NumberFieldProps) {
  const w = useWords(primitiveWords);
  const { label, hint, error, required, bare, className, value, onChange, min, max, step, unit } = props;
  return (
    <RacNumberField
      value={value ?? Number.NaN}
      onChange={(next) => onChange(Number.isNaN(next) ? null : next)}
      {...(min === undefined ? {} : { minValue: min })}
      {...(max === undefined ? {} : { maxValue: max })}
      {...(step === undefined ? {} : { step })}
      isInvalid={Boolean(error)}
      isDisabled={props.isDisabled ?? false}
      formatOptions={{ useGrouping: false, maximumFractionDigits: 3 }}
      {...(bare ? { "aria-label": label } : {})}
      className={cx("flex min-w-0 flex-col", className)}
    >
      {!bare && (
        <Label>
          <FieldLabel label={label} required={required} />
        </Label>
      )}
      <Group
        className={cx(
          controlBox,
          "flex h-8 items-stretch focus-within:ring-2 focus-within:ring-focus data-[invalid]:ring-bad",
        )}
      >
        <Input className="min-w-0 flex-1 bg-transparent pl-2.5 outline-none" />
        {unit && <span className="self-center pr-1 text-ink-3 text-xs">{unit}</span>}
        <span className="flex w-5 flex-col border-line border-l">
          <Button
            slot="increment"
            aria-label={w.increase}
            className="flex flex-1 items-center justify-center text-ink-3 hover:text-ink disabled:opacity-30"
          >
            <ChevronUp size={11} />
          </Button>
          <Button
            slot="decrement"
            aria-label={w.decrease}
            className="flex flex-1 items-center justify-center text-ink-3 hover:text-ink disabled:opacity-30"
          >
            <ChevronDown size={11} />
          </Button>
        </span>
      </Group>
      {!bare && (
        <Text slot={error ? "errorMessage" : "description"}>
          <FieldNote error={error} hint={hint} />
        </Text>
      )}
    </RacNumberField>
  );
}
