import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "./port.ts";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));
const toolPlugin = fileURLToPath(new URL("./tool.js", import.meta.url));

export interface ReplicaOptions {
  readonly folder: string;
  /** Where tools leave their lines. */
  readonly effects: string;
  readonly journal: Readonly<Record<string, unknown>>;
  readonly plugins?: readonly string[];
  /** How long a tool takes, ms. */
  readonly toolTime?: number;
  /** `server.processes`. */
  readonly processes?: number;
  /** The program to start, of this version when absent. */
  readonly program?: string;
  /** Sections of the configuration in place of these. */
  readonly sections?: Readonly<Record<string, unknown>>;
  /** `server.wedged`: 0 has no keeper, so that a kill is of the service itself. */
  readonly wedged?: 0;
  /** `server.auth`. */
  readonly auth?: unknown;
}

/** One `venturi start`, that can be killed, frozen and started again on the same port. */
export class Replica {
  readonly url: string;
  readonly #config: string;
  #program: string;
  #process: ChildProcess | undefined;
  #said = "";

  private constructor(url: string, config: string, program = bin) {
    this.url = url;
    this.#config = config;
    this.#program = program;
  }

  static async make(name: string, options: ReplicaOptions): Promise<Replica> {
    const folder = join(options.folder, name);
    mkdirSync(folder);
    const port = await freePort();
    const config = join(folder, "venturi.yaml");
    writeFileSync(config, JSON.stringify(configOf(port, folder, options)));
    return new Replica(`http://127.0.0.1:${port}`, config, options.program);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Everything it wrote on stderr and stdout, the last part of it. */
  get said(): string {
    return this.#said;
  }

  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      ["--no-warnings", this.#program, "start", "--quiet", "--config", this.#config],
      {
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#said = (this.#said + text).slice(-20_000);
      });
    }
    const kill = () => child.kill("SIGKILL");
    process.once("exit", kill);
    child.once("exit", () => process.off("exit", kill));
    await this.#ready(child);
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  /** Has it drain and waits for its end. */
  async stop(): Promise<number | null> {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return null;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    const [code] = (await gone) as [number | null]; // as Node documents
    return code;
  }

  /** Starts it anew, of this version whichever it was of before. */
  async upgrade(): Promise<void> {
    this.#program = bin;
    await this.start();
  }

  freeze(): void {
    this.#process?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process?.kill("SIGCONT");
  }

  async #ready(child: ChildProcess): Promise<void> {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`venturi start ended with ${child.exitCode}: ${this.#said}`);
      if (child.signalCode !== null) return;
      const answer = await fetch(`${this.url}/livez`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
      if (answer?.ok) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function configOf(port: number, folder: string, options: ReplicaOptions): object {
  const tool = { type: "chaos-tool", file: options.effects, ms: options.toolTime ?? 100 };
  return {
    version: 1,
    dataFolder: folder,
    plugins: [toolPlugin, ...(options.plugins ?? [])],
    providers: { demo: { type: "simulator", pace: 10, scenarios } },
    tools: { look: tool, charge: tool, refund: { ...tool, approval: "always" } },
    agents: {
      shop: {
        model: "demo/shop",
        instructions: "Sell.",
        tools: ["look", "charge", "refund"],
        toolPolicy: { onUncertain: "ask" },
      },
    },
    journal: options.journal,
    channels: { http: {} },
    server: {
      listen: `127.0.0.1:${port}`,
      ...(options.processes === undefined ? {} : { processes: options.processes }),
      ...(options.wedged === undefined ? {} : { wedged: options.wedged }),
      ...(options.auth === undefined ? {} : { auth: options.auth }),
    },
    telemetry: "off",
    ...options.sections,
  };
}

const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n} `);
const storyWords = words(150);
/** What the scenario of that name says. */
export const story = storyWords.join("");

const scenarios = [
  { name: "story", match: { text: "story" }, turns: [{ text: storyWords, pace: 30 }] },
  { name: "plain", match: { text: "plain" }, turns: [{ text: words(60) }] },
  {
    name: "tools",
    match: { text: "tools" },
    turns: [
      {
        text: words(15),
        calls: [
          { name: "look", arguments: { n: 1 } },
          { name: "charge", arguments: { n: 2 } },
        ],
      },
      { text: words(10), calls: [{ name: "charge", arguments: { n: 3 } }] },
      { text: words(20) },
    ],
  },
  {
    name: "approval",
    match: { text: "approval" },
    turns: [{ text: words(10), calls: [{ name: "refund", arguments: { n: 1 } }] }, { text: words(20) }],
  },
];
