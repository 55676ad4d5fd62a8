// The only door to the node. `call` asks one named operation and gives its answer or throws a `Refusal`.
//
// In the desktop the question goes through Tauri; in a browser it is a POST to the node that served the page, with the
// token that came in the address at first opening. Nothing outside `ui/src/api` knows which of the two it is.
// Each question carries the zone that times shall be told in and the language, because the node writes all dates.
import { Channel, invoke } from "@tauri-apps/api/core";
import { type Bilingual, getLang } from "@/lib/words";
import type { Fault, Frame, Operations } from "./types";

export type Op = keyof Operations & string;
export type Input<K extends Op> = Operations[K]["input"];
export type Output<K extends Op> = Operations[K]["output"];

/** The node, or the way to it, said no. `code` is stable; `field` names the input that is to blame. */
export class Refusal extends Error {
  readonly code: string;
  readonly said: Bilingual;
  readonly hint: Bilingual | null;
  readonly field: string | null;
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message.en);
    this.fault = fault;
    this.name = "Refusal";
    this.code = fault.code;
    this.said = fault.message;
    this.hint = fault.hint;
    this.field = fault.field;
  }
}

/** Nobody answered. It may yet have been done, so only what is safe to repeat is asked again by itself. */
export class Silence extends Refusal {
  constructor() {
    super({
      code: "",
      message: { en: "The node does not answer", zh: "节点没有应答" },
      hint: {
        en: "Check that it is running; the console reconnects by itself.",
        zh: "请确认节点正在运行；控制台会自动重连。",
      },
      field: null,
    });
    this.name = "Silence";
  }
}

export const inDesktop = "__TAURI_INTERNALS__" in window;

const TOKEN = "campanile.token";
let token = "";

/** Takes the token out of the address, so that it is neither bookmarked nor seen over a shoulder. */
export function takeToken() {
  if (inDesktop) return;
  const found = /[#&]token=([^&]+)/.exec(window.location.hash);
  if (found?.[1]) {
    token = decodeURIComponent(found[1]);
    window.sessionStorage.setItem(TOKEN, token);
    window.history.replaceState(null, "", `${window.location.pathname}${window.location.search}#/`);
  } else {
    token = window.sessionStorage.getItem(TOKEN) ?? "";
  }
}

let zone = "local";
const zoneListeners = new Set<() => void>();

/** 'local' (the zone of the node's machine), 'UTC', or the name of a zone: what the node writes times in. */
export function getZone(): string {
  return zone;
}

export function setZone(next: string) {
  if (next === zone) return;
  zone = next;
  for (const listener of zoneListeners) listener();
}

export function onZone(listener: () => void): () => void {
  zoneListeners.add(listener);
  return () => zoneListeners.delete(listener);
}

/** Asks the desktop's own program. */
export async function command<T>(name: string, input: Record<string, unknown> = {}): Promise<T> {
  try {
    return await invoke<T>(name, input);
  } catch (cause) {
    throw isFault(cause) ? new Refusal(cause) : new Silence();
  }
}

export async function call<K extends Op>(op: K, input: Input<K>): Promise<Output<K>> {
  if (inDesktop) return command<Output<K>>("call", { op, input, zone, lang: getLang() });
  return request<Output<K>>(`/api/${op}`, input);
}

/** Asks the node that served the page. */
export async function request<T>(path: string, input: unknown): Promise<T> {
  const envelope = { input, zone, lang: getLang() };
  let response: Response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify(envelope),
    });
  } catch {
    throw new Silence();
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body as T;
  throw isFault(body) ? new Refusal(body) : new Silence();
}

/**
 * Sends a file to the node that served the page, as it is. In the desktop nothing is sent: it reads files where they are.
 * Another way than `fetch`, which does not say how far it is.
 */
export function send<T>(path: string, file: File, onPart: (part: number) => void, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.setRequestHeader("authorization", `Bearer ${token}`);
    request.responseType = "json";
    request.upload.onprogress = (event) => onPart(event.lengthComputable ? event.loaded / event.total : 0);
    request.onerror = () => reject(new Silence());
    request.onabort = () => reject(new DOMException("aborted", "AbortError"));
    request.onload = () => {
      const body: unknown = request.response;
      if (request.status >= 200 && request.status < 300) resolve(body as T);
      else reject(isFault(body) ? new Refusal(body) : new Silence());
    };
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/** What was thrown, where it is the node's own no. */
export function asFault(value: unknown): Fault | null {
  return isFault(value) ? value : null;
}

function isFault(value: unknown): value is Fault {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}

export interface FeedLink {
  close: () => void;
}

/**
 * Opens one connection to the live feed. `onEnd` comes once, when it is over for whatever reason; with the fault where
 * the node said one (its data folder cannot be opened, say).
 */
export function openFeed(onFrame: (frame: Frame) => void, onEnd: (fault: Fault | null) => void): FeedLink {
  let over = false;
  const end = (fault: Fault | null) => {
    if (over) return;
    over = true;
    onEnd(fault);
  };
  if (inDesktop) {
    const channel = new Channel<Frame>();
    channel.onmessage = (frame) => {
      if (!over) onFrame(frame);
    };
    // It answers when the feed is over: the node of a team went, or the window looks elsewhere.
    invoke("subscribe", { channel }).then(
      () => end(null),
      (cause: unknown) => end(isFault(cause) ? cause : null),
    );
    return {
      close: () => {
        over = true;
      },
    };
  }
  const scheme = window.location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${window.location.host}/api/feed?token=${encodeURIComponent(token)}`);
  socket.onmessage = (event) => {
    if (!over) onFrame(JSON.parse(String(event.data)) as Frame);
  };
  socket.onclose = () => end(null);
  socket.onerror = () => end(null);
  return {
    close: () => {
      over = true;
      socket.close();
    },
  };
}
