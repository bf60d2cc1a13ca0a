import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Block, placeOf, root } from "./pages.ts";

let shared: Promise<Checkout> | undefined;

/** One for all suites of this folder in this process, until it exits: starting the service takes a second. */
export function sharedCheckout(): Promise<Checkout> {
  shared ??= Checkout.open().then((checkout) => {
    process.once("exit", () => checkout.drop());
    return checkout;
  });
  return shared;
}

/** A checkout as a reader has it, with the service running: the repository linked, its configuration and data its own. */
export class Checkout {
  readonly folder: string;
  readonly port: number;
  #service: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
  }

  static async open(): Promise<Checkout> {
    const folder = mkdtempSync(join(tmpdir(), "venturi-docs-"));
    for (const name of readdirSync(root)) {
      if (!["config", "data", ".git"].includes(name)) symlinkSync(join(root, name), join(folder, name));
    }
    cpSync(join(root, "config"), join(folder, "config"), { recursive: true });
    const programs = join(folder, "programs");
    mkdirSync(programs);
    program(join(programs, "venturi"), `exec "${process.execPath}" "${folder}/dist/src/cli/bin.js" "$@"`);
    // What would change the machine or the checkout is never run, whatever a page says.
    for (const name of ["npm", "sudo", "docker", "kubectl", "systemctl"]) program(join(programs, name), refuse);
    program(
      join(programs, "npx"),
      `[ "$1" = venturi ] || { echo "only npx venturi is run here" >&2; exit 1; }\nshift\nexec venturi "$@"`,
    );
    const checkout = new Checkout(folder, await freePort());
    await checkout.#start();
    return checkout;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get environment(): Record<string, string> {
    const { PATH = "", HOME = "/", TMPDIR = tmpdir(), NODE_COMPILE_CACHE } = process.env;
    const path = `${join(this.folder, "programs")}:${join(root, "node_modules/.bin")}:${PATH}`;
    const compiled = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
    return { PATH: path, HOME, TMPDIR, ...compiled, NO_COLOR: "1", VENTURI_LISTEN: `127.0.0.1:${this.port}` };
  }

  /** The text of a page with this service in place of the default address. */
  here(text: string): string {
    return text.replaceAll(/(127\.0\.0\.1|localhost):7070/g, `127.0.0.1:${this.port}`);
  }

  /** Writes the blocks that say where they belong, below `pages`. */
  place(blocks: readonly Block[], fallback: (block: Block) => string | undefined = () => undefined): void {
    for (const block of blocks) {
      const place = placeOf(block) ?? fallback(block);
      if (place === undefined) continue;
      const file = join(this.folder, "pages", place);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, this.here(block.text));
    }
  }

  async run(
    command: string,
    words: readonly string[],
    folder = ".",
  ): Promise<{ exit: number | null; out: string; err: string }> {
    const child = spawn(command, words, {
      cwd: join(this.folder, folder),
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (data) => {
      out += data;
    });
    child.stderr.on("data", (data) => {
      err += data;
    });
    const [exit] = await once(child, "close");
    return { exit, out, err };
  }

  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const all = { "content-type": "application/json", ...headers };
    return await fetch(`${this.url}${path}`, { method: "POST", body: JSON.stringify(body), headers: all });
  }

  /** At once, for a process that exits and can wait for nothing. */
  drop(): void {
    this.#service?.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #start(): Promise<void> {
    const settings = [
      "agents.slow={model: demo/pace-50-2000}",
      "tools.guarded_clock={type: clock, approval: always}",
      "agents.careful={model: main, tools: [guarded_clock]}",
      "channels.ai-sdk={}",
      "channels.ag-ui={}",
      "channels.a2a={}",
      "channels.mcp={}",
      "webhooks.crm={url: 'http://127.0.0.1:9/', secret: a-secret-for-trying-out}",
      "webhooks.own={secret: a-secret-for-trying-out, runs: notify, hosts: ['*.example.com']}",
      "hooks.github={from: github, secret: a-secret-for-trying-out, agent: assistant, input: '{{body.issue.title}}'}",
      "limits.drain=100ms",
      "telemetry.logs.format=text",
    ].flatMap((setting) => ["--set", setting]);
    const words = [join(this.folder, "dist/src/cli/bin.js"), "start", ...settings];
    const service = spawn(process.execPath, words, {
      cwd: this.folder,
      env: this.environment,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#service = service;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      service.stderr.on("data", (data) => {
        said += data;
        if (said.includes("Venturi is listening")) resolve();
      });
      service.once("exit", () => reject(new Error(`the service ended: ${said}`)));
    });
  }
}

const refuse = `echo "$0 is not run here; say so behind the language of the block" >&2; exit 1`;

function program(path: string, text: string): void {
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
