// Ways to choose. `Segmented` for two to six that should all be seen, `Select` for more, `Switch` for on and off,
// `Check` for one of many, `Tabs` for which part of a thing is shown, `Suggest` where anything may be typed and some answers
// are known.
//
//   <Segmented label="Theme" value={theme} onChange={setTheme} options={[{ value: "light", label: "Light" }, …]} />
//   <Select label="Zone" value={zone} onChange={…} options={[{ value, label, detail? }]} />
//   <Tabs label="…" value={tab} onChange={setTab} tabs={[{ id, label, count? }]} />   (the panel is the caller's)
import { Check as CheckMark, ChevronDown } from "lucide-react";
import type { ReactNode } from "react";
import {
  Button,
  ComboBox,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Checkbox as RacCheckbox,
  Select as RacSelect,
  Switch as RacSwitch,
  Radio,
  RadioGroup,
  SelectValue,
  Text,
} from "react-aria-components";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { controlFocus } from "./Button";
import { controlBox, controlRing, type FieldBase, FieldLabel, FieldNote } from "./Field";
import { primitiveWords } from "./words";

export interface Option<T extends string> {
  value: T;
  label: string;
  detail?: string;
  icon?: ReactNode;
}

interface ChooseProps<T extends string> extends FieldBase {
  value: T | null;
  onChange: (value: T) => void;
  options: readonly Option<T>[];
  isDisabled?: boolean;
}

export function Segmented<T extends string>(props: ChooseProps<T> & { size?: "sm" | "md"; icons?: boolean }) {
  const { label, hint, error, required, bare, className, value, onChange, options, size = "md" } = props;
  return (
    <RadioGroup
      value={value}
      onChange={(next) => onChange(next as T)}
      orientation="horizontal"
      isInvalid={Boolean(error)}
      isDisabled={props.isDisabled ?? false}
      {...(bare ? { "aria-label": label } : {})}
      className={cx("flex min-w-0 flex-col", className)}
    >
      {!bare && (
        <Label>
          <FieldLabel label={label} required={required} />
        </Label>
      )}
      <span className="inline-flex w-fit max-w-full flex-wrap gap-0.5 rounded-md bg-sunken p-0.5 ring-1 ring-line ring-inset">
        {options.map((option) => (
          <Radio
            key={option.value}
            value={option.value}
            {...(props.icons ? { "aria-label": option.label } : {})}
            className={({ isSelected, isFocusVisible }) =>
              cx(
                "flex items-center gap-1.5 whitespace-nowrap rounded-sm transition-colors duration-100 [&_svg]:size-3.5",
                props.icons ? "px-1.5" : "px-2.5",
                size === "sm" ? "h-5.5 text-xs" : "h-7 text-sm",
                isSelected
                  ? "bg-surface font-medium text-ink shadow-[0_0_0_1px_var(--line-strong)]"
                  : "text-ink-2 hover:bg-hover hover:text-ink",
                isFocusVisible && "outline-2 outline-focus",
              )
            }
          >
            {props.icons ? <span title={option.label}>{option.icon}</span> : option.icon}
            {!props.icons && option.label}
          </Radio>
        ))}
      </span>
      {!bare && (
        <Text slot={error ? "errorMessage" : "description"}>
          <FieldNote error={error} hint={hint} />
        </Text>
      )}
    </RadioGroup>
  );
}

export function Select<T extends string>(props: ChooseProps<T> & { placeholder?: string; size?: "sm" | "md" }) {
  const w = useWords(primitiveWords);
  const { label, hint, error, required, bare, className, value, onChange, options, size = "md" } = props;
  return (
    <RacSelect
      value={value}
      onChange={(next) => next !== null && onChange(next as T)}
      isInvalid={Boolean(error)}
      isDisabled={props.isDisabled ?? false}
      placeholder={props.placeholder ?? w.selectPlaceholder}
      {...(bare ? { "aria-label": label } : {})}
      className={cx("flex min-w-0 flex-col", className)}
    >
      {!bare && (
        <Label>
          <FieldLabel label={label} required={required} />
        </Label>
      )}
      <Button
        className={cx(
          controlBox,
          controlFocus,
          "flex items-center gap-2 px-2.5 text-left",
          size === "sm" ? "h-7 text-xs" : "h-8",
          error && "ring-bad",
        )}
      >
        <SelectValue className="min-w-0 flex-1 truncate data-[placeholder]:text-ink-3">
          {({ selectedText, defaultChildren }) => selectedText || defaultChildren}
        </SelectValue>
        <ChevronDown size={14} className="shrink-0 text-ink-3" />
      </Button>
      {!bare && (
        <Text slot={error ? "errorMessage" : "description"}>
          <FieldNote error={error} hint={hint} />
        </Text>
      )}
      <Popover
        offset={4}
        className="enter-pop min-w-(--trigger-width) rounded-lg bg-surface shadow-pop"
        data-overlay=""
      >
        <ListBox className="max-h-80 overflow-y-auto p-1 outline-none">
          {options.map((option) => (
            <ListBoxItem
              key={option.value}
              id={option.value}
              textValue={option.label}
              className="flex min-h-7 items-center gap-2 rounded-sm py-1 pr-2.5 pl-2 text-sm outline-none data-[focused]:bg-hover"
            >
              {({ isSelected }) => (
                <>
                  <CheckMark size={14} className={cx("shrink-0 text-accent-ink", !isSelected && "invisible")} />
                  {option.icon}
                  <span className="min-w-0">
                    <Text slot="label" className="block">
                      {option.label}
                    </Text>
                    {option.detail && (
                      <Text slot="description" className="block text-ink-3 text-xs">
                        {option.detail}
                      </Text>
                    )}
                  </span>
                </>
              )}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </RacSelect>
  );
}

interface SuggestProps extends FieldBase {
  value: string;
  onChange: (value: string) => void;
  options: readonly string[];
  placeholder?: string;
}

export function Suggest({
  label,
  hint,
  error,
  required,
  className,
  value,
  onChange,
  options,
  placeholder,
}: SuggestProps) {
  return (
    <ComboBox
      allowsCustomValue
      inputValue={value}
      onInputChange={onChange}
      menuTrigger="focus"
      isInvalid={Boolean(error)}
      className={cx("flex min-w-0 flex-col", className)}
    >
      <Label>
        <FieldLabel label={label} required={required} />
      </Label>
      <span className="relative block">
        <Input
          placeholder={placeholder ?? ""}
          spellCheck={false}
          autoComplete="off"
          aria-required={required}
          className={cx(controlBox, controlRing, "h-8 pr-8 pl-2.5")}
        />
        <Button className="absolute top-0 right-0 flex h-8 w-8 items-center justify-center text-ink-3 hover:text-ink">
          <ChevronDown size={14} />
        </Button>
      </span>
      <Text slot={error ? "errorMessage" : "description"}>
        <FieldNote error={error} hint={hint} />
      </Text>
      <Popover
        offset={4}
        className="enter-pop min-w-(--trigger-width) rounded-lg bg-surface shadow-pop"
        data-overlay=""
      >
        <ListBox className="max-h-80 overflow-y-auto p-1 outline-none">
          {options.map((option) => (
            <ListBoxItem
              key={option}
              id={option}
              textValue={option}
              className="flex min-h-7 items-center rounded-sm px-2.5 py-1 text-sm outline-none data-[focused]:bg-hover"
            >
              {option}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

interface SwitchProps {
  label: string;
  value: boolean;
  onChange: (value: boolean) => void;
  hint?: ReactNode;
  bare?: boolean;
  isDisabled?: boolean;
}

export function Switch({ label, value, onChange, hint, bare, isDisabled = false }: SwitchProps) {
  return (
    <RacSwitch
      isSelected={value}
      onChange={onChange}
      isDisabled={isDisabled}
      aria-label={label}
      className="group inline-flex items-start gap-2.5 text-sm"
    >
      <span className="mt-0.5 flex h-4 w-7 shrink-0 items-center rounded-full bg-line-strong p-0.5 transition-colors duration-100 group-data-[disabled]:opacity-50 group-data-[selected]:bg-accent group-data-[focus-visible]:outline-2 group-data-[focus-visible]:outline-focus group-data-[focus-visible]:outline-offset-1">
        <span className="size-3 rounded-full bg-white transition-transform duration-100 group-data-[selected]:translate-x-3" />
      </span>
      {!bare && (
        <span>
          {label}
          {hint && <span className="block text-ink-3 text-xs">{hint}</span>}
        </span>
      )}
    </RacSwitch>
  );
}

interface CheckProps {
  label: string;
  value: boolean;
  onChange: (value: boolean) => void;
  some?: boolean;
  bare?: boolean;
  isDisabled?: boolean;
  hint?: ReactNode;
}

export function Check({ label, value, onChange, some = false, bare, isDisabled = false, hint }: CheckProps) {
  return (
    <RacCheckbox
      isSelected={value}
      isIndeterminate={some}
      onChange={onChange}
      isDisabled={isDisabled}
      aria-label={label}
      className="group inline-flex items-start gap-2 text-sm"
    >
      <span className="mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-sm bg-surface text-transparent ring-1 ring-line-strong ring-inset group-data-[indeterminate]:bg-accent group-data-[selected]:bg-accent group-data-[indeterminate]:text-on-accent group-data-[selected]:text-on-accent group-data-[indeterminate]:ring-accent group-data-[selected]:ring-accent group-data-[focus-visible]:outline-2 group-data-[focus-visible]:outline-focus group-data-[focus-visible]:outline-offset-1">
        {some ? <span className="h-0.5 w-2 rounded-full bg-on-accent" /> : <CheckMark size={12} strokeWidth={3} />}
      </span>
      {!bare && (
        <span>
          {label}
          {hint && <span className="block text-ink-3 text-xs">{hint}</span>}
        </span>
      )}
    </RacCheckbox>
  );
}

interface TabsProps<T extends string> {
  label: string;
  value: T;
  onChange: (value: T) => void;
  tabs: readonly { id: T; label: string; count?: number | undefined }[];
  className?: string;
}

/** The row of tabs only; the caller shows the part that is chosen. */
export function Tabs<T extends string>({ label, value, onChange, tabs, className }: TabsProps<T>) {
  const move = (by: number) => {
    const at = tabs.findIndex((tab) => tab.id === value);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next) onChange(next.id);
  };
  return (
    <div role="tablist" aria-label={label} className={cx("flex gap-4 border-line border-b", className)}>
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          aria-selected={tab.id === value}
          tabIndex={tab.id === value ? 0 : -1}
          onClick={() => onChange(tab.id)}
          onKeyDown={(event) => {
            if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
            event.preventDefault();
            move(event.key === "ArrowRight" ? 1 : -1);
            const list = event.currentTarget.parentElement;
            requestAnimationFrame(() => list?.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
          }}
          className={cx(
            "-mb-px flex h-9 items-center gap-1.5 border-b-2 text-sm transition-colors duration-100",
            tab.id === value
              ? "border-accent-ink font-medium text-ink"
              : "border-transparent text-ink-2 hover:text-ink",
          )}
        >
          {tab.label}
          {tab.count !== undefined && <span className="text-ink-3 text-xs">{tab.count}</span>}
        </button>
      ))}
    </div>
  );
}
