// Starting a run from a file: what is dropped on the window, or asked for by a button, opens the dialog.
import { lazy, Suspense, useEffect, useState } from "react";
import { sayRefusal } from "@/api/client";
import { onFileDropped } from "@/api/data";
import { useWords } from "@/lib/words";
import { askForData, useAskedForData } from "./asked";
import { dataWords } from "./words";

// Nobody needs it at the start.
const DataDialog = lazy(() => import("./DataDialog"));

export function FromFile({ onStarted }: { onStarted: (run: string) => void }) {
  const w = useWords(dataWords);
  const asked = useAskedForData();
  const [over, setOver] = useState(false);
  useEffect(
    () =>
      onFileDropped({
        onOver: setOver,
        onDrop: (handed) => askForData({ handed, job: null }),
        onRefused: sayRefusal,
      }),
    [],
  );
  return (
    <>
      {over && (
        <div
          className="pointer-events-none fixed inset-0 z-60 flex items-center justify-center bg-veil"
          data-testid="drop-here"
        >
          <div className="rounded-xl border-2 border-accent-ink border-dashed bg-surface px-10 py-8 text-center shadow-sheet">
            <div className="font-semibold text-lg">{w.drop}</div>
            <div className="mt-1 text-ink-2">{w.dropHint}</div>
          </div>
        </div>
      )}
      {asked && (
        <Suspense>
          <DataDialog
            asked={asked}
            onClose={() => askForData(null)}
            onStarted={(run) => {
              askForData(null);
              onStarted(run);
            }}
          />
        </Suspense>
      )}
    </>
  );
}
