import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Message, Part } from "../../src/core/model/messages.ts";
import { silentLog } from "../../src/core/ports/log.ts";
import type { EventOf, RunEvent } from "../../src/core/run/events.ts";
import { openService, type Service } from "../../src/host/service.ts";

const result = `Grüße 🐻\n${"lorem ipsum\n".repeat(60_000)}the end`;
const hash = createHash("sha256").update(result).digest("hex");
const shown = 64_000;

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const call = (id: string, name: string, input: object) => {
  const asked = { index: 0, id, type: "function", function: { name, arguments: JSON.stringify(input) } };
  return `${chunk({ role: "assistant", tool_calls: [asked] })}${chunk({}, "tool_calls")}`;
};

/** Asks for the tool, then for the end of its result, then answers. */
const answers = [
  call("call_1", "large", {}),
  call("call_2", "read_result", { call: "call_1", offset: result.length - 7 }),
  `${chunk({ content: "Done." })}${chunk({}, "stop")}`,
];

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: unknown; readonly tool_call_id?: string }[];
}

describe("large results of tools stand beside the journal", () => {
  const bodies: Sent[] = [];
  let upstream: Server;
  let folder: string;
  let service: Service;

  before(async () => {
    upstream = createServer(async (request, response) => {
      let text = "";
      for await (const piece of request.setEncoding("utf8")) text += piece;
      const body = JSON.parse(text) as Sent;
      bodies.push(body);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const results = body.messages.filter(({ role }) => role === "tool").length;
      response.end(`${answers[Math.min(results, 2)]}data: [DONE]\n\n`);
    }).listen(0, "127.0.0.1");
    await once(upstream, "listening");
    folder = await mkdtemp(join(tmpdir(), "venturi-results-"));
    const tool = `export default { description: "Reads much", parameters: { type: "object" }, effect: "pure", call: () => ${JSON.stringify(result)} };`;
    await writeFile(join(folder, "large.mjs"), tool);
    const { port } = upstream.address() as AddressInfo; // it listens on TCP
    await writeFile(
      join(folder, "venturi.yaml"),
      `version: 1
providers: { up: { type: openai, baseUrl: "http://127.0.0.1:${port}/v1", apiKey: none } }
tools: { large: { type: module, path: ./large.mjs } }
agents: { m: { model: up/m, tools: [large] }, plain: { model: up/m } }
server: { listen: "127.0.0.1:0" }
channels: { http: {}, openai: {}, ai-sdk: {}, ag-ui: {} }
journal: { type: sqlite, path: ./journal.db }
telemetry: off
`,
    );
    service = await openService({ configFile: join(folder, "venturi.yaml"), env: {}, log: silentLog });
  });
  after(async () => {
    await service.drain();
    upstream.close();
    upstream.closeAllConnections();
    await rm(folder, { recursive: true });
  });

  const eventsOf = async (run: string): Promise<RunEvent[]> => {
    const events: RunEvent[] = [];
    for await (const batch of service.host.runs.follow(run)) events.push(...batch);
    return events;
  };
  const finishedIn = (events: readonly RunEvent[]): EventOf<"tool.finished">[] =>
    events.filter((event) => event.type === "tool.finished");
  const start = async (): Promise<string> => (await service.host.runs.start({ agent: "m", input: { text: "go" } })).run;

  it("by hash in the event, the beginning in front of the model, and the rest for read_result", async () => {
    bodies.length = 0;
    const run = await start();
    const events = await eventsOf(run);
    for (const event of events) expect(JSON.stringify(event).length).to.be.below(2 * shown);
    const [first, second] = finishedIn(events);
    expect(first).to.include({ hash, shown, length: result.length, size: Buffer.byteLength(result) });
    expect(first?.output).to.equal(result.slice(0, shown));
    expect(second?.output).to.include("the end").and.include(`of ${result.length} characters`);
    const told = bodies.at(-1)?.messages.find(({ tool_call_id }) => tool_call_id === "call_1")?.content;
    expect(told).to.include(result.slice(0, shown)).and.include(`[cut: ${shown} of ${result.length} characters`);
    const response = await fetch(`${service.url}/v1/runs/${run}/content/${hash}`);
    expect(await response.text()).to.equal(result);
  });

  it("and a fork has them, whether it takes them over or is given them again", async () => {
    const run = await start();
    const [first] = finishedIn(await eventsOf(run));
    for (const after of [first?.seq ?? 0, 1]) {
      const { run: forked } = await service.host.runs.fork(run, { after });
      const [again, rest] = finishedIn(await eventsOf(forked));
      expect(again, `after ${after}`).to.include({ hash, shown, length: result.length });
      expect(rest?.output).to.include("the end");
      const response = await fetch(`${service.url}/v1/runs/${forked}/content/${hash}`);
      expect(await response.text()).to.equal(result);
    }
  });

  it("unless a fork replaces one", async () => {
    const run = await start();
    const [first] = finishedIn(await eventsOf(run));
    const edit = [{ call: "call_1", output: "nothing", ok: true }];
    const { run: forked } = await service.host.runs.fork(run, { after: first?.seq ?? 0, edit });
    const [edited] = finishedIn(await eventsOf(forked));
    expect(edited).to.include({ output: "nothing" }).and.not.have.any.keys("hash", "size", "length", "shown");
  });

  it("and channels of other wires say where the rest is", async () => {
    const message = { id: "m", role: "user", parts: [{ type: "text", text: "go" }] };
    const asked = await fetch(`${service.url}/ai-sdk/m`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "c", messages: [message] }),
    });
    expect(await asked.text()).to.match(
      new RegExp(`\\\\n\\[cut: ${shown} of ${result.length} characters; GET /v1/runs/run_\\w+/content/${hash}`),
    );
  });

  it("also those that a client sends with its conversation, which the model gets whole", async () => {
    bodies.length = 0;
    const called = { id: "c1", type: "function", function: { name: "own", arguments: "{}" } };
    const messages = [
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: [called] },
      { role: "tool", tool_call_id: "c1", content: result },
      { role: "user", content: "go on" },
    ];
    const response = await fetch(`${service.url}/openai/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "plain", messages }),
    });
    expect(response.status).to.equal(200);
    const run = response.headers.get("x-venturi-run") ?? "";
    const { request } = await service.host.runs.get(run);
    expect(JSON.stringify(request)).to.include(hash);
    expect(JSON.stringify(request).length).to.be.below(8_000);
    expect(bodies[0]?.messages[2]?.content).to.equal(result);
  });

  it("as do texts that are large only together", async () => {
    bodies.length = 0;
    const parts = Array.from(
      { length: 40 },
      (_, index): Part => ({ type: "text", text: `${index} ${"x".repeat(60_000)}` }),
    );
    const messages: Message[] = [{ role: "user", parts }];
    const { run } = await service.host.runs.start({ agent: "plain", input: { messages } });
    await eventsOf(run);
    const { request } = await service.host.runs.get(run);
    expect(JSON.stringify(request).length).to.be.below(100_000);
    expect(JSON.stringify(bodies[0]?.messages)).to.include(`39 ${"x".repeat(60_000)}`);
  });

  it("and no client names one by its hash", async () => {
    const part = { type: "tool_result", call: "c", name: "large", ok: true, output: "", hash, size: 1 } as const;
    const input = { messages: [{ role: "tool", parts: [part] }] } satisfies { messages: Message[] };
    const refused = await service.host.runs.start({ agent: "m", input }).catch((thrown: unknown) => thrown);
    expect(refused).to.include({ code: "invalid_input" });
  });
});
