// What is different between two documents: one row for each path whose value is not the same.

export interface Difference {
  path: string;
  before: string | null;
  after: string | null;
}

export function differences(before: object, after: object): Difference[] {
  const was = flat(before);
  const is = flat(after);
  const paths = [...was.keys(), ...[...is.keys()].filter((path) => !was.has(path))];
  return paths
    .map((path) => ({ path, before: was.get(path) ?? null, after: is.get(path) ?? null }))
    .filter((row) => row.before !== row.after);
}

function flat(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    for (const [key, each] of Object.entries(value)) flat(each, path === "" ? key : `${path}.${key}`, into);
  } else if (value !== undefined && value !== null) {
    into.set(path, typeof value === "string" ? value : JSON.stringify(value));
  }
  return into;
}
