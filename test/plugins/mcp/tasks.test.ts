import { expect } from "chai";
import mcp from "../../../plugins/mcp/index.ts";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import type { Question, ToolContext, ToolSource } from "../../../src/core/ports/tool.ts";
import type { Token } from "../../../src/core/values/token.ts";
import type { Service } from "../../../src/host/service.ts";
import { callTool, testPluginContext, toolNamed } from "../../../src/testing.ts";
import { testFolder } from "../../host/folder.ts";
import { configuration, pay, start } from "../channel-mcp/service.ts";
import { serveFetch } from "./http-server.ts";

type Source = ToolSource & { close(): Promise<void> };

/** The server is a service of ours: its calls become tasks after 60 ms. */
describe("mcp: calls that become tasks of the server", () => {
  const folder = testFolder();
  const closing: { close(): Promise<unknown> }[] = [];
  let journal: MemoryJournal;
  let service: Service;
  beforeEach(async () => {
    journal = new MemoryJournal({ clock: systemClock, keep: 1, lease: 10_000 });
    service = await start(folder.write({ "venturi.yaml": configuration(), "pay.mjs": pay }));
    closing.push({ close: () => service.drain("interrupt") });
  });
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
  });
  const open = async (url = `${service.url}/mcp`, more: object = {}): Promise<Source> => {
    const resolve = <T>(_: Token<T>) => journal as T; // nothing else is asked for
    const options = mcp.options.parse({ url, tasks: true, ...more });
    const source = (await mcp.create(options, testPluginContext({ name: "remote", resolve }))) as Source;
    closing.unshift(source);
    return source;
  };
  const notes = () => journal.keyValues.list("mcp-task");
  const states = async () => (await service.host.runs.list({})).runs.map(({ outcome }) => outcome);
  const slow = { input: "x" };

  it("a call that takes long is seen through to its result, and nothing is left of it", async () => {
    const { output } = await callTool(toolNamed(await open(), "remote_slow"), slow);
    expect(output).to.equal("one two three four five six seven eight nine ten");
    expect(await notes()).to.deep.equal([]);
    expect(await states()).to.deep.equal(["finished"]);
  });

  it("a quick call is not a task", async () => {
    expect((await callTool(toolNamed(await open(), "remote_echo"), { input: "x" })).output).to.contain("hello there");
    expect(await notes()).to.deep.equal([]);
  });

  it("a question of the task is one of the run", async () => {
    const asked: Question[] = [];
    const ask: ToolContext["ask"] = async (question) => {
      asked.push(question);
      return { approved: true, by: "ann", answer: { amount: 7 } };
    };
    const { output } = await callTool(toolNamed(await open(), "remote_payer"), {}, { ask });
    expect(output).to.contain("paid 7");
    expect(asked).to.have.length(1);
  });

  it("a cancelled call cancels the task", async () => {
    const controller = new AbortController();
    const call = callTool(toolNamed(await open(), "remote_slow"), slow, { signal: controller.signal });
    while ((await notes())[0]?.value.includes("task") !== true) await new Promise((next) => setTimeout(next, 5));
    controller.abort(new Error("enough"));
    const { code } = await call.catch((thrown) => thrown);
    expect(code).to.equal("stream_interrupted");
    expect(await states()).to.deep.equal(["cancelled"]);
    expect(await notes()).to.deep.equal([]);
  });

  it("handed over to another process, the task is found again and not begun twice", async () => {
    const handover = new AbortController();
    const source = await open();
    const context = { idempotencyKey: "run_1/call_1" };
    const first = callTool(toolNamed(source, "remote_slow"), slow, { ...context, signal: handover.signal });
    while ((await notes())[0]?.value.includes("task") !== true) await new Promise((next) => setTimeout(next, 5));
    handover.abort(new VenturiError("run", "shutting_down", "the process ends"));
    await first.catch(() => {});
    const { output } = await callTool(toolNamed(await open(), "remote_slow"), slow, context);
    expect(output).to.contain("nine ten");
    expect(await states()).to.deep.equal(["finished"]);
    expect(await notes()).to.deep.equal([]);
  });

  it("a call whose process died before it knew the task is made again only if a person allows it", async () => {
    const handover = new AbortController();
    const silent = await serveFetch(async (request) => {
      const { id, method } = (await request.json()) as { id: number; method: string };
      if (method === "tools/call") {
        handover.abort(new VenturiError("run", "shutting_down", "the process ends"));
        return await new Promise<Response>(() => {});
      }
      const cached = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
      const result =
        method === "tools/list"
          ? { ...cached, tools: [{ name: "slow", inputSchema: { type: "object" } }] }
          : { ...cached, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
      return Response.json({ jsonrpc: "2.0", id, result });
    });
    closing.push(silent);
    const context = { idempotencyKey: "run_1/call_1" };
    await callTool(toolNamed(await open(silent.url), "remote_slow"), slow, {
      ...context,
      signal: handover.signal,
    }).catch(() => {});
    expect(await notes()).to.have.length(1);
    let approved = false;
    const ask: ToolContext["ask"] = async () => ({ approved });
    const again = async () => callTool(toolNamed(await open(), "remote_slow"), slow, { ...context, ask });
    expect((await again().catch((thrown) => thrown)).code).to.equal("tool_denied");
    expect(await states()).to.deep.equal([]);
    approved = true;
    expect((await again()).output).to.contain("nine ten");
  });

  it("without the option, calls take as long as they take", async () => {
    const { output } = await callTool(toolNamed(await open(undefined, { tasks: false }), "remote_slow"), slow);
    expect(output).to.contain("nine ten");
  });

  it("tasks that lie about themselves end the call", async () => {
    const lies = [
      { status: "nonsense" },
      {},
      { status: "completed" },
      { status: "completed", result: { content: "x" } },
      { status: "failed" },
      { status: "cancelled" },
      { status: "input_required", inputRequests: { q: { method: "roots/list", params: {} } } },
    ];
    let lie: object = {};
    const server = await serveFetch(async (request) => {
      const { id, method } = (await request.json()) as { id: number | string; method: string };
      const cached = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
      const results: Record<string, object> = {
        "server/discover": { ...cached, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
        "tools/list": { ...cached, tools: [{ name: "t", inputSchema: { type: "object" } }] },
        "tools/call": { resultType: "task", taskId: "x", status: "working" },
        "tasks/get": { resultType: "complete", taskId: "x", pollIntervalMs: -1, ...lie },
      };
      return Response.json({ jsonrpc: "2.0", id, result: results[method] ?? {} });
    });
    closing.push(server);
    const tool = toolNamed(await open(server.url), "remote_t");
    for (lie of lies) {
      const { code } = await callTool(tool, {}).catch((thrown) => thrown);
      expect(code, JSON.stringify(lie)).to.equal("tool_failed");
    }
  });
});
