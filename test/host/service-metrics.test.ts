import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Log } from "../../src/core/ports/log.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { keyOf } from "../service.ts";
import { testFolder } from "./folder.ts";

const config = `
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
      - { name: boss, match: { text: "^the books" }, turns: [{ calls: [{ name: clerk, arguments: { task: count } }] }, { text: done }] }
      - { name: clerk, match: { text: "^count" }, turns: [{ calls: [{ name: sum, arguments: { expression: "1+1" } }] }, { text: "2" }] }
      - { name: slow, match: { text: "^slow" }, turns: [{ calls: [{ name: sum, arguments: { expression: "1+1" } }] }, { text: "2" }] }
tools:
  sum: { type: calculator, approval: always }
  clerk: { type: agent, agent: clerk }
agents:
  boss: { model: demo/small, tools: [clerk] }
  clerk: { model: demo/small, tools: [sum] }
  silent: { model: "demo/count-5!stall@2" }
channels: { http: {} }
journal: { type: memory }
server:
  listen: 0
  auth:
    keys:
      - { id: ops, sha256: ${keyOf("ops", "ops-key").sha256}, tenants: all, may: [see, metrics, inspect] }
      - { id: acme, sha256: ${keyOf("acme", "acme-key").sha256}, requestsPerMinute: 3, concurrentRuns: 1 }
      - { id: free, sha256: ${keyOf("free", "free-key").sha256} }
limits: { activeRuns: 2, queue: 0, drain: 50ms }
telemetry: { logs: { level: info } }
`;

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

describe("what a service measures of itself", function () {
  this.timeout(180_000);
  const folder = testFolder();
  let service: Service;
  let lines: Line[];
  let file = "";
  beforeEach(async () => {
    lines = [];
    const level =
      (name: string) =>
      (message: string, fields: Line["fields"] = {}) => {
        lines.push({ level: name, message, fields });
      };
    const log: Log = { debug: level("debug"), info: level("info"), warn: level("warn"), error: level("error") };
    file = folder.write({ "venturi.yaml": config });
    service = await openService({ configFile: file, log });
  });
  afterEach(() => service.drain());

  const ask = (path: string, key = "free-key", init: RequestInit = {}) =>
    fetch(service.url + path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });
  const start = (input: string, key = "free-key", agent = "clerk", more: object = {}) =>
    ask("/v1/runs", key, {
      method: "POST",
      body: JSON.stringify({ agent, input, ...more }),
      headers: { "content-type": "application/json", prefer: "respond-async" },
    });
  const metrics = async () => (await ask("/metrics", "ops-key")).text();
  const until = async <T>(find: () => Promise<T | undefined | false>): Promise<T> => {
    for (;;) {
      const found = await find();
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const refused = (reason: string, ofClass: string, count: number) =>
    `venturi_requests_refused_total{reason="${reason}",venturi_tenant_class="${ofClass}"} ${count}`;

  it("requests by route, method and status, also of a client that leaves and of a route that is none", async () => {
    await ask("/livez");
    await ask("/v1/runs/nope");
    await ask("/no/such/route", "free-key", { method: "DELETE" });
    const text = await metrics();
    const series = (method: string, route: string, status: number) =>
      `http_server_request_duration_seconds_count{http_request_method="${method}",url_scheme="http",${route}http_response_status_code="${status}",network_protocol_version="1.1"} 1`;
    expect(text).to.include(series("GET", 'http_route="/livez",', 200));
    expect(text).to.include(series("GET", 'http_route="/v1/runs/:run",', 404));
    expect(text).to.include(series("DELETE", "", 404));
    expect(text).to.not.include("nope");
    expect(text).to.include('http_server_active_requests{http_request_method="GET",url_scheme="http"} 1'); // this one
    expect(text).to.include('http_server_active_requests{http_request_method="DELETE",url_scheme="http"} 0');
  });

  it("refusals by reason and class of caller, each in the log once a second", async () => {
    const hold = (key: string) => start("go", key, "silent"); // one that waits for a person gives its place back after a second
    const wrong = await Promise.all(Array.from({ length: 5 }, () => ask("/v1/runs", "wrong")));
    expect(wrong.map(({ status }) => status)).to.deep.equal([401, 401, 401, 401, 401]);
    for (let n = 0; n < 2; n++) await hold("acme-key");
    const late = await hold("acme-key");
    expect(late.status).to.equal(429);
    const { error } = (await late.json()) as { error: { err: string; details: object } };
    expect(error.err).to.match(/concurrentRuns, is 1/);
    expect(error.details).to.include({ limit: "concurrentRuns", value: 1, most: 1 });
    const fourth = await hold("acme-key");
    expect(((await fourth.json()) as { error: { err: string } }).error.err).to.match(
      /^this is request 4 of this key within a minute; its limit, requestsPerMinute, is 3; try again in \d+ s$/,
    );
    await hold("free-key");
    const full = await hold("free-key");
    expect(full.status).to.equal(503);
    expect(((await full.json()) as { error: { err: string } }).error.err).to.equal(
      "2 runs are active (limits.activeRuns is 2) and 0 wait (limits.queue is 0); try again later",
    );
    const text = await metrics();
    expect(text).to.include(refused("unauthorized", "anonymous", 5));
    expect(text).to.include(refused("concurrentRuns", "tenant", 2));
    expect(text).to.include(refused("requestsPerMinute", "tenant", 1));
    expect(text).to.include(refused("queue", "tenant", 1));
    const told = lines.filter(({ message }) => message === "request refused").map(({ fields }) => fields.reason);
    expect([...new Set(told)]).to.deep.equal(["unauthorized", "concurrentRuns", "requestsPerMinute", "queue"]);
    // A line at once, and one for all that follow within a second: on a busy machine these five take more.
    await until(async () => {
      const of = (message: string) =>
        lines.filter((line) => line.message === message && line.fields.reason === "unauthorized");
      const more = of("more requests refused").map(({ fields }) => Number(fields.count));
      return of("request refused").length + more.reduce((sum, count) => sum + count, 0) === 5 && more.length > 0;
    });
  });

  it("reads do not use up a key's requests for the minute", async () => {
    for (let n = 0; n < 10; n++) expect((await ask("/v1/runs", "acme-key")).status).to.equal(200);
    expect((await start("slow", "acme-key")).status).to.equal(202);
  });

  it("open approvals, counted once however many agents forward them, and queue time of a busy session", async () => {
    const books = await start("the books", "free-key", "boss", { session: "s" });
    const { run: first } = (await books.json()) as { run: string };
    await until(async () => /^venturi_approvals_open 1$/m.test(await metrics()));
    await until(async () => /^venturi_journal_runs\{state="waiting"\} 2$/m.test(await metrics()));
    const { run } = (await (await start("slow", "free-key", "clerk", { session: "s" })).json()) as { run: string };
    await until(async () => /^venturi_journal_runs\{state="ready"\} 1$/m.test(await metrics()));
    // On a busy machine the first two runs can have waited noticeably, too.
    const queued = (text: string, what: "count" | "sum") =>
      Number(new RegExp(`^venturi_queue_wait_seconds_${what}\\{queue="journal"\\} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
    const before = await metrics();
    const [question] = await service.host.runs.pending(first);
    await service.host.runs.signal(first, "approve", { call: question?.call ?? "", approved: true });
    await until(async () => queued(await metrics(), "count") > queued(before, "count"));
    const text = await metrics();
    expect(queued(text, "count")).to.equal(queued(before, "count") + 1);
    const waited = queued(text, "sum") - queued(before, "sum");
    expect(waited).to.be.above(0);
    expect(text).to.match(/^venturi_queue_wait_seconds_count\{queue="admission"\} 2$/m);
    expect(text).to.match(/^venturi_queue_depth 0$/m);
    await until(async () => ((await (await ask(`/v1/runs/${run}`)).json()) as { status: string }).status === "waiting");
    const trace = JSON.stringify(await (await ask(`/v1/runs/${run}/trace`, "ops-key")).json());
    expect(trace).to.include('"venturi.wait queue"');
    await service.host.runs.cancel(run);
    const ended = await until(async () => lines.find(({ fields }) => fields.run === run && "queuedMs" in fields));
    expect(ended.fields.queuedMs).to.be.at.least(100); // what is noticeable
  });

  it("runs that nobody can execute: a gauge, the service's state and the log", async () => {
    const { run } = (await (await start("slow")).json()) as { run: string };
    await until(async () => (await service.host.runs.get(run)).state === "waiting");
    folder.write({ "venturi.yaml": config.replaceAll(/clerk/g, "cashier") });
    expect((await service.host.reload()).ok).to.equal(true);
    const [pending] = await service.host.runs.pending(run);
    await service.host.runs.signal(run, "approve", { call: pending?.call ?? "", approved: true });
    await until(async () => /^venturi_runs_unexecutable\{gen_ai_agent_name="clerk"\} 1$/m.test(await metrics()));
    expect(await metrics()).to.match(/^venturi_runs_unexecutable\{gen_ai_agent_name="boss"\} 0$/m);
    const { backlog } = (await (await ask("/v1/service", "ops-key")).json()) as { backlog: object };
    expect(backlog).to.deep.include({ ready: 1, unexecutable: [{ agent: "clerk", runs: 1 }] });
  });

  it("readiness, and tries of appends that failed", async () => {
    expect(await metrics()).to.match(/^venturi_processes_ready 1$/m);
    service.host.writes.failed("append", new VenturiError("journal.append", "journal_failed", "the disk is full"));
    service.host.journal.ping = async () => {
      throw new VenturiError("journal.ping", "journal_failed", "the disk is full");
    };
    const text = await metrics();
    expect(text).to.match(/^venturi_processes_ready 0$/m);
    expect(text).to.match(/^venturi_journal_write_failures_total\{operation="append"\} [12]$/m);
    const view = (await (await ask("/v1/service", "ops-key")).json()) as { ready: boolean };
    expect(view.ready).to.equal(false);
  });

  it("asking why does not become part of the run's trace", async () => {
    const { run } = (await (await start("slow")).json()) as { run: string };
    await until(async () => (await service.host.runs.get(run)).state === "waiting");
    const spans = async () => {
      const { resourceSpans } = (await (await ask(`/v1/runs/${run}/trace`, "ops-key")).json()) as {
        resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[];
      };
      return resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((each) => each.spans.map(({ name }) => name)),
      );
    };
    const before = await spans();
    expect((await ask(`/v1/runs/${run}/why`)).status).to.equal(200);
    expect(await spans()).to.deep.equal(before);
  });
});
