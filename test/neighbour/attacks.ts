import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const mebibyte = 1024 ** 2;

/** How long a wave that holds something keeps it, ms. */
const holding = 1_000;

/** A loud tenant of the service. */
export class Loud {
  readonly url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.#key = key;
  }

  get headers(): Record<string, string> {
    return { "content-type": "application/json", authorization: `Bearer ${this.#key}` };
  }

  async post(path: string, body: string | object, more: Record<string, string> = {}): Promise<Record<string, unknown>> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const headers = { ...this.headers, ...more };
    const response = await fetch(this.url + path, {
      method: "POST",
      headers,
      body: text,
      signal: AbortSignal.timeout(20_000),
    });
    return JSON.parse((await response.text()) || "{}") as Record<string, unknown>;
  }

  async get(path: string): Promise<string> {
    const response = await fetch(this.url + path, { headers: this.headers, signal: AbortSignal.timeout(20_000) });
    return await response.text();
  }

  run(agent: string, input: unknown = "go"): Promise<Record<string, unknown>> {
    return this.post("/v1/runs", { agent, input });
  }

  /** Until none of its runs works any more. */
  async atRest(): Promise<void> {
    for (const state of ["ready", "running"])
      while ((await this.get(`/v1/runs?status=${state}&limit=1`)).includes('"run":')) await sleep(50);
  }
}

export interface Attack {
  /** Done once, before anything is measured. */
  prepare?(loud: Loud): Promise<unknown>;
  /** Done again and again while the neighbour works. */
  again(loud: Loud, prepared: unknown): Promise<unknown>;
}

let copies = 0;
/** Each with its own beginning: what is stored already costs nothing. */
const filled = (size: number, unit = "lorem ipsum "): string =>
  `${copies++} ${unit.repeat(size / Buffer.byteLength(unit))}`;
const large = (size: number, unit?: string): string => JSON.stringify({ agent: "hello", input: filled(size, unit) });
const largeRun = async (loud: Loud, size: number) => String((await loud.post("/v1/runs", large(size))).run);
const user = (parts: object[]) => ({ messages: [{ role: "user", parts }] });

export const attacks: Readonly<Record<string, Attack>> = {
  "an odd mediaType": {
    again: (loud) =>
      loud.run("hello", user([{ type: "file", mediaType: `audio/${";".repeat(200_000)}\n`, data: "AAAA" }])),
  },
  "data URLs": {
    again: async (loud) => {
      const url = `data:${"e".repeat(100_000)}`;
      await loud.post("/ai-sdk/hello", {
        id: "c",
        messages: [{ id: "m", role: "user", parts: [{ type: "file", mediaType: "image/png", url }] }],
      });
      await loud.post("/ag-ui/hello", {
        threadId: "t",
        runId: "r",
        messages: [{ id: "m", role: "user", content: [{ type: "image", source: { type: "url", value: url } }] }],
        tools: [],
        context: [],
        state: {},
        forwardedProps: {},
      });
    },
  },
  "a poison tool name": { again: (loud) => loud.run("poison") },
  "five cut streams": { again: (loud) => Promise.all(Array.from({ length: 5 }, () => loud.run("cut"))) },
  "native fields that fail": {
    again: (loud) =>
      loud.post("/anthropic/v1/messages", {
        model: "hello",
        max_tokens: 9,
        type: "message",
        messages: [{ role: "user", content: "go" }],
      }),
  },
  "half-sent bodies": {
    again: async (loud) => {
      const open = Array.from({ length: 8 }, () => {
        const headers = { ...loud.headers, "content-length": String(31 * mebibyte) };
        const request = httpRequest(`${loud.url}/v1/runs`, { method: "POST", headers });
        request.on("error", () => {}); // it is given up
        request.write(`{"agent":"hello","input":"${"x".repeat(mebibyte)}`);
        return request;
      });
      await sleep(holding);
      for (const request of open) request.destroy();
    },
  },
  "unread GETs": {
    prepare: (loud) => largeRun(loud, 31 * mebibyte),
    again: async (loud, run) => {
      const { port } = new URL(loud.url);
      const hash = /"hash":"(\w{64})"/.exec(await loud.get(`/v1/runs/${run}/events`))?.[1];
      const sockets = Array.from({ length: 120 }, (_, index) => {
        const path = index % 2 === 0 || hash === undefined ? `events` : `content/${hash}`;
        const socket = connect(Number(port), "127.0.0.1").pause();
        socket.on("error", () => {});
        socket.write(
          `GET /v1/runs/${run}/${path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nAuthorization: ${loud.headers.authorization}\r\n\r\n`,
        );
        return socket;
      });
      await sleep(holding);
      for (const socket of sockets) socket.destroy();
    },
  },
  "large asynchronous runs": {
    prepare: async () => Array.from({ length: 6 }, () => large(31 * mebibyte)),
    again: (loud, bodies) =>
      Promise.all((bodies as string[]).map((body) => loud.post("/v1/runs", body, { prefer: "respond-async" }))),
  },
  "a text of 31 MiB": { again: (loud) => loud.post("/v1/runs", large(31 * mebibyte)) },
  "a text of 28 MiB in lines": { again: (loud) => loud.post("/v1/runs", large(26 * mebibyte, 'lorem "ipsum"\n')) },
  "a text of 28 MiB in Greek": { again: (loud) => loud.post("/v1/runs", large(28 * mebibyte, "λόρεμ ίψουμ ")) },
  "texts of 60 KiB": {
    again: (loud) =>
      loud.run("hello", user(Array.from({ length: 500 }, () => ({ type: "text", text: filled(60 * 1024) })))),
  },
  "a file of 22 MiB": {
    again: (loud) => {
      const data = Buffer.from(filled(22 * mebibyte)).toString("base64");
      return loud.run("hello", user([{ type: "file", mediaType: "application/pdf", data }]));
    },
  },
  "a tool's result of 7 MiB": { again: (loud) => Promise.all([loud.run("fetch"), loud.run("fetch")]) },
  "two forks of a run of 20 MiB": {
    prepare: (loud) => largeRun(loud, 20 * mebibyte),
    again: (loud, run) => Promise.all([1, 2].map(() => loud.post(`/v1/runs/${run}/fork`, { after: 1 }))),
  },
  "listing approvals": {
    prepare: async (loud) => {
      for (let count = 0; count < 60; count++)
        await loud.post("/v1/runs", { agent: "ask", input: "go" }, { prefer: "respond-async" });
      await sleep(1_000);
    },
    again: (loud) => Promise.all(Array.from({ length: 8 }, () => loud.get("/v1/approvals?limit=200"))),
  },
  "short texts, 30 MiB of them": {
    prepare: async () => {
      const text = "lorem ipsum ".repeat(255);
      return JSON.stringify({
        agent: "hello",
        input: user(Array.from({ length: 10_000 }, () => ({ type: "text", text }))),
      });
    },
    again: (loud, body) => loud.post("/v1/runs", String(body)),
  },
  "20,000 parts": {
    prepare: async () =>
      JSON.stringify({
        agent: "hello",
        input: user(Array.from({ length: 20_000 }, () => ({ type: "text", text: "hi" }))),
      }),
    again: (loud, body) => loud.post("/v1/runs", String(body)),
  },
  "half surrogate pairs": {
    prepare: async () => `{"agent":"hello","input":"${"\\ud800lorem ipsum".repeat(mebibyte)}"}`,
    again: (loud, body) => loud.post("/v1/runs", String(body)),
  },
  "200 tools": {
    prepare: async () => {
      const field = (index: number) => ({ type: "string", description: `field ${index} ${"x".repeat(1_000)}` });
      const properties = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`field${index}`, field(index)]));
      const tools = Array.from({ length: 200 }, (_, index) => ({
        type: "function",
        function: { name: `tool_${index}`, description: "does something", parameters: { type: "object", properties } },
      }));
      return JSON.stringify({ model: "hello", messages: [{ role: "user", content: "go" }], tools });
    },
    again: (loud, body) => loud.post("/openai/v1/chat/completions", String(body)),
  },
  "WebSocket messages of 31 MiB": {
    again: async (loud) => {
      const { host } = new URL(loud.url);
      const socket = new WebSocket(`ws://${host}/ws`, ["venturi", "bearer.loud"]);
      await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
      const over = new Promise((resolve) => {
        socket.addEventListener("message", resolve, { once: true });
        socket.addEventListener("close", resolve, { once: true });
      });
      socket.send(JSON.stringify({ type: "run", agent: "hello", input: filled(31 * mebibyte) }));
      await Promise.race([over, sleep(holding)]);
      socket.close();
    },
  },
  "followers that do not read": {
    prepare: (loud) => largeRun(loud, mebibyte),
    again: async (loud, run) => {
      const { port } = new URL(loud.url);
      const sockets = Array.from({ length: 120 }, () => {
        const socket = connect(Number(port), "127.0.0.1").pause();
        socket.on("error", () => {});
        socket.write(
          `GET /v1/runs/${run}/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAuthorization: ${loud.headers.authorization}\r\n\r\n`,
        );
        return socket;
      });
      await sleep(holding);
      for (const socket of sockets) socket.destroy();
    },
  },
  "lists, usage and sums": {
    again: (loud) =>
      Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          loud.get(
            ["/v1/runs?limit=200", "/v1/runs?q=lorem&limit=200", "/v1/usage?by=agent", "/v1/audit"][index % 4] ?? "",
          ),
        ),
      ),
  },
};
