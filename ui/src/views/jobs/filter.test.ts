import { expect, test } from "vitest";
import { parseFilter, withState, withTag } from "./filter";

test("words, a tag and a state are told apart", () => {
  expect(parseFilter("night report tag:finance is:paused")).toEqual({
    text: "night report",
    tag: "finance",
    paused: true,
  });
  expect(parseFilter("")).toEqual({ text: null, tag: null, paused: null });
  expect(parseFilter("is:active tag:")).toEqual({ text: "tag:", tag: null, paused: false });
});

test("a button changes its own part and leaves the rest as typed", () => {
  expect(withState("night is:paused tag:a", "active")).toBe("night tag:a is:active");
  expect(withState("night is:paused", "all")).toBe("night");
  expect(withTag("tag:a night", "b")).toBe("night tag:b");
});
