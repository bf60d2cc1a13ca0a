import { fileURLToPath } from "node:url";
import { createMcpHandler, inputRequired, inputResponse, McpServer } from "@modelcontextprotocol/server";
import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { RunEvent, TerminalEvent } from "../../../src/core/run/events.ts";
import { isTerminal } from "../../../src/core/run/events.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { testFolder } from "../../host/folder.ts";
import { serveFetch } from "./http-server.ts";

const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const script = (name: string, turns: unknown[]) => ({ name, advance: "round", turns });

describe("mcp: a server's requests for a model", () => {
  const folder = testFolder();
  const closing: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
  });

  /** An agent that calls the server's tool once; `thinker` answers the server. */
  const open = async (remote: object, tool: string, given: object = {}, caller: object = {}): Promise<Host> => {
    const scenarios = [
      script("calls", [{ calls: [{ name: `remote_${tool}`, arguments: given }] }, { text: "Done: {{results}}" }]),
      script("thinks", [{ text: "the model says forty two", usage: { inputTokens: 30, outputTokens: 20 } }]),
    ];
    const file = folder.write({
      "venturi.yaml": JSON.stringify({
        version: 1,
        providers: { demo: { type: "simulator", wire: "anthropic", pace: 0, scenarios } },
        tools: { remote: { type: "mcp", ...remote } },
        agents: {
          caller: { model: "demo/calls", tools: ["remote"], ...caller },
          thinker: { model: "demo/thinks" },
        },
        journal: { type: "memory" },
      }),
    });
    const host = await openHost({ configFile: file, log: silentLog });
    closing.unshift(host);
    return host;
  };

  /** Runs the caller; approvals get this answer. */
  const run = async ({ runs }: Host, approved = true) => {
    const events: RunEvent[] = [];
    const { run: id } = await runs.start({ agent: "caller", input: { text: "go" } });
    for await (const batch of runs.follow(id)) {
      for (const event of batch) {
        events.push(event);
        if (event.type !== "approval.requested") continue;
        await runs.signal(id, "approve", { call: event.call, approved, by: "ann" });
      }
    }
    const below = (await runs.list({ agent: "thinker" })).runs;
    return { events, last: events.find(isTerminal) as TerminalEvent, below };
  };

  /** A server of 2026 that asks for a model `times` times. */
  const modern = async (times = 1) => {
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: "modern", version: "1" });
      server.registerTool("think", { description: "Thinks" }, (context) => {
        const done = Number(context.mcpReq.requestState() ?? 0);
        const reply = inputResponse(context.mcpReq.inputResponses, "thought");
        if (done === times) return { content: [{ type: "text", text: JSON.stringify(reply) }] };
        return inputRequired({
          inputRequests: {
            thought: inputRequired.createMessage({
              messages: [{ role: "user", content: { type: "text", text: `what is it, number ${done}?` } }],
              systemPrompt: "Be brief.",
              maxTokens: 100_000,
            }),
          },
          requestState: String(done + 1),
        });
      });
      return server;
    });
    const http = await serveFetch((request) => handler.fetch(request));
    closing.push(http, handler);
    return http.url;
  };

  const sampling = { agent: "thinker", approval: "never" };

  it("2026-07-28: the agent's model answers, below the calling run and as part of what it spends", async () => {
    const host = await open({ url: await modern(), sampling }, "think");
    const { last, below, events } = await run(host);
    expect(last.output).to.contain("the model says forty two");
    expect(below).to.have.length(1);
    expect(below[0]?.request).to.deep.include({ options: { maxTokens: 1_024 } });
    expect(below[0]?.request.parent).to.include({ run: last.run, depth: 1 });
    expect(JSON.stringify(below[0]?.request)).to.contain("Be brief.").and.contain("what is it, number 0?");
    const finished = events.find((event) => event.type === "tool.finished");
    expect(finished).to.have.nested.property("usage.outputTokens", 20);
  });

  it("2025-11-25: a request that the server sends on its own is answered too", async () => {
    const remote = { command: process.execPath, args: [everything, "stdio"], sampling };
    const { last, below } = await run(await open(remote, "trigger-sampling-request", { prompt: "hello?" }));
    expect(last.output).to.contain("the model says forty two");
    expect(JSON.stringify(below[0]?.request.input)).to.contain("hello?");
  });

  it("a person sees each request first, and can refuse it", async () => {
    const asks = { url: await modern(), sampling: { agent: "thinker" } };
    const allowed = await run(await open(asks, "think"));
    const asked = allowed.events.find((event) => event.type === "approval.requested");
    expect(JSON.stringify(asked)).to.contain("what is it, number 0?").and.contain('"name":"sampling"');
    expect(allowed.below).to.have.length(1);
    const refused = await run(await open(asks, "think"), false);
    expect(refused.below).to.have.length(0);
    expect(refused.events.find((event) => event.type === "tool.finished")).to.include({ ok: false });
  });

  it("without the option no model is asked", async () => {
    const { below, events } = await run(await open({ url: await modern() }, "think"));
    expect(below).to.have.length(0);
    expect(events.find((event) => event.type === "tool.finished")).to.include({ ok: false });
  });

  it("a server that goes on asking is stopped", async () => {
    const { below, events } = await run(
      await open({ url: await modern(9), sampling: { ...sampling, most: 3 } }, "think"),
    );
    expect(below).to.have.length(3);
    expect(events.find((event) => event.type === "tool.finished")).to.have.nested.property("error.code", "tool_denied");
  });

  it("it spends the calling run's tokens, which end it", async () => {
    const host = await open({ url: await modern(9), sampling }, "think", {}, { limits: { tokens: 200 } });
    const { last, below, events } = await run(host);
    const finished = events.find((event) => event.type === "tool.finished");
    expect(finished).to.have.nested.property("error.code", "budget_exceeded");
    expect(last).to.include({ type: "run.finished", finish: "max_tokens" });
    expect(below.length).to.equal(4);
  });

  it("an agent that is not there is refused with the configuration", async () => {
    const failed = await open({ url: "http://127.0.0.1:9/", sampling: { agent: "thinkr" } }, "x").catch((it) => it);
    expect(failed.code).to.equal("config_invalid");
    expect(failed.message).to.contain("thinker");
  });
});
