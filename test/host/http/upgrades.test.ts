import { spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import channelHttp from "../../../plugins/channel-http/index.ts";
import channelOpenai from "../../../plugins/channel-openai/index.ts";
import channelWebsocket from "../../../plugins/channel-websocket/index.ts";
import { hello, serve, type TestService } from "../../service.ts";

const h2c = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQAAP__" };

describe("an upgrade that a request offers", () => {
  let service: TestService;
  before(async () => {
    service = await serve({
      scripts: { hello },
      channels: [{ plugin: channelHttp }, { plugin: channelOpenai }, { plugin: channelWebsocket }],
    });
  });
  after(() => service.close());

  /** Everything a connection gets for these requests, each in pieces and sent after the answer to the one before. */
  const exchange = async (...requests: readonly (readonly string[])[]): Promise<string> => {
    const { hostname, port } = new URL(service.url);
    const socket = net.connect(Number(port), hostname).setNoDelay();
    await once(socket, "connect");
    let answers = "";
    socket.on("data", (data: Buffer) => {
      answers += data.toString("latin1");
    });
    for (const [index, pieces] of [...requests, [last()]].entries()) {
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise((later) => setImmediate(later));
      }
      while (statuses(answers).length <= index) await once(socket, "data");
    }
    await once(socket, "close");
    return answers;
  };
  const head = (line: string, headers: Record<string, string>): string =>
    `${line} HTTP/1.1\r\n${Object.entries({ host: new URL(service.url).host, ...headers })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}\r\n`;
  const last = () => head("GET /livez", { connection: "close" });
  const body = JSON.stringify({ model: "hello", messages: [{ role: "user", content: "hi" }] });
  const sized = { "content-type": "application/json", "content-length": String(body.length) };
  const statuses = (answers: string) => [...answers.matchAll(/HTTP\/1\.1 (?!100)(\d{3})/g)].map(([, status]) => status);

  for (const [name, headers] of Object.entries({
    h2c,
    "TLS/1.0": { connection: "upgrade", upgrade: "TLS/1.0" },
    "a list with websocket in it": { connection: "upgrade", upgrade: "h2c, websocket" },
    "a websocket to a route that takes a body": { connection: "upgrade", upgrade: "websocket" },
  })) {
    it(`is ignored when it is ${name}: the body is read, and the connection goes on`, async () => {
      const post = head("POST /openai/v1/chat/completions", { ...headers, ...sized });
      const whole = await exchange([post + body]);
      expect(statuses(whole), whole).to.deep.equal(["200", "200"]);
      expect(whole).to.include("chat.completion").and.include('"live"');
      const split = await exchange([post, body.slice(0, 9), body.slice(9)]);
      expect(statuses(split), split).to.deep.equal(["200", "200"]);
    });
  }

  it("is ignored with a body in chunks, after 100-continue, with GET and DELETE, and on every request of a connection", async () => {
    const chunked = head("POST /v1/runs", {
      ...h2c,
      expect: "100-continue",
      "content-type": "application/json",
      "transfer-encoding": "chunked",
    });
    const run = JSON.stringify({ agent: "hello", input: "hi" });
    const answers = await exchange(
      [chunked, `${run.length.toString(16)}\r\n${run}\r\n0\r\n\r\n`],
      ...Array.from({ length: 20 }, () => [head("GET /openai/v1/models", h2c)]),
      [head("DELETE /openai/v1/responses/resp_none", h2c)],
    );
    expect(answers).to.match(/^HTTP\/1\.1 100 /);
    expect(statuses(answers)).to.deep.equal([...Array.from({ length: 21 }, () => "200"), "404", "200"]);
  });

  it("is taken when it is a WebSocket to a route of one", async () => {
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/ws`);
    await once(socket, "open");
    socket.close();
    await once(socket, "close");
  });

  it("makes no difference to curl --http2", async function () {
    const curl = spawn("curl", [
      "-sS",
      "--http2",
      "-d",
      body,
      "-H",
      "content-type: application/json",
      `${service.url}/openai/v1/chat/completions`,
    ]);
    const started = await Promise.race([once(curl, "spawn").then(() => true), once(curl, "error").then(() => false)]);
    if (!started) return this.skip();
    expect(await text(curl.stdout)).to.include("chat.completion");
  });
});
