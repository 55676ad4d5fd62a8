// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
// The colours of a terminal, read out of a line of a log. Knows SGR (colour, bold, dim, italic, underline, inverse);
// every other control sequence is dropped: a log is read, not played back.

export interface Ink {
  fg?: string;
  bg?: string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
}

export interface Run {
  text: string;
  ink: Ink;
}

const CONTROL =
  /\u001b\[([0-9;:]*)([A-Za-z])|\u001b\][^\u0007]*(?:\u0007|\u001b\\)|\u001b[()][A-Z0-9]|[\u0000-\u0008\u000b-\u001f]/g;

/** Names of the sixteen, as CSS variables the theme defines. */
const NAMED = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

function palette(n: number): string {
  if (n < 16) return `var(--ansi-${n >= 8 ? "bright-" : ""}${NAMED[n % 8]})`;
  if (n >= 232) {
    const grey = 8 + (n - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const step = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  const at = n - 16;
  return `rgb(${step(Math.floor(at / 36))} ${step(Math.floor(at / 6) % 6)} ${step(at % 6)})`;
}

function apply(ink: Ink, codes: number[]): Ink {
  let next: Ink = { ...ink };
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) next = {};
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 22) {
      next.bold = false;
      next.dim = false;
    } else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code >= 30 && code <= 37) next.fg = palette(code - 30);
    else if (code >= 90 && code <= 97) next.fg = palette(code - 82);
    else if (code >= 40 && code <= 47) next.bg = palette(code - 40);
    else if (code >= 100 && code <= 107) next.bg = palette(code - 92);
    else if (code === 39) next.fg = undefined;
    else if (code === 49) next.bg = undefined;
    else if (code === 38 || code === 48) {
      const colour =
        codes[i + 1] === 5
          ? palette(codes[i + 2] ?? 0)
          : `rgb(${codes[i + 2] ?? 0} ${codes[i + 3] ?? 0} ${codes[i + 4] ?? 0})`;
      i += codes[i + 1] === 5 ? 2 : 4;
      if (code === 38) next.fg = colour;
      else next.bg = colour;
    }
  }
  return next;
}

export function parseAnsi(line: string): Run[] {
  const runs: Run[] = [];
  let ink: Ink = {};
  let from = 0;
  const push = (to: number) => {
    if (to > from) runs.push({ text: line.slice(from, to), ink });
  };
  for (const match of line.matchAll(CONTROL)) {
    push(match.index);
    from = match.index + match[0].length;
    if (match[2] === "m") {
      const codes = (match[1] ?? "") === "" ? [0] : (match[1] ?? "").split(/[;:]/).map(Number);
      ink = apply(ink, codes);
    }
  }
  push(line.length);
  return runs;
}

export function plainText(line: string): string {
  return line.replace(CONTROL, "");
}
