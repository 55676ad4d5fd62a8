// Days from a file: what it says is read by the node and shown as the difference it would make, for the days and for jobs,
// before any of it is taken.
import { useQuery } from "@tanstack/react-query";
import { FileUp } from "lucide-react";
import { useDeferredValue, useRef, useState } from "react";
import { readFileQuery, useImportCalendar } from "@/api/calendars";
import { RefusalNotice } from "@/components";
import { marks, useSaid, useWords } from "@/lib/words";
import { Button, Dialog, Notice, TextField, toast } from "@/primitives";
import { JobTimes } from "./CalendarEffect";
import { calendarsWords } from "./calendarWords";

interface ImportCalendarProps {
  calendar: string;
  title: string;
  revision: number;
  onClose: () => void;
}

export function ImportCalendar({ calendar, title, revision, onClose }: ImportCalendarProps) {
  const w = useWords(calendarsWords);
  const m = useWords(marks);
  const said = useSaid();
  const picker = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [fileName, setFileName] = useState<string | null>(null);
  const [layer, setLayer] = useState("country");
  const settled = useDeferredValue(text);
  const file = { calendar, layer: layer.trim() || null, file_name: fileName, text: settled, seen_revision: revision };
  const read = useQuery(readFileQuery(file));
  const take = useImportCalendar();
  const draft = text.trim() === "" ? undefined : read.data;
  const state = (works: boolean | null) => (works === null ? w.uncovered : works ? w.working : w.off);
  const years = [...new Set((draft?.days ?? []).map((day) => day.date.slice(0, 4)))].join(m.and);
  const blocked =
    !draft || draft.faults.length > 0 || read.isFetching
      ? w.effectReading
      : draft.days.length === 0
        ? w.importSame
        : null;
  return (
    <Dialog
      open
      onClose={onClose}
      width={720}
      title={w.importTitle(title)}
      lead={w.importLead}
      footer={
        <>
          <Button onPress={onClose}>{w.cancel}</Button>
          <Button
            variant="primary"
            why={blocked}
            isPending={take.isPending}
            onPress={() =>
              void take.mutateAsync(file).then(
                () => {
                  toast({ text: w.saved(title) });
                  onClose();
                },
                () => undefined,
              )
            }
          >
            {w.take}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-2">
        <div className="flex items-end gap-3">
          <input
            ref={picker}
            type="file"
            accept=".ics,.ical,.csv,text/calendar,text/csv"
            className="sr-only"
            tabIndex={-1}
            aria-label={w.chooseFile}
            onChange={async (event) => {
              const chosen = event.currentTarget.files?.[0];
              if (!chosen) return;
              setFileName(chosen.name);
              setText(await chosen.text());
            }}
          />
          <Button icon={<FileUp />} onPress={() => picker.current?.click()} className="mb-5">
            {fileName ?? w.chooseFile}
          </Button>
          <TextField className="w-44" label={w.importLayer} value={layer} onChange={setLayer} />
        </div>
        <TextField
          code
          rows={5}
          label={w.paste}
          value={text}
          onChange={(next) => {
            setText(next);
            setFileName(null);
          }}
          placeholder={"2026-12-24,off,Christmas Eve"}
        />
        {read.error && <RefusalNotice error={read.error} />}
        {take.error && <RefusalNotice error={take.error} />}
        {draft && draft.faults.length > 0 && (
          <Notice tone="bad" title={w.cannotRead}>
            {draft.faults.slice(0, 6).map((fault, i) => (
              <span key={i} className="block">
                {said(fault.message)}
              </span>
            ))}
          </Notice>
        )}
        {draft && draft.faults.length === 0 && (
          <div data-testid="import-difference">
            <p className="font-medium">
              {draft.days.length === 0 ? w.importSame : `${w.importRead(draft.read, years)} · ${w.importDifference}`}
            </p>
            <ul className="mt-1 max-h-56 overflow-y-auto">
              {draft.days.map((day) => (
                <li key={day.date} className="flex min-h-7 items-center gap-3 border-line border-b last:border-b-0">
                  <span className="w-28 shrink-0">{w.dateOf(day.date)}</span>
                  <span className="shrink-0 text-ink-2">
                    {w.becomes(state(day.workedBefore), state(day.workedAfter))}
                  </span>
                  <span className="min-w-0 flex-1 truncate text-ink-3">{said(day.whyAfter)}</span>
                </li>
              ))}
            </ul>
            <div className="mt-3">
              <div className="mb-1 font-semibold">{w.effect}</div>
              <JobTimes jobs={draft.jobs} more={draft.more_jobs} />
            </div>
          </div>
        )}
      </div>
    </Dialog>
  );
}
