import { getEventListeners } from "node:events";
import type { Client, JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { TaskWire, taskIn, wireOf } from "../../../plugins/mcp/task-wire.ts";
import { type Task, TaskNotes, taskResult } from "../../../plugins/mcp/tasks.ts";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { VenturiError } from "../../../src/plugin.ts";
import { silentToolContext } from "../../../src/testing/tool-call.ts";

interface Sent {
  readonly id: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
}
const failureOf = (promise: Promise<unknown>): Promise<VenturiError> =>
  promise.then(
    (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );
const done = (text: string) => ({ status: "completed", result: { content: [{ type: "text", text }] } });

/** A server's end of a transport: answers each request with the next reply. */
function serverWith(replies: object[], arrived: (sent: Sent) => void = () => {}) {
  const sent: Sent[] = [];
  const transport = {
    async send(message: Sent) {
      sent.push(message);
      arrived(message);
      const reply = replies.shift() ?? { error: { code: -1, message: "no more" } };
      setImmediate(() => transport.onmessage?.({ jsonrpc: "2.0", id: message.id, ...reply } as never));
    },
  } as unknown as Transport & { onmessage?: (message: JSONRPCMessage) => void };
  const client = {} as Client;
  const wire = new TaskWire(transport, { who: "us" });
  wire.serve(client);
  const seen: unknown[] = [];
  transport.onmessage = (message: unknown) => void seen.push(message);
  return { client, wire, transport, sent, seen, methods: () => sent.map(({ method }) => method) };
}

describe("requests about tasks beside an MCP client", () => {
  it("are answered by their own ids, with what every request tells, and the client sees none of it", async () => {
    const { wire, client, sent, seen } = serverWith([{ result: { a: 1 } }, { result: { b: 2 } }]);
    expect(wireOf(client)).to.equal(wire);
    expect(wireOf({} as Client)).to.equal(undefined);
    expect(await wire.ask("tasks/get", { taskId: "t" })).to.deep.equal({ a: 1 });
    expect(await wire.ask("tasks/get", {})).to.deep.equal({ b: 2 });
    expect(sent[0]).to.deep.include({ jsonrpc: "2.0", method: "tasks/get" });
    expect(sent[0]?.params).to.deep.equal({ taskId: "t", _meta: { who: "us" } });
    expect(sent[0]?.id)
      .to.match(/^venturi-/)
      .and.not.equal(sent[1]?.id);
    expect(seen).to.deep.equal([]);
  });

  it("fail with the server's words, or for want of any", async () => {
    const { wire } = serverWith([{ error: { code: 1, message: "no such task" } }, { result: 7 }]);
    expect((await failureOf(wire.ask("tasks/get", {}))).message).to.equal("no such task");
    expect((await failureOf(wire.ask("tasks/get", {}))).message).to.equal("tasks/get was answered with nothing");
    const { wire: broken, transport } = serverWith([]);
    transport.send = () => Promise.reject(new Error("closed"));
    expect((await failureOf(broken.ask("tasks/get", {}))).message).to.equal("closed");
  });

  it("an answer that is a task is one that the client hands out as it is, with the task's id in it", () => {
    const { transport, seen } = serverWith([]);
    const give = (message: object) => {
      transport.onmessage?.({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
      return seen.at(-1);
    };
    const shown = give({ id: 5, result: { resultType: "task", taskId: "t-1" } }) as {
      result: { requestState: string };
    };
    expect(shown).to.deep.include({ jsonrpc: "2.0", id: 5 });
    expect(shown.result).to.deep.include({ resultType: "input_required" });
    expect(taskIn(shown.result.requestState)).to.equal("t-1");
    expect([taskIn(undefined), taskIn("other")]).to.deep.equal([undefined, undefined]);
    for (const message of [
      { id: 5, result: { resultType: "task", taskId: "" } },
      { id: 5, result: { resultType: "task", taskId: 7 } },
      { id: 5, result: { resultType: "done", taskId: "t" } },
      { id: 5, result: 7 },
      { id: "venturi-99", result: {} },
      { id: 5, error: { code: 1, message: "x" } },
      { id: 5, method: "ping", result: { resultType: "task", taskId: "t" } },
      { method: "notifications/x" },
    ])
      expect(give(message)).to.deep.equal({ jsonrpc: "2.0", ...message });
  });
});

describe("a task of an MCP server", () => {
  const task = (more: Partial<Task> = {}, context = silentToolContext()): Task => ({
    id: "t",
    context,
    replies: () => expect.fail("nobody was to be asked"),
    progress: () => {},
    ...more,
  });
  const state = (result: object) => ({ result });

  it("is asked for until it has ended, and says on the way how it is", async () => {
    const told: string[] = [];
    const progress = (text: string) => void told.push(text);
    const signal = new AbortController().signal;
    const { client, sent } = serverWith([
      state({ status: "working", pollIntervalMs: 1, statusMessage: "half" }),
      state({ status: "working", pollIntervalMs: 1, statusMessage: "" }),
      state({ ...done("x"), statusMessage: 7 }),
    ]);
    const result = await taskResult(client, task({ progress }, { ...silentToolContext(), signal }));
    expect(result).to.deep.equal({ content: [{ type: "text", text: "x" }] });
    expect(told).to.deep.equal(["half"]);
    expect(sent.map(({ params }) => params.taskId)).to.deep.equal(["t", "t", "t"]);
    expect(getEventListeners(signal, "abort"), "nothing is left at the signal").to.deep.equal([]);
  });

  it("is asked for again after a failure", async () => {
    const { client, methods } = serverWith([{ error: { message: "away" } }, state(done("x"))]);
    await taskResult(client, task());
    expect(methods()).to.deep.equal(["tasks/get", "tasks/get"]);
  });

  it("has its questions answered once each", async () => {
    const asked: unknown[] = [];
    const replies = async (requests: object) => {
      asked.push(requests);
      return { answers: Object.keys(requests).length } as never;
    };
    const open = { status: "input_required", pollIntervalMs: 1 };
    const { client, sent } = serverWith([
      state({ ...open, inputRequests: { a: 1 } }),
      state({}),
      state({ ...open, inputRequests: { a: 1, b: 2, c: 3 } }),
      state({}),
      state({ ...open, inputRequests: { a: 1, b: 2 } }),
      state({ status: "working", pollIntervalMs: 1, inputRequests: { d: 4 } }),
      state(done("x")),
    ]);
    await taskResult(client, task({ replies }));
    expect(asked).to.deep.equal([{ a: 1 }, { b: 2, c: 3 }]);
    const updates = sent.filter(({ method }) => method === "tasks/update").map(({ params }) => params);
    expect(updates.map(({ taskId, inputResponses }) => [taskId, inputResponses])).to.deep.equal([
      ["t", { answers: 1 }],
      ["t", { answers: 2 }],
    ]);
  });

  for (const [what, reply, told, code] of [
    ["failed", { status: "failed", error: { message: "broke" } }, "broke", undefined],
    ["failed without a reason", { status: "failed" }, "the task failed", undefined],
    ["cancelled", { status: "cancelled" }, "the server cancelled the task", "tool_failed"],
    ["odd", { status: "resting" }, "its task is resting", undefined],
    ["over without a result", { status: "completed", result: {} }, "ended without a result", undefined],
  ] as const) {
    it(`that is ${what} fails the call, and is not cancelled`, async () => {
      const { client, methods } = serverWith([state(reply)]);
      const error = await failureOf(taskResult(client, task()));
      expect(error.message).to.include(told);
      expect(error.code).to.equal(code);
      expect(methods()).to.deep.equal(["tasks/get"]);
    });
  }

  it("is cancelled with its call, unless another process goes on with it", async () => {
    for (const [reason, methods] of [
      [new Error("enough"), ["tasks/get", "tasks/cancel"]],
      [new VenturiError("worker.stop", "shutting_down", "draining"), ["tasks/get"]],
    ] as const) {
      const controller = new AbortController();
      const { signal } = controller;
      const server = serverWith(
        [state({ status: "working", pollIntervalMs: 60_000 }), state({})],
        ({ method }) => method === "tasks/get" && setImmediate(() => setImmediate(() => controller.abort(reason))),
      );
      const context = { ...silentToolContext(), signal };
      expect(await failureOf(taskResult(server.client, task({}, context)))).to.equal(reason);
      expect(server.methods()).to.deep.equal(methods);
    }
    const before = serverWith([]);
    const context = { ...silentToolContext(), signal: AbortSignal.abort(new Error("before")) };
    expect((await failureOf(taskResult(before.client, task({}, context)))).message).to.equal("before");
    expect(before.methods()).to.deep.equal(["tasks/cancel"]);
    expect((await failureOf(taskResult({} as Client, task()))).message).to.include("was not asked for");
  });
});

describe("the note of a call's task", () => {
  it("is found by whoever goes on with the call, of its server only, until it is dropped", async () => {
    const { keyValues } = new MemoryJournal({ clock: systemClock, keep: 1, lease: 10_000 });
    const notes = (server = "remote", idempotencyKey = "run_1:call_1") =>
      new TaskNotes(keyValues as never, server, { ...silentToolContext(), idempotencyKey });
    const own = notes();
    expect(await own.earlier()).to.equal(undefined);
    await own.note({});
    expect(await notes().earlier()).to.deep.equal({});
    await own.note({ task: "t" });
    const next = notes();
    expect(await next.earlier()).to.deep.equal({ task: "t" });
    expect(await notes("other").earlier()).to.equal(undefined);
    expect(await notes("remote", "run_1:call_2").earlier()).to.equal(undefined);
    await next.note({ task: "u" });
    expect(await failureOf(own.note({ task: "v" }))).to.include({ op: "tool.call", code: "conflict" });
    await next.drop();
    expect(await notes().earlier()).to.equal(undefined);
  });
});
