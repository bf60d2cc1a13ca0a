import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { gzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import channelHttp from "../../../plugins/channel-http/index.ts";
import { endless, hello, keyOf, serve, type TestService } from "../../service.ts";

const run = (
  service: TestService,
  init: { headers?: Record<string, string>; body?: string | Buffer<ArrayBuffer> } = {},
) =>
  fetch(`${service.url}/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json", ...init.headers },
    body: init.body ?? JSON.stringify({ agent: "hello", input: "hi" }),
  });
const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

describe("the server", () => {
  let service: TestService;
  before(async () => {
    service = await serve({
      scripts: { hello, endless },
      channels: [{ plugin: channelHttp }],
      limits: { body: 64 * 1024, request: 400 },
    });
  });
  after(() => service.close());
  const stillAnswers = async () => expect((await run(service)).status).to.equal(200);

  it("serves metrics as OpenMetrics on request, otherwise as Prometheus text", async () => {
    const asked = { accept: "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3" };
    const open = await fetch(`${service.url}/metrics`, { headers: asked });
    expect(open.headers.get("content-type")).to.equal("application/openmetrics-text; version=1.0.0; charset=utf-8");
    expect(await open.text()).to.equal("# openmetrics\n");
    const plain = await fetch(`${service.url}/metrics`);
    expect(plain.headers.get("content-type")).to.equal("text/plain; version=0.0.4; charset=utf-8");
    expect(await plain.text()).to.equal("# prometheus\n");
  });

  it("says it is live and ready without a key, and stops being ready first", async () => {
    const draining = await serve({ scripts: { hello }, channels: [], settings: { auth: { keys: [keyOf("a", "s")] } } });
    expect((await fetch(`${draining.url}/livez`)).status).to.equal(200);
    expect((await fetch(`${draining.url}/readyz`)).status).to.equal(200);
    expect((await fetch(`${draining.url}/metrics`)).status).to.equal(401);
    draining.unready();
    expect((await fetch(`${draining.url}/readyz`)).status).to.equal(503);
    expect((await fetch(`${draining.url}/livez`)).status).to.equal(200);
    await draining.close();
  });

  it("sends security headers and a traceparent with everything, errors included", async () => {
    for (const path of ["/livez", "/nothing"]) {
      const { headers } = await fetch(service.url + path);
      expect(headers.get("x-content-type-options")).to.equal("nosniff");
      expect(headers.get("content-security-policy")).to.include("default-src 'none'");
      expect(headers.get("traceparent")).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    }
  });

  it("answers in the trace the request came with", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const response = await run(service, { headers: { traceparent, accept: "text/event-stream" } });
    expect(response.headers.get("traceparent")).to.equal(traceparent);
    expect(await response.text()).to.include(`"trace":"${traceparent}"`);
  });

  it("refuses an unknown Host and an unknown Origin", async () => {
    const request = http.get(`${service.url}/livez`, { headers: { host: "evil.example" } });
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    expect(response.statusCode).to.equal(403);
    response.resume();
    const { host } = new URL(service.url);
    for (const [origin, status] of [
      ["https://evil.example", 403],
      ["null", 403],
      [`http://${host}`, 200],
    ] as const) {
      expect((await run(service, { headers: { origin } })).status).to.equal(status);
    }
  });

  it("allows the origins the config names, and says so to browsers", async () => {
    const shared = await serve({
      scripts: { hello },
      channels: [{ plugin: channelHttp }],
      settings: { cors: { origins: ["https://app.example"] } },
    });
    const response = await run(shared, { headers: { origin: "https://app.example", accept: "text/event-stream" } });
    expect(response.status).to.equal(200);
    expect(response.headers.get("access-control-allow-origin")).to.equal("https://app.example");
    const exposed = response.headers.get("access-control-expose-headers")?.split(/, ?/);
    const wanted = ["x-venturi-run", "venturi-warnings", "x-request-id", "traceparent", "retry-after", "location"];
    expect(exposed).to.have.members(wanted);
    await response.text();
    const without = await run(service);
    expect(without.headers.get("access-control-expose-headers")).to.equal(null);
    await without.text();
    await shared.close();
  });

  it("limits a key's requests a minute with 429 and Retry-After, and no one else's", async () => {
    const limited = await serve({
      scripts: { hello },
      channels: [{ plugin: channelHttp }],
      settings: { auth: { keys: [{ ...keyOf("a", "slow"), requestsPerMinute: 2 }, keyOf("b", "fast")] } },
    });
    const status = async (key: string) => (await run(limited, { headers: { authorization: `Bearer ${key}` } })).status;
    expect([await status("slow"), await status("slow")]).to.deep.equal([200, 200]);
    const refused = await run(limited, { headers: { "x-api-key": "slow" } });
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get("retry-after"))).to.be.within(1, 60);
    expect(await status("fast")).to.equal(200);
    await limited.close();
  });

  it("limits a key's concurrent runs with 429, and frees the slot when one ends", async () => {
    const limited = await serve({
      scripts: { endless },
      channels: [{ plugin: channelHttp }],
      settings: { auth: { keys: [{ ...keyOf("a", "one"), concurrentRuns: 1 }] } },
    });
    const headers = { authorization: "Bearer one", prefer: "respond-async" };
    const body = JSON.stringify({ agent: "endless", input: "hi" });
    const first = await run(limited, { body, headers });
    const refused = await run(limited, { body, headers });
    expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([429, "1"]);
    await limited.runs.cancel(first.headers.get("x-venturi-run") ?? "");
    expect((await run(limited, { body, headers })).status).to.equal(202);
    await limited.close(0);
  });

  it("answers 503 with Retry-After when all slots and the queue are full", async () => {
    const small = await serve({
      scripts: { endless },
      channels: [{ plugin: channelHttp }],
      limits: { activeRuns: 1, queue: 0 },
    });
    const body = JSON.stringify({ agent: "endless", input: "hi" });
    const first = await run(small, { body, headers: { prefer: "respond-async" } });
    const refused = await run(small, { body });
    expect(refused.status).to.equal(503);
    expect(refused.headers.get("retry-after")).to.equal("1");
    await small.runs.cancel(first.headers.get("x-venturi-run") ?? "");
    expect((await run(small, { body, headers: { prefer: "respond-async" } })).status).to.equal(202);
    await small.close(0);
  });

  describe("with hostile input", () => {
    afterEach(stillAnswers);

    it("refuses a body of twice the limit", async () => {
      const response = await run(service, { body: JSON.stringify({ agent: "hello", input: "x".repeat(128 * 1024) }) });
      expect([response.status, await codeOf(response)]).to.deep.equal([413, "too_large"]);
    });

    it("refuses JSON nested ten thousand deep", async () => {
      const response = await run(service, { body: `${"[".repeat(10_000)}${"]".repeat(10_000)}` });
      expect([response.status, await codeOf(response)]).to.deep.equal([400, "invalid_input"]);
    });

    it("refuses keys that reach for a prototype, escaped or not", async () => {
      for (const body of [
        '{"agent":"hello","input":"x","__proto__":{"admin":true}}',
        '{"agent":"hello","input":"x","metadata":{"\\u005f_proto__":{"admin":true}}}',
        '{"agent":"hello","input":"x","metadata":{"constructor":{"prototype":{"admin":true}}}}',
      ]) {
        const response = await run(service, { body });
        expect([response.status, await codeOf(response)]).to.deep.equal([400, "invalid_input"]);
      }
    });

    it("does not unpack what is compressed", async () => {
      const body = gzipSync(Buffer.alloc(10_000_000, 32));
      const response = await run(service, { body, headers: { "content-encoding": "gzip" } });
      expect([response.status, await codeOf(response)]).to.deep.equal([400, "invalid_input"]);
    });

    it("refuses bodies that are not JSON or not declared as JSON", async () => {
      expect((await run(service, { body: '{"agent":' })).status).to.equal(400);
      expect((await run(service, { headers: { "content-type": "text/xml" } })).status).to.equal(400);
      const form = await run(service, {
        headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
      });
      expect([form.status, await form.text()].join())
        .to.contain("400")
        .and.to.contain("application/json");
    });

    const raw = async (send: (socket: net.Socket) => void): Promise<string> => {
      const { hostname, port } = new URL(service.url);
      const socket = net.connect(Number(port), hostname);
      await once(socket, "connect");
      let answer = "";
      socket.on("data", (bytes: Buffer) => {
        answer += bytes.toString();
      });
      socket.on("error", () => {});
      send(socket);
      await once(socket, "close");
      return answer;
    };

    it("closes on headers that never end", async () => {
      expect(await raw((socket) => socket.write("GET /livez HTTP/1.1\r\nHost: localhost\r\nX-A: "))).to.match(
        /^HTTP\/1.1 408/,
      );
    });

    it("closes on a body that never ends", async () => {
      const head =
        "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
      expect(await raw((socket) => socket.write(head))).to.match(/^HTTP\/1.1 408/);
    });

    it("refuses headers that are too large, and bytes that are no HTTP", async () => {
      const large = `GET /livez HTTP/1.1\r\nHost: localhost\r\nX-A: ${"a".repeat(32_000)}\r\n\r\n`;
      expect(await raw((socket) => socket.write(large))).to.match(/^HTTP\/1.1 431/);
      expect(await raw((socket) => socket.write("\x16\x03\x01\x02\x00\r\n\r\n"))).to.match(/^HTTP\/1.1 400/);
    });

    it("lets go of a stream whose socket was half-closed", async () => {
      const body = '{"agent":"endless","input":"hi"}';
      const head = `POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
      await raw((socket) => {
        socket.once("data", () => socket.end());
        socket.write(head + body);
      });
      while (service.runs.following > 0) await new Promise((resolve) => setImmediate(resolve));
      for (const row of (await service.runs.list({ agent: "endless" })).runs) await service.runs.cancel(row.run);
    });
  });

  it("describes its routes in a valid OpenAPI document", async () => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      openapi: string;
      components: object;
      paths: Record<string, Record<string, { requestBody?: unknown; responses: unknown; parameters?: unknown[] }>>;
    };
    expect(document.openapi).to.equal("3.1.0");
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(routes).to.include.members([
      "POST /v1/runs",
      "GET /v1/runs",
      "GET /v1/runs/{run}",
      "GET /v1/runs/{run}/events",
      "POST /v1/runs/{run}/approvals/{call}",
      "GET /v1/sessions/{session}",
      "GET /readyz",
    ]);
    expect(routes).not.to.include("GET /openapi.json");
    for (const route of routes) {
      const [method = "", path = ""] = route.split(" ");
      const found = service.app.hasRoute({ method: method as "GET", url: path.replaceAll(/\{(\w+)\}/g, ":$1") });
      expect(found, route).to.equal(true);
    }
    const schemas = schemasIn(document.paths);
    expect(schemas.length).to.be.greaterThan(15);
    const ajv = new Ajv2020({ strict: false });
    const { components } = document;
    ajv.compile({ components, allOf: schemas }); // at once: each by itself would compile the components again
    expect(document.paths["/v1/runs"]?.post?.requestBody).to.have.nested.property("content.application/json.schema");
  });
});

/** Every JSON Schema of an OpenAPI document. */
function schemasIn(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, child]) =>
    key === "schema" && typeof child === "object" && child !== null ? [child as object] : schemasIn(child),
  );
  return inner;
}
