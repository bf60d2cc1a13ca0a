import { createHash, generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { type AgentCard, verifyAgentCardSignature } from "@a2a-js/sdk";
import { expect } from "chai";
import { createLocalJWKSet } from "jose";
import type { Service } from "../../../src/host/service.ts";
import { testFolder } from "../../host/folder.ts";
import { configuration, pay, start } from "../channel-mcp/service.ts";
import { answerOf, connect, readStream, say, sending, settings, stateOf, taskIn, textOf } from "./service.ts";

describe("channel-a2a with the SDK's own client", function () {
  this.timeout(180_000);
  const folder = testFolder();
  const services: Service[] = [];
  const open = async (channels: object = { a2a: {} }, more: Record<string, unknown> = {}) => {
    const file = folder.write({ "venturi.yaml": configuration({ channels, ...more }), "pay.mjs": pay });
    const service = await start(file);
    services.push(service);
    return service;
  };
  afterEach(async () => {
    for (const service of services.splice(0)) await service.drain("interrupt");
  });

  const rpc = async (url: string, method: string, params: object, headers: Record<string, string> = {}) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return { status: response.status, ...((await response.json()) as { result?: never; error?: { code: number } }) };
  };

  it("finds an agent by its card and sends it a message: the task is the run", async () => {
    const { url, host } = await open();
    const client = await connect(url, "echo");
    expect(client.protocolVersion).to.equal("1.0");
    const task = taskIn(await client.sendMessage(sending(say("hi"))));
    expect([stateOf(task), answerOf(task)]).to.deep.equal(["TASK_STATE_COMPLETED", "hello there, caller"]);
    expect(textOf(task.history[0]?.parts)).to.equal("hi");
    const row = await host.runs.get(task.id);
    expect([row.outcome, row.session]).to.deep.equal(["finished", task.contextId]);
    const again = await client.getTask({ tenant: "", id: task.id });
    expect(answerOf(again)).to.equal("hello there, caller");
  });

  it("says of a task that a limit cut short", async () => {
    const cut = { model: "demo/slow", limits: { outputTokens: 3 } };
    const { url } = await open({ a2a: {} }, { agents: { cut, whole: { model: "demo/slow" } } });
    const ended = async (agent: string) => taskIn(await (await connect(url, agent)).sendMessage(sending(say("x"))));
    const task = await ended("cut");
    expect(stateOf(task)).to.equal("TASK_STATE_COMPLETED");
    expect(textOf(task.status?.message?.parts)).to.equal("The answer was cut short: max_output");
    expect((await ended("whole")).status?.message).to.equal(undefined);
  });

  it("streams a task: itself first, then its answer in pieces that add up, then its end", async () => {
    const { url } = await open();
    const { kinds, states, text, task } = await readStream(
      (await connect(url, "slow")).sendMessageStream(sending(say("x"))),
    );
    expect(kinds[0]).to.equal("task");
    expect(kinds.filter((kind) => kind === "artifactUpdate").length).to.be.greaterThan(3);
    expect(states).to.deep.equal(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
    expect(text).to.equal("one two three four five six seven eight nine ten");
    expect(task?.id).to.be.a("string");
  });

  it("a question is input-required; its answer with the task's id lets it go on, by values or in words", async () => {
    const { url } = await open();
    const client = await connect(url, "payer");
    const data = (value: object) => ({
      parts: [{ content: { $case: "data" as const, value }, metadata: undefined, filename: "", mediaType: "" }],
    });
    for (const [reply, said] of [
      [data({ approved: true, arguments: { amount: 7 } }), "paid 7 to Ann"],
      [data({ approved: false, reason: "too much" }), "too much"],
      [{}, "paid 10 to Ann"],
    ] as const) {
      const asked = taskIn(await client.sendMessage(sending(say("pay"))));
      expect(stateOf(asked)).to.equal("TASK_STATE_INPUT_REQUIRED");
      expect(textOf(asked.status?.message?.parts)).to.contain("wants to call pay").and.contain("Ann");
      const vague = await client
        .sendMessage(sending(say("hm, perhaps", { taskId: asked.id })))
        .catch((thrown) => thrown);
      expect(String(vague)).to.contain("yes or no");
      const done = taskIn(await client.sendMessage(sending(say("Yes, go ahead", { taskId: asked.id, ...reply }))));
      expect([done.id, stateOf(done)]).to.deep.equal([asked.id, "TASK_STATE_COMPLETED"]);
      expect(answerOf(done)).to.contain(said);
    }
  });

  it("a stream ends with the question, and the answer's stream goes on to the end", async () => {
    const { url } = await open();
    const client = await connect(url, "payer");
    const first = await readStream(client.sendMessageStream(sending(say("pay"))));
    expect(first.states.at(-1)).to.equal("TASK_STATE_INPUT_REQUIRED");
    const taskId = first.task?.id ?? "";
    const second = await readStream(client.sendMessageStream(sending(say("yes", { taskId }))));
    expect(second.states.at(-1)).to.equal("TASK_STATE_COMPLETED");
    expect(second.text).to.contain("paid 10 to Ann");
  });

  it("a context is a conversation; a task that has ended takes no message, one under way does", async () => {
    const { url, host } = await open();
    const client = await connect(url, "echo");
    const contextId = "trip-1";
    const one = taskIn(await client.sendMessage(sending(say("hi", { contextId }))));
    const two = taskIn(await client.sendMessage(sending(say("again", { contextId }))));
    expect([one.contextId, two.contextId]).to.deep.equal([contextId, contextId]);
    expect(one.id).not.to.equal(two.id);
    const late = await client.sendMessage(sending(say("more", { taskId: one.id }))).catch((thrown) => thrown);
    expect(String(late)).to.contain("has ended");
    const slow = await connect(url, "slow");
    const running = taskIn(await slow.sendMessage(sending(say("x"), settings({ returnImmediately: true }))));
    await slow.sendMessage(sending(say("and hurry", { taskId: running.id }), settings({ returnImmediately: true })));
    const { events } = await host.runs.events(running.id);
    const follow = async () => {
      for await (const batch of host.runs.follow(running.id)) events.concat(batch);
    };
    await follow();
    const all = (await host.runs.events(running.id, { limit: 1_000 })).events;
    expect(JSON.stringify(all.filter(({ type }) => type === "message.added"))).to.contain("and hurry");
  });

  it("the same message twice is one task; tasks are listed by context and state, and cancelled once", async () => {
    const { url } = await open();
    const client = await connect(url, "slow");
    const message = say("x", { contextId: "c" });
    const now = settings({ returnImmediately: true });
    const one = taskIn(await client.sendMessage(sending(message, now)));
    const two = taskIn(await client.sendMessage(sending(message, now)));
    expect(two.id).to.equal(one.id);
    const cancelled = await client.cancelTask({ tenant: "", id: one.id, metadata: undefined });
    expect(stateOf(cancelled)).to.equal("TASK_STATE_CANCELED");
    const twice = await client.cancelTask({ tenant: "", id: one.id, metadata: undefined }).catch((thrown) => thrown);
    expect(String(twice)).to.contain("has ended");
    const query = { tenant: "", contextId: "c", status: 0, pageToken: "", statusTimestampAfter: undefined };
    expect((await client.listTasks(query)).tasks.map(({ id }) => id)).to.deep.equal([one.id]);
    expect((await client.listTasks({ ...query, contextId: "d" })).tasks).to.deep.equal([]);
    expect((await client.listTasks({ ...query, status: 3 })).tasks).to.deep.equal([]);
    expect((await client.listTasks({ ...query, status: 5 })).tasks).to.have.length(1);
  });

  it("a failed run is a failed task that says why; unknown tasks, methods, versions and requests are errors", async () => {
    const { url } = await open();
    const failing = await connect(url, "failing");
    const failed = taskIn(await failing.sendMessage(sending(say("x"))));
    expect(stateOf(failed)).to.equal("TASK_STATE_FAILED");
    expect(textOf(failed.status?.message?.parts)).to.contain("no such luck");
    const at = `${url}/a2a/echo`;
    expect((await rpc(at, "GetTask", { id: failed.id })).error?.code).to.equal(-32001);
    expect((await rpc(at, "GetTask", { id: "nobody" })).error?.code).to.equal(-32001);
    expect((await rpc(at, "GetTask", {})).error?.code).to.equal(-32602);
    expect((await rpc(at, "toString", {})).error?.code).to.equal(-32601);
    expect((await rpc(at, "message/send", {}, { "a2a-version": "0.3" })).error?.code).to.equal(-32009);
    expect((await rpc(at, "SendMessage", { message: { messageId: "a", parts: [] } })).error?.code).to.equal(-32602);
    expect((await rpc(at, "SubscribeToTask", { id: failed.id })).error?.code).to.equal(-32001);
    expect((await rpc(`${url}/a2a/nobody`, "GetTask", { id: "x" })).status).to.equal(404);
    expect((await rpc(at, "CreateTaskPushNotificationConfig", { taskId: "x" })).error?.code).to.equal(-32001);
  });

  it("cards are signed, as the SDK verifies them, and a changed one is not", async () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const provider = { organization: "Ähm & Söhne", url: "https://example.com" };
    const { url } = await open({ a2a: { signing: { key, kid: "k1" }, agent: "echo", provider } });
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as AgentCard;
    expect(card.name).to.equal("echo");
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      expect([kid, jku]).to.deep.equal(["k1", `${url}/a2a/jwks.json`]);
      const keys = (await (await fetch(String(jku))).json()) as { keys: [] };
      return (await createLocalJWKSet(keys)({ alg: "ES256", kid })) as never;
    });
    await verify(card);
    const { debug } = console;
    console.debug = () => {};
    const forged = await verify({ ...card, name: "eve" }).catch((thrown) => thrown);
    console.debug = debug;
    expect(String(forged)).to.contain("No valid signatures");
  });

  it("a key sees its own agents and tasks and nobody else's; public cards show no more than cards", async () => {
    const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
    const keys = ["one", "two"].map((id) => ({ id, sha256: sha256(id), tenant: id, agents: ["echo"] }));
    const { url } = await open({ a2a: { publicCards: true } }, { server: { listen: 0, auth: { keys } } });
    const at = `${url}/a2a/echo`;
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] };
    expect((await rpc(at, "SendMessage", { message })).status).to.equal(401);
    const as = (key: string) => ({ authorization: `Bearer ${key}` });
    const mine = (await rpc(at, "SendMessage", { message }, as("one"))) as unknown as {
      result: { task: { id: string } };
    };
    const { id } = mine.result.task;
    expect((await rpc(at, "GetTask", { id }, as("one"))).result).to.have.property("id", id);
    expect((await rpc(at, "GetTask", { id }, as("two"))).error?.code).to.equal(-32001);
    expect((await rpc(`${url}/a2a/payer`, "GetTask", { id }, as("one"))).status).to.equal(404);
    const card = (await (await fetch(`${at}/.well-known/agent-card.json`)).json()) as AgentCard;
    expect(card.securitySchemes).to.have.property("key");
  });

  it("push notifications are deliveries of a webhook, with the client's token, to hosts that it allows", async () => {
    const heard: {
      headers: IncomingHttpHeaders;
      body: { statusUpdate: { taskId: string; status: { state: string } } };
    }[] = [];
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const piece of request) body += piece;
      heard.push({ headers: request.headers, body: JSON.parse(body) });
      response.end();
      server.emit("heard");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const events = ["run.finished", "run.failed", "question.asked"];
    const push = {
      secret: "0123456789abcdef0123",
      runs: "notify",
      format: "a2a",
      events,
      hosts: [`127.0.0.1:${port}`],
    };
    const webhooks = { push: { ...push, allowPrivate: [`127.0.0.1:${port}`] } };
    const { url } = await open({ a2a: { webhook: "push" }, time: { webhooks } });
    const client = await connect(url, "payer");
    const config = {
      tenant: "",
      id: "",
      taskId: "",
      url: `http://127.0.0.1:${port}/told`,
      token: "t-1",
      authentication: undefined,
    };
    const next = once(server, "heard");
    const asked = taskIn(
      await client.sendMessage(sending(say("pay"), settings({ taskPushNotificationConfig: config }))),
    );
    await next;
    expect(heard[0]?.headers["x-a2a-notification-token"]).to.equal("t-1");
    expect(heard[0]?.body.statusUpdate).to.deep.include({ taskId: asked.id });
    expect(heard[0]?.body.statusUpdate.status.state).to.equal("TASK_STATE_INPUT_REQUIRED");
    const stored = await client.listTaskPushNotificationConfig({
      tenant: "",
      taskId: asked.id,
      pageSize: 0,
      pageToken: "",
    });
    expect(stored.configs.map(({ token }) => token)).to.deep.equal(["t-1"]);
    await client.createTaskPushNotificationConfig({ ...config, taskId: asked.id, token: "t-2" });
    const last = once(server, "heard");
    await client.sendMessage(sending(say("yes", { taskId: asked.id })));
    await last;
    expect(heard[1]?.headers["x-a2a-notification-token"]).to.equal("t-2");
    expect(heard[1]?.body.statusUpdate.status.state).to.equal("TASK_STATE_COMPLETED");
    server.close();
    server.closeAllConnections();
  });
});
