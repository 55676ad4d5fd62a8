// Before a run is started from a file: what is in it, row by row, how it is read, what is wrong with it, and which job gets
// it. It is looked at to its end first, and taken in only then; either can be stopped.
import { useQuery } from "@tanstack/react-query";
import { FileSpreadsheet, TriangleAlert } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Input } from "react-aria-components";
import {
  chooseData,
  dataFileQuery,
  discardData,
  type Handed,
  isReading,
  sendData,
  useLookAtData,
  useRunWithData,
  useStageData,
} from "@/api/data";
import { inDesktop } from "@/api/door";
import { jobQuery } from "@/api/jobs";
import type { DataKind, DataLook, DataView as FileView, GivenFile, LookAtData } from "@/api/types";
import { useSaid, useWords } from "@/lib/words";
import { Button, Check, Dialog, Notice, Select, toast } from "@/primitives";
import { controlBox, controlRing } from "@/primitives/Field";
import { RefusalNotice } from "../Answer";
import { ChosenJob, JobBox } from "../JobBox";
import { useNeedsNode } from "../useNeedsNode";
import type { Asked } from "./asked";
import { bytesInWords, DELIMITERS, ENCODINGS } from "./formats";
import { Rows } from "./Rows";
import { dataWords } from "./words";

interface DataDialogProps {
  asked: Asked;
  onClose: () => void;
  onStarted: (run: string) => void;
}

export default function DataDialog({ asked, onClose, onStarted }: DataDialogProps) {
  const w = useWords(dataWords);
  const needsNode = useNeedsNode();
  const [handed, setHanded] = useState<Handed | null>(asked.handed);
  const [given, setGiven] = useState<GivenFile | null>(
    asked.handed && "given" in asked.handed ? asked.handed.given : null,
  );
  const [refused, setRefused] = useState<Error | null>(null);
  const chooser = useRef<HTMLInputElement>(null);

  // What was dropped while it was open takes the place of what was there.
  useEffect(() => {
    if (!asked.handed) return;
    setRefused(null);
    setHanded(asked.handed);
    setGiven("given" in asked.handed ? asked.handed.given : null);
  }, [asked.handed]);

  const take = (next: Handed) => {
    setRefused(null);
    setHanded(next);
    setGiven("given" in next ? next.given : null);
  };
  const choose = () => {
    if (!inDesktop) {
      chooser.current?.click();
      return;
    }
    chooseData().then(
      (chosen) => chosen && take({ given: chosen }),
      (error: Error) => setRefused(error),
    );
  };
  const another = () => {
    if (given) discardData(given.file);
    choose();
  };

  if (given)
    return (
      <Given
        key={given.file}
        given={given}
        job={asked.job}
        onClose={onClose}
        onStarted={onStarted}
        onAnother={another}
        chooser={<Chooser ref={chooser} onFile={(file) => take({ file })} />}
      />
    );
  return (
    <Dialog open onClose={onClose} title={w.title} lead={w.lead} width={520}>
      <Chooser ref={chooser} onFile={(file) => take({ file })} />
      {refused && <RefusalNotice error={refused} />}
      {handed && "file" in handed && !refused ? (
        <Sending
          key={`${handed.file.name}-${handed.file.size}-${handed.file.lastModified}`}
          file={handed.file}
          onSent={setGiven}
          onRefused={setRefused}
          onStop={() => setHanded(null)}
        />
      ) : (
        <div className="flex flex-col items-center gap-2 py-6 text-center">
          <FileSpreadsheet size={28} strokeWidth={1.4} className="text-ink-3" />
          <Button variant="primary" autoFocus why={needsNode} onPress={choose} data-testid="choose-file">
            {w.choose}
          </Button>
          <p className="text-ink-2 text-xs">{w.chooseHint}</p>
        </div>
      )}
    </Dialog>
  );
}

function Chooser({ ref, onFile }: { ref: React.Ref<HTMLInputElement>; onFile: (file: File) => void }) {
  const w = useWords(dataWords);
  return (
    <input
      ref={ref}
      type="file"
      hidden
      aria-label={w.choose}
      accept=".csv,.tsv,.txt,.xlsx,.xls,.xlsb,.ods,.json,.jsonl,.ndjson"
      data-testid="file-chooser"
      onChange={(event) => {
        const [file] = event.target.files ?? [];
        if (file) onFile(file);
        event.target.value = "";
      }}
    />
  );
}

interface SendingProps {
  file: File;
  onSent: (given: GivenFile) => void;
  onRefused: (error: Error) => void;
  onStop: () => void;
}

function Sending({ file, onSent, onRefused, onStop }: SendingProps) {
  const w = useWords(dataWords);
  const [part, setPart] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a file is sent once
  useEffect(() => {
    const stop = new AbortController();
    sendData(file, setPart, stop.signal).then(onSent, (error: Error) => {
      if (error.name !== "AbortError") onRefused(error);
    });
    return () => stop.abort();
  }, [file]);
  return <Going text={w.sending(file.name)} part={part} note={bytesInWords(file.size)} onStop={onStop} />;
}

/** Something that takes a while, with how far it is and a way to end it. */
function Going({ text, part, note, onStop }: { text: string; part: number; note?: ReactNode; onStop?: () => void }) {
  const w = useWords(dataWords);
  return (
    <div className="flex items-center gap-3 py-4">
      <div className="min-w-0 flex-1">
        <div className="mb-1.5 flex items-baseline justify-between gap-2">
          <span className="truncate">{text}</span>
          <span className="shrink-0 text-ink-3 text-xs">{note}</span>
        </div>
        <div
          role="progressbar"
          aria-label={text}
          aria-valuenow={Math.floor(part * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
          className="h-2 overflow-hidden rounded-full bg-sunken ring-1 ring-line ring-inset"
        >
          <div
            className="h-full rounded-full bg-running transition-[width] duration-200"
            style={{ width: `${part * 100}%` }}
          />
        </div>
      </div>
      {onStop && (
        <Button size="sm" onPress={onStop}>
          {w.stop}
        </Button>
      )}
    </div>
  );
}

interface GivenProps extends Omit<DataDialogProps, "asked"> {
  given: GivenFile;
  job: string | null;
  onAnother: () => void;
  chooser: ReactNode;
}

type How = Omit<LookAtData, "file">;

function Given({ given, job: asked, onClose, onStarted, onAnother, chooser }: GivenProps) {
  const w = useWords(dataWords);
  const said = useSaid();
  const look = useLookAtData();
  const stage = useStageData();
  const run = useRunWithData();
  const [how, setHow] = useState<How>({});
  const [job, setJob] = useState<string | null>(asked);
  const query = useQuery({ ...dataFileQuery(given.file), enabled: !look.isPending && !look.isIdle });
  const view: FileView | undefined = query.data;
  const detail = useQuery({ ...jobQuery(job ?? ""), enabled: job !== null });
  const started = useRef(false);

  const lookAgain = (next: How) => {
    setHow(next);
    look.mutate({ file: given.file, ...next });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is looked at once by itself
  useEffect(() => {
    look.mutate({ file: given.file });
    return () => {
      // What became a run is the run's; anything else nobody needs any more.
      if (!started.current) discardData(given.file);
    };
  }, []);

  // It was taken in because somebody pressed start.
  const data = view?.phase === "staged" ? view.data : null;
  useEffect(() => {
    if (data === null || job === null || run.isPending || run.isSuccess || run.isError) return;
    run.mutate(
      { job, data },
      {
        onSuccess: (done) => {
          started.current = true;
          toast({ text: w.started(job) });
          const [instance] = done.instances;
          if (instance) onStarted(instance);
          else onClose();
        },
      },
    );
  }, [data, job, run, w, onStarted, onClose]);

  const found = view?.look ?? null;
  const staging = view?.phase === "staging" || stage.isPending || run.isPending;
  const mode = detail.data?.spec.mode;
  const why = !found
    ? w.reading(given.name)
    : found.faulty > 0
      ? w.faults(found.faulty)
      : found.items === 0
        ? w.empty
        : !found.canStage.ok
          ? found.canStage.why
            ? said(found.canStage.why)
            : "—"
          : job === null
            ? w.noJob
            : mode !== undefined && mode !== "sharding"
              ? w.notSharded
              : null;
  const error = look.error ?? stage.error ?? run.error ?? query.error;
  const fault = view?.fault ?? null;

  return (
    <Dialog
      open
      onClose={onClose}
      title={w.title}
      lead={
        <span className="flex min-w-0 items-baseline gap-2">
          <span className="truncate font-medium text-ink">{given.name}</span>
          <span className="shrink-0 text-xs">{bytesInWords(given.bytes)}</span>
        </span>
      }
      width={860}
      footer={
        <>
          <span className="mr-auto">
            <Button onPress={onAnother} isDisabled={staging}>
              {w.another}
            </Button>
          </span>
          <Button onPress={onClose}>{w.cancel}</Button>
          <Button
            variant="primary"
            why={why}
            isPending={staging}
            onPress={() => stage.mutate(given.file)}
            data-testid="start-with-data"
          >
            {w.start(found?.items ?? 0)}
          </Button>
        </>
      }
    >
      {chooser}
      {error && <RefusalNotice error={error} />}
      {fault && !error && (
        <Notice tone="bad" icon={<TriangleAlert />} title={said(fault.message)}>
          {fault.hint && said(fault.hint)} <code className="select-text text-2xs">{fault.code}</code>
        </Notice>
      )}
      {staging && view ? (
        <Going text={w.takingIn} part={view.part} note={w.itemsSoFar(view.items)} onStop={onClose} />
      ) : (
        isReading(view) && (
          <Going text={w.reading(given.name)} part={view?.part ?? 0} note={w.itemsSoFar(view?.items ?? 0)} />
        )
      )}
      <div className="flex flex-col gap-4">
        <div className="flex flex-col gap-1">
          <span className="font-medium text-xs">{w.job}</span>
          {job === null ? (
            <JobBox aria-label={w.job} onPick={setJob} className="w-80">
              {() => (
                <Input
                  placeholder={w.jobHint}
                  spellCheck={false}
                  className={`${controlBox} ${controlRing} h-8 w-80 px-2.5`}
                />
              )}
            </JobBox>
          ) : (
            <ChosenJob name={job} remove={w.anotherJob} onRemove={() => setJob(null)} className="w-fit" />
          )}
          {mode !== undefined && mode !== "sharding" && <span className="text-bad text-xs">{w.notSharded}</span>}
        </div>
        <HowItIsRead how={how} look={found} onChange={lookAgain} isDisabled={staging} />
        {found && <Found look={found} />}
      </div>
    </Dialog>
  );
}

function HowItIsRead({
  how,
  look,
  onChange,
  isDisabled,
}: {
  how: How;
  look: DataLook | null;
  onChange: (next: How) => void;
  isDisabled: boolean;
}) {
  const w = useWords(dataWords);
  const kind = how.kind ?? look?.kind;
  const found = { value: "", label: w.found };
  const set = (part: How) => onChange({ ...how, ...part });
  return (
    <div className="grid grid-cols-2 items-end gap-3 sm:grid-cols-4">
      <Select
        label={w.kind}
        size="sm"
        isDisabled={isDisabled}
        value={kind ?? null}
        onChange={(next) => onChange({ kind: next as DataKind })}
        options={(["csv", "excel", "json"] as const).map((each) => ({ value: each, label: w.kinds[each] }))}
      />
      {kind === "csv" && (
        <>
          <Select
            label={w.encoding}
            size="sm"
            isDisabled={isDisabled}
            value={how.encoding ?? ""}
            onChange={(next) => set({ encoding: next || null })}
            options={[
              { ...found, label: look?.encoding ? `${w.found}: ${look.encoding}` : w.found },
              ...ENCODINGS.map((each) => ({ value: each, label: each })),
            ]}
          />
          <Select
            label={w.delimiter}
            size="sm"
            isDisabled={isDisabled}
            value={how.delimiter ?? ""}
            onChange={(next) => set({ delimiter: next || null })}
            options={[found, ...DELIMITERS.map(([value, name]) => ({ value, label: w.delimiters[name] }))]}
          />
        </>
      )}
      {kind === "excel" && look && look.sheets.length > 1 && (
        <Select
          label={w.sheet}
          size="sm"
          isDisabled={isDisabled}
          value={how.sheet ?? look.sheet ?? null}
          onChange={(next) => onChange({ ...how, sheet: next, levelColumn: null })}
          options={look.sheets.map((each) => ({ value: each, label: each }))}
        />
      )}
      {look && look.columns.length > 0 && (
        <Select
          label={w.levelColumn}
          size="sm"
          isDisabled={isDisabled}
          value={how.levelColumn ?? look.levelColumn ?? ""}
          onChange={(next) => set({ levelColumn: next || null })}
          options={[
            { value: "", label: w.oneLevel },
            ...look.columns.filter((each) => each !== "").map((each) => ({ value: each, label: each })),
          ]}
        />
      )}
      {kind !== "json" && (
        <Check
          label={w.header}
          isDisabled={isDisabled}
          value={!how.headerless}
          onChange={(on) => onChange({ ...how, headerless: !on, levelColumn: null })}
        />
      )}
    </div>
  );
}

function Found({ look }: { look: DataLook }) {
  const w = useWords(dataWords);
  const said = useSaid();
  const { levelSizes: sizes } = look;
  return (
    <>
      <p data-testid="data-items" data-items={look.items}>
        <span className="font-semibold text-md">{w.items(look.items)}</span>{" "}
        {look.levels > 1 && <span className="text-ink-2">{w.inLevels(look.levels)}</span>}
        {look.levels > 1 && (
          <span className="block text-ink-3 text-xs">
            {w.levels(
              sizes
                .slice(0, 12)
                .map(({ level, items }) => `${level}: ${items}`)
                .join(" · "),
            )}
            {look.levels > 12 && ` ${w.moreLevels(look.levels - 12)}`}
          </span>
        )}
      </p>
      {look.faulty > 0 && (
        <div data-testid="data-faults">
          <Notice tone="bad" icon={<TriangleAlert />} title={w.faults(look.faulty)}>
            {w.faultsLead}
            <ul className="mt-1 max-h-36 overflow-y-auto text-xs">
              {look.faults.map((each) => (
                <li key={each.row} className="flex gap-3">
                  <span className="w-20 shrink-0 text-ink-3">{w.faultRow(each.row)}</span>
                  <span>{said(each.words)}</span>
                </li>
              ))}
              {look.faulty > look.faults.length && (
                <li className="text-ink-3">{w.moreFaults(look.faulty - look.faults.length)}</li>
              )}
            </ul>
          </Notice>
        </div>
      )}
      {look.firstRows.length > 0 && <Rows look={look} />}
    </>
  );
}
