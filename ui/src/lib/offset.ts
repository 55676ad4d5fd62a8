// How far the local zone is from UTC now, as the node last wrote it beside a moment ("+08:00").
let offset: number | null = null;
const listeners = new Set<() => void>();

export const localOffsetMs = {
  get: () => offset,
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  set: (text: string) => {
    const next = parseOffset(text);
    if (next === null || next === offset) return;
    offset = next;
    for (const listener of listeners) listener();
  },
};

export function parseOffset(text: string): number | null {
  const match = /^([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text);
  if (!match) return text === "Z" ? 0 : null;
  const [, sign, hours, minutes, seconds] = match;
  return (sign === "-" ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0)) * 1000;
}
