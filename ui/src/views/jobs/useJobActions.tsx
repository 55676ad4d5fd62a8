// What one can do to jobs from a list or from one job's page: run, pause, resume, delete, export; with a question first
// where many are meant, and a way back wherever there is one.
import { useNavigate } from "@tanstack/react-router";
import { Copy } from "lucide-react";
import { type ReactNode, useState } from "react";
import { inDesktop } from "@/api/door";
import { useApplyJobs, useExportJobs, usePauseJobs, useRemoveJobs, useResumeJobs, useRunJobs } from "@/api/jobs";
import { copyText, saveText } from "@/lib/clipboard";
import { useWords } from "@/lib/words";
import { Button, CodeBlock, Dialog, toast } from "@/primitives";
import { jobWords } from "./words";

interface Asking {
  title: string;
  lead: string;
  confirm: string;
  danger: boolean;
  go: () => void;
}

export function useJobActions(onGone?: () => void) {
  const w = useWords(jobWords);
  const navigate = useNavigate();
  const [asking, setAsking] = useState<Asking | null>(null);
  const [exported, setExported] = useState<{ name: string; text: string } | null>(null);
  const runJobs = useRunJobs();
  const pauseJobs = usePauseJobs();
  const resumeJobs = useResumeJobs();
  const removeJobs = useRemoveJobs();
  const applyJobs = useApplyJobs();
  const exportJobs = useExportJobs();

  const run = (jobs: string[]) => {
    const go = () => runJobs.mutate(jobs, { onSuccess: (done) => toast({ text: w.ran(done.instances.length) }) });
    if (jobs.length < 2) go();
    else setAsking({ title: w.runTitle(jobs.length), lead: w.runLead, confirm: w.run, danger: false, go });
  };
  const resume = (jobs: string[]) =>
    resumeJobs.mutate(jobs, {
      onSuccess: () => toast({ text: w.didResume(jobs.length), undo: () => pauseJobs.mutate(jobs) }),
    });
  const pause = (jobs: string[]) => {
    const go = () =>
      pauseJobs.mutate(jobs, {
        onSuccess: () => toast({ text: w.didPause(jobs.length), undo: () => resumeJobs.mutate(jobs) }),
      });
    if (jobs.length < 2) go();
    else setAsking({ title: w.pauseTitle(jobs.length), lead: w.pauseLead, confirm: w.pause, danger: false, go });
  };
  const remove = (jobs: string[]) =>
    setAsking({
      title: w.removeTitle(jobs.length),
      lead: w.removeLead,
      confirm: w.remove,
      danger: true,
      go: () =>
        removeJobs.mutate(jobs, {
          onSuccess: (document) => {
            toast({ text: w.didRemove(jobs.length), undo: () => applyJobs.mutate(document) });
            onGone?.();
          },
        }),
    });
  // A browser saves files; the desktop's window does not, so there the text is shown, to be copied.
  const save = (jobs: string[], name: string) =>
    exportJobs.mutate(jobs, {
      onSuccess: ({ text }) => {
        if (inDesktop) setExported({ name: `${name}.yaml`, text });
        else saveText(`${name}.yaml`, text, "application/yaml");
      },
    });
  const edit = (job: string) => void navigate({ to: "/jobs/$job/edit", params: { job } });

  const question: ReactNode = (
    <>
      <Dialog
        open={exported !== null}
        onClose={() => setExported(null)}
        title={exported?.name ?? ""}
        lead={w.exportLead}
        width={720}
        footer={
          <Button
            variant="primary"
            autoFocus
            icon={<Copy />}
            onPress={async () => {
              if (!exported) return;
              const done = await copyText(exported.text);
              toast(done ? { text: w.copied } : { tone: "bad", text: w.notCopied });
              if (done) setExported(null);
            }}
          >
            {w.copy}
          </Button>
        }
      >
        <CodeBlock tall className="mt-1">
          {exported?.text ?? ""}
        </CodeBlock>
      </Dialog>
      <Dialog
        open={asking !== null}
        onClose={() => setAsking(null)}
        role="alertdialog"
        title={asking?.title ?? ""}
        lead={asking?.lead}
        width={440}
        footer={
          <>
            <Button onPress={() => setAsking(null)}>{w.cancel}</Button>
            <Button
              autoFocus
              variant={asking?.danger ? "danger" : "primary"}
              onPress={() => {
                asking?.go();
                setAsking(null);
              }}
            >
              {asking?.confirm ?? ""}
            </Button>
          </>
        }
      />
    </>
  );
  return { run, pause, resume, remove, save, edit, question };
}
