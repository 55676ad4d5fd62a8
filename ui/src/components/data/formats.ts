// What a person may say of a file where what was found is not right.

/** Those that files are found in; the node knows further ones. */
export const ENCODINGS = [
  "utf-8",
  "gbk",
  "gb18030",
  "big5",
  "utf-16le",
  "utf-16be",
  "windows-1252",
  "shift_jis",
] as const;

export const DELIMITERS = [
  [",", "comma"],
  [";", "semicolon"],
  ["\t", "tab"],
  ["|", "bar"],
] as const;

export function bytesInWords(bytes: number): string {
  const units = ["B", "KB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
