import { expect, test } from "vitest";
import { fieldsOf, withParameter } from "./schemaForm";

const schema = {
  type: "object",
  required: ["command"],
  properties: {
    command: { type: "string", format: "multiline", title: "Command", "title:zh": "命令", description: "Run by sh" },
    folder: { type: ["string", "null"], title: "Folder" },
    attempts: { type: "integer", minimum: 1, maximum: 9, default: 3, "x-unit": "s" },
    ratio: { type: "number" },
    quiet: { type: "boolean" },
    method: { enum: ["GET", "POST"] },
    mode: { oneOf: [{ const: "a", title: "First", "title:zh": "甲" }, { const: "b" }] },
    status: { type: "array", items: { type: "integer" } },
    environment: { type: "object", additionalProperties: { type: "string" } },
    anything: { type: "object", properties: { deep: {} } },
    rows: { type: "array", items: { type: "object" } },
    free: {},
    database: { type: "string", format: "connection" },
  },
};

test("each kind of property has the field it needs, and what has none is edited as JSON", () => {
  expect(Object.fromEntries(fieldsOf(schema).map((field) => [field.key, field.kind]))).toEqual({
    command: "lines",
    folder: "text",
    attempts: "whole",
    ratio: "number",
    quiet: "yesno",
    method: "choice",
    mode: "choice",
    status: "list",
    environment: "map",
    anything: "json",
    rows: "json",
    free: "json",
    database: "connection",
  });
});

test("titles and descriptions come in both languages, the English one where the Chinese is missing", () => {
  const [command, folder, attempts] = fieldsOf(schema);
  expect(command?.title).toEqual({ en: "Command", zh: "命令" });
  expect(command?.description).toEqual({ en: "Run by sh", zh: "Run by sh" });
  expect(folder?.title).toEqual({ en: "Folder", zh: "Folder" });
  expect(attempts?.title).toEqual({ en: "attempts", zh: "attempts" });
});

test("bounds, defaults, units and choices are carried over", () => {
  const byKey = Object.fromEntries(fieldsOf(schema).map((field) => [field.key, field]));
  expect(byKey.command?.required).toBe(true);
  expect(byKey.folder?.required).toBe(false);
  expect(byKey.attempts).toMatchObject({ min: 1, max: 9, fallback: 3, unit: "s" });
  expect(fieldsOf({ properties: { wait: { type: "number", format: "duration" } } })[0]?.unit).toBe("s");
  expect(byKey.status?.numbers).toBe(true);
  expect(byKey.mode?.options).toEqual([
    { value: "a", title: { en: "First", zh: "甲" } },
    { value: "b", title: { en: "b", zh: "b" } },
  ]);
});

test("a schema that is none gives no fields", () => {
  expect([fieldsOf(undefined), fieldsOf("string"), fieldsOf({ type: "object" })]).toEqual([[], [], []]);
});

test("an emptied field is a field not given, and the others keep their order", () => {
  const parameters = { command: "ls", folder: "/tmp", quiet: true };
  expect(withParameter(parameters, "folder", "")).toEqual({ command: "ls", quiet: true });
  expect(withParameter(parameters, "environment", {})).toEqual(parameters);
  expect(withParameter(parameters, "quiet", false)).toEqual({ ...parameters, quiet: false });
  expect(Object.keys(withParameter(parameters, "folder", "/var"))).toEqual(["command", "folder", "quiet"]);
});
