// A processor's parameters as a form, made from its JSON Schema.
//
//   <ParameterForm schema={processor.schema} value={parameters} onChange={set} error={(key) => string | null} />
import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { connectionsQuery } from "@/api/connections";
import { fieldsOf, type SchemaField, withParameter } from "@/lib/schemaForm";
import { useSaid, useWords, words } from "@/lib/words";
import { Button, Field, IconButton, NumberField, Select, Suggest, Switch, TextField } from "@/primitives";

const formWords = words(
  {
    add: "Add",
    remove: "Remove",
    name: "Name",
    value: "Value",
    notJson: "This is not valid JSON",
    listHint: "separated by commas",
    usual: (value: string) => `usually ${value}`,
  },
  {
    add: "添加",
    remove: "移除",
    name: "名称",
    value: "值",
    notJson: "不是有效的 JSON",
    listHint: "用逗号分隔",
    usual: (value: string) => `默认 ${value}`,
  },
);

interface ParameterFormProps {
  schema: unknown;
  value: Record<string, unknown>;
  /** The parameters as they are now, and which of them was changed. */
  onChange: (value: Record<string, unknown>, key: string) => void;
  error: (key: string) => string | null;
}

export function ParameterForm({ schema, value, onChange, error }: ParameterFormProps) {
  return (
    <div className="grid grid-cols-2 gap-x-4 gap-y-1">
      {fieldsOf(schema).map((field) => (
        <div key={field.key} className={WIDE.has(field.kind) ? "col-span-2" : "col-span-2 @xl:col-span-1"}>
          <One
            field={field}
            value={value[field.key]}
            onChange={(next) => onChange(withParameter(value, field.key, next), field.key)}
            error={error(field.key)}
          />
        </div>
      ))}
    </div>
  );
}

const WIDE: ReadonlySet<string> = new Set(["lines", "map", "json", "yesno"]);

interface OneProps {
  field: SchemaField;
  value: unknown;
  onChange: (value: unknown) => void;
  error: string | null;
}

function One({ field, value, onChange, error }: OneProps) {
  const said = useSaid();
  const w = useWords(formWords);
  const { fallback } = field;
  // What a switch shows anyway, and nothing, need not be said.
  const usual = typeof fallback === "string" || typeof fallback === "number" ? w.usual(asText(fallback)) : "";
  const base = {
    label: said(field.title),
    hint: [field.description && said(field.description), usual].filter(Boolean).join(" · "),
    error,
    required: field.required,
  };
  switch (field.kind) {
    case "text":
      return <TextField {...base} value={asText(value)} onChange={onChange} placeholder={field.placeholder} />;
    case "connection":
      return <ConnectionField {...base} value={value} onChange={onChange} />;
    case "lines":
      return (
        <TextField {...base} code rows={4} value={asText(value)} onChange={onChange} placeholder={field.placeholder} />
      );
    case "number":
    case "whole":
      return (
        <NumberField
          {...base}
          value={typeof value === "number" ? value : null}
          onChange={onChange}
          unit={field.unit}
          step={field.kind === "whole" ? 1 : 0.1}
          {...(field.min === null ? {} : { min: field.min })}
          {...(field.max === null ? {} : { max: field.max })}
        />
      );
    case "yesno":
      return (
        <div className="py-1.5">
          <Switch
            label={base.label}
            hint={error ?? base.hint}
            value={typeof value === "boolean" ? value : field.fallback === true}
            onChange={onChange}
          />
        </div>
      );
    case "choice":
      return (
        <Select
          {...base}
          value={typeof value === "string" ? value : typeof field.fallback === "string" ? field.fallback : null}
          onChange={onChange}
          options={field.options.map((option) => ({ value: option.value, label: said(option.title) }))}
        />
      );
    case "list":
      return (
        <ListField {...base} hint={base.hint || w.listHint} numbers={field.numbers} value={value} onChange={onChange} />
      );
    case "map":
      return <MapField {...base} value={value} onChange={onChange} />;
    case "json":
      return <JsonField {...base} value={value} onChange={onChange} />;
  }
}

interface PartProps {
  label: string;
  hint: string;
  error: string | null;
  required: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** The names that are known here; an executor elsewhere may know others, so any may be typed. */
function ConnectionField({ value, onChange, ...base }: PartProps) {
  const connections = useQuery(connectionsQuery());
  const names = connections.data?.rows.map((row) => row.name) ?? [];
  return <Suggest {...base} value={asText(value)} onChange={onChange} options={names} />;
}

function ListField({ numbers, value, onChange, ...base }: PartProps & { numbers: boolean }) {
  const [text, setText] = useState(() => (Array.isArray(value) ? value.join(", ") : ""));
  return (
    <TextField
      {...base}
      value={text}
      onChange={(next) => {
        setText(next);
        const items = next
          .split(/[,，]/)
          .map((item) => item.trim())
          .filter((item) => item !== "");
        onChange(numbers ? items.map(Number).filter((item) => !Number.isNaN(item)) : items);
      }}
    />
  );
}

function MapField({ value, onChange, label, hint, error, required }: PartProps) {
  const w = useWords(formWords);
  // Rows while they are typed: two may share a name for a moment, and a new one has none yet.
  const [rows, setRows] = useState<[string, string][]>(() =>
    typeof value === "object" && value !== null ? Object.entries(value).map(([key, each]) => [key, asText(each)]) : [],
  );
  const set = (next: [string, string][]) => {
    setRows(next);
    onChange(Object.fromEntries(next.filter(([key]) => key.trim() !== "")));
  };
  return (
    <Field label={label} hint={hint} error={error} required={required}>
      {(aria) => (
        <div {...aria} className="flex flex-col gap-1.5">
          {rows.map(([key, each], i) => (
            <div key={i} className="flex items-center gap-1.5">
              <TextField
                bare
                code
                className="w-2/5"
                label={w.name}
                placeholder={w.name}
                value={key}
                onChange={(next) => set(rows.with(i, [next, each]))}
              />
              <TextField
                bare
                code
                className="flex-1"
                label={w.value}
                placeholder={w.value}
                value={each}
                onChange={(next) => set(rows.with(i, [key, next]))}
              />
              <IconButton label={w.remove} icon={<X />} onPress={() => set(rows.filter((_, at) => at !== i))} />
            </div>
          ))}
          <span>
            <Button size="sm" icon={<Plus />} onPress={() => setRows([...rows, ["", ""]])}>
              {w.add}
            </Button>
          </span>
        </div>
      )}
    </Field>
  );
}

function JsonField({ value, onChange, error, ...base }: PartProps) {
  const w = useWords(formWords);
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const [broken, setBroken] = useState(false);
  return (
    <TextField
      {...base}
      code
      rows={4}
      value={text}
      error={broken ? w.notJson : error}
      onChange={(next) => {
        setText(next);
        try {
          onChange(next.trim() === "" ? undefined : JSON.parse(next));
          setBroken(false);
        } catch {
          setBroken(true);
        }
      }}
    />
  );
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
