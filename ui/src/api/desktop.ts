// What only the desktop's window can do: learn that it is being closed, hide, and end the program.
import { invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import { inDesktop } from "./door";

/** Calls back when the window is being closed and the person has not been told what that means. In a browser: never. */
export function onClosing(tell: () => void): () => void {
  if (!inDesktop) return () => {};
  const listening = listen("closing", tell);
  return () => void listening.then((stop) => stop());
}

/** Calls back with the run that the person wants to see: they clicked a notification about it. In a browser: never. */
export function onOpenRun(open: (run: string) => void): () => void {
  if (!inDesktop) return () => {};
  const listening = listen<string>("open-run", ({ payload }) => open(payload));
  return () => void listening.then((stop) => stop());
}

/** Hides the window; the engine goes on. */
export const keepRunning = () => invoke<void>("keep_running");

/** Ends the program. */
export const quit = () => invoke<void>("quit");
