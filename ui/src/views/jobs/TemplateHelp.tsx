// The names that a parameter may hold, each copied by a press: what a run knows of itself, and the secrets there are.
import { useQuery } from "@tanstack/react-query";
import { secretsQuery } from "@/api/secrets";
import { copyText } from "@/lib/clipboard";
import { useWords } from "@/lib/words";
import { toast } from "@/primitives";
import { executionWords } from "./executionWords";

const NAMES = ["planned", "due", "attempt", "job", "instance", "tenant", "executor", "upstream"] as const;

export function TemplateHelp({ group }: { group: string }) {
  const w = useWords(executionWords);
  const secrets = useQuery({ ...secretsQuery(), retry: false });
  const own = secrets.data?.rows.filter((row) => row.group === group) ?? [];
  return (
    <details className="text-xs" data-testid="template-names">
      <summary className="cursor-pointer select-none rounded-sm py-1 text-ink-2 outline-none focus-visible:outline-2 focus-visible:outline-focus">
        {w.names}
      </summary>
      <p className="mb-1.5 text-ink-3">{w.namesLead}</p>
      <ul className="grid grid-cols-[max-content_1fr] gap-x-3 gap-y-0.5">
        {NAMES.map((name) => (
          <li key={name} className="contents">
            <Name text={`{{${name === "upstream" ? "upstream.result" : name}}}`} />
            <span className="text-ink-3">{w.namesOf[name]}</span>
          </li>
        ))}
      </ul>
      <p className="mt-2 flex flex-wrap items-baseline gap-x-2 text-ink-3">
        {w.secretLead}
        {own.length === 0 ? w.noSecrets : own.map((row) => <Name key={row.name} text={`\${secret:${row.name}}`} />)}
      </p>
    </details>
  );
}

function Name({ text }: { text: string }) {
  const w = useWords(executionWords);
  return (
    <button
      type="button"
      aria-label={w.insert(text)}
      className="rounded-sm bg-sunken px-1 text-left outline-none ring-1 ring-line ring-inset hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus"
      onClick={async () => toast((await copyText(text)) ? { text: w.copied } : { tone: "bad", text: w.notCopied })}
    >
      <code>{text}</code>
    </button>
  );
}
