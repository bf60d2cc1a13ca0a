import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import WebSocket from "ws";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { freshSchema, sharedCluster } from "../../plugins/postgres/shared.ts";
import { keyOf } from "../../service.ts";

const may = ["start", "see", "steer", "inspect", "approve"];

/** `ada` may do everything, `bob` is another tenant, `narrow` has one other agent of ada's, `blind` may only start. */
const keys = [
  { ...keyOf("ada", "ada-key"), may },
  { ...keyOf("bob", "bob-key"), may },
  { ...keyOf("narrow", "narrow-key"), tenant: "ada", agents: ["other"], may },
  { ...keyOf("operator", "operator-key"), tenant: "ada", may: [...may, "metrics"] },
  { ...keyOf("plain", "plain-key"), tenant: "ada", may: ["start", "see", "steer"] },
  { ...keyOf("root", "root-key"), tenant: "ada", tenants: "all", may: [...may, "metrics"] },
  { ...keyOf("blind", "blind-key"), tenant: "ada", may: ["start"] },
];

const config = (journal: string, more: string) => `
version: 1
dataFolder: ./data
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - { name: slow, match: { text: "^slowly" }, turns: [{ text: "one two three four five six seven eight", pace: 400 }] }
      - { name: slower, match: { text: "^for a long time" }, turns: [{ text: "word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word", pace: 400 }] }
      - name: asks
        match: { text: "^pay" }
        turns: [{ calls: [{ name: sum, arguments: { expression: "17 * 23" } }] }, { text: "paid 391" }]
      - name: asks-twice
        match: { text: "^often pay" }
        turns:
          - calls: [{ name: sum, arguments: { expression: "1 + 1" } }, { name: sum, arguments: { expression: "1 + 2" } }]
          - calls: [{ name: sum, arguments: { expression: "1 + 3" } }]
          - { text: "paid often" }
      - name: leaks
        match: { text: "^leak" }
        turns: [{ text: ["your key is ", "Bearer abcdefghijklmnop ", "and config-secret-0123456789 ", "sk-live-0123456789abcdef0123", " end"] }]
      - name: orders
        match: { text: "^order (one|1)" }
        turns: [{ text: "let me see ", calls: [{ name: order, arguments: { amount: 1 } }] }, { text: "ordered" }]
      - name: orders-two
        match: { text: "^order two" }
        turns: [{ calls: [{ name: order, arguments: { amount: 2 } }] }, { text: "ordered two" }]
  spare: { type: openai, apiKey: config-secret-0123456789 }
tools:
  calculator: { type: calculator }
  sum: { type: calculator, approval: always }
  order: { type: module, path: ./order.mjs }
prices:
  demo/small: { input: 2, output: 10, cacheRead: 0.5 }
agents:
  buyer: { model: demo/small, tools: [order] }
  assistant: { model: demo/small, tools: [calculator] }
  payer: { model: demo/small, tools: [sum] }
  other: { model: demo/small }
journal: ${journal}
server: { listen: 0, auth: { keys: ${JSON.stringify(keys)} } }
channels: { http: {}, websocket: {} }
limits: { drain: 100ms }
telemetry: { logs: { level: silent } }
${more}`;

/** An effectful tool that leaves a line in a file for each call that really happened. */
const orderTool = `import { appendFileSync } from "node:fs";
export default {
  description: "Orders something",
  parameters: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"], additionalProperties: false },
  call({ amount }) {
    appendFileSync(new URL("./orders.log", import.meta.url), amount + "\\n");
    return "order of " + amount;
  },
};
`;

export const engines: Readonly<Record<string, () => Promise<string>>> = {
  memory: async () => "{ type: memory, keepWire: true }",
  sqlite: async () => '{ type: sqlite, path: "data/journal.db", keepWire: true }',
  postgres: async () =>
    JSON.stringify({
      type: "postgres",
      url: (await sharedCluster()).url,
      schema: freshSchema(),
      lease: "5s",
      keepWire: true,
    }),
};

/** A whole service over one engine, and what a client of it needs. */
export class Bench {
  readonly folder = mkdtempSync(join(tmpdir(), "venturi-api-"));
  readonly configFile = join(this.folder, "venturi.yaml");
  service: Service | undefined;
  readonly #open: (() => Promise<string>) | undefined;
  readonly #more: string;

  constructor(engine: string, more = "") {
    this.#open = engines[engine];
    this.#more = more;
  }

  async open(): Promise<void> {
    writeFileSync(join(this.folder, "order.mjs"), orderTool);
    writeFileSync(join(this.folder, "orders.log"), "");
    writeFileSync(this.configFile, config((await this.#open?.()) ?? "", this.#more));
    await this.start();
  }

  async start(): Promise<void> {
    this.service = await openService({ configFile: this.configFile, env: {}, log: silentLog });
  }

  async close(): Promise<void> {
    await this.service?.drain();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The calls of the tool `order` that really happened. */
  get orders(): string[] {
    return readFileSync(join(this.folder, "orders.log"), "utf8")
      .trim()
      .split("\n")
      .filter((line) => line !== "");
  }

  get url(): string {
    return this.service?.url ?? "";
  }

  async ask<Body = Record<string, never>>(
    key: string,
    path: string,
    { method, body, headers = {} }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; body: Body }> {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const response = await fetch(this.url + path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: { authorization: `Bearer ${key}-key`, ...type, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Body };
  }

  /** Starts a run and waits for its end. */
  async run(key: string, input: string, rest: Record<string, unknown> = {}): Promise<string> {
    const body = { agent: "assistant", input, ...rest };
    return (await this.ask<{ run: string }>(key, "/v1/runs", { body })).body.run;
  }

  /** Starts a run that waits for a person, and gives its question. */
  async question(key: string, rest: Record<string, unknown> = {}): Promise<{ run: string; call: string }> {
    const headers = { prefer: "respond-async" };
    const body = { agent: "payer", input: "pay", ...rest };
    const { run } = (await this.ask<{ run: string }>(key, "/v1/runs", { body, headers })).body;
    for await (const batch of this.service?.host.runs.follow(run) ?? []) {
      for (const event of batch) if (event.type === "approval.requested") return { run, call: event.call };
    }
    throw new Error("it did not ask");
  }

  async events(run: string): Promise<RunEvent[]> {
    const events: RunEvent[] = [];
    for await (const batch of this.service?.host.runs.follow(run) ?? []) events.push(...batch);
    return events;
  }

  async socket(key: string): Promise<Socket> {
    const socket = new Socket(`${this.url.replace("http", "ws")}/ws`, key);
    await once(socket.socket, "open");
    return socket;
  }
}

type Received = Record<string, unknown> & { type: string };

/** A socket whose messages can be waited for. */
export class Socket {
  readonly socket: WebSocket;
  readonly received: Received[] = [];
  #wake = () => {};

  constructor(url: string, key: string) {
    this.socket = new WebSocket(url, ["venturi", `bearer.${key}-key`]);
    this.socket.on("message", (data) => {
      this.received.push(JSON.parse(String(data)) as Received);
      this.#wake();
    });
  }

  send(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }

  async until(found: (message: Received) => boolean): Promise<Received> {
    for (;;) {
      const message = this.received.find(found);
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
