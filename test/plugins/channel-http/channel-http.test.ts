import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { expect } from "chai";
import channelHttp from "../../../plugins/channel-http/index.ts";
import { endless, hello, keyOf, serve, type TestService, text } from "../../service.ts";
import { allSse, readSse } from "../../sse.ts";

describe("channel-http", () => {
  let service: TestService;
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(service.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const events = { accept: "text/event-stream" };

  before(async () => {
    service = await serve({
      scripts: {
        hello,
        endless,
        broken: async ({ emit }) => {
          emit(text("so far"));
          const { VenturiError } = await import("../../../src/core/errors/errors.ts");
          throw new VenturiError("provider.stream", "llm_error", "the model broke");
        },
        asks: async ({ emit, received }) => {
          emit({ type: "approval.requested", round: 1, call: "c1", name: "shell", arguments: { cmd: "ls" } });
          const { body } = await received("approve");
          emit({ type: "approval.resolved", round: 1, call: "c1", approved: body.approved === true });
          return { output: JSON.stringify(body) };
        },
        steered: async ({ received }) => ({ output: String((await received("message")).body.text) }),
      },
      channels: [{ plugin: channelHttp }],
      limits: { keepAlive: 30 },
    });
  });
  after(() => service.close());

  it("streams a run's events with their seq as id, and ends after the terminal event", async () => {
    const response = await post("/v1/runs", { agent: "hello", input: "hi" }, events);
    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.equal("text/event-stream; charset=utf-8");
    expect(response.headers.get("x-accel-buffering")).to.equal("no");
    const seen = await allSse(response);
    expect(seen.map((event) => event.id)).to.deep.equal(["1", "2", "3", "4", "5", "6", "7"]);
    expect(seen[0]?.event).to.equal("run.started");
    expect(seen.at(-1)?.event).to.equal("run.finished");
    const last = JSON.parse(seen.at(-1)?.data ?? "") as { output: string; run: string };
    expect(last.output).to.equal("Hello world.");
    expect(response.headers.get("x-venturi-run")).to.equal(last.run);
  });

  it("answers with the result when events are not asked for", async () => {
    const response = await post("/v1/runs", { agent: "hello", input: { text: "hi" } });
    const body = (await response.json()) as Record<string, unknown>;
    expect(response.status).to.equal(200);
    expect(body).to.include({ status: "finished", output: "Hello world.", finish: "stop" });
    expect(body.usage).to.deep.equal({ inputTokens: 3, outputTokens: 5 });
    expect(body.run).to.equal(response.headers.get("x-venturi-run"));
  });

  it("answers a failed run with its code's status, its error and what was said so far", async () => {
    const response = await post("/v1/runs", { agent: "broken", input: "hi" });
    expect(response.status).to.equal(502);
    const body = (await response.json()) as { error: { code: string; op: string }; output: string };
    expect(body.error).to.include({ code: "llm_error", op: "agent.run: provider.stream" });
    expect(body.output).to.equal("so far");
  });

  it("answers 202 with a Location when the client prefers not to wait", async () => {
    const response = await post("/v1/runs", { agent: "hello", input: "hi" }, { prefer: "respond-async" });
    expect(response.status).to.equal(202);
    const location = response.headers.get("location");
    expect(location).to.match(/^\/v1\/runs\/[0-9a-f-]+$/);
    const followed = await allSse(await fetch(`${service.url}${location}/events`));
    expect(followed.at(-1)?.event).to.equal("run.finished");
  });

  it("finds the same run for the same Idempotency-Key, and refuses another request under it", async () => {
    const key = { "idempotency-key": "k1", prefer: "respond-async" };
    const first = (await (await post("/v1/runs", { agent: "hello", input: "a" }, key)).json()) as { run: string };
    const second = (await (await post("/v1/runs", { agent: "hello", input: "a" }, key)).json()) as { run: string };
    expect(second.run).to.equal(first.run);
    expect((await post("/v1/runs", { agent: "hello", input: "b" }, key)).status).to.equal(409);
  });

  it("resumes with exactly the event after Last-Event-ID, or after ?after=", async () => {
    const { run } = (await (await post("/v1/runs", { agent: "hello", input: "hi" })).json()) as { run: string };
    const byHeader = await allSse(
      await fetch(`${service.url}/v1/runs/${run}/events`, { headers: { "last-event-id": "3" } }),
    );
    expect(byHeader.map((event) => event.id)).to.deep.equal(["4", "5", "6", "7"]);
    const byQuery = await allSse(await fetch(`${service.url}/v1/runs/${run}/events?after=6`));
    expect(byQuery.map((event) => event.event)).to.deep.equal(["run.finished"]);
    expect(await allSse(await fetch(`${service.url}/v1/runs/${run}/events?after=7`))).to.deep.equal([]);
  });

  it("streams to a client of HTTP/1.0, which knows no chunks, to the end of the connection", async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const body = '{"agent":"hello","input":"hi"}';
    socket.end(
      `POST /v1/runs HTTP/1.0\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    let answer = "";
    for await (const bytes of socket) answer += bytes;
    expect(answer).not.to.match(/transfer-encoding/i);
    expect(answer)
      .to.match(/\r\n\r\nid: 1\nevent: run\.started/)
      .and.match(/event: run\.finished\ndata: .*\n\n$/);
  });

  it("keeps the connection for the next request after a stream", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let turn = 0; turn < 3; turn++) {
      const sent = request(`${service.url}/v1/runs`, {
        method: "POST",
        agent,
        headers: { "content-type": "application/json", accept: "text/event-stream" },
      });
      sent.end('{"agent":"hello","input":"hi"}');
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      ports.add(response.socket.localPort);
      let text = "";
      for await (const bytes of response) text += bytes;
      expect(text).to.include("run.finished");
    }
    expect(ports.size).to.equal(1);
    agent.destroy();
  });

  it("sends heartbeats without an id while the run is silent", async () => {
    const response = await post("/v1/runs", { agent: "endless", input: "hi" }, events);
    const run = response.headers.get("x-venturi-run") ?? "";
    const beats = [];
    for await (const event of readSse(response.body)) {
      if (event.event === "heartbeat") beats.push(event);
      if (beats.length === 2) break;
    }
    for (const { id, data } of beats) {
      expect(id).to.equal(undefined);
      expect(JSON.parse(data)).to.include({ type: "heartbeat", run }).and.not.to.have.property("seq");
    }
    await service.runs.cancel(run);
  });

  it("leaves the run going when its reader goes away, and lets it resume", async () => {
    const response = await post("/v1/runs", { agent: "endless", input: "hi" }, events);
    const run = response.headers.get("x-venturi-run") ?? "";
    for await (const event of readSse(response.body)) if (event.event === "text.delta") break;
    expect((await service.runs.get(run)).state).to.equal("running");
    const resumed = await fetch(`${service.url}/v1/runs/${run}/events?after=2`);
    await service.runs.cancel(run);
    expect((await allSse(resumed)).map((event) => event.id)).to.deep.equal(["3"]);
  });

  it("cancels, and answers once the terminal event is written", async () => {
    const started = await post("/v1/runs", { agent: "endless", input: "hi" }, { prefer: "respond-async" });
    const { run } = (await started.json()) as { run: string };
    const response = await post(`/v1/runs/${run}/cancel`, {});
    const body = (await response.json()) as { status: string; error: { code: string } };
    expect(body.status).to.equal("cancelled");
    expect(body.error.code).to.equal("stream_interrupted");
  });

  it("cancels without a body at all", async () => {
    const started = await post("/v1/runs", { agent: "endless", input: "hi" }, { prefer: "respond-async" });
    const { run } = (await started.json()) as { run: string };
    expect((await fetch(`${service.url}/v1/runs/${run}/cancel`, { method: "POST" })).status).to.equal(200);
  });

  it("passes an approval on once, and refuses a second answer", async () => {
    const started = await post("/v1/runs", { agent: "asks", input: "hi" }, { prefer: "respond-async" });
    const { run } = (await started.json()) as { run: string };
    expect((await post(`/v1/runs/${run}/approvals/c1`, { approved: true, reason: "fine" })).status).to.equal(202);
    const done = (await allSse(await fetch(`${service.url}/v1/runs/${run}/events`))).at(-1);
    const { output } = JSON.parse(done?.data ?? "") as { output: string };
    expect(JSON.parse(output)).to.deep.equal({ call: "c1", approved: true, reason: "fine", by: "anyone" });
    expect((await post(`/v1/runs/${run}/approvals/c1`, { approved: false })).status).to.equal(409);
  });

  it("sends a message into the run", async () => {
    const started = await post("/v1/runs", { agent: "steered", input: "hi" }, { prefer: "respond-async" });
    const { run } = (await started.json()) as { run: string };
    expect((await post(`/v1/runs/${run}/messages`, { text: "left" })).status).to.equal(202);
    const done = (await allSse(await fetch(`${service.url}/v1/runs/${run}/events`))).at(-1);
    expect((JSON.parse(done?.data ?? "") as { output: string }).output).to.equal("left");
  });

  it("shows a run, lists runs by agent and status, sessions in order, agents and a trace", async () => {
    await (await post("/v1/runs", { agent: "hello", input: "one", session: "s1" })).json();
    const second = (await (await post("/v1/runs", { agent: "hello", input: "two", session: "s1" })).json()) as {
      run: string;
    };
    const get = async (path: string) => (await (await fetch(service.url + path)).json()) as Record<string, never[]>;
    expect(await get(`/v1/runs/${second.run}`)).to.include({
      status: "finished",
      agent: "hello",
      session: "s1",
      head: 7,
    });
    const listed = (await get("/v1/runs?agent=broken&status=failed")).runs as unknown as { agent: string }[];
    expect(listed.map((run) => run.agent)).to.deep.equal(["broken"]);
    const session = (await get("/v1/sessions/s1")).runs as unknown as { input: { text: string }; output: string }[];
    expect(session.map((run) => [run.input.text, run.output])).to.deep.equal([
      ["one", "Hello world."],
      ["two", "Hello world."],
    ]);
    const { agents } = await get("/v1/agents");
    expect((agents as unknown as { name: string }[]).map((agent) => agent.name)).to.include("steered");
    expect(await get(`/v1/runs/${second.run}/trace`)).to.include({ run: second.run });
  });

  it("answers missing and invalid things with the code's status", async () => {
    const cases: [string, unknown, number, string][] = [
      ["/v1/runs", { agent: "nobody", input: "hi" }, 404, "not_found"],
      ["/v1/runs", { agent: "hello" }, 400, "invalid_input"],
      ["/v1/runs", { agent: "hello", input: "hi", module: "./evil.js" }, 400, "invalid_input"],
      ["/v1/runs/none/cancel", {}, 404, "not_found"],
      ["/v1/nothing", {}, 404, "not_found"],
    ];
    for (const [path, body, status, code] of cases) {
      const response = await post(path, body);
      expect([path, response.status]).to.deep.equal([path, status]);
      expect(((await response.json()) as { error: { code: string } }).error.code).to.equal(code);
    }
    expect((await fetch(`${service.url}/v1/runs/none/events`)).status).to.equal(404);
    expect((await fetch(`${service.url}/v1/runs/x/events`, { headers: { "last-event-id": "no" } })).status).to.equal(
      400,
    );
  });

  it("keeps a key to its agents, in starting and in seeing", async () => {
    const guarded = await serve({
      scripts: { hello, endless },
      channels: [{ plugin: channelHttp }],
      settings: {
        auth: {
          keys: [
            { ...keyOf("ci", "secret"), agents: ["hello"] },
            { ...keyOf("root", "all"), tenant: "ci" },
          ],
        },
      },
    });
    try {
      const call = (path: string, key: string, body?: unknown) =>
        fetch(guarded.url + path, {
          method: body === undefined ? "GET" : "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json", prefer: "respond-async" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      expect((await fetch(`${guarded.url}/v1/agents`)).status).to.equal(401);
      expect((await call("/v1/agents", "wrong")).status).to.equal(401);
      expect((await call("/v1/runs", "secret", { agent: "endless", input: "hi" })).status).to.equal(403);
      const other = (await (await call("/v1/runs", "all", { agent: "endless", input: "hi" })).json()) as {
        run: string;
      };
      for (const path of ["", "/events", "/trace"]) {
        expect((await call(`/v1/runs/${other.run}${path}`, "secret")).status).to.equal(404);
      }
      expect((await call(`/v1/runs/${other.run}/cancel`, "secret", {})).status).to.equal(404);
      const { runs } = (await (await call("/v1/runs", "secret")).json()) as { runs: unknown[] };
      expect(runs).to.deep.equal([]);
      const { agents } = (await (await call("/v1/agents", "secret")).json()) as { agents: { name: string }[] };
      expect(agents.map((agent) => agent.name)).to.deep.equal(["hello"]);
      await guarded.runs.cancel(other.run);
    } finally {
      await guarded.close();
    }
  });
});
