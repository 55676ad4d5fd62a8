// Starts our programs on folders of their own, and ends every one of them with the process that started them.
//
// A node is `campanile serve` on a free port; `node.ask` puts a question to it as the console does. What the programs
// print is kept, so that a story that fails can show it.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { eventually } from "./eventually.mjs";

const started = new Set();
const folders = new Set();

process.on("exit", () => {
  for (const program of started) program.child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

/** A path that the one who runs the stories must give. */
export function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; .ci/e2e sets it`);
  return value;
}

/** A new empty folder, gone when the stories end. */
export function freshFolder(prefix = "campanile-story-") {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  folders.add(folder);
  return folder;
}

/** The surroundings of a story's programs: the same times and words on every machine. */
export function surroundings(more = {}) {
  const { CAMPANILE_DATA: _, ...env } = process.env;
  return { ...env, TZ: "Asia/Shanghai", LANG: "C.UTF-8", LC_ALL: "C.UTF-8", ...more };
}

/** Starts a program and keeps what it prints. */
export function start(path, args, { env = surroundings(), name = path.split("/").at(-1) } = {}) {
  const child = spawn(path, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const program = { child, name, printed: "", ended: null, stop, kill };
  const keep = (chunk) => {
    program.printed += chunk;
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  const gone = new Promise((resolve) => {
    const end = (how) => {
      program.ended ??= how;
      started.delete(program);
      resolve(how);
    };
    child.on("error", (error) => end(`it could not be started: ${error.message}`));
    child.on("exit", (code, signal) => end(signal ?? `exit ${code}`));
  });
  started.add(program);

  /** Asks it to end, and waits until it has. */
  async function stop(signal = "SIGTERM") {
    if (program.ended) return program.ended;
    child.kill(signal);
    const patience = setTimeout(() => child.kill("SIGKILL"), 15_000);
    await gone;
    clearTimeout(patience);
    return program.ended;
  }

  /** Ends it as a crash would. */
  async function kill() {
    return stop("SIGKILL");
  }
  return program;
}

/**
 * Runs one command of the `campanile` program to its end.
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>}
 */
export function campanile(data, ...args) {
  return new Promise((resolve) => {
    execFile(
      required("CAMPANILE_BIN"),
      ["--data", data, ...args],
      { env: surroundings(), maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, stdout, stderr }),
    );
  });
}

/** The same, for what must succeed and answers in JSON. */
export async function campanileJson(data, ...args) {
  const { code, stdout, stderr } = await campanile(data, ...args, "--json");
  if (code !== 0) throw new Error(`campanile ${args.join(" ")} ended with ${code}: ${stderr || stdout}`);
  return JSON.parse(stdout);
}

/**
 * A node that serves the console.
 * @param {{ data?: string, shell?: boolean, port?: number, args?: string[] }} [wishes]
 */
export async function serve({ data = freshFolder(), shell = true, port = 0, args = [] } = {}) {
  const program = start(required("CAMPANILE_BIN"), [
    "--data",
    data,
    "serve",
    "--port",
    String(port),
    ...(shell ? ["--allow-shell"] : []),
    ...args,
  ]);
  const address = await eventually(
    "`campanile serve` prints the console's address",
    () => /https?:\/\/\S+#token=[^\s"']+/.exec(program.printed)?.[0],
    { within: 30_000, unless: () => program.ended && `it ended with ${program.ended}: ${program.printed}` },
  );
  const url = new URL(address);
  const token = decodeURIComponent(url.hash.replace("#token=", ""));

  /** One operation, as the console asks it. A refusal is thrown with its code. */
  async function ask(op, input = {}, { zone = "local", lang = "en" } = {}) {
    const response = await fetch(`${url.origin}/api/${op}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ input, zone, lang }),
    });
    const answer = await response.json();
    if (response.ok) return answer;
    throw Object.assign(new Error(`${op} was refused: ${answer.code} ${answer.message?.en}`), { fault: answer });
  }

  /** Saves a job of which only what matters is given, and tells its id. */
  async function job(spec) {
    const done = await ask("save_job", {
      spec: { schedule: { kind: "manual" }, processor: "shell", executorGroup: "local", ...spec },
      job: null,
      seen_version: null,
    });
    return done.jobs[0];
  }

  /** Waits until the latest instance of a job is what it should be. */
  const instance = (job, probe = (row) => FINAL.has(row.state), limits = {}) =>
    eventually(
      `an instance of ${job} is as expected`,
      async () => (await ask("list_instances", { job, limit: 50 })).rows.find(probe),
      { within: 20_000, ...limits },
    );

  await eventually("the node leads its folder", async () => (await ask("status")).node !== "leaderless");
  return { ...program, data, program, url, origin: url.origin, token, address, ask, job, instance };
}

/** An address on this machine that nobody listens at just now. */
export async function freeAddress() {
  const server = createServer();
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return `127.0.0.1:${port}`;
}

/** An executor of the group `conformance` (tests/executor) that joins a node; it was built along with the node. */
export function joins(address, name, { capacity = 1 } = {}) {
  const executor = join(dirname(required("CAMPANILE_BIN")), "conformance-executor");
  const env = surroundings({ CAMPANILE_DIARY: join(freshFolder("campanile-diary-"), "diary") });
  return start(executor, [address, name, String(capacity)], { env, name: `executor ${name}` });
}

const FINAL = new Set(["succeeded", "failed", "cancelled", "superseded"]);
