import { createHmac } from "node:crypto";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { testFolder } from "../host/folder.ts";

const secret = "hook-secret-0123456789";
const config = `
providers: { demo: { type: simulator, pace: 0 } }
agents: { a: { model: demo/small } }
channels:
  a2a: {}
  time: { hooks: { gh: { from: github, secret: ${secret}, agent: a, input: "{{body.text}}", session: "{{body.thread}}" } } }
journal: { type: memory }
telemetry: off
server: { listen: 0 }
limits: { drain: 50ms }
`;
const long = "x".repeat(300);

describe("names that differ after their first 256 characters", () => {
  const folder = testFolder();
  let service: Service;
  beforeEach(async () => {
    service = await openService({ configFile: folder.write({ "venturi.yaml": config }), env: {}, log: silentLog });
  });
  afterEach(() => service.drain());

  const post = async (path: string, text: string, headers: Record<string, string> = {}) => {
    const type = { "content-type": "application/json", accept: "application/json" };
    const response = await fetch(service.url + path, { method: "POST", headers: { ...type, ...headers }, body: text });
    return (await response.json()) as {
      run?: string;
      result?: { task: { id: string } };
      error?: { code: number; message: string };
    };
  };
  const rpc = (path: string, method: string, params: object) =>
    post(path, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));

  it("are two messages of A2A, each with its task; a context that is too long is refused", async () => {
    const send = (messageId: string, more: object = {}) =>
      rpc("/a2a/a", "SendMessage", { message: { messageId, role: "ROLE_USER", parts: [{ text: "hi" }], ...more } });
    const [one, other, again] = [await send(`${long}1`), await send(`${long}2`), await send(`${long}1`)];
    expect(one.result?.task.id).to.be.a("string").and.not.to.equal(other.result?.task.id);
    expect(again.result?.task.id).to.equal(one.result?.task.id);
    expect((await send("m", { contextId: long })).error).to.include({ code: -32602 });
  });

  it("are two conversations of a hook", async () => {
    const sessions: (string | undefined)[] = [];
    for (const thread of [`${long}1`, `${long}2`, `${long}1`]) {
      const text = JSON.stringify({ text: `${sessions.length}`, thread });
      const signature = createHmac("sha256", secret).update(text).digest("hex");
      const { run = "" } = await post("/v1/hooks/gh", text, { "x-hub-signature-256": `sha256=${signature}` });
      sessions.push((await service.host.runs.get(run)).session);
    }
    const [one, other, again] = sessions;
    expect(one)
      .to.match(/^sha256:/)
      .and.to.equal(again);
    expect(one).not.to.equal(other);
  });
});
