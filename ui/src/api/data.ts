// Files with data for a run: handed in, looked at, taken in, and given to a run. In the desktop a file is read where it
// lies; a browser sends it to the node first.

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { getCurrentWebview } from "@tauri-apps/api/webview";
import { call, command, inDesktop, send } from "./door";
import type { DataView as FileView, GivenFile, LookAtData } from "./types";

/** What may be handed in: a file of the browser's, or one that the desktop knows. */
export type Handed = { file: File } | { given: GivenFile };

/** Asks the person for a file, in the desktop; null: they changed their mind. */
export const chooseData = () => command<GivenFile | null>("choose_data");

const handInData = (path: string) => command<GivenFile>("hand_in_data", { path });

/** Sends a file of the browser's. */
export const sendData = (file: File, onPart: (part: number) => void, signal: AbortSignal) =>
  send<GivenFile>(`/api/uploads?name=${encodeURIComponent(file.name)}`, file, onPart, signal);

interface Dropping {
  /** Something is held over the window, or no longer. */
  onOver: (over: boolean) => void;
  onDrop: (handed: Handed) => void;
  onRefused: (error: unknown) => void;
}

/** Follows what is dropped on the window: of several files the first. */
export function onFileDropped({ onOver, onDrop, onRefused }: Dropping): () => void {
  if (inDesktop) {
    const listening = getCurrentWebview().onDragDropEvent(({ payload }) => {
      if (payload.type === "enter") onOver(payload.paths.length > 0);
      if (payload.type === "leave") onOver(false);
      if (payload.type !== "drop") return;
      onOver(false);
      const [path] = payload.paths;
      if (path !== undefined) handInData(path).then((given) => onDrop({ given }), onRefused);
    });
    return () => void listening.then((stop) => stop());
  }
  const hasFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  const over = (event: DragEvent) => {
    if (!hasFile(event)) return;
    // Otherwise the browser would open the file in the place of the console.
    event.preventDefault();
    onOver(true);
  };
  const leave = (event: DragEvent) => {
    if (event.relatedTarget === null) onOver(false);
  };
  const drop = (event: DragEvent) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    onOver(false);
    const [file] = event.dataTransfer?.files ?? [];
    if (file) onDrop({ file });
  };
  window.addEventListener("dragover", over);
  window.addEventListener("dragleave", leave);
  window.addEventListener("drop", drop);
  return () => {
    window.removeEventListener("dragover", over);
    window.removeEventListener("dragleave", leave);
    window.removeEventListener("drop", drop);
  };
}

/** While it is being read it is asked about again; nothing of it is in the feed. */
const ASK_AGAIN_MS = 300;

export const isReading = (view: Pick<FileView, "phase"> | undefined) =>
  view?.phase === "looking" || view?.phase === "staging";

export const dataFileQuery = (file: string) =>
  queryOptions({
    queryKey: ["data", file],
    queryFn: () => call("data_file", { file }),
    refetchInterval: ({ state }) => (isReading(state.data) ? ASK_AGAIN_MS : false),
    gcTime: 0,
    retry: false,
  });

function useDataChange<T>(change: (input: T) => Promise<FileView>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (view) => client.setQueryData(["data", view.file], view),
    // Said in the dialog.
    meta: { quiet: true },
  });
}

export const useLookAtData = () => useDataChange((look: LookAtData) => call("look_at_data", look));

export const useStageData = () => useDataChange((file: string) => call("stage_data", { file }));

/** It goes, and whatever of it was taken in. Nobody waits for that. */
export const discardData = (file: string) => void call("discard_data", { file }).catch(() => {});

/** Starts a job with data that was taken in; tells the new run. */
export function useRunWithData() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: { job: string; data: string }) => call("run_jobs", { jobs: [input.job], data: input.data }),
    onSettled: () => client.invalidateQueries({ queryKey: ["instances"] }),
    meta: { quiet: true },
  });
}
