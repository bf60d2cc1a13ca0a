import net from "node:net";
import { expect } from "chai";
import channelAnthropic from "../../../plugins/channel-anthropic/index.ts";
import channelHttp from "../../../plugins/channel-http/index.ts";
import channelOpenai from "../../../plugins/channel-openai/index.ts";
import { hello, serve, type TestService } from "../../service.ts";

/** Names as they come in a path: line ends, zero bytes, what is no Latin-1, what is no UTF-8, what is too long. */
const names = ["a%0d%0ab", "a%0ab", "%00", "%E2%82%AC", "%7f", "%FF", "%", "%zz", "%c0%af", "..%2f..", "x".repeat(300)];
const paths = [
  "/",
  "/v1/runs/",
  "/v1/runs/NAME/why",
  "/v1/runs/NAME/events",
  "/v1/runs/NAME/trace",
  "/v1/runs/NAME/fixture",
  "/v1/runs/NAME/wires",
  "/v1/runs/NAME/content/NAME",
  "/v1/sessions/NAME",
  "/openai/v1/responses/resp_NAME",
  "/openai/v1/models/NAME",
  "/anthropic/v1/models/NAME",
];
const methods = ["GET", "OPTIONS"];
const urls = paths.flatMap((path) =>
  names.map((name) => (path.includes("NAME") ? path.replaceAll("NAME", name) : path + name)),
);

describe("a URL that means nothing", function () {
  this.timeout(180_000);
  let service: TestService;
  before(async () => {
    const channels = [channelHttp, channelOpenai, channelAnthropic].map((plugin) => ({ plugin }));
    service = await serve({ scripts: { assistant: hello }, channels });
  });
  after(() => service.close());

  /** Requests as they are, one after the other on one connection: a client would not send some of them. */
  async function ask(host: string): Promise<{ asked: string; status: number; headers: string; body: string }[]> {
    const asked = methods.flatMap((method) => urls.map((url) => `${method} ${url}`));
    const answers = await Promise.all(
      asked.map(async (line) => {
        const socket = net.connect(Number(new URL(service.url).port), "127.0.0.1");
        socket.end(`${line} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
        let text = "";
        for await (const data of socket) text += String(data);
        return text;
      }),
    );
    return answers.map((answer, index) => {
      const end = answer.indexOf("\r\n\r\n");
      const headers = answer.slice(0, end);
      return { asked: asked[index] ?? "", status: Number(headers.slice(9, 12)), headers, body: answer.slice(end + 4) };
    });
  }

  it("is answered with an error in its shape, with the headers of every reply", async () => {
    for (const { asked, status, headers, body } of await ask(new URL(service.url).host)) {
      expect(headers.toLowerCase(), asked).to.include("x-content-type-options: nosniff").and.include("x-request-id: ");
      if (status < 400) continue; // an empty list
      const { error } = JSON.parse(body) as { error: Record<string, unknown> };
      const shape = "op" in error ? ["op", "code", "err"] : ["message", "type"];
      expect(error, asked).to.include.keys(shape);
    }
  });

  it("is refused like any other when the Host is not this service's", async () => {
    for (const { asked, status, body } of await ask("evil.example")) {
      expect(status, asked).to.equal(403);
      expect(body, asked).to.include("does not answer to that Host");
    }
  });
});
