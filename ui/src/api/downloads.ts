// Saving a whole log as a file. In the desktop the program asks where to and writes it; in a browser the node streams it
// to an address that is good for one look, so that the page never holds all of it and the token is in no history.
import { invoke } from "@tauri-apps/api/core";
import { asFault, inDesktop, Refusal, request, Silence } from "./door";

interface WantedLog {
  task: string;
  attempt: number;
  name: string;
}

/** False: the person changed their mind. */
export async function saveLog(wanted: WantedLog): Promise<boolean> {
  if (inDesktop) {
    try {
      return await invoke<boolean>("save_log", { wanted });
    } catch (cause) {
      const fault = asFault(cause);
      throw fault ? new Refusal(fault) : new Silence();
    }
  }
  const { ticket } = await request<{ ticket: string }>("/api/downloads", wanted);
  const link = document.createElement("a");
  link.href = `/api/downloads/${encodeURIComponent(ticket)}`;
  link.download = wanted.name;
  link.click();
  return true;
}
