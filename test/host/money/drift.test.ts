import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { testFolder } from "../folder.ts";

// Each is a way in which gateways' sums are known to have left what vendors charge: paths that no budget sees, streams that count
// as nothing, clients that leave, reservations that stay.
const config = (prices: string) => `
providers:
  demo:
    type: simulator
    pace: 5
    scenarios:
      - { name: books, match: { text: "^books" }, turns: [{ text: [a, b, c], usage: { inputTokens: 1000, outputTokens: 10 } }] }
      - { name: slow, match: { text: "^slow" }, turns: [{ text: [${"word, ".repeat(200)}end] }] }
models: { main: { chain: [demo/large], options: { maxTokens: 100 } }, silent: { chain: ["demo/large!first=60000"] } }
agents: { a: { model: main }, silent: { model: silent } }
prices: ${prices}
budgets: { all: { of: service, tokens: 1000000, per: month } }
channels: { http: {}, openai: {}, anthropic: {}, ai-sdk: {}, ag-ui: {}, mcp: {} }
journal: { type: memory }
server: { listen: 0 }
`;
const prices = '{ "demo/*": { input: 10, output: 100 } }';
const cost = (1000 * 10 + 10 * 100) / 1e6;

const messages = [{ role: "user", content: "books" }];
const part = { type: "text", text: "books" };
/** Every way in: its path, its body, and where it tells the usage. */
const doors: readonly {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  readonly accept?: string;
}[] = [
  { name: "http", path: "/v1/runs", body: { agent: "a", input: "books" } },
  { name: "http, streamed", path: "/v1/runs", body: { agent: "a", input: "books" }, accept: "text/event-stream" },
  ...[false, true].flatMap((stream) => [
    { name: `chat, stream ${stream}`, path: "/openai/v1/chat/completions", body: { ...asUsage(stream), messages } },
    { name: `responses, stream ${stream}`, path: "/openai/v1/responses", body: { model: "a", input: "books", stream } },
    {
      name: `completions, stream ${stream}`,
      path: "/openai/v1/completions",
      body: { ...asUsage(stream), prompt: "books" },
    },
    {
      name: `messages, stream ${stream}`,
      path: "/anthropic/v1/messages",
      body: { model: "a", max_tokens: 100, messages, stream },
    },
  ]),
  { name: "ai-sdk", path: "/ai-sdk/a", body: { id: "chat", messages: [{ id: "m", role: "user", parts: [part] }] } },
  {
    name: "ag-ui",
    path: "/ag-ui/a",
    body: {
      threadId: "t",
      runId: "r",
      messages: [{ id: "m", role: "user", content: "books" }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    },
  },
  {
    name: "mcp",
    path: "/mcp",
    accept: "application/json, text/event-stream",
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "a", arguments: { input: "books" } },
    },
  },
];

function asUsage(stream: boolean): object {
  return { model: "a", stream, ...(stream ? { stream_options: { include_usage: true } } : {}) };
}

describe("spend", () => {
  const folder = testFolder();
  let service: Service;
  afterEach(() => service.drain());
  const open = async (text: string) => {
    const configFile = folder.write({ "venturi.yaml": text });
    service = await openService({ configFile, env: {}, log: silentLog, telemetry: noTelemetry });
  };
  const post = (
    path: string,
    body: object,
    { accept = "application/json", signal }: { accept?: string; signal?: AbortSignal } = {},
  ) =>
    fetch(`${service.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  const total = async () => {
    const { total } = (await (await fetch(`${service.url}/v1/usage`)).json()) as { total: Record<string, number> };
    return total;
  };
  const balance = async () => {
    const account = JSON.stringify(["all", "", new Date().toISOString().slice(0, 7)]);
    const [found] = (await service.host.journal.balances?.([account])) ?? [];
    return found ?? { spent: { tokens: 0 }, held: { tokens: 0 } };
  };
  const idle = async () => {
    while (service.host.active() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it("is the same through every channel, streamed or whole: in the reply, the report and the budget", async () => {
    await open(config(prices));
    for (const [index, { name, path, body, accept }] of doors.entries()) {
      const response = await post(path, body, accept === undefined ? {} : { accept });
      const text = await response.text();
      expect(response.status, `${name}: ${text}`).to.equal(200);
      await idle();
      expect(text.replaceAll("\\", ""), name).to.contain(`"cost":${cost}`);
      const sum = await total();
      expect([sum.generations, sum.cost], name).to.deep.equal([index + 1, Math.round((index + 1) * cost * 1e9) / 1e9]);
      const { spent, held } = await balance();
      expect([spent.tokens, held.tokens], name).to.deep.equal([(index + 1) * 1_010, 0]);
    }
  });

  it("without a price has no cost through any channel, and is counted as unpriced", async () => {
    await open(config("{}"));
    for (const [index, { name, path, body, accept }] of doors.entries()) {
      const text = await (await post(path, body, accept === undefined ? {} : { accept })).text();
      await idle();
      expect(text, name).not.to.contain("cost");
      expect(await total(), name).to.deep.include({ generations: index + 1, unpriced: index + 1 });
      expect(await total(), name).not.to.have.property("cost");
    }
  });

  for (const [when, agent, input] of [
    ["in the middle of an answer", "a", "slow"],
    ["before the first token", "silent", "books"],
  ] as const)
    it(`of a client that leaves ${when} is estimated, and nothing stays reserved`, async () => {
      await open(config(prices));
      for (const [path, body] of [
        ["/openai/v1/chat/completions", { model: agent, messages: [{ role: "user", content: input }] }],
        ["/anthropic/v1/messages", { model: agent, max_tokens: 100, messages: [{ role: "user", content: input }] }],
      ] as const) {
        const before = await total();
        const leave = new AbortController();
        const reply = post(path, { ...body, stream: true }, { signal: leave.signal }).then((response) =>
          response.body?.getReader().read(),
        );
        if (agent === "a") await reply;
        else while ((await balance()).held.tokens === 0) await new Promise((resolve) => setTimeout(resolve, 5));
        leave.abort();
        await reply.catch(() => {});
        await idle();
        const after = await total();
        expect([after.generations, after.failed], path).to.deep.equal([
          before.generations ?? 0,
          (before.failed ?? 0) + 1,
        ]);
        expect(after.cost, path).to.be.greaterThan(before.cost ?? 0);
        const { spent, held } = await balance();
        expect([spent.tokens, held.tokens], path).to.deep.equal([
          (after.inputTokens ?? 0) + (after.outputTokens ?? 0),
          0,
        ]);
      }
    });
});
