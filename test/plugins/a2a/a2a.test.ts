import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentCard, Task } from "@a2a-js/sdk";
import {
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import { expect } from "chai";
import express from "express";
import type { Service } from "../../../src/host/service.ts";
import { testFolder } from "../../host/folder.ts";
import { configuration, pay, start } from "../channel-mcp/service.ts";

const card = (url: string, streaming: boolean) => ({
  name: "Peer",
  description: "Knows the tides",
  version: "1",
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: { streaming },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
});

describe("an agent of another service as a tool", function () {
  this.timeout(180_000);
  const folder = testFolder();
  const services: Service[] = [];
  const servers: Server[] = [];
  afterEach(async () => {
    for (const service of services.splice(0)) await service.drain("interrupt");
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });

  const listen = async (server: Server): Promise<string> => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  /** A service whose agent `caller` gives the peer a task and says what it answered. */
  const open = async (url: string, more: object = {}) => {
    const scenarios = [
      {
        name: "caller",
        advance: "round",
        turns: [{ calls: [{ name: "peer", arguments: { task: "When is high water?" } }] }, { text: "{{results}}" }],
      },
    ];
    const file = folder.write({
      "caller.yaml": configuration({
        providers: { demo: { type: "simulator", wire: "anthropic", pace: 0, scenarios } },
        tools: { peer: { type: "a2a", url, ...more } },
        agents: { caller: { model: "demo/caller", tools: ["peer"] } },
        channels: {},
      }),
    });
    const service = await start(file);
    services.push(service);
    return service.host.runs;
  };

  const ended = async (runs: Service["host"]["runs"], run: string) => {
    for await (const batch of runs.follow(run)) {
      const last = batch.at(-1);
      if (last?.type === "run.finished" || last?.type === "run.failed") return last;
    }
    throw new Error("the run has no end");
  };

  /** The SDK's server around an executor. */
  const sdkServer = async (
    execute: (context: RequestContext, bus: ExecutionEventBus) => Promise<void>,
    streaming = true,
  ): Promise<string> => {
    const app = express();
    const url = await listen(createServer(app));
    const own = AgentCard.fromJSON(card(`${url}/rpc`, streaming));
    const executor = { execute, cancelTask: async () => {} };
    const requestHandler = new DefaultRequestHandler(own, new InMemoryTaskStore(), executor);
    app.get("/.well-known/agent-card.json", (_, response) => void response.json(card(`${url}/rpc`, streaming)));
    app.use("/rpc", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
    return url;
  };

  for (const streaming of [true, false]) {
    it(`of the SDK's own server ${streaming ? "streams" : "answers"}, asks, and its answer is the result`, async () => {
      const heard: string[] = [];
      const url = await sdkServer(async (context, bus) => {
        const { AgentEvent } = await import("@a2a-js/sdk/server");
        const { taskId, contextId, userMessage, task } = context;
        const [part] = userMessage.parts;
        heard.push(part?.content?.$case === "text" ? part.content.value : "");
        const status = (state: string, text?: string) => ({
          state,
          ...(text === undefined
            ? {}
            : { message: { messageId: `q${heard.length}`, role: "ROLE_AGENT", parts: [{ text }] } }),
        });
        if (task === undefined) {
          bus.publish(
            AgentEvent.task(
              Task.fromJSON({ id: taskId, contextId, status: status("TASK_STATE_INPUT_REQUIRED", "Which port?") }),
            ),
          );
        } else {
          const artifacts = [{ artifactId: "a", parts: [{ text: "12:00 at Kiel" }] }];
          bus.publish(
            AgentEvent.task(
              Task.fromJSON({ id: taskId, contextId, status: status("TASK_STATE_COMPLETED"), artifacts }),
            ),
          );
        }
        bus.finished();
      }, streaming);
      const runs = await open(url);
      const { run } = await runs.start({ agent: "caller", input: { text: "go" } });
      let question = (await runs.pending(run))[0];
      while (question === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        question = (await runs.pending(run))[0];
      }
      expect(question.message).to.equal('The agent "peer" asks: Which port?');
      await runs.signal(run, "approve", { call: question.call, approved: true, answer: "Kiel" });
      expect((await ended(runs, run)).output).to.contain("12:00 at Kiel");
      expect(heard).to.deep.equal(["When is high water?", "Kiel"]);
    });
  }

  it("of a Venturi is its agent: an approval there is a question here, and a cancelled run cancels the task", async () => {
    const file = folder.write({
      "venturi.yaml": configuration({ channels: { a2a: {} } }).replace('"pace":40', '"pace":2000'),
      "pay.mjs": pay,
    });
    const peer = await start(file);
    services.push(peer);
    const runs = await open(`${peer.url}/a2a/payer`);
    const asked = async () => {
      const { run } = await runs.start({ agent: "caller", input: { text: "go" } });
      for (;;) {
        const [question] = await runs.pending(run);
        if (question !== undefined) return { run, question };
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const first = await asked();
    expect(first.question.message).to.contain("wants to call pay");
    await runs.signal(first.run, "approve", { call: first.question.call, approved: true, answer: "yes" });
    expect((await ended(runs, first.run)).output).to.contain("paid 10 to Ann");
    const slow = await open(`${peer.url}/a2a/slow`);
    const { run } = await slow.start({ agent: "caller", input: { text: "go" } });
    const ofPeer = async () => (await peer.host.runs.list({ agent: "slow", limit: 1 })).runs[0];
    while ((await ofPeer()) === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    await slow.cancel(run);
    while ((await ofPeer())?.state !== "done") await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await ofPeer())?.outcome).to.equal("cancelled");
  });

  it("that lies, breaks off or never ends its answer fails the call, and nothing else", async () => {
    let reply: (method: string, id: number) => { type?: string; body: string; cut?: boolean; status?: number } =
      () => ({ body: "{}" });
    let own = "";
    const server = createServer(async (request, response) => {
      let text = "";
      for await (const piece of request) text += piece;
      if (request.method === "GET") return void response.end(JSON.stringify(card(own, true)));
      const { method, id } = JSON.parse(text);
      const { type = "application/json", body, cut, status = 200 } = reply(method, id);
      response.writeHead(status, { "content-type": type });
      if (cut) response.write(body, () => response.destroy());
      else response.end(body);
    });
    own = await listen(server);
    const runs = await open(own, { headers: { authorization: "Bearer secret-of-this-tool" } });
    const result = (id: number, value: object) => JSON.stringify({ jsonrpc: "2.0", id, result: value });
    const events = (id: number, ...values: object[]) =>
      values.map((value) => `data: ${result(id, value)}\n\n`).join("");
    const stream = "text/event-stream";
    const working = { task: { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } } };
    const done = {
      id: "t",
      contextId: "c",
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ artifactId: "a", parts: [{ text: "at last" }] }],
    };
    const deep = `{"result":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    for (const [what, says, expected] of [
      ["no JSON", () => ({ body: "<html>" }), "no JSON"],
      ["nothing", () => ({ body: "{}" }), "no result"],
      ["too deep", () => ({ body: deep }), "no JSON"],
      [
        "an error",
        (_: string, id: number) => ({
          body: JSON.stringify({
            jsonrpc: "2.0",
            id,
            error: { code: -32603, message: "not with Bearer secret-of-this-tool" },
          }),
        }),
        "not with [",
      ],
      [
        "another task",
        (_: string, id: number) => ({
          type: stream,
          body: events(id, working, { task: { ...working.task, id: "u" } }),
        }),
        "another task",
      ],
      [
        "a failed task",
        (_: string, id: number) => ({
          body: result(id, {
            task: { id: "t", status: { state: "TASK_STATE_FAILED", message: { parts: [{ text: "too late" }] } } },
          }),
        }),
        "failed: too late",
      ],
      ["a status", () => ({ status: 403, body: "" }), "answered 403"],
      [
        "parts that are none",
        (_: string, id: number) => ({ body: result(id, { message: { parts: [null, 7, { text: { no: 1 } }] } }) }),
        "",
      ],
      [
        "a broken stream, then the task",
        (method: string, id: number) =>
          method === "GetTask" ? { body: result(id, done) } : { type: stream, body: events(id, working), cut: true },
        "at last",
      ],
    ] as const) {
      reply = says;
      const { run } = await runs.start({ agent: "caller", input: { text: "go" } });
      const last = await ended(runs, run);
      expect(last.type, what).to.equal("run.finished");
      expect(last.output, what).to.contain(expected);
      expect(JSON.stringify((await runs.events(run, { limit: 1_000 })).events), what).not.to.contain(
        "secret-of-this-tool",
      );
    }
  });

  it("whose card sends to another host is not sent there", async () => {
    let reached = 0;
    const elsewhere = await listen(
      createServer((_, response) => {
        reached += 1;
        response.end("{}");
      }),
    );
    const url = await listen(createServer((_, response) => void response.end(JSON.stringify(card(elsewhere, true)))));
    const runs = await open(url, { headers: { authorization: "Bearer secret-of-this-tool" } });
    const { run } = await runs.start({ agent: "caller", input: { text: "go" } });
    expect((await ended(runs, run)).output).to.contain("not on the list");
    expect(reached).to.equal(0);
  });
});
