import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { silentLog } from "../../../src/core/ports/log.ts";
import { openService, type Service } from "../../../src/host/service.ts";

const script = (name: string, turns: unknown[]) => ({ name, advance: "round", turns });

/** Agents: `echo` answers, `slow` takes its time, `payer` asks a person before it pays, `failing` fails. */
export const configuration = (more: Record<string, unknown> = {}) =>
  JSON.stringify({
    version: 1,
    providers: {
      demo: {
        type: "simulator",
        wire: "anthropic",
        pace: 0,
        scenarios: [
          script("hello", [{ text: "hello there, caller" }]),
          script("slow", [{ text: "one two three four five six seven eight nine ten", pace: 40 }]),
          script("payer", [
            { calls: [{ name: "pay", arguments: { amount: 10, to: "Ann" } }] },
            { text: "{{results}}" },
          ]),
          script("failing", [{ error: { status: 400, message: "no such luck" } }]),
        ],
      },
    },
    tools: { pay: { type: "module", path: "./pay.mjs" } },
    agents: {
      echo: { description: "Says hello", model: "demo/hello" },
      slow: { description: "Takes its time", model: "demo/slow" },
      payer: {
        description: "Pays",
        model: "demo/payer",
        tools: ["pay"],
        inputs: { amount: { type: "number", default: 10 } },
      },
      failing: { description: "Fails", model: "demo/failing" },
    },
    journal: { type: "memory" },
    channels: { mcp: { taskAfter: "60ms" }, http: {} },
    server: { listen: 0 },
    telemetry: { logs: { level: "silent" } },
    ...more,
  });

export const pay = `export default {
  description: "Pays",
  parameters: { type: "object", properties: { amount: { type: "number" }, to: { type: "string" } }, required: ["amount"] },
  approval: "always",
  call: ({ amount, to }) => "paid " + amount + " to " + to,
};`;

export const start = (configFile: string): Promise<Service> => openService({ configFile, log: silentLog });

export type Era = "2025-11-25" | "2026-07-28";

/** The official client, in one of the two ways to speak. */
export async function connect(url: string, era: Era, options: ClientOptions = {}, key?: string): Promise<Client> {
  const mode = era === "2026-07-28" ? { pin: era } : "legacy";
  const client = new Client({ name: "test", version: "1" }, { ...options, versionNegotiation: { mode } });
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}

/** A request of 2026-07-28 by hand, for what the client's library does not do. */
export async function ask(
  url: string,
  method: string,
  params: Record<string, unknown>,
  { capabilities = {} as object, headers = {} as Record<string, string>, signal = AbortSignal.timeout(120_000) } = {},
): Promise<{ status: number; result: Record<string, unknown>; error?: { code: number; message: string } }> {
  const name = params.name ?? params.uri ?? params.taskId;
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 7,
      method,
      params: {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": capabilities,
        },
      },
    }),
    signal,
  });
  const text = await response.text();
  const last = text.startsWith("{") ? text : (text.split("data: ").at(-1) ?? "");
  return { status: response.status, ...JSON.parse(last) };
}

export const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };
