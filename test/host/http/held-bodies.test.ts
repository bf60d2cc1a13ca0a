import { once } from "node:events";
import { type ClientRequest, request as httpRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import channelHttp from "../../../plugins/channel-http/index.ts";
import { hello, keyOf, serve, type TestService } from "../../service.ts";

const mebibyte = 1024 ** 2;
const auth = { keys: [keyOf("loud", "loud"), keyOf("quiet", "quiet")] };

describe("bodies that are half sent", () => {
  let service: TestService;
  const sending: ClientRequest[] = [];
  beforeEach(async () => {
    service = await serve({
      scripts: { hello },
      channels: [{ plugin: channelHttp }],
      settings: { auth },
      limits: { body: 2 * mebibyte, memory: 24 * mebibyte },
    });
  });
  afterEach(async () => {
    for (const request of sending.splice(0)) request.destroy();
    while (service.memory.held > 0) await sleep(5);
    expect([...service.memory.tenants]).to.deep.equal([]);
    await service.close();
  });

  const half = (key: string, headers: Record<string, string> = { "content-length": String(2 * mebibyte) }) => {
    const request = httpRequest(`${service.url}/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
    });
    request.on("error", () => {}); // it is given up
    sending.push(request);
    return request;
  };
  const whole = async (key: string, length: number) => {
    const body = JSON.stringify({ agent: "hello", input: "x".repeat(length) });
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const response = await fetch(`${service.url}/v1/runs`, { method: "POST", headers, body });
    await response.text();
    return response.status;
  };
  const held = (tenant: string) => service.memory.tenants.get(tenant) ?? 0;

  for (const [what, headers] of [
    ["announced", undefined],
    ["chunked", { "transfer-encoding": "chunked" }],
  ] as const) {
    it(`of one key are its own: another's are taken (${what})`, async () => {
      for (let count = 0; count < 8; count++) half("loud", headers).write(`{"input":"${"x".repeat(1.5 * mebibyte)}`);
      while (held("loud") < 8 * mebibyte) await sleep(5);
      // All that was sent has come.
      for (let before = -1; held("loud") !== before; await sleep(200)) before = held("loud");
      expect(await whole("loud", mebibyte)).to.equal(503);
      expect(await whole("quiet", mebibyte)).to.equal(200);
      expect(await whole("quiet", 10)).to.equal(200);
    });
  }

  it("are dropped when they do not come, and give their room back", async function () {
    this.timeout(180_000);
    const request = half("loud");
    request.write("{");
    while (held("loud") === 0) await sleep(5);
    const [response] = await once(request, "response");
    expect(response.statusCode).to.equal(504);
    expect(response.headers.connection).to.equal("close");
    expect(held("loud")).to.equal(0);
  });

  it("of a few bytes may take their time", async () => {
    const body = JSON.stringify({ agent: "hello", input: "hi" });
    const request = half("quiet", { "content-length": String(body.length) });
    request.write(body.slice(0, 5));
    await sleep(200);
    request.end(body.slice(5));
    const [response] = await once(request, "response");
    expect(response.statusCode).to.equal(200);
    response.resume();
    await once(response, "end");
  });
});
