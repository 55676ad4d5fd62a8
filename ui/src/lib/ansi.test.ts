import { expect, test } from "vitest";
import { parseAnsi, plainText } from "./ansi";

test("colours begin and end where the line says", () => {
  expect(parseAnsi("plain \u001b[1;31mred\u001b[0m plain")).toEqual([
    { text: "plain ", ink: {} },
    { text: "red", ink: { bold: true, fg: "var(--ansi-red)" } },
    { text: " plain", ink: {} },
  ]);
});

test("bright, indexed and true colours are understood", () => {
  const ink = (line: string) => parseAnsi(line)[0]?.ink;
  expect(ink("\u001b[92mx")).toEqual({ fg: "var(--ansi-bright-green)" });
  expect(ink("\u001b[38;5;196mx")).toEqual({ fg: "rgb(255 0 0)" });
  expect(ink("\u001b[48;2;1;2;3mx")).toEqual({ bg: "rgb(1 2 3)" });
  expect(ink("\u001b[38;5;244mx")).toEqual({ fg: "rgb(128 128 128)" });
});

test("what moves the cursor or names the window is left out, not shown", () => {
  expect(plainText("\u001b[2K\u001b]0;title\u0007\rdone\u001b[1A\u0008")).toBe("done");
});

test("a line without any is one run", () => {
  expect(parseAnsi("just text")).toEqual([{ text: "just text", ink: {} }]);
});
