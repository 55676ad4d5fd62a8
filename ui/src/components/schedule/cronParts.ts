// A cron expression taken apart for the eye: which word is which field, and which of its characters are meant by a fault.
// What it means is the node's to say.

export type CronField = "second" | "minute" | "hour" | "day" | "month" | "weekday" | "year";

export interface CronPart {
  text: string;
  /** Where it begins, in characters of the expression without the blanks around it. */
  from: number;
  /** None: one word too many, or a shorthand such as @daily. */
  field: CronField | null;
}

const FIVE: readonly CronField[] = ["minute", "hour", "day", "month", "weekday"];

export function cronParts(expression: string, dialect: "auto" | "unix" | "seconds" | "quartz"): CronPart[] {
  const words = [...expression.trim().matchAll(/\S+/g)];
  if (words[0]?.[0].startsWith("@")) return words.map((word) => ({ text: word[0], from: word.index, field: null }));
  const withSeconds = dialect === "seconds" || dialect === "quartz" || (dialect === "auto" && words.length > 5);
  const fields: readonly CronField[] = withSeconds ? ["second", ...FIVE, "year"] : FIVE;
  const most = dialect === "seconds" ? 6 : fields.length;
  return words.map((word, i) => ({ text: word[0], from: word.index, field: i < most ? (fields[i] ?? null) : null }));
}

/** The word in pieces, those that the fault means told apart. */
export function marked(part: CronPart, span: readonly [number, number] | undefined): { text: string; bad: boolean }[] {
  if (!span) return [{ text: part.text, bad: false }];
  const from = Math.max(0, Math.min(part.text.length, span[0] - part.from));
  const until = Math.max(from, Math.min(part.text.length, span[1] - part.from));
  return [
    { text: part.text.slice(0, from), bad: false },
    { text: part.text.slice(from, until), bad: true },
    { text: part.text.slice(until), bad: false },
  ].filter((piece) => piece.text !== "");
}
