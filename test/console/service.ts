import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { keyOf } from "../service.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const bin = join(root, "dist/src/cli/bin.js");
const demo = join(root, "test/console/demo");

export interface Key {
  readonly id: string;
  readonly secret: string;
  readonly may: readonly string[];
  readonly tenant?: string;
  readonly tenants?: "all";
}

export interface ConsoleService {
  readonly url: string;
  readonly folder: string;
  pid(): number;
  /** As pulling the plug would. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Runs a command of `venturi` on the same data. */
  command(words: readonly string[], input?: string): string;
  /** With the first key, or the one given. */
  json<T>(path: string, body?: unknown, secret?: string): Promise<T>;
  close(): Promise<void>;
}

/** A real service in its own process, on the demo configuration and a journal of its own. */
export async function consoleService(
  options: { keys?: readonly Key[]; before?: (command: ConsoleService["command"]) => void } = {},
): Promise<ConsoleService> {
  const folder = mkdtempSync(join(tmpdir(), "venturi-console-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = options.keys === undefined ? join(demo, "venturi.yaml") : withKeys(folder, options.keys);
  const env = { ...process.env, CONSOLE_DATA: folder, CONSOLE_LISTEN: `127.0.0.1:${port}`, NO_COLOR: "1" };
  let child: ChildProcess | undefined;
  const command = (words: readonly string[], input = ""): string => {
    const ran = spawnSync(process.execPath, [bin, ...words, "--config", config], {
      env,
      input,
      encoding: "utf8",
      maxBuffer: 1e8,
    });
    if (ran.status !== 0) throw new Error(`venturi ${words.join(" ")}: ${ran.stderr}`);
    return ran.stdout;
  };
  const start = async () => {
    child = spawn(process.execPath, [bin, "start", "--quiet", "--config", config, "--set", "server.wedged=0s"], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr?.on("data", (data) => {
      said += data;
    });
    for (let turn = 0; turn < 300; turn += 1) {
      if (child.exitCode !== null) throw new Error(`the service ended: ${said}`);
      if (
        await fetch(`${url}/livez`).then(
          ({ ok }) => ok,
          () => false,
        )
      )
        return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`the service does not answer: ${said}`);
  };
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    const running = child;
    if (running === undefined || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once("exit", resolve));
    running.kill(signal);
    await ended;
  };
  options.before?.(command);
  await start();
  return {
    url,
    folder,
    pid: () => child?.pid ?? 0,
    start,
    command,
    kill: () => end("SIGKILL"),
    json: async <T>(path: string, body?: unknown, secret?: string) => {
      const key = secret ?? options.keys?.[0]?.secret;
      const response = await fetch(url + path, {
        headers: {
          accept: "application/json",
          prefer: "respond-async",
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      });
      return (await response.json()) as T;
    },
    close: async () => {
      await end("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The demo beside its files, which it names by relative paths, with keys. */
function withKeys(folder: string, keys: readonly Key[]): string {
  const entries = keys.map(({ id, secret, ...rest }) => ({ ...keyOf(id, secret), tenant: "default", ...rest }));
  const text = readFileSync(join(demo, "venturi.yaml"), "utf8")
    .replaceAll("tools.js", join(demo, "tools.js"))
    .replaceAll("[scenarios.yaml]", `[${join(demo, "scenarios.yaml")}]`)
    // A run that a person is to stop must not end first, however slow the browser is.
    .replace("fast/pace-20-400", "fast/pace-20-20000")
    .replace(/^server: \{ (.*) \}$/m, `server: { $1, auth: { keys: ${JSON.stringify(entries)} } }`);
  const file = join(folder, "venturi.yaml");
  writeFileSync(file, text);
  return file;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number }; // a TCP server's address
      probe.close(() => resolve(port));
    });
  });
}
