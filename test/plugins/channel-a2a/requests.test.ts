import { expect } from "chai";
import type { Service } from "../../../src/host/service.ts";
import { serviceOf } from "../channel-time/world.ts";

interface Answer {
  readonly result?: { readonly task: { readonly id: string } };
  readonly error?: { readonly code: number; readonly message: string };
}

describe("requests of A2A clients", () => {
  let service: Service & { close(): Promise<void> };
  before(async () => {
    service = await serviceOf("channels: { a2a: {}, http: {} }\n");
  });
  after(() => service.close());

  const post = async (path: string, body: object): Promise<unknown> => {
    const headers = { "content-type": "application/json", "a2a-version": "1.0" };
    const response = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return await response.json();
  };
  const rpc = async (method: string, params: object) =>
    (await post("/a2a/assistant", { jsonrpc: "2.0", id: 1, method, params })) as Answer;
  let messages = 0;
  const sending = (message: object, configuration: object = {}) => ({
    message: { messageId: `m${messages++}`, role: "ROLE_USER", parts: [{ text: "hello" }], ...message },
    configuration,
  });
  const runs = async () => {
    const listed = await fetch(`${service.url}/v1/runs`);
    return ((await listed.json()) as { runs: unknown[] }).runs.length;
  };

  it("that cannot be understood are refused before anything is started", async () => {
    const before = await runs();
    const push = (config: object) => sending({}, { taskPushNotificationConfig: config });
    const wrong: [string, object, number][] = [
      ["SendMessage", sending({ taskId: 5 }), -32602],
      ["SendMessage", sending({ taskId: { id: "x" } }), -32602],
      ["SendMessage", sending({ contextId: 5 }), -32602],
      ["SendMessage", sending({}, { historyLength: "all" }), -32602],
      // This service has no webhook to notify by.
      ["SendMessage", push({ url: "https://a.example/hook" }), -32003],
      ["SendStreamingMessage", push({ url: "https://a.example/hook" }), -32003],
      ["ListTasks", { pageSize: -5 }, -32602],
      ["ListTasks", { pageSize: "ten" }, -32602],
      ["ListTasks", { status: "TASK_STATE_DONE" }, -32602],
      ["ListTasks", { statusTimestampAfter: "yesterday" }, -32602],
      ["ListTasks", { status: { toString: 1 } }, -32602],
      ["ListTasks", { statusTimestampAfter: { toString: 1 } }, -32602],
    ];
    for (const [method, params, code] of wrong)
      expect((await rpc(method, params)).error?.code, `${method} ${JSON.stringify(params)}`).to.equal(code);
    expect(await runs()).to.equal(before);
  });

  it("that are sent again are one message to the task, also to one under way", async () => {
    await post("/v1/agents/assistant/pause", {});
    const begun = await rpc("SendMessage", sending({}, { returnImmediately: true }));
    const taskId = begun.result?.task.id ?? "";
    const steering = sending({ taskId, parts: [{ text: "in German, please" }] }, { returnImmediately: true });
    for (let times = 0; times < 2; times++)
      expect((await rpc("SendMessage", steering)).result?.task.id).to.equal(taskId);
    await post("/v1/agents/assistant/resume", {});
    const events = await (await fetch(`${service.url}/v1/runs/${taskId}/events`)).text();
    expect(events.match(/^event: message\.added$/gm)).to.have.length(1);
    expect(events).to.include("event: run.finished");
  });
});
