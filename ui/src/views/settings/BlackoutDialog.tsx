// One blackout window, new or changed: when, for whom and why at the left; at the right what it would hold back, live, so
// that nobody is surprised. What is saved can be taken back.
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { blackoutEffectQuery, faultsOf, usePutBlackout, useRestoreBlackout } from "@/api/blackouts";
import { Refusal } from "@/api/door";
import { bootstrapQuery } from "@/api/node";
import type { Blackout, BlackoutRow } from "@/api/types";
import { wallAt } from "@/api/walltime";
import { EffectOf, EffectSkeleton, JobsField, RefusalNotice } from "@/components";
import {
  DraftError,
  emptyWindow,
  optionsOf,
  scheduleWords,
  type WindowDraft,
  WindowFields,
  windowFrom,
  windowOf,
} from "@/components/schedule";
import { now } from "@/lib/clock";
import { useSettled } from "@/lib/settled";
import { useSaid, useWords } from "@/lib/words";
import { Button, Dialog, Segmented, TextField, toast } from "@/primitives";
import { blackoutWords } from "./blackoutWords";

interface BlackoutDialogProps {
  /** None: a new one. */
  edited: BlackoutRow | null;
  /** Names that a new one cannot have. */
  taken: readonly string[];
  onClose: () => void;
}

interface Draft {
  name: string;
  reason: string;
  some: boolean;
  tags: string;
  tenants: string;
  jobs: string[];
  window: WindowDraft;
}

const HOUR_MS = 3_600_000;

/** Reads what the dialog begins with, once. */
export function BlackoutDialog({ edited, ...rest }: BlackoutDialogProps) {
  const client = useQueryClient();
  const zone = useQuery(bootstrapQuery()).data?.zone;
  const begin = useQuery({
    queryKey: ["form", "blackout", edited?.name ?? null],
    enabled: zone !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async () => {
      const at = zone ?? "UTC";
      const soon = `${(await wallAt(client, Math.ceil(now() / HOUR_MS) * HOUR_MS + HOUR_MS, at)).slice(0, 13)}:00`;
      return edited ? windowFrom(client, edited.blackout.window, at, soon) : emptyWindow(at, soon);
    },
  });
  return begin.data ? <Editor edited={edited} {...rest} window={begin.data} /> : null;
}

function Editor({ edited, taken, onClose, window }: BlackoutDialogProps & { window: WindowDraft }) {
  const w = useWords(blackoutWords);
  const sched = useWords(scheduleWords);
  const said = useSaid();
  const client = useQueryClient();
  const zones = useQuery(bootstrapQuery()).data?.zones ?? [];
  const put = usePutBlackout();
  const restore = useRestoreBlackout();
  const before = edited?.blackout;
  const [draft, setDraft] = useState<Draft>(() => ({
    name: edited?.name ?? "",
    reason: before?.reason ?? "",
    some: Boolean(before?.tags?.length || before?.tenants?.length || before?.jobs?.length),
    tags: (before?.tags ?? []).join(", "),
    tenants: (before?.tenants ?? []).join(", "),
    jobs: before?.jobs ?? [],
    window,
  }));
  const [tried, setTried] = useState(false);
  const change = (part: Partial<Draft>) => {
    put.reset();
    setDraft((old) => ({ ...old, ...part }));
  };

  const settled = useSettled(draft, 220);
  const read = useQuery({
    queryKey: ["form", "blackout", "read", settled.window],
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
    queryFn: async () => {
      try {
        const window = await windowOf(client, settled.window);
        const faults = await faultsOf(window);
        return { window: faults.length > 0 ? null : window, faults, unread: null };
      } catch (error) {
        if (error instanceof DraftError) return { window: null, faults: [], unread: error.field };
        throw error;
      }
    },
  });
  const wanted = useMemo(
    () =>
      read.data?.window ? { name: nameOf(settled, w.unnamed), blackout: documentOf(settled, read.data.window) } : null,
    [settled, read.data, w.unnamed],
  );
  const nobody = draft.some && isForNobody(draft);
  const effect = useQuery({
    ...blackoutEffectQuery(wanted ?? { name: "", blackout: { window: {} } }),
    enabled: wanted !== null && !(settled.some && isForNobody(settled)),
  });
  const old = settled !== draft || read.isPlaceholderData;
  const stale = old || effect.isPlaceholderData;

  const refusal = [put.error, effect.error].find((error): error is Refusal => error instanceof Refusal);
  const wrongName = taken.includes(draft.name.trim()) && !edited ? w.taken : null;
  const error = (field: string): string | null => {
    if (read.data?.unread === field) return field === "repeatDays" ? sched.repeat.notDays : sched.notWall;
    const fault = read.data?.faults.find((each) => each.field === field);
    if (fault) return said(fault.message);
    return refusal?.field === field ? said(refusal.said) : null;
  };
  const elsewhere = refusal && !FIELDS.includes(refusal.field ?? "") ? refusal : null;

  const save = async () => {
    setTried(true);
    if (put.isPending || wrongName || nobody || (!old && read.data?.window === null)) return;
    let blackout: Blackout;
    try {
      blackout = documentOf(draft, await windowOf(client, draft.window));
    } catch (cause) {
      if (cause instanceof DraftError) return;
      throw cause;
    }
    const name = draft.name.trim();
    put.mutate(
      { name, blackout },
      {
        onSuccess: () => {
          onClose();
          toast({
            text: edited ? w.saved(name) : w.added(name),
            // The dialog is gone by then, so what follows hangs on the promise; a refusal has its toast already.
            undo: () =>
              void restore.mutateAsync({ name, blackout: before ?? null }).then(
                () => toast({ text: before ? w.asBefore(name) : w.removed(name) }),
                () => undefined,
              ),
          });
        },
      },
    );
  };

  return (
    <Dialog
      open
      onClose={onClose}
      width={880}
      title={edited ? w.edit(edited.name) : w.addTitle}
      footer={
        <>
          <Button onPress={onClose}>{w.cancel}</Button>
          <Button variant="primary" isPending={put.isPending} onPress={() => void save()} data-testid="blackout-save">
            {w.save}
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)_260px] gap-6" data-testid="blackout-dialog">
        <div className="flex min-w-0 flex-col gap-1">
          <div className="grid grid-cols-2 gap-x-4">
            <TextField
              required
              autoFocus={!edited}
              isDisabled={edited !== null}
              label={w.name}
              hint={edited ? w.nameStays : w.nameHint}
              value={draft.name}
              onChange={(name) => change({ name })}
              error={wrongName ?? (tried ? error("name") : null)}
            />
            <TextField
              label={w.reason}
              hint={w.reasonHint}
              value={draft.reason}
              onChange={(reason) => change({ reason })}
            />
          </div>
          <WindowFields
            draft={draft.window}
            set={(next) => {
              put.reset();
              setDraft((old) => ({ ...old, window: next(old.window) }));
            }}
            error={error}
            zones={zones}
          />
          <Segmented<"everything" | "some">
            label={w.forWhom}
            value={draft.some ? "some" : "everything"}
            onChange={(next) => change({ some: next === "some" })}
            hint={draft.some ? w.forSomeHint : ""}
            error={tried && nobody ? w.nobody : null}
            options={optionsOf(w.forWhoms)}
          />
          {draft.some && (
            <>
              <div className="grid grid-cols-2 gap-x-4">
                <TextField
                  label={w.tags}
                  hint={w.commas}
                  value={draft.tags}
                  onChange={(tags) => change({ tags })}
                  error={error("tags")}
                />
                <TextField
                  label={w.tenants}
                  hint={w.commas}
                  value={draft.tenants}
                  onChange={(tenants) => change({ tenants })}
                  error={error("tenants")}
                />
              </div>
              <JobsField
                label={w.jobs}
                value={draft.jobs}
                onChange={(jobs) => change({ jobs })}
                error={error("jobs")}
              />
            </>
          )}
          {elsewhere && <RefusalNotice error={elsewhere} />}
        </div>
        <aside
          aria-label={w.effect}
          className="sticky top-0 min-w-0 self-start rounded-md bg-sunken p-3 ring-1 ring-line ring-inset"
        >
          {effect.data && !nobody ? (
            <EffectOf
              effect={effect.data}
              held={edited ? { name: edited.name, blackout: edited.blackout } : null}
              stale={stale}
            />
          ) : nobody ? (
            <p className="text-ink-3">{w.nobody}</p>
          ) : effect.isError || (read.data && !read.data.window) ? (
            <p className="text-ink-3">—</p>
          ) : (
            <EffectSkeleton />
          )}
        </aside>
      </div>
    </Dialog>
  );
}

/** The places in the dialog where an error can stand. */
const FIELDS = [
  "name",
  "tags",
  "tenants",
  "jobs",
  "window",
  "from",
  "until",
  "schedule",
  "durationSeconds",
  "expression",
  "dialect",
  "timeZone",
  "dstGap",
  "dstOverlap",
  "startTime",
  "endTime",
  "count",
  "repeatInterval",
  "repeatDays",
  "everySeconds",
];

function nameOf(draft: Draft, unnamed: string): string {
  return draft.name.trim() === "" ? unnamed : draft.name.trim();
}

const listed = (text: string) => [...new Set(text.split(/[,，\s]+/).filter((part) => part !== ""))];

function isForNobody({ tags, tenants, jobs }: Draft): boolean {
  return listed(tags).length + listed(tenants).length + jobs.length === 0;
}

function documentOf(draft: Draft, window: Blackout["window"]): Blackout {
  const { reason, some, jobs } = draft;
  const [tags, tenants] = [listed(draft.tags), listed(draft.tenants)];
  return {
    window,
    ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
    ...(some && tags.length > 0 ? { tags } : {}),
    ...(some && tenants.length > 0 ? { tenants } : {}),
    ...(some && jobs.length > 0 ? { jobs } : {}),
  };
}
