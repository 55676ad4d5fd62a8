// Saving a whole log, or the report of a run, as a file. In the desktop the program asks where to and writes it; in a browser the node streams it
// to an address that is good for one look, so that the page never holds all of it and the token is in no history.
import { invoke } from "@tauri-apps/api/core";
import { getLang } from "@/lib/words";
import { command, inDesktop, request } from "./door";

interface WantedLog {
  task: string;
  attempt: number;
  name: string;
}

export type ReportFormat = "csv" | "xlsx";

interface WantedReport {
  instance: string;
  format: ReportFormat;
  name: string;
}

/** False: the person changed their mind. */
export const saveLog = (wanted: WantedLog) => save("save_log", wanted);

/** What became of every item of a run, as it stands now. False: the person changed their mind, before or on the way. */
export const saveReport = (wanted: WantedReport) => save("save_report", wanted);

/** Ends whatever report is being written; nothing of it stays. In a browser that is the browser's own affair. */
export const stopSaving = () => inDesktop && void invoke("stop_saving");

async function save(name: string, wanted: WantedLog | WantedReport): Promise<boolean> {
  if (inDesktop) return command<boolean>(name, { wanted, lang: getLang() });
  const { ticket } = await request<{ ticket: string }>("/api/downloads", wanted);
  const link = document.createElement("a");
  link.href = `/api/downloads/${encodeURIComponent(ticket)}`;
  link.download = wanted.name;
  link.click();
  return true;
}
