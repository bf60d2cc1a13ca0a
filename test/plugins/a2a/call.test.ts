import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect } from "chai";
import a2a from "../../../plugins/a2a/index.ts";
import type { Question } from "../../../src/core/ports/tool.ts";
import { type RichOutput, type Tool, type ToolContext, VenturiError, type Verdict } from "../../../src/plugin.ts";
import { callTool, testPluginContext } from "../../../src/testing.ts";

interface Sent {
  readonly method: string;
  readonly params: Record<string, Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
}
type Reply =
  | { result: unknown }
  | { error: unknown }
  | { status: number; body?: string }
  | { events: readonly object[] };

const status = (state: string, parts?: object[]) => ({
  state: `TASK_STATE_${state}`,
  ...(parts === undefined ? {} : { message: { parts } }),
});
const task = (state: string, more: object = {}) => ({ id: "t", contextId: "c", status: status(state), ...more });
const artifact = (id: string, ...parts: object[]) => ({ artifactId: id, parts });
const done = (text: string) => ({ task: task("COMPLETED", { artifacts: [artifact("a", { text })] }) });

describe("a call of an agent of another service", () => {
  let server: Server;
  let url = "";
  let card: Record<string, unknown>;
  let sent: Sent[] = [];
  let replies: Reply[] = [];
  /** Called with each request that arrives. */
  let arrived: (method: string) => void | Promise<void> = () => {};
  beforeEach(async () => {
    sent = [];
    replies = [];
    arrived = () => {};
    server = createServer(async (request, response) => {
      if (request.method === "GET") {
        sent.push({ method: request.url ?? "", params: {}, headers: request.headers });
        return void response.end(JSON.stringify(card));
      }
      const { id, method, params } = (await json(request)) as Sent & { id: number };
      sent.push({ method, params, headers: request.headers });
      await arrived(method);
      const reply = replies.shift() ?? { status: 410 };
      if ("status" in reply) return void response.writeHead(reply.status).end(reply.body);
      if (!("events" in reply)) return void response.end(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const result of reply.events) response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agents/tides`;
    card = {
      name: "Tides",
      description: "Knows the tides",
      supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    };
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  const create = async (more: object = {}) =>
    (await a2a.create(a2a.options.parse({ url, ...more }), testPluginContext({ name: "peer" }))) as Tool;
  const call = async (input: object = {}, context: Partial<ToolContext> = {}, more: object = {}) =>
    await callTool(await create(more), { task: "When?", ...input }, context);
  const failureOf = (promise: Promise<unknown>): Promise<VenturiError> =>
    promise.then(
      (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
      (thrown) => thrown,
    );
  const methods = () => sent.map(({ method }) => method);

  it("takes an answer with a number that is too large for JavaScript", async () => {
    replies = [{ status: 200, body: '{"result":{"message":{"parts":[{"text":"at noon"}],"metadata":{"n":1e400}}}}' }];
    expect(await call()).to.have.property("output", "at noon");
  });

  it("sends the task with its data, our headers, and an id that is the same after a crash", async () => {
    for (let times = 0; times < 2; times++) {
      replies = [{ result: { message: { parts: [{ text: "at noon" }] } } }];
      const { output } = await call({ data: { port: "Kiel" } }, { idempotencyKey: "k" }, { headers: { "x-key": "s" } });
      expect(output).to.equal("at noon");
    }
    const [first, again] = sent.filter(({ method }) => method === "SendMessage");
    const { messageId, ...message } = first?.params.message ?? {};
    expect(message).to.deep.equal({
      role: "ROLE_USER",
      parts: [{ text: "When?" }, { data: { port: "Kiel" }, mediaType: "application/json" }],
    });
    expect(messageId)
      .to.match(/^[0-9a-f]{32}$/)
      .and.equal(again?.params.message?.messageId);
    expect(first?.params.configuration).to.deep.equal({ returnImmediately: true });
    const headers = { "content-type": "application/json", accept: "application/json", "a2a-version": "1.0" };
    expect(first?.headers).to.include({ ...headers, "x-key": "s" });
    expect(sent[0]).to.have.property("method", "/agents/tides/.well-known/agent-card.json");
    expect(sent[0]?.headers).to.include({ "x-key": "s" });
    replies = [{ result: { message: { parts: [] } } }];
    await call();
    expect(sent.at(-1)?.params.message?.parts).to.deep.equal([{ text: "When?" }]);
  });

  it("reads the card at the URL itself when it is one, or below a folder", async () => {
    const home = url;
    for (const [given, path] of [
      [`${home}/`, "/agents/tides/.well-known/agent-card.json"],
      [`${home}/my-card.json`, "/agents/tides/my-card.json"],
    ] as const) {
      url = given;
      await create();
      expect(sent.at(-1)?.method).to.equal(path);
    }
  });

  it("is described by the card, by the config, or by its name", async () => {
    expect((await create()).description).to.equal("Knows the tides");
    expect((await create({ description: "Ours" })).description).to.equal("Ours");
    const named = async () => /the agent "(.*?)"/.exec((await create()).description)?.[1];
    for (const [name, told] of [
      ["Tides", "Tides"],
      ["", "agent"],
      [7, "agent"],
      ["x".repeat(200), "x".repeat(128)],
    ]) {
      card = { ...card, description: 7, name };
      expect(await named()).to.equal(told);
    }
    card = { ...card, description: "d".repeat(5_000) };
    expect((await create()).description).to.equal("d".repeat(4_000));
  });

  it("takes the first interface that is JSON-RPC of version 1, and none else", async () => {
    const [own] = card.supportedInterfaces as [object];
    const others = [
      null,
      { ...own, protocolBinding: "GRPC" },
      { ...own, protocolVersion: "0.3" },
      { ...own, url: "no url" },
    ];
    card = { ...card, supportedInterfaces: [...others, own] };
    await create();
    for (const supportedInterfaces of [others, "none"]) {
      card = { ...card, supportedInterfaces };
      expect((await failureOf(create())).message).to.include("no interface of A2A 1.0");
    }
    expect(await create({ optional: true })).to.have.property("name", "peer");
  });

  it("streams what is added to the answer as progress", async () => {
    card = { ...card, capabilities: { streaming: true } };
    const update = (append: boolean, ...parts: object[]) => ({
      artifactUpdate: { append, artifact: artifact("a", ...parts) },
    });
    replies = [
      {
        events: [
          { task: task("WORKING") },
          update(false, { text: "wrong" }),
          update(false, { text: "at " }),
          update(true, { text: "noon" }, { data: { h: 12 } }, { url: "https://a.example" }),
          { artifactUpdate: { artifact: 7 } },
          { statusUpdate: { status: status("COMPLETED") } },
        ],
      },
    ];
    const { output, progress } = await call();
    expect(output).to.equal('at noon\n{"h":12}\nhttps://a.example');
    expect(progress).to.deep.equal(["wrong", "at ", 'noon\n{"h":12}\nhttps://a.example']);
    expect(sent.at(-1)?.headers.accept).to.equal("text/event-stream");
    replies = [{ result: done("in one piece") }];
    expect((await call()).output, "one answer instead of a stream").to.equal("in one piece");
  });

  it("files come with it, images apart, with a type and a name where they have one", async () => {
    const parts = [
      { text: "here" },
      { raw: "aW1n", mediaType: "image/png", filename: "a.png" },
      { raw: "eA==", mediaType: "", filename: "" },
      { raw: 7 },
    ];
    replies = [{ result: { message: { parts } } }];
    const { text, images, files } = (await call()).output as RichOutput;
    expect(text).to.equal("here");
    expect(images).to.deep.equal([{ mediaType: "image/png", data: "aW1n", name: "a.png" }]);
    expect(files).to.deep.equal([{ mediaType: "application/octet-stream", data: "eA==" }]);
  });

  it("asks for the task until it has ended, and forgives failures in between", async () => {
    replies = [{ result: { task: task("WORKING") } }, { status: 503 }, { result: done("x") }];
    expect((await call()).output).to.equal("x");
    expect(methods().slice(1)).to.deep.equal(["SendMessage", "GetTask", "GetTask"]);
    expect(sent.at(-1)?.params).to.deep.equal({ id: "t" });
  });

  it("stops asking for it when the service refuses, and cancels the task", async () => {
    replies = [{ result: { task: task("WORKING") } }, { error: { code: -32001, message: "no such task" } }];
    const error = await failureOf(call());
    expect(error).to.include({ op: "tool.call", code: "tool_failed", message: "the agent refuses: no such task" });
    expect(methods().slice(1)).to.deep.equal(["SendMessage", "GetTask", "CancelTask"]);
    expect(sent.at(-1)?.params).to.deep.equal({ id: "t" });
  });

  it("is over when the task is, whatever its end, and says how and why", async () => {
    for (const [state, parts, told] of [
      ["FAILED", [{ text: "too late" }], "the agent's task is failed: too late"],
      ["CANCELED", undefined, "the agent's task is canceled"],
      ["REJECTED", [], "the agent's task is rejected"],
    ] as const) {
      sent = [];
      replies = [{ result: { task: { ...task(state), status: status(state, parts && [...parts]) } } }];
      expect(await failureOf(call())).to.include({ code: "tool_failed", message: told });
      expect(methods(), "nothing is left to cancel").to.deep.equal([sent[0]?.method, "SendMessage"]);
    }
  });

  for (const [what, reply, code, told] of [
    ["an error with a status", { status: 400, body: '{"error":{"message":"no"}}' }, "tool_failed", "refuses: no"],
    ["an error without a message", { error: {} }, "tool_failed", "no message was given"],
    ["a status without one", { status: 404, body: '{"x":1}' }, "tool_failed", "answered 404"],
    ["an overloaded service", { status: 429 }, "unavailable", "answered 429"],
    ["a broken one", { status: 500, body: "<html>" }, "unavailable", "answered 500"],
    ["no object", { status: 200, body: "[]" }, undefined, "no object"],
    ["neither task nor message", { result: {} }, undefined, "neither a task nor a message"],
  ] as const) {
    it(`fails with ${what}`, async () => {
      replies = [reply];
      const error = await failureOf(call());
      expect(error.message).to.include(told);
      if (code !== undefined) expect(error.code).to.equal(code);
      expect(methods()).not.to.include("CancelTask");
    });
  }

  it("that was cancelled before sends nothing", async () => {
    const tool = await create();
    sent = [];
    const thrown = await failureOf(callTool(tool, { task: "x" }, { signal: AbortSignal.abort() }));
    expect(thrown).to.include({ op: "tool.call", code: "stream_interrupted" });
    expect(sent).to.deep.equal([]);
  });

  it("that is cancelled while the task works cancels the task", async () => {
    const controller = new AbortController();
    replies = [{ result: { task: task("WORKING") } }];
    arrived = (method) => {
      if (method === "GetTask") controller.abort();
    };
    const thrown = await failureOf(call({}, { signal: controller.signal }));
    expect(thrown).to.include({ code: "stream_interrupted" });
    expect(methods().slice(1)).to.deep.equal(["SendMessage", "GetTask", "CancelTask"]);
  });

  it("that is cancelled before the task has an id waits for it, so that it can be cancelled", async () => {
    const controller = new AbortController();
    replies = [{ result: { task: task("WORKING") } }];
    arrived = (method) => {
      if (method === "SendMessage") controller.abort();
    };
    expect(await failureOf(call({}, { signal: controller.signal }))).to.include({ code: "stream_interrupted" });
    expect(methods().slice(1)).to.deep.equal(["SendMessage", "CancelTask"]);
  });

  describe("in which it asks", () => {
    const asking = (parts: object[], state = "INPUT_REQUIRED") => ({
      result: { task: { ...task(state), status: status(state, parts) } },
    });
    /** What a person is asked for these parts, and what their answer sends. */
    const asked = async (parts: object[], verdict: Verdict, state?: string) => {
      const questions: Question[] = [];
      const ask = async (question: Question) => {
        questions.push(question);
        return verdict;
      };
      replies = [asking(parts, state), { result: done("x") }];
      await call({}, { ask } as Partial<ToolContext>);
      const { message } = sent.at(-1)?.params ?? {};
      expect(message).to.deep.include({ taskId: "t", contextId: "c", role: "ROLE_USER" });
      return { question: questions[0], sent: message?.parts };
    };

    it("in words, with choices, a form or a URL, the answer is its next message", async () => {
      const plain = await asked([{ text: "Which port?" }], { approved: true, answer: "Kiel" });
      expect(plain.question).to.deep.include({ kind: "elicit", name: "peer" });
      expect(plain.question).to.have.property("message", 'The agent "peer" asks: Which port?');
      expect(plain.question).not.to.have.any.keys("choices", "schema", "url");
      expect(plain.sent).to.deep.equal([{ text: "Kiel" }]);
      const choice = await asked([{ text: "?" }, { data: { choices: ["a", "b"] } }], { approved: true, answer: "a" });
      expect(choice.question).to.deep.include({ choices: ["a", "b"] });
      const odd = await asked([{ data: { choices: ["a", 7], schema: 7, url: "no url" } }], {
        approved: true,
        answer: 7,
      });
      expect(odd.question).not.to.have.any.keys("choices", "schema", "url");
      expect(odd.question).to.have.property("message", 'The agent "peer" asks: It needs something to go on.');
      expect(odd.sent).to.deep.equal([{ text: "7" }]);
      const schema = { type: "object", properties: {} };
      const form = await asked([{ data: { schema } }], { approved: true, answer: { a: 1 } });
      expect(form.question).to.deep.include({ schema });
      expect(form.sent).to.deep.equal([{ data: { a: 1 } }]);
      const place = await asked([{ data: { url: "https://a.example/" } }], { approved: true }, "AUTH_REQUIRED");
      expect(place.question).to.deep.include({ url: "https://a.example/" });
      expect(place.sent).to.deep.equal([{ text: "done" }]);
    });

    it("for an approval, yes and no are the choices, and the answer names the call", async () => {
      const parts = [{ text: "Pay?" }, { data: { kind: "approve", call: "c1", choices: ["other"], schema: {} } }];
      const yes = await asked(parts, { approved: true, answer: "yes" });
      expect(yes.question).to.deep.include({ choices: ["yes", "no"] });
      expect(yes.question).not.to.have.property("schema");
      expect(yes.sent).to.deep.equal([{ data: { call: "c1", approved: true } }]);
      const no = await asked(parts, { approved: true, answer: "no" });
      expect(no.sent).to.deep.equal([{ data: { call: "c1", approved: false } }]);
      const denied = await asked([{ text: "Pay?" }], { approved: false, reason: "too much" });
      expect(denied.sent).to.deep.equal([{ data: { approved: false, reason: "too much" } }]);
    });

    it("where it may not, or for ever, the call fails and the task is cancelled", async () => {
      replies = [asking([{ text: "Which port?" }])];
      const refused = await failureOf(call({}, {}, { questions: false }));
      expect(refused).to.include({ code: "tool_failed" });
      expect(refused.message).to.include("Which port?");
      expect(methods()).to.include("CancelTask");
      const ids = new Set<string>();
      const ask = async ({ id }: { id: string }) => {
        ids.add(id);
        return { approved: true, answer: "x" };
      };
      replies = Array.from({ length: 25 }, () => asking([{ text: "Again?" }]));
      const endless = await failureOf(call({}, { ask } as unknown as Partial<ToolContext>));
      expect(endless.message).to.include("after 20 questions");
      expect(ids.size, "each question has its own id").to.equal(20);
      const messages = sent
        .filter(({ method }) => method === "SendMessage")
        .map(({ params }) => params.message?.messageId);
      expect(new Set(messages.slice(-21)).size).to.equal(21);
    });
  });

  it("that cannot reach the service says where it was to be found", async () => {
    const tool = await create();
    server.close();
    server.closeAllConnections();
    const error = await failureOf(callTool(tool, { task: "x" }));
    expect(error).to.be.instanceOf(VenturiError).and.to.include({ op: "tool.call", code: "unavailable" });
    expect(error.message).to.include(new URL(url).host);
  });
});
