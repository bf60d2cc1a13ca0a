import { createHash } from "node:crypto";
import type { Client } from "@modelcontextprotocol/client";
import { expect } from "chai";
import type { Service } from "../../../src/host/service.ts";
import { testFolder } from "../../host/folder.ts";
import { ask, configuration, connect, type Era, pay, start, tasks } from "./service.ts";

const textOf = (result: unknown) => (result as { content: { text?: string }[] }).content[0]?.text;

for (const era of ["2025-11-25", "2026-07-28"] as const) {
  describe(`channel-mcp with the official client in ${era}`, function () {
    this.timeout(180_000);
    const folder = testFolder();
    let service: Service;
    const clients: Client[] = [];
    const open = async (options = {}, wanted: Era = era) => {
      const client = await connect(service.url, wanted, options);
      clients.push(client);
      return client;
    };
    beforeEach(async () => {
      service = await start(folder.write({ "venturi.yaml": configuration(), "pay.mjs": pay }));
    });
    afterEach(async () => {
      for (const client of clients.splice(0)) await client.close();
      await service.drain("interrupt");
    });

    it("agents are tools, with their inputs as arguments", async () => {
      const client = await open();
      expect(client.getNegotiatedProtocolVersion()).to.equal(era);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).to.deep.equal(["echo", "slow", "payer", "failing"]);
      expect(tools[0]?.inputSchema.required).to.deep.equal(["input"]);
      expect(Object.keys(tools[2]?.inputSchema.properties ?? {})).to.include("amount");
    });

    it("a call is a run, its result the answer, and its deltas are progress", async () => {
      const client = await open();
      const heard: string[] = [];
      const result = await client.callTool(
        { name: "echo", arguments: { input: "hi" } },
        { onprogress: ({ message }) => heard.push(message ?? "") },
      );
      expect(textOf(result)).to.equal("hello there, caller");
      expect("hello there, caller".startsWith(heard.join(""))).to.equal(true);
      const run = String(result._meta?.["venturi/run"]);
      expect((await service.host.runs.get(run)).outcome).to.equal("finished");
    });

    it("an answer that a limit cut short says so, to the model and to the client", async () => {
      const agents = { cut: { description: "Stops early", model: "demo/hello", limits: { outputTokens: 1 } } };
      const file = folder.write({ "venturi.yaml": configuration({ agents }), "pay.mjs": pay });
      const other = await start(file);
      const client = await connect(other.url, era);
      const result = await client.callTool({ name: "cut", arguments: { input: "hi" } });
      expect(result.content).to.deep.include({ type: "text", text: "The answer was cut short: max_output" });
      expect(result._meta?.["venturi/finish"]).to.equal("max_output");
      expect(result.isError).not.to.equal(true);
      await client.close();
      await other.drain("interrupt");
    });

    it("a failed run and arguments that do not fit are results for the model; an unknown tool is an error", async () => {
      const client = await open();
      const failed = await client.callTool({ name: "failing", arguments: { input: "x" } });
      expect([failed.isError, textOf(failed)]).to.deep.equal([
        true,
        "invalid_input: demo/failing: the provider answered 400: no such luck",
      ]);
      const misfit = await client.callTool({ name: "payer", arguments: { amount: "ten" } });
      expect(misfit.isError).to.equal(true);
      const unknown = await client.callTool({ name: "nobody", arguments: {} }).catch((thrown) => thrown);
      expect(unknown.code).to.equal(-32602);
    });

    it("an approval is a form: accepted with other values, the call is made with those", async () => {
      const client = await open({ capabilities: { elicitation: { form: {} } } });
      const asked: unknown[] = [];
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(params);
        return { action: "accept", content: { amount: 7 } };
      });
      const result = await client.callTool({ name: "payer", arguments: {} });
      expect(textOf(result)).to.contain("paid 7 to Ann");
      const [form] = asked as { message: string; requestedSchema: { properties: Record<string, object> } }[];
      expect(form?.message).to.contain("pay").and.contain("Ann");
      expect(form?.requestedSchema.properties.amount).to.include({ type: "number", default: 10 });
    });

    it("declined, the call is refused; values of another type do not get through", async () => {
      for (const reply of [
        { action: "decline" as const },
        { action: "accept" as const, content: { amount: "lots" } },
      ]) {
        const client = await open({ capabilities: { elicitation: { form: {} } }, inputRequired: { maxRounds: 2 } });
        client.setRequestHandler("elicitation/create", async () => reply);
        const result = await client.callTool({ name: "payer", arguments: {} }).catch((thrown) => thrown);
        expect(JSON.stringify(result)).not.to.contain("paid");
      }
    });

    it("a cancelled call cancels its run", async () => {
      const client = await open();
      const controller = new AbortController();
      const call = client
        .callTool(
          { name: "slow", arguments: { input: "x" } },
          { signal: controller.signal, onprogress: () => controller.abort(new Error("enough")) },
        )
        .catch((thrown) => thrown);
      expect(await call).to.be.instanceOf(Error);
      const { runs } = await service.host.runs.list({ agent: "slow" });
      const last = await ended(service, runs[0]?.run ?? "");
      expect([last.type, last.type === "run.failed" && last.error.code]).to.deep.equal([
        "run.failed",
        "stream_interrupted",
      ]);
    });

    it("runs and sessions are resources, agents prompts", async () => {
      const client = await open();
      await client.callTool({ name: "echo", arguments: { input: "hi", session: "s/1" } });
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri.split("/")[2])).to.deep.equal(["runs", "sessions"]);
      for (const { uri } of resources) {
        const { contents } = await client.readResource({ uri });
        expect(JSON.stringify(contents)).to.contain("hello there, caller");
      }
      const missing = await client.readResource({ uri: "venturi://runs/none" }).catch((thrown) => thrown);
      expect(missing.code).to.equal(-32602); // the client takes the older -32002 for the same
      const { prompts } = await client.listPrompts();
      expect(prompts[2]?.arguments?.map(({ name }) => name)).to.deep.equal(["amount"]);
      const { messages } = await client.getPrompt({ name: "payer", arguments: { amount: "12" } });
      expect(JSON.stringify(messages)).to.contain("amount: 12");
    });
  });
}

async function ended(service: Service, run: string) {
  for await (const batch of service.host.runs.follow(run)) {
    const last = batch.at(-1);
    if (last?.type === "run.failed" || last?.type === "run.finished") return last;
  }
  throw new Error("no end");
}

describe("channel-mcp", function () {
  this.timeout(180_000);
  const folder = testFolder();
  const services: Service[] = [];
  const open = async (more: Record<string, unknown> = {}) => {
    const service = await start(folder.write({ "venturi.yaml": configuration(more), "pay.mjs": pay }));
    services.push(service);
    return service;
  };
  afterEach(async () => {
    for (const service of services.splice(0)) await service.drain("interrupt");
  });

  it("a call that takes long is a task whose handle is the run; any replica answers for it", async () => {
    const journal = { type: "sqlite", path: "./j.db" };
    const [one, two] = [await open({ journal }), await open({ journal })];
    const created = await ask(
      one.url,
      "tools/call",
      { name: "slow", arguments: { input: "x" } },
      { capabilities: tasks },
    );
    expect(created.result).to.include({ resultType: "task", status: "working" });
    const { taskId } = created.result;
    let state = await ask(two.url, "tasks/get", { taskId }, { capabilities: tasks });
    expect(state.result).to.include({ taskId, status: "working" });
    while (state.result.status === "working") {
      await new Promise((resolve) => setTimeout(resolve, 50));
      state = await ask(two.url, "tasks/get", { taskId }, { capabilities: tasks });
    }
    expect(state.result.status).to.equal("completed");
    expect(textOf(state.result.result)).to.contain("nine ten");
  });

  it("a task that waits for a person says what for, and goes on with the answer from another replica", async () => {
    const journal = { type: "sqlite", path: "./j.db" };
    const [one, two] = [await open({ journal }), await open({ journal })];
    const capabilities = { ...tasks, elicitation: { form: {} } };
    const created = await ask(one.url, "tools/call", { name: "payer", arguments: {} }, { capabilities });
    const { taskId } = created.result;
    let state = await ask(two.url, "tasks/get", { taskId }, { capabilities });
    // On a busy machine the call is a task before its run has come to the question.
    while (state.result.status === "working") state = await ask(two.url, "tasks/get", { taskId }, { capabilities });
    expect(state.result.status).to.equal("input_required");
    const [call] = Object.keys(state.result.inputRequests as object);
    const inputResponses = { [call ?? ""]: { action: "accept", content: { amount: 3 } } };
    const update = await ask(two.url, "tasks/update", { taskId, inputResponses }, { capabilities });
    expect(update.result.resultType).to.equal("complete");
    while (state.result.status !== "completed") {
      await new Promise((resolve) => setTimeout(resolve, 50));
      state = await ask(two.url, "tasks/get", { taskId }, { capabilities });
    }
    expect(textOf(state.result.result)).to.contain("paid 3");
  });

  it("a cancelled task is cancelled, and cancelling it again is no error", async () => {
    const { url } = await open();
    const created = await ask(url, "tools/call", { name: "slow", arguments: { input: "x" } }, { capabilities: tasks });
    const { taskId } = created.result;
    for (let time = 0; time < 2; time++) {
      const { result } = await ask(url, "tasks/cancel", { taskId }, { capabilities: tasks });
      expect(result.resultType).to.equal("complete");
    }
    const state = await ask(url, "tasks/get", { taskId }, { capabilities: tasks });
    expect(state.result.status).to.equal("cancelled");
  });

  it("a client that does not know tasks gets none, and may not ask for them", async () => {
    const { url } = await open();
    const { result } = await ask(url, "tools/call", { name: "slow", arguments: { input: "x" } });
    expect(result.resultType).to.equal("complete");
    const { status, error } = await ask(url, "tasks/get", { taskId: "x" });
    expect([status, error?.code]).to.deep.equal([400, -32021]);
  });

  it("headers that say something else than the body, an unknown revision and unknown methods are refused", async () => {
    const { url } = await open();
    const say = async (method: string, headers: Record<string, string>) => {
      const { status, error } = await ask(url, method, { name: "echo", arguments: {} }, { headers });
      return [status, error?.code];
    };
    expect(await say("tools/call", { "mcp-method": "tools/list" })).to.deep.equal([400, -32020]);
    expect(await say("tools/call", { "mcp-name": "slow" })).to.deep.equal([400, -32020]);
    expect(await say("tools/call", { "mcp-protocol-version": "2025-11-25" })).to.deep.equal([400, -32020]);
    expect(await say("no/such", {})).to.deep.equal([404, -32601]);
  });

  it("a state that was not issued here, or for another agent, is refused", async () => {
    const { url } = await open();
    const capabilities = { elicitation: {} };
    const { result } = await ask(url, "tools/call", { name: "payer", arguments: {} }, { capabilities });
    expect(result.resultType).to.equal("input_required");
    const state = String(result.requestState);
    const flipped = `${state.slice(0, 30)}${state[30] === "A" ? "B" : "A"}${state.slice(31)}`;
    for (const [name, requestState] of [
      ["payer", flipped],
      ["payer", 7],
      ["echo", state],
    ] as const) {
      const { error } = await ask(url, "tools/call", { name, arguments: {}, requestState }, { capabilities });
      expect(error?.code, `${name} ${requestState}`).to.equal(-32602);
    }
  });

  it("a key sees its own agents, runs and tasks and nobody else's", async () => {
    const keys = ["a", "b"].map((id) => ({
      id,
      sha256: createHash("sha256").update(`key-of-${id}-0123456789`).digest("hex"),
      tenant: id,
      agents: ["echo", "slow"],
    }));
    const { url } = await open({ server: { listen: 0, auth: { keys } } });
    const as = (id: string) => ({ authorization: `Bearer key-of-${id}-0123456789` });
    expect(
      (await fetch(`${url}/mcp`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }))
        .status,
    ).to.equal(401);
    const listed = await ask(url, "tools/list", {}, { headers: as("a") });
    expect((listed.result.tools as { name: string }[]).map(({ name }) => name)).to.deep.equal(["echo", "slow"]);
    const options = { capabilities: tasks, headers: as("a") };
    const { result } = await ask(url, "tools/call", { name: "slow", arguments: { input: "x" } }, options);
    const foreign = await ask(url, "tasks/get", { taskId: result.taskId }, { ...options, headers: as("b") });
    expect(foreign.error?.code).to.equal(-32602);
    const own = await ask(url, "resources/list", {}, { headers: as("b") });
    expect(own.result.resources).to.deep.equal([]);
    const denied = await ask(url, "tools/call", { name: "payer", arguments: {} }, { headers: as("b") });
    expect(denied.error?.code).to.equal(-32602);
  });

  it("the stream of a lost connection goes on where it was, at another replica", async () => {
    const journal = { type: "sqlite", path: "./j.db" };
    const [one, two] = [await open({ journal }), await open({ journal })];
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": "s.p",
    };
    const params = { name: "slow", arguments: { input: "x" }, _meta: { progressToken: 1 } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/call", params });
    const controller = new AbortController();
    const lost = await fetch(`${one.url}/mcp`, { method: "POST", headers, body, signal: controller.signal });
    const { value } = (await lost.body?.getReader().read()) ?? {};
    controller.abort();
    const id = /^id: (\S+)/.exec(Buffer.from(value ?? []).toString())?.[1] ?? "";
    const again = await fetch(`${two.url}/mcp`, { headers: { ...headers, "last-event-id": id } });
    const last = (await again.text()).split("data: ").at(-1) ?? "";
    expect(JSON.parse(last)).to.have.nested.property("id", 5);
    expect(textOf(JSON.parse(last).result)).to.contain("nine ten");
  });

  it("answers to questions that were never asked, and streams that never were, do nothing", async () => {
    const { url } = await open();
    const post = (body: object) =>
      fetch(`${url}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", ...body }),
      });
    for (const id of ["ask:x", "ask:", "ask:AAAA", 7, "x"]) {
      expect((await post({ id, result: { action: "accept" } })).status, String(id)).to.equal(202);
    }
    expect((await fetch(`${url}/mcp`, { headers: { "last-event-id": "nonsense" } })).status).to.equal(400);
    expect((await fetch(`${url}/mcp`)).status).to.equal(405);
    expect((await fetch(`${url}/mcp/callback?code=x&state=y`)).status).to.equal(404);
    expect((await fetch(`${url}/mcp/callback`)).status).to.equal(404);
  });

  it("a watched run is announced when it goes on", async () => {
    const { url } = await open();
    const { result } = await ask(
      url,
      "tools/call",
      { name: "slow", arguments: { input: "x" } },
      { capabilities: tasks },
    );
    const client = await connect(url, "2026-07-28");
    const uri = `venturi://runs/${String(result.taskId)}`;
    const updated = new Promise<string>((resolve) => {
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri));
    });
    const subscription = await client.listen({ resourceSubscriptions: [uri] });
    expect(await updated).to.equal(uri);
    await subscription.close();
    await client.close();
  });
});
