// The working-day calendars that jobs can keep to: what each stands on, the years it has data for, and who uses it.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { CalendarDays, ChevronRight, Plus } from "lucide-react";
import { useState } from "react";
import { calendarsQuery, usePutCalendar } from "@/api/calendars";
import { Refusal } from "@/api/door";
import type { WorkCalendarRow } from "@/api/types";
import { Answer, RefusalNotice } from "@/components";
import { useSaid, useWords } from "@/lib/words";
import { Button, Dialog, EmptyState, Section, Select, SkeletonRows, Tag, TextField } from "@/primitives";
import { calendarsWords } from "./calendarWords";

export function CalendarList() {
  const w = useWords(calendarsWords);
  const said = useSaid();
  const calendars = useQuery(calendarsQuery());
  const [adding, setAdding] = useState(false);
  return (
    <Section
      title={w.title}
      note={w.note}
      actions={
        <Button size="sm" icon={<Plus />} onPress={() => setAdding(true)}>
          {w.add}
        </Button>
      }
    >
      <Answer of={calendars} skeleton={<SkeletonRows rows={2} />}>
        {({ rows }) =>
          rows.length === 0 ? (
            <div className="panel">
              <EmptyState icon={<CalendarDays />} title={w.title} />
            </div>
          ) : (
            <ul className="panel divide-y divide-line">
              {rows.map((row) => (
                <li key={row.name}>
                  <Link
                    to="/settings/calendars/$calendar"
                    params={{ calendar: row.name }}
                    className="flex min-h-13 items-center gap-3 px-4 py-2 hover:bg-hover"
                  >
                    <span className="min-w-0 flex-1">
                      <span className="flex flex-wrap items-center gap-x-2">
                        <span className="font-medium">{said(row.title)}</span>
                        <code className="text-2xs text-ink-3">{row.name}</code>
                        {row.built_in ? <Tag>{w.builtIn}</Tag> : row.carried && <Tag>{w.changedHere}</Tag>}
                        {row.ends_soon && row.data_ends && <Tag tone="warn">{w.ends(row.data_ends)}</Tag>}
                      </span>
                      <span className="block text-ink-3 text-xs">
                        {[w.week(row.week), row.base && row.base !== row.name && w.basedOn(row.base), w.jobs(row.jobs)]
                          .filter(Boolean)
                          .join(" · ")}
                      </span>
                    </span>
                    <span className="shrink-0 text-ink-2 text-xs">{years(row, w)}</span>
                    <ChevronRight size={15} className="shrink-0 text-ink-3" />
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
      {adding && <NewCalendar rows={calendars.data?.rows ?? []} onClose={() => setAdding(false)} />}
    </Section>
  );
}

function years(row: WorkCalendarRow, w: { always: string; covered: (from: number, to: number) => string }) {
  const [first, last] = [row.years[0], row.years.at(-1)];
  return first === undefined || last === undefined ? w.always : w.covered(first, last);
}

function NewCalendar({ rows, onClose }: { rows: readonly WorkCalendarRow[]; onClose: () => void }) {
  const w = useWords(calendarsWords);
  const said = useSaid();
  const navigate = useNavigate();
  const put = usePutCalendar();
  const [name, setName] = useState("");
  const [base, setBase] = useState(rows[0]?.name ?? "");
  const refusal = put.error instanceof Refusal ? put.error : null;
  const atName = refusal?.field?.endsWith("name") ?? false;
  const create = () =>
    put.mutate(
      {
        calendar: {
          apiVersion: "campanile/v1",
          name: name.trim(),
          ...(base === "" ? { week: [1, 2, 3, 4, 5] } : { base }),
          layers: [{ name: w.ownLayer, days: [] }],
          revision: 0,
        },
        seen_revision: null,
      },
      {
        onSuccess: () => void navigate({ to: "/settings/calendars/$calendar", params: { calendar: name.trim() } }),
      },
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title={w.newTitle}
      width={440}
      footer={
        <>
          <Button onPress={onClose}>{w.cancel}</Button>
          <Button variant="primary" isPending={put.isPending} onPress={create}>
            {w.create}
          </Button>
        </>
      }
    >
      <TextField
        autoFocus
        required
        label={w.newName}
        hint={w.newNameHint}
        value={name}
        onChange={setName}
        error={atName && refusal ? said(refusal.said) : null}
      />
      <Select
        label={w.newBase}
        value={base}
        onChange={setBase}
        options={[
          ...rows.map((row) => ({ value: row.name, label: said(row.title), detail: row.name })),
          { value: "", label: w.noBase },
        ]}
      />
      {refusal && !atName && <RefusalNotice error={refusal} />}
    </Dialog>
  );
}
