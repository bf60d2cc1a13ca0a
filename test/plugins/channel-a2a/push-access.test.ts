import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { openService, type Service } from "../../../src/host/service.ts";
import { testFolder } from "../../host/folder.ts";
import { keyOf } from "../../service.ts";

const config = `
providers: { demo: { type: simulator, pace: 0, scenarios: [{ name: asks, turns: [{ calls: [{ name: ask, arguments: { question: "Which?" } }] }, { text: Done. }] }] } }
tools: { ask: { type: ask } }
agents: { a: { model: demo/small }, asking: { model: demo/asks, tools: [ask] } }
channels:
  a2a: { webhook: push }
  time: { webhooks: { push: { secret: 0123456789abcdef0123, runs: notify, format: a2a, events: [run.failed], hosts: ["127.0.0.1:9"] } } }
journal: { type: memory }
telemetry: off
server:
  listen: 0
  auth:
    keys:
      - { id: acme, sha256: ${keyOf("", "acme").sha256}, may: [start, see, steer, approve] }
      - { id: reader, tenant: acme, sha256: ${keyOf("", "reader").sha256}, may: [see] }
      - { id: answering, tenant: acme, sha256: ${keyOf("", "answering").sha256}, may: [see, approve] }
      - { id: watcher, sha256: ${keyOf("", "watcher").sha256}, tenants: all }
      - { id: chief, sha256: ${keyOf("", "chief").sha256}, tenants: all, act: all }
limits: { drain: 50ms }
`;

describe("push notifications of a task", () => {
  const folder = testFolder();
  let service: Service;
  beforeEach(async () => {
    service = await openService({ configFile: folder.write({ "venturi.yaml": config }), log: silentLog });
  });
  afterEach(() => service.drain());

  const rpc = async (key: string, method: string, params: object, agent = "a") => {
    const response = await fetch(`${service.url}/a2a/${agent}`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", authorization: `Bearer ${key}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result } = (await response.json()) as { result?: { configs?: object[]; task?: { id: string } } };
    return { status: response.status, result };
  };

  it("are read with their token, changed and removed by keys that may steer the task, and by no others", async () => {
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] };
    const taskId = (await rpc("acme", "SendMessage", { message })).result?.task?.id ?? "";
    const at = { id: "push", taskId, url: "http://127.0.0.1:9/acme" };
    expect((await rpc("acme", "CreateTaskPushNotificationConfig", { ...at, token: "t-1" })).status).to.equal(200);
    const configs = async (key: string) =>
      (await rpc(key, "ListTaskPushNotificationConfigs", { taskId })).result?.configs;
    for (const key of ["reader", "watcher"]) {
      const elsewhere = { ...at, url: "http://127.0.0.1:9/elsewhere" };
      expect((await rpc(key, "CreateTaskPushNotificationConfig", elsewhere)).status, key).to.equal(403);
      expect((await rpc(key, "DeleteTaskPushNotificationConfig", { taskId, id: "push" })).status, key).to.equal(403);
      expect(await configs(key), key).to.deep.equal([at]);
      expect((await rpc(key, "GetTaskPushNotificationConfig", { taskId, id: "push" })).result).to.deep.equal(at);
    }
    expect(await configs("acme")).to.deep.equal([{ ...at, token: "t-1" }]);
    expect((await rpc("chief", "DeleteTaskPushNotificationConfig", { taskId, id: "push" })).status).to.equal(200);
    expect(await configs("acme")).to.deep.equal([]);
  });

  it("are not moved by an answer of a key that may not steer the task", async () => {
    const say = (key: string, message: object, configuration: object = {}) => {
      const sent = { message: { role: "ROLE_USER", parts: [{ text: "hi" }], ...message }, configuration };
      return rpc(key, "SendMessage", sent, "asking");
    };
    const push = (to: string) => ({ taskPushNotificationConfig: { url: `http://127.0.0.1:9/${to}` } });
    const taskId = (await say("acme", { messageId: "m" }, push("acme"))).result?.task?.id ?? "";
    const answered = await say("answering", { messageId: "n", taskId }, push("elsewhere"));
    expect(answered.status).to.equal(403);
    const { result } = await rpc("acme", "ListTaskPushNotificationConfigs", { taskId }, "asking");
    expect(result?.configs).to.deep.equal([{ id: "push", taskId, url: "http://127.0.0.1:9/acme" }]);
    expect((await say("answering", { messageId: "o", taskId })).status).to.equal(200);
  });
});
