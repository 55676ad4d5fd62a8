// Turns the JSON Schema of a processor's parameters into the fields of a form. Titles and descriptions in Chinese stand
// beside the English ones under `title:zh` and `description:zh`. What has no field of its own here (nested objects, unions)
// is edited as JSON, so that nothing a schema can say is out of reach.
import type { Bilingual } from "./words";

export type FieldKind =
  | "text"
  | "lines"
  | "number"
  | "whole"
  | "yesno"
  | "choice"
  | "list"
  | "map"
  | "json"
  | "connection";

export interface SchemaField {
  key: string;
  kind: FieldKind;
  title: Bilingual;
  description: Bilingual | null;
  required: boolean;
  fallback: unknown;
  min: number | null;
  max: number | null;
  options: readonly { value: string; title: Bilingual }[];
  unit: string;
  /** Of a list: whether its items are numbers. */
  numbers: boolean;
  placeholder: string;
}

type Json = Record<string, unknown>;

export function fieldsOf(schema: unknown): SchemaField[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  // JSON keeps no order of its own: `x-order` is that of the form, and what it does not name follows.
  const order: unknown[] = Array.isArray(schema["x-order"]) ? schema["x-order"] : [];
  const place = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  return Object.entries(schema.properties)
    .sort(([one], [other]) => place(one) - place(other))
    .flatMap(([key, property]) => (isObject(property) ? [fieldOf(key, property, required.includes(key))] : []));
}

function fieldOf(key: string, property: Json, required: boolean): SchemaField {
  const choices = optionsOf(property);
  return {
    key,
    kind: choices.length > 0 ? "choice" : kindOf(property),
    title: bilingual(property, "title") ?? { en: key, zh: key },
    description: bilingual(property, "description"),
    required,
    fallback: property.default,
    min: numberAt(property, "minimum"),
    max: numberAt(property, "maximum"),
    options: choices,
    unit: typeof property["x-unit"] === "string" ? property["x-unit"] : property.format === "duration" ? "s" : "",
    numbers: isObject(property.items) && ["integer", "number"].includes(String(typeOf(property.items))),
    placeholder: Array.isArray(property.examples) ? String(property.examples[0] ?? "") : "",
  };
}

function kindOf(property: Json): FieldKind {
  const lines =
    property.format === "command" ||
    property.format === "multiline" ||
    property.format === "textarea" ||
    property["x-multiline"] === true;
  switch (typeOf(property)) {
    case "string":
      if (property.format === "connection") return "connection";
      return lines ? "lines" : "text";
    case "number":
      return "number";
    case "integer":
      return "whole";
    case "boolean":
      return "yesno";
    case "array":
      return isObject(property.items) && ["string", "integer", "number"].includes(String(typeOf(property.items)))
        ? "list"
        : "json";
    case "object":
      return isObject(property.additionalProperties) && typeOf(property.additionalProperties) === "string"
        ? "map"
        : "json";
    default:
      return "json";
  }
}

/** The type, leaving out `null`: a field that may be null is one that may be left empty. */
function typeOf(property: Json): unknown {
  const { type } = property;
  return Array.isArray(type) ? type.find((each) => each !== "null") : type;
}

function optionsOf(property: Json): SchemaField["options"] {
  if (Array.isArray(property.enum) && property.enum.every((each) => typeof each === "string" || each === null))
    return property.enum.flatMap((value) =>
      typeof value === "string" ? [{ value, title: { en: value, zh: value } }] : [],
    );
  if (Array.isArray(property.oneOf) && property.oneOf.every((each) => isObject(each) && typeof each.const === "string"))
    return (property.oneOf as Json[]).map((each) => {
      const value = String(each.const);
      return { value, title: bilingual(each, "title") ?? { en: value, zh: value } };
    });
  return [];
}

function bilingual(property: Json, name: string): Bilingual | null {
  const en = property[name];
  const zh = property[`${name}:zh`];
  if (typeof en !== "string") return null;
  return { en, zh: typeof zh === "string" ? zh : en };
}

function numberAt(property: Json, name: string): number | null {
  const value = property[name];
  return typeof value === "number" ? value : null;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The parameters with one of them set, or left out where it was emptied: an empty field is a field not given. */
export function withParameter(parameters: Json, key: string, value: unknown): Json {
  const { [key]: _, ...rest } = parameters;
  const empty =
    value === undefined ||
    value === null ||
    value === "" ||
    (Array.isArray(value) && value.length === 0) ||
    (isObject(value) && Object.keys(value).length === 0);
  if (empty) return rest;
  // In place, so that what is exported keeps its order.
  return key in parameters ? { ...parameters, [key]: value } : { ...rest, [key]: value };
}
