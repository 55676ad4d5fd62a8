// The data by which wall-clock times are planned: its version, and how newer data is taken in, with the times that it
// would change shown first.
import { useQuery } from "@tanstack/react-query";
import { Globe, Search } from "lucide-react";
import { useState } from "react";
import { Refusal } from "@/api/door";
import { useImportZones, zonesQuery } from "@/api/zones";
import { Answer, RefusalNotice } from "@/components";
import { useSaid, useWords } from "@/lib/words";
import { Button, Dialog, Facts, Section, SkeletonRows, TextField, toast } from "@/primitives";
import { zoneWords } from "./zoneWords";

export function ZoneData() {
  const w = useWords(zoneWords);
  const zones = useQuery(zonesQuery());
  const [importing, setImporting] = useState(false);
  return (
    <Section
      title={w.title}
      note={w.note}
      actions={
        <Button size="sm" icon={<Globe />} onPress={() => setImporting(true)}>
          {w.take}
        </Button>
      }
    >
      <div className="panel p-4">
        <Answer of={zones} skeleton={<SkeletonRows rows={2} />}>
          {(data) => (
            <Facts
              rows={[
                [w.version, `${data.version} · ${w.zones(data.zones)}`],
                [w.bundled, data.bundled],
              ]}
            />
          )}
        </Answer>
      </div>
      {importing && <ImportZones onClose={() => setImporting(false)} />}
    </Section>
  );
}

function ImportZones({ onClose }: { onClose: () => void }) {
  const w = useWords(zoneWords);
  const said = useSaid();
  const [folder, setFolder] = useState("");
  const look = useImportZones();
  const take = useImportZones();
  const found = look.data;
  const refusal = [take.error, look.error].find((error): error is Refusal => error instanceof Refusal) ?? null;
  const atFolder = refusal?.field === "folder";
  const input = { folder: folder.trim(), dry_run: false };
  return (
    <Dialog
      open
      onClose={onClose}
      title={w.takeTitle}
      lead={w.takeLead}
      width={560}
      footer={
        <>
          <Button onPress={onClose}>{w.cancel}</Button>
          {found ? (
            <Button
              autoFocus
              variant="primary"
              isPending={take.isPending}
              onPress={() =>
                take.mutate(input, {
                  onSuccess: ({ version }) => {
                    toast({ text: w.taken(version) });
                    onClose();
                  },
                })
              }
            >
              {w.confirm(found.version)}
            </Button>
          ) : (
            <Button
              variant="primary"
              icon={<Search />}
              isPending={look.isPending}
              onPress={() => look.mutate({ ...input, dry_run: true })}
            >
              {w.look}
            </Button>
          )}
        </>
      }
    >
      <TextField
        code
        required
        autoFocus
        label={w.folder}
        placeholder="/usr/share/zoneinfo"
        value={folder}
        onChange={(next) => {
          setFolder(next);
          look.reset();
          take.reset();
        }}
        error={atFolder && refusal ? said(refusal.said) : null}
      />
      {refusal && !atFolder && <RefusalNotice error={refusal} />}
      {found && (
        <div data-testid="zones-change">
          <p className="font-semibold">{w.would(found.before, found.version)}</p>
          <p className="mb-1 text-ink-2">{w.changed(found.changed)}</p>
          <ul className="max-h-72 overflow-y-auto">
            {found.jobs.map((job) => (
              <li key={job.job} className="border-line border-b py-1.5 last:border-b-0">
                <div className="flex items-baseline gap-2">
                  <span className="truncate font-medium" title={job.name}>
                    {job.name}
                  </span>
                  <span className="shrink-0 text-ink-3 text-xs">{job.time_zone}</span>
                </div>
                <div className="grid grid-cols-2 gap-3 text-xs">
                  <span className="text-ink-3 line-through">
                    {job.before.slice(0, 3).map((moment) => (
                      <span key={moment.ms} className="block">
                        {moment.text.slice(0, 16)}
                      </span>
                    ))}
                  </span>
                  <span className="text-accent-ink">
                    {job.after.slice(0, 3).map((moment) => (
                      <span key={moment.ms} className="block">
                        {moment.text.slice(0, 16)}
                      </span>
                    ))}
                  </span>
                </div>
              </li>
            ))}
          </ul>
          {found.changed > found.jobs.length && (
            <p className="text-ink-3">{w.more(found.changed - found.jobs.length)}</p>
          )}
        </div>
      )}
    </Dialog>
  );
}
