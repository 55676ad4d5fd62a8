// The same job once more: with its parameters as they were or as they should be this time, beside earlier runs or after.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Refusal } from "@/api/door";
import { executorsQuery } from "@/api/executors";
import { useRunAgain } from "@/api/instances";
import { bootstrapQuery } from "@/api/node";
import type { InstanceDetail } from "@/api/types";
import { ParameterForm, RefusalNotice } from "@/components";
import { useWords } from "@/lib/words";
import { Button, Dialog, Select, Switch } from "@/primitives";
import { runWords } from "./words";

interface AgainDialogProps {
  of: InstanceDetail;
  onClose: () => void;
  onDone: (instance: string | undefined) => void;
}

export function AgainDialog({ of: detail, onClose, onDone }: AgainDialogProps) {
  const w = useWords(runWords).againDialog;
  const bootstrap = useQuery(bootstrapQuery());
  const again = useRunAgain();
  const [parameters, setParameters] = useState<Record<string, unknown>>(detail.parameters);
  const [beside, setBeside] = useState(false);
  const [executor, setExecutor] = useState("");
  const executors = useQuery(executorsQuery());
  const able = (executors.data?.rows ?? []).filter(
    (row) =>
      row.group === detail.group &&
      row.state !== "gone" &&
      row.processors.some((each) => each.name === detail.processor),
  );
  const processor = bootstrap.data?.processors.find(
    (each) => each.group === detail.group && each.name === detail.processor,
  );
  const submit = () =>
    again.mutate(
      { job: detail.row.job, parameters, beside, executor: executor || null },
      { onSuccess: ({ instances }) => onDone(instances[0]) },
    );
  return (
    <Dialog
      open
      onClose={onClose}
      width={620}
      title={w.title(detail.row.job_name)}
      lead={w.lead}
      footer={
        <>
          <Button onPress={onClose}>{w.cancel}</Button>
          <Button
            variant="primary"
            kbd="ctrl+Enter"
            isPending={again.isPending}
            onPress={submit}
            data-testid="again-submit"
          >
            {w.run}
          </Button>
        </>
      }
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the key works from whichever field has the focus */}
      <div
        className="@container flex flex-col gap-3"
        data-testid="again-dialog"
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
        }}
      >
        {again.error instanceof Refusal && <RefusalNotice error={again.error} />}
        <ParameterForm
          schema={processor?.schema}
          value={parameters}
          onChange={(next) => setParameters(next)}
          error={() => null}
        />
        {detail.mode === "unicast" && (
          <Select
            label={w.executor}
            hint={w.executorHint}
            value={executor}
            onChange={setExecutor}
            options={[
              { value: "", label: w.anyExecutor },
              ...able.map((row) => ({
                value: row.name,
                label: row.name,
                detail: row.state === "live" ? "" : w.notLive,
              })),
            ]}
          />
        )}
        <Switch label={w.beside} hint={w.besideHint} value={beside} onChange={setBeside} />
      </div>
    </Dialog>
  );
}
