import { once } from "node:events";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { exactTexts } from "../../../src/serve/exact-body.ts";
import { routes, serve, type TestService } from "../../service.ts";

const small = 64 * 1024;
const most = 512 * 1024;
const type = { "content-type": "application/json" };

describe("a request's body", () => {
  let service: TestService;
  let held: number[] = [];
  const faults: string[] = [];
  before(async () => {
    const own = routes(({ server, account }) => {
      const tell = (request: { body: unknown }) => {
        held.push(service.memory.tenants.get("default") ?? 0);
        account(request).hold(0, "body").release();
        return { body: Buffer.isBuffer(request.body) ? request.body.toString("latin1") : (request.body ?? "none") };
      };
      server.post("/json", async (request) => tell(request));
      server.post("/form", { config: { form: true } }, async (request) => tell(request));
      const exact = ["calls", "*", "input"];
      server.post("/exact", { config: { exact } }, async (request) => [...exactTexts(request)]);
    });
    const log = { ...silentLog, error: (message: string) => void faults.push(message) };
    const limits = { body: most, memory: 64 * 1024 ** 2 };
    service = await serve({ scripts: {}, channels: [own], limits, parts: { log } });
  });
  after(() => service.close(0));
  beforeEach(() => {
    held = [];
  });
  afterEach(async () => {
    while (service.memory.held > 0) await sleep(2);
    expect((await fetch(`${service.url}/livez`)).status).to.equal(200);
  });
  const post = (path: string, headers: Record<string, string> = type): ClientRequest => {
    const request = httpRequest(service.url + path, { method: "POST", headers });
    request.on("error", () => {});
    return request;
  };
  const answerTo = async (request: ClientRequest) => {
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const body = (await json(response)) as { body?: unknown; error?: { op: string; code: string; err: string } };
    return { status: response.statusCode, connection: response.headers.connection, ...body };
  };
  const send = (path: string, text: string | Buffer, headers: Record<string, string> = {}) => {
    const request = post(path, { ...type, "content-length": String(Buffer.byteLength(text)), ...headers });
    request.end(text);
    return answerTo(request);
  };

  it("is what JSON.parse makes of it at every size, announced or in chunks, and split anywhere", async () => {
    for (const length of [0, 10, small - 12, small - 10, small, 3 * small]) {
      const body = JSON.stringify({ a: "é".repeat(length / 2), b: [1, "x\n"] });
      expect(await send("/json", body), String(length)).to.deep.include({ status: 200, body: JSON.parse(body) });
      const chunked = post("/json");
      for (let at = 0; at < body.length; at += 20_001) chunked.write(body.slice(at, at + 20_001));
      chunked.end();
      expect(await answerTo(chunked), String(length)).to.deep.include({ status: 200, body: JSON.parse(body) });
    }
  });

  it("is charged three times its size until it is answered", async () => {
    await send("/json", JSON.stringify("x".repeat(998)));
    expect(held).to.deep.equal([3_000]);
    const chunked = post("/json");
    chunked.write(JSON.stringify("x".repeat(998)));
    chunked.end();
    await answerTo(chunked);
    await send("/form", Buffer.alloc(100), { "content-type": "multipart/form-data; boundary=x" });
    const form = post("/form", { "content-type": "multipart/form-data; boundary=x" });
    form.end("x".repeat(50));
    await answerTo(form);
    expect(held).to.deep.equal([3_000, 3_000, 300, 150]);
  });

  it("may have exactly the size of the limit, and not a byte more, announced or not", async () => {
    const fits = JSON.stringify("x".repeat(most - 2));
    expect((await send("/json", fits)).status).to.equal(200);
    const form = { "content-type": "multipart/form-data; boundary=x" };
    expect((await send("/form", fits, form)).status).to.equal(200);
    for (const [path, headers] of [
      ["/json", type],
      ["/form", form],
    ] as const) {
      const announced = await send(path, `${fits} `, headers);
      expect([announced.status, announced.error?.op, announced.error?.code]).to.deep.equal([
        413,
        "request.parse",
        "too_large",
      ]);
      const chunked = post(path, headers);
      chunked.end(`${fits} `);
      expect((await answerTo(chunked)).error?.code).to.equal("too_large");
    }
  });

  it("that is announced as too large is refused for that, not for the memory it would take", async () => {
    const others = service.memory.of("other").hold(60 * 1024 ** 2, "run");
    const request = post("/json", { ...type, "content-length": String(1024 ** 3) });
    request.write("x".repeat(most));
    request.write("x");
    expect((await answerTo(request)).error?.code).to.equal("too_large");
    request.destroy();
    others.release();
  });

  it("that is refused is read to its end, so that its sender sees why", async () => {
    for (const headers of [{ "content-type": "text/xml" }, { ...type, "content-encoding": "br" }]) {
      const { status, error } = await send("/json", "x".repeat(most - 10), headers);
      expect([status, error?.op, error?.code]).to.deep.equal([400, "request.parse", "invalid_input"]);
    }
    expect((await send("/json", "{}", { "content-encoding": "identity" })).status).to.equal(200);
    const packed = await send("/json", "{}", { "content-encoding": "gzip" });
    expect([packed.status, packed.error?.op], "whatever it holds").to.deep.equal([400, "request.parse"]);
  });

  it("of another type is refused with the type, and with a hint for curl's default", async () => {
    const form = "application/x-www-form-urlencoded";
    for (const sent of [form, `${form}; charset=utf-8`])
      expect((await send("/json", "a=1", { "content-type": sent })).error?.err)
        .to.include(`"${sent}"`)
        .and.include("curl -d");
    const other = (await send("/json", "a=1", { "content-type": `text/x; as=${form}` })).error?.err;
    expect(other).to.include("text/x").and.not.include("curl");
    const none = post("/json", { "content-length": "3" });
    none.removeHeader("content-type");
    none.end("a=1");
    expect((await answerTo(none)).error?.err).to.include("without a content type");
    const long = (await send("/json", "a=1", { "content-type": `text/${"y".repeat(300)}` })).error?.err;
    expect(long).to.include("y".repeat(95)).and.not.include("y".repeat(96));
  });

  it("that is a form is taken as bytes where a route takes forms, and refused elsewhere", async () => {
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    for (const size of [4, 3 * small]) {
      const bytes = Buffer.alloc(size, 0xe9);
      expect(await send("/form", bytes, headers)).to.include({ status: 200, body: bytes.toString("latin1") });
    }
    const { status, error } = await send("/json", "--x--", headers);
    expect([status, error?.op, error?.code]).to.deep.equal([400, "request.parse", "invalid_input"]);
    expect(held).to.have.length(2);
  });

  it("with a long text that is no JSON is refused as soon as that is known, and the rest is read", async () => {
    const bad = `{"a":"${"x".repeat(small)}\n${"x".repeat(small)}","b":"${"y".repeat(2 * small)}"}`;
    for (const size of [bad.length, 16_384]) {
      const request = post("/json");
      for (let at = 0; at < bad.length; at += size) request.write(bad.slice(at, at + size));
      request.end();
      const { status, error } = await answerTo(request);
      expect([status, error?.code]).to.deep.equal([400, "invalid_input"]);
    }
    expect(held).to.deep.equal([]);
  });

  it("nested deeper than the limit is refused, with long texts in it too", async () => {
    for (const text of ["x", "x".repeat(2 * small)]) {
      const nested = (depth: number) => `${"[".repeat(depth)}"${text}"${"]".repeat(depth)}`;
      expect((await send("/json", nested(60))).status).to.equal(200);
      expect((await send("/json", nested(70))).error?.code).to.equal("invalid_input");
    }
  });

  it("with a number beyond the largest is refused, which would be stored as null, unless its text is kept", async () => {
    for (const filler of ["", "x".repeat(2 * small)]) {
      const body = `{"a":"${filler}","calls":[{"input":{"n":-1e400}}]}`;
      const { status, error } = await send("/json", body);
      expect([status, error?.code]).to.deep.equal([400, "invalid_input"]);
      expect(error?.err).to.include('the number at "n" is too large');
      expect(await send("/exact", body)).to.deep.include({ status: 200, 0: ["calls/0/input", '{"n":-1e400}'] });
    }
  });

  it("is UTF-8, also where a chunk ends within a character; other bytes are refused, not replaced", async () => {
    for (const filler of ["", "x".repeat(2 * small)]) {
      const [head, tail] = [Buffer.from(`{"a":"${filler}`), Buffer.from('"}')];
      for (const text of ["é", "€", "😀", "\ud7ff\ue000"]) {
        const bytes = Buffer.concat([head, Buffer.from(text), tail]);
        for (let at = head.length; at <= bytes.length - tail.length; at++) {
          const request = post("/json");
          request.write(bytes.subarray(0, at));
          await sleep(2);
          request.end(bytes.subarray(at));
          expect(await answerTo(request)).to.deep.include({ status: 200, body: { a: filler + text } });
        }
      }
      for (const odd of ["ff", "e9", "c080", "eda080", "f4908080", "e282", "80", "f0"]) {
        const bytes = Buffer.concat([head, Buffer.from(odd, "hex"), tail]);
        for (const sent of [bytes, bytes.subarray(0, -2)]) {
          const { status, error } = await send("/json", sent);
          expect([status, error?.code], odd).to.deep.equal([400, "invalid_input"]);
          expect(error?.err, odd).to.include("not UTF-8");
        }
      }
    }
  });

  it("whose sender goes away gives back what it was charged, and its route is never reached", async () => {
    for (const headers of [type, { "content-type": "multipart/form-data; boundary=x" }]) {
      const request = post("/form", { ...headers, "content-length": String(2 * small) });
      request.write("[");
      while (service.memory.held === 0) await sleep(2);
      expect(service.memory.held).to.equal(6 * small);
      request.destroy();
      while (service.memory.held > 0) await sleep(2);
    }
    expect(held).to.deep.equal([]);
    expect(faults, "logged as a fault of the service").to.deep.equal([]);
  });

  it("keeps the exact text of the values that a route asks for, however long", async () => {
    const long = "y".repeat(2 * small);
    for (const text of ["short", long, `${long}\\n\\"quoted\\"`]) {
      const input = `{ "n": 1.10, "id": 12345678901234567890, "t": "${text}" }`;
      const body = `{"calls":[{"input":${input}},{"input":2.50}],"other":1.0}`;
      const request = post("/exact", { ...type, "content-length": String(Buffer.byteLength(body)) });
      request.end(body);
      const [response] = (await once(request, "response")) as [IncomingMessage];
      expect(await json(response)).to.deep.equal([
        ["calls/0/input", input],
        ["calls/1/input", "2.50"],
      ]);
    }
  });

  it("may be missing", async () => {
    const request = post("/json", {});
    request.end();
    expect(await answerTo(request)).to.deep.include({ status: 200, body: "none" });
  });
});
