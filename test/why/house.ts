import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import type { RunEvent } from "../../src/core/run/events.ts";
import type { Why } from "../../src/serve/why/why.ts";

const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export interface HouseOptions {
  readonly config: Record<string, unknown>;
  /** Files beside the configuration. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Started {
  readonly process: ChildProcess;
  readonly url: string;
}

export type LogLine = Readonly<Record<string, unknown>> & { readonly message?: string };

/** A whole service, as `venturi start` runs it, in processes of its own; asked over HTTP alone. */
export class House {
  readonly folder = mkdtempSync(join(tmpdir(), "venturi-house-"));
  readonly log: LogLine[] = [];
  readonly #options: HouseOptions;
  #started: Started | undefined;

  constructor(options: HouseOptions) {
    this.#options = options;
    for (const [name, text] of Object.entries(options.files ?? {})) writeFileSync(join(this.folder, name), text);
    this.configure(options.config);
  }

  get url(): string {
    return this.#started?.url ?? "";
  }

  get pid(): number {
    return this.#started?.process.pid ?? 0;
  }

  get configFile(): string {
    return join(this.folder, "venturi.yaml");
  }

  configure(config: Record<string, unknown>): void {
    const base = {
      journal: { type: "sqlite", path: "./runs.db", lease: "3s" },
      server: { listen: 0 },
      limits: { drain: "100ms" },
      telemetry: { logs: { format: "json" } },
    };
    writeFileSync(this.configFile, stringify({ ...base, ...config }));
  }

  async start(more: Readonly<Record<string, string>> = {}): Promise<this> {
    const env = { ...process.env, ...this.#options.env, ...more };
    const child = spawn(process.execPath, ["--no-warnings", bin, "start", "--config", this.configFile], { env });
    let rest = "";
    const url = await new Promise<string>((resolve, reject) => {
      child.once("exit", () => reject(new Error(`the service did not start: ${JSON.stringify(this.log)} ${rest}`)));
      child.stderr.on("data", (piece: Buffer) => {
        const lines = `${rest}${piece}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) this.#read(line);
        const found = /(http:\/\/127\.0\.0\.1:\d+)/.exec(`${piece}`)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    this.#started = { process: child, url };
    return this;
  }

  #read(line: string): void {
    try {
      this.log.push(JSON.parse(line) as LogLine); // a line of the log
    } catch {
      this.log.push({ message: line });
    }
  }

  /** Ends the keeper, and with it the service, at once. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#started?.process;
    this.#started = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }

  async close(): Promise<void> {
    await this.kill("SIGTERM");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async ask<T>(
    path: string,
    body?: unknown,
    method = body === undefined ? "GET" : "POST",
    headers: Record<string, string> = {},
  ): Promise<T> {
    const json = { "content-type": "application/json" };
    const request = {
      method,
      headers: { accept: "application/json", ...(body === undefined ? {} : json), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const isRepeatable = method === "GET" || "idempotency-key" in headers;
    const response = await this.#fetch(path, request, isRepeatable ? 40 : 1);
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} of ${path}: ${text}`);
    return JSON.parse(text) as T; // by the service's own schemas
  }

  async run(agent: string, rest: Record<string, unknown> = {}): Promise<string> {
    const { run } = await this.ask<{ run: string }>("/v1/runs", { agent, input: "go", ...rest }, "POST", {
      prefer: "respond-async",
      "idempotency-key": randomUUID(),
    });
    return run;
  }

  /** Asks again while the service's process is being replaced: one that ends closes its connections. */
  async #fetch(path: string, request: RequestInit, attempts: number): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await fetch(`${this.url}${path}`, { ...request, signal: AbortSignal.timeout(30_000) });
        return new Response(await response.text(), response);
      } catch (thrown) {
        if (!(thrown instanceof TypeError) || attempt === attempts) throw thrown;
        await pause(100);
      }
    }
  }

  why(run: string): Promise<Why> {
    return this.ask<Why>(`/v1/runs/${run}/why`);
  }

  async events(run: string): Promise<RunEvent[]> {
    const all: RunEvent[] = [];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page: { events: RunEvent[]; next?: number } = await this.ask(`/v1/runs/${run}/events?after=${after}`);
      all.push(...page.events);
      after = page.next;
    }
    return all;
  }

  view(run: string): Promise<Readonly<Record<string, unknown>>> {
    return this.ask(`/v1/runs/${run}`);
  }

  /** Waits until the run's events fulfil this. */
  async until(run: string, isThere: (events: readonly RunEvent[]) => boolean, ms = 60_000): Promise<RunEvent[]> {
    for (const end = performance.now() + ms; performance.now() < end; await pause(50)) {
      const events = await this.events(run).catch(() => []);
      if (isThere(events)) return events;
    }
    throw new Error(`${run} did not get there in ${ms} ms: ${JSON.stringify(await this.view(run))}`);
  }

  ended(run: string): Promise<RunEvent[]> {
    return this.until(run, (events) => events.some(({ type }) => type === "run.finished" || type === "run.failed"));
  }

  has(run: string, type: RunEvent["type"]): Promise<RunEvent[]> {
    return this.until(run, (events) => events.some((event) => event.type === type));
  }
}
