// A stretch of time as people read it, made of the node's own texts of its two ends (`2026-11-21 09:30:00`).

/** '11-21 09:30 – 12:00'; with the year where it is not the same at both ends; seconds where there are any. */
export function stretch(from: { text: string }, to: { text: string }): string {
  const [first, last] = [from.text, to.text];
  const short = (text: string, at: number) => text.slice(at).replace(/:00$/, "");
  const at = first.slice(0, 4) === last.slice(0, 4) ? 5 : 0;
  if (first === last) return short(first, 5);
  return `${short(first, at)} – ${short(last, last.slice(0, 10) === first.slice(0, 10) ? 11 : at)}`;
}
