// Many jobs at once, out of a crontab or out of YAML. What would become of each line stands beside it before anything is
// done, and what is then done is all of it or nothing.
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, FileUp } from "lucide-react";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { readCrontabQuery, tryApplyQuery, useApplyJobs, useImportCrontab } from "@/api/jobs";
import { bootstrapQuery } from "@/api/node";
import type { CrontabLine } from "@/api/types";
import { RefusalNotice } from "@/components";
import { cx } from "@/lib/cx";
import { useSaid, useWords } from "@/lib/words";
import { Button, Check, Clip, Dialog, Segmented, Select, Tag, TextField, toast } from "@/primitives";
import { jobWords } from "./words";

interface ImportDialogProps {
  kind: "crontab" | "yaml";
  onKind: (kind: "crontab" | "yaml") => void;
  onClose: () => void;
}

export function ImportDialog({ kind, onKind, onClose }: ImportDialogProps) {
  const w = useWords(jobWords).import;
  const words = useWords(jobWords);
  const bootstrap = useQuery(bootstrapQuery());
  const [text, setText] = useState("");
  const [zone, setZone] = useState<string | null>(null);
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  const file = useRef<HTMLInputElement>(null);
  const read = useDeferredValue(text);
  const crontab = useQuery({ ...readCrontabQuery(read, zone), enabled: kind === "crontab" && read.trim() !== "" });
  const yaml = useQuery({ ...tryApplyQuery(read), enabled: kind === "yaml" && read.trim() !== "" });
  const importCrontab = useImportCrontab();
  const applyJobs = useApplyJobs();

  const taken = useMemo(
    () =>
      (crontab.data?.lines ?? [])
        .filter((line) => line.outcome.is === "job" && !left.has(line.number))
        .map((line) => line.number),
    [crontab.data, left],
  );
  const nothing = text.trim() === "";
  const count = nothing
    ? 0
    : kind === "crontab"
      ? taken.length
      : (yaml.data?.jobs.filter((job) => job.change !== "unchanged").length ?? 0);

  const submit = () => {
    if (kind === "crontab") {
      importCrontab.mutate(
        { text, zone, lines: taken },
        {
          onSuccess: () => {
            toast({ text: w.created(taken.length) });
            onClose();
          },
        },
      );
    } else {
      applyJobs.mutate(text, {
        onSuccess: () => {
          toast({ text: w.applied(count) });
          onClose();
        },
      });
    }
  };

  const zones = bootstrap.data?.zones ?? [];
  return (
    <Dialog
      open
      onClose={onClose}
      title={w.title}
      width={940}
      footer={
        <>
          <span className="mr-auto self-center text-ink-3 text-xs">
            {kind === "crontab" && !nothing && crontab.data && w.summary(crontab.data.jobs, crontab.data.refused)}
          </span>
          <Button onPress={onClose}>{words.cancel}</Button>
          <Button
            variant="primary"
            why={count === 0 ? w.nothingToDo : null}
            isPending={importCrontab.isPending || applyJobs.isPending}
            onPress={submit}
          >
            {kind === "crontab" ? w.create(count) : w.apply(count)}
          </Button>
        </>
      }
    >
      <div className="flex items-center gap-3 pb-3">
        <Segmented
          bare
          label={w.title}
          value={kind}
          onChange={onKind}
          options={[
            { value: "crontab", label: w.crontab },
            { value: "yaml", label: w.yaml },
          ]}
        />
        <span className="min-w-0 flex-1 text-ink-3 text-xs">{kind === "crontab" ? w.pasteHint : w.yamlHint}</span>
        {kind === "crontab" && zones.length > 0 && (
          <Select
            bare
            className="w-48 shrink-0"
            label={w.zone}
            value={zone ?? bootstrap.data?.zone ?? null}
            onChange={setZone}
            options={zones.map((name) => ({ value: name, label: name }))}
          />
        )}
        <input
          ref={file}
          type="file"
          hidden
          accept={kind === "yaml" ? ".yaml,.yml,.json" : ""}
          onChange={async (event) => {
            const chosen = event.target.files?.[0];
            if (chosen) setText(await chosen.text());
          }}
        />
        <Button icon={<FileUp />} onPress={() => file.current?.click()}>
          {w.file}
        </Button>
      </div>
      <div className="grid h-[46vh] min-h-60 grid-cols-2 gap-4">
        <TextField
          bare
          code
          autoFocus
          label={w.paste}
          placeholder={
            kind === "crontab"
              ? "0 2 * * *  /usr/local/bin/report --day yesterday\n*/5 * * * *  /usr/local/bin/sync\n@daily  /usr/local/bin/clean"
              : "apiVersion: campanile/v1\nname: …"
          }
          rows={12}
          value={text}
          onChange={setText}
          className="h-full [&>span]:h-full"
          inputClassName="h-full resize-none leading-5 whitespace-pre overflow-auto"
        />
        <div className="min-h-0 overflow-y-auto rounded-md ring-1 ring-line ring-inset" aria-live="polite">
          {nothing && <div className="p-4 text-ink-3">{w.nothing}</div>}
          {!nothing && kind === "crontab" && crontab.isError && <RefusalNotice error={crontab.error} />}
          {!nothing && kind === "yaml" && yaml.isError && <RefusalNotice error={yaml.error} />}
          {!nothing &&
            kind === "crontab" &&
            crontab.data?.lines
              .filter((line) => line.outcome.is !== "blank")
              // What cannot become a job is what needs a hand: it stands first, under its own number.
              .toSorted((a, b) => Number(b.outcome.is === "refused") - Number(a.outcome.is === "refused"))
              .map((line) => (
                <Line
                  key={line.number}
                  line={line}
                  taken={!left.has(line.number)}
                  onTake={(take) => {
                    const next = new Set(left);
                    if (take) next.delete(line.number);
                    else next.add(line.number);
                    setLeft(next);
                  }}
                />
              ))}
          {!nothing &&
            kind === "yaml" &&
            !yaml.isError &&
            yaml.data?.jobs.map((job) => (
              <div key={job.name} className="flex h-8 items-center gap-2 border-line border-b px-3">
                <Clip className="flex-1">{job.name}</Clip>
                <Tag tone={job.change === "unchanged" ? "idle" : job.change === "created" ? "ok" : "running"}>
                  {w.changes[job.change]}
                </Tag>
              </div>
            ))}
        </div>
      </div>
    </Dialog>
  );
}

function Line({ line, taken, onTake }: { line: CrontabLine; taken: boolean; onTake: (take: boolean) => void }) {
  const w = useWords(jobWords).import;
  const said = useSaid();
  const { outcome } = line;
  return (
    <div
      className={cx(
        "flex items-start gap-2.5 border-line border-b px-3 py-1.5",
        outcome.is === "refused" && "bg-bad-soft",
      )}
    >
      <span className="mt-px w-6 shrink-0 text-right text-ink-3 text-xs" title={`${w.line} ${line.number}`}>
        {line.number}
      </span>
      {outcome.is === "job" && (
        <>
          <Check bare label={w.take} value={taken} onChange={onTake} />
          <div className={cx("min-w-0 flex-1", !taken && "opacity-50")}>
            <div className="flex items-baseline gap-2">
              <span className="prose-nums shrink-0 font-medium">{outcome.name}</span>
              <Clip className="text-ink-2 text-xs">{said(outcome.words)}</Clip>
            </div>
            <Clip className="font-mono text-2xs text-ink-3">{outcome.command}</Clip>
          </div>
          {outcome.next && <span className="mt-px shrink-0 text-ink-3 text-xs">{outcome.next.text.slice(5, 16)}</span>}
        </>
      )}
      {outcome.is === "environment" && (
        <div className="min-w-0 flex-1">
          <Clip className="font-mono text-xs">{line.text}</Clip>
          <span className="text-ink-3 text-xs">{w.environment}</span>
        </div>
      )}
      {outcome.is === "refused" && (
        <>
          <CircleAlert size={15} className="mt-0.5 shrink-0 text-bad" />
          <div className="min-w-0 flex-1">
            <div className="text-bad">{said(outcome.fault.message)}</div>
            <Clip className="font-mono text-2xs text-ink-2">{line.text}</Clip>
            {outcome.fault.hint && <div className="text-ink-2 text-xs">{said(outcome.fault.hint)}</div>}
          </div>
        </>
      )}
    </div>
  );
}
