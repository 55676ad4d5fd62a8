// Who runs a job's work and how much of it at once, for how long it is worth doing, and what its failures mean.
//
// It edits the fields of the document as they are: what is usual is left out of it.
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { useWords } from "@/lib/words";
import { Button, IconButton, NumberField, Select, Switch, TextField } from "@/primitives";
import { executionWords } from "./executionWords";

type Rest = Record<string, unknown>;

interface ExecutionFieldsProps {
  rest: Rest;
  set: (change: Rest, where: string) => void;
  error: (path: string) => string | null;
}

type Rule = { match: string; class: "transient" | "business" | "system" };
type StillNeeded =
  | { ask: "processor" }
  | { ask: "sql"; connection: string; query: string }
  | { ask: "http"; url: string };

/** Places of this part where an error can stand. */
export const EXECUTION_HOMES = [
  "mode",
  "minSuccess",
  "route",
  "hashKey",
  "labels",
  "maxConcurrent",
  "expiresAfterSeconds",
  "readyTimeoutSeconds",
  "pushTimeoutSeconds",
  "io",
  "stillNeeded",
  "failureRules",
];

/** Set to something else than usual. */
const isTold = (value: unknown, usual: unknown) => value !== undefined && value !== null && value !== usual;

export function ExecutionFields({ rest, set, error }: ExecutionFieldsProps) {
  const w = useWords(executionWords);
  const told =
    isTold(rest.readyTimeoutSeconds, 60) ||
    isTold(rest.pushTimeoutSeconds, 60) ||
    isTold(rest.io, false) ||
    isTold(rest.stillNeeded, undefined) ||
    isTold(rest.failureRules, undefined);
  const [more, setMore] = useState(told);
  const mode = (rest.mode as keyof typeof w.modes | undefined) ?? "unicast";
  const route = (rest.route as keyof typeof w.routes | undefined) ?? "leastLoaded";
  const put = (key: string, value: unknown) => set({ [key]: value }, key);
  const figure = (key: string) => (typeof rest[key] === "number" ? (rest[key] as number) : null);
  const troubled = ["readyTimeoutSeconds", "pushTimeoutSeconds", "io", "stillNeeded", "failureRules"].some(
    (path) => error(path) !== null,
  );
  return (
    <>
      <div className="grid grid-cols-2 gap-x-4 gap-y-1">
        <Select
          label={w.mode}
          value={mode}
          onChange={(next) => put("mode", next)}
          error={error("mode")}
          options={(["unicast", "broadcast", "sharding"] as const).map((value) => ({ value, label: w.modes[value] }))}
        />
        {mode === "broadcast" ? (
          <NumberField
            label={w.minSuccess}
            hint={w.minSuccessHint}
            min={1}
            value={figure("minSuccess")}
            onChange={(next) => put("minSuccess", next ?? undefined)}
            error={error("minSuccess")}
          />
        ) : (
          <Select
            label={w.route}
            value={route}
            onChange={(next) => put("route", next)}
            error={error("route")}
            options={(Object.keys(w.routes) as (keyof typeof w.routes)[]).map((value) => ({
              value,
              label: w.routes[value],
            }))}
          />
        )}
        {mode === "unicast" && route === "consistentHash" && (
          <TextField
            label={w.hashKey}
            hint={w.hashKeyHint}
            required
            value={String(rest.hashKey ?? "")}
            onChange={(next) => put("hashKey", next === "" ? undefined : next)}
            error={error("hashKey")}
          />
        )}
        <Labels value={rest.labels} onChange={(next) => put("labels", next)} error={error("labels")} />
        <NumberField
          label={w.maxConcurrent}
          hint={w.maxConcurrentHint}
          min={1}
          value={figure("maxConcurrent")}
          onChange={(next) => put("maxConcurrent", next ?? undefined)}
          error={error("maxConcurrent")}
        />
        <NumberField
          label={w.expires}
          hint={w.expiresHint}
          unit="s"
          min={1}
          value={figure("expiresAfterSeconds")}
          onChange={(next) => put("expiresAfterSeconds", next ?? undefined)}
          error={error("expiresAfterSeconds")}
        />
      </div>
      {!more && !troubled && (
        <Button size="sm" variant="quiet" className="-ml-2.5 self-start" onPress={() => setMore(true)}>
          {w.more}
        </Button>
      )}
      {(more || troubled) && (
        <div className="grid grid-cols-2 gap-x-4 gap-y-1" data-testid="execution-more">
          <NumberField
            label={w.readyTimeout}
            hint={w.readyTimeoutHint}
            unit="s"
            min={1}
            value={figure("readyTimeoutSeconds") ?? 60}
            onChange={(next) => put("readyTimeoutSeconds", next ?? undefined)}
            error={error("readyTimeoutSeconds")}
          />
          <NumberField
            label={w.pushTimeout}
            hint={w.pushTimeoutHint}
            unit="s"
            min={1}
            value={figure("pushTimeoutSeconds") ?? 60}
            onChange={(next) => put("pushTimeoutSeconds", next ?? undefined)}
            error={error("pushTimeoutSeconds")}
          />
          <div className="col-span-2">
            <Switch
              label={w.io}
              hint={w.ioHint}
              value={rest.io === true}
              onChange={(next) => put("io", next ? true : undefined)}
            />
          </div>
          <Needed
            value={(rest.stillNeeded as StillNeeded | undefined) ?? null}
            onChange={(next) => put("stillNeeded", next ?? undefined)}
            error={error}
          />
          <Rules
            value={(rest.failureRules as Rule[] | undefined) ?? []}
            onChange={(next) => put("failureRules", next.length > 0 ? next : undefined)}
            error={error}
          />
        </div>
      )}
    </>
  );
}

function Labels({
  value,
  onChange,
  error,
}: {
  value: unknown;
  onChange: (labels: Record<string, string> | undefined) => void;
  error: string | null;
}) {
  const w = useWords(executionWords);
  const known = Object.entries((value as Record<string, string> | undefined) ?? {});
  const [text, setText] = useState(known.map(([name, of]) => `${name}=${of}`).join(", "));
  const parts = text.split(/[,，]/).map((part) => part.trim());
  const wrong = parts.some((part) => part !== "" && !/^[^=]+=.+$/.test(part));
  return (
    <TextField
      label={w.labels}
      hint={w.labelsHint}
      value={text}
      onChange={(next) => {
        setText(next);
        const pairs = next
          .split(/[,，]/)
          .map((part) => part.trim().split("="))
          .filter(([name, of]) => name && of)
          .map(([name, ...of]) => [name, of.join("=")] as const);
        onChange(pairs.length > 0 ? Object.fromEntries(pairs) : undefined);
      }}
      error={error ?? (wrong ? w.labelsWrong : null)}
    />
  );
}

function Needed({
  value,
  onChange,
  error,
}: {
  value: StillNeeded | null;
  onChange: (value: StillNeeded | null) => void;
  error: (path: string) => string | null;
}) {
  const w = useWords(executionWords);
  const ask = value?.ask ?? "none";
  const at = (field: string) => error(`stillNeeded.${field}`);
  return (
    <>
      <Select
        label={w.stillNeeded}
        hint={w.stillNeededHint}
        value={ask}
        onChange={(next) => {
          if (next === "none") onChange(null);
          if (next === "processor") onChange({ ask: "processor" });
          if (next === "sql") onChange({ ask: "sql", connection: "", query: "" });
          if (next === "http") onChange({ ask: "http", url: "" });
        }}
        error={ask === "none" || ask === "processor" ? error("stillNeeded") : null}
        options={(["none", "processor", "sql", "http"] as const).map((each) => ({ value: each, label: w.asks[each] }))}
      />
      {value?.ask === "http" && (
        <TextField
          label={w.url}
          hint={w.urlHint}
          required
          value={value.url}
          onChange={(url) => onChange({ ask: "http", url })}
          error={at("url") ?? error("stillNeeded")}
        />
      )}
      {value?.ask === "sql" && (
        <>
          <TextField
            label={w.connection}
            required
            value={value.connection}
            onChange={(connection) => onChange({ ...value, connection })}
            error={at("connection")}
          />
          <TextField
            className="col-span-2"
            label={w.query}
            hint={w.queryHint}
            required
            code
            rows={2}
            value={value.query}
            onChange={(query) => onChange({ ...value, query })}
            error={at("query") ?? error("stillNeeded")}
          />
        </>
      )}
    </>
  );
}

function Rules({
  value,
  onChange,
  error,
}: {
  value: readonly Rule[];
  onChange: (rules: Rule[]) => void;
  error: (path: string) => string | null;
}) {
  const w = useWords(executionWords);
  return (
    <fieldset className="col-span-2 flex flex-col gap-1">
      <legend className="mb-1 font-medium text-ink-2 text-xs">
        {w.rules} <span className="font-normal text-ink-3">{w.rulesHint}</span>
      </legend>
      {value.map((rule, i) => {
        const wrong = error(`failureRules[${i}].match`) ?? error(`failureRules[${i}]`);
        const change = (part: Partial<Rule>) =>
          onChange(value.map((each, at) => (at === i ? { ...each, ...part } : each)));
        return (
          // A rule has no name of its own: its place is what tells it apart.
          <div key={i} className="flex items-start gap-2">
            <TextField
              bare
              className="flex-1"
              label={w.pattern(i + 1)}
              placeholder={w.patternHint}
              value={rule.match}
              onChange={(match) => change({ match })}
            />
            <Select
              bare
              className="w-64"
              label={w.class(i + 1)}
              value={rule.class}
              onChange={(next) => change({ class: next })}
              options={(["transient", "business", "system"] as const).map((each) => ({
                value: each,
                label: w.classes[each],
              }))}
            />
            <IconButton
              label={w.removeRule(i + 1)}
              icon={<X />}
              onPress={() => onChange(value.filter((_, at) => at !== i))}
            />
            {wrong && <span className="self-center text-bad text-xs">{wrong}</span>}
          </div>
        );
      })}
      <Button
        size="sm"
        variant="quiet"
        icon={<Plus />}
        className="-ml-2.5 self-start"
        onPress={() => onChange([...value, { match: "", class: "transient" }])}
      >
        {w.addRule}
      </Button>
      {value.length === 0 && error("failureRules") && <span className="text-bad text-xs">{error("failureRules")}</span>}
    </fieldset>
  );
}
