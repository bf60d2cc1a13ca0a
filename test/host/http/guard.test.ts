import { expect } from "chai";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import type { ChannelHost } from "../../../src/core/ports/channel.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { requestDoing } from "../../../src/core/values/doing.ts";
import { Refusals } from "../../../src/host/access/refusals.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";
import { hello, keyOf, routes, serve, type TestService } from "../../service.ts";

const minute = 60_000;
const holder = {
  id: "ada",
  tenant: "acme",
  agents: undefined,
  may: new Set(["see"] as const),
  requestsPerMinute: undefined,
  concurrentRuns: undefined,
};
const auth = { keys: [{ ...keyOf("slow", "s"), requestsPerMinute: 2 }, keyOf("free", "f")] };
const errorOf = async (response: Response) => ((await response.json()) as { error: Record<string, unknown> }).error;

describe("before a request reaches its handler", () => {
  let service: TestService;
  afterEach(() => service.close(0));
  const ask = (path: string, init: RequestInit = {}, key = "s") =>
    fetch(service.url + path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });

  it("its work is told apart by route and tenant, without a route as unknown", async () => {
    const seen: unknown[] = [];
    const identify = async () => {
      seen.push({ ...requestDoing() });
      return holder;
    };
    const handled = routes(({ server }) => {
      server.get("/thing/:id", async () => ({ ...requestDoing() }));
    });
    service = await serve({ scripts: {}, channels: [handled], parts: { identify } });
    const answer = await ask("/thing/7");
    expect(await answer.json()).to.deep.equal({ tenant: "acme", route: "GET /thing/:id" });
    await (await ask("/nothing", { method: "PUT" })).text();
    expect(seen).to.deep.equal([
      { tenant: "", route: "GET /thing/:id" },
      { tenant: "", route: "PUT unknown" },
    ]);
  });

  it("reads are not counted, everything else is, and the state is there to be told", async () => {
    let host: ChannelHost | undefined;
    const rates: unknown[] = [];
    const any = routes((given) => {
      host = given;
      const handler = async (request: unknown) => {
        const rate = host?.requestRate?.(request);
        rates.push(rate && { ...rate, resetMs: rate.resetMs > 0 && rate.resetMs <= minute });
        return {};
      };
      given.server.route({ method: ["GET", "OPTIONS", "PUT", "DELETE"], url: "/any", handler });
    });
    service = await serve({ scripts: {}, channels: [any], settings: { auth } });
    const statuses = [];
    for (const method of ["GET", "HEAD", "OPTIONS", "PUT", "GET", "DELETE", "PUT", "GET"])
      statuses.push((await ask("/any", { method })).status);
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 200, 429, 200]);
    const counted = (left: number) => ({ of: "requests", most: 2, left, resetMs: true });
    const none = undefined;
    expect(rates).to.deep.equal([none, none, none, counted(1), none, counted(0), none]);
    await ask("/any", { method: "PUT" }, "f");
    expect(rates.at(-1)).to.equal(undefined);
  });

  it("what is refused is noted once with its caller, and a failure to identify keeps its code", async () => {
    const counted: unknown[] = [];
    const clock = new VirtualClock();
    const telemetry = { count: (name: string, _: number, attributes?: object) => counted.push([name, attributes]) };
    const refusals = new Refusals({ clock, log: silentLog, telemetry } as never);
    let fails = new VenturiError("auth.check", "unauthorized", "sign in first");
    const identify = async () => {
      throw fails;
    };
    service = await serve({ scripts: {}, channels: [], parts: { identify, refusals } });
    expect(await errorOf(await ask("/metrics"))).to.include({ op: "auth.check", code: "unauthorized" });
    expect(counted).to.have.length(1);
    fails = new VenturiError("auth.check", "unavailable", "the issuer is away");
    const away = await ask("/metrics");
    expect([away.status, (await errorOf(away)).code]).to.deep.equal([503, "unavailable"]);
    expect(counted).to.have.length(2);
    for (let count = 0; count < 30; count++) await (await ask("/metrics")).text();
    expect((await ask("/metrics")).status, "an issuer that is away is no failed login").to.equal(503);
  });

  it("what a limited key was refused is noted under its tenant", async () => {
    const noted: unknown[] = [];
    const refusals = { note: (_: unknown, by?: { id: string }) => void noted.push(by?.id) } as unknown as Refusals;
    const any = routes(({ server }) => void server.put("/any", async () => ({})));
    service = await serve({ scripts: {}, channels: [any], settings: { auth }, parts: { refusals } });
    for (let count = 0; count < 3; count++) await (await ask("/any", { method: "PUT" })).text();
    expect(noted).to.deep.equal(["slow"]);
  });

  it("an action that cannot be audited is logged, and its caller is not told", async () => {
    const logged: unknown[] = [];
    const log = { ...silentLog, error: (message: string, fields?: object) => void logged.push([message, fields]) };
    const audit = {
      audit: async () => {
        throw new Error("the disk is full");
      },
      audits: async () => ({ records: [] }),
    };
    const parts = { log, audit };
    service = await serve({ scripts: {}, channels: [], settings: { auth }, parts });
    expect((await ask("/metrics", {}, "wrong")).status).to.equal(401);
    const reason = "this key is not known here";
    expect(logged).to.deep.equal([
      ["not audited", { action: "auth.failed", by: "127.0.0.1", details: { reason }, error: "the disk is full" }],
    ]);
  });

  it("a reply that names a run has the run's trace, and only where the caller may know it", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const own = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let run = "";
    const named = routes(({ server }) => {
      server.get("/named/:status", async ({ params, query }, reply) => {
        const { status } = params as { status: string };
        if ((query as { own?: string }).own !== undefined) reply.header("traceparent", own);
        return reply.code(Number(status)).header("x-venturi-run", run).send({});
      });
    });
    for (const traced of [true, false]) {
      service = await serve({ scripts: { hello }, channels: [named], parts: { traced } });
      run = (await service.runs.start({ agent: "hello", input: { text: "x" }, traceparent })).run;
      const traceOf = async (path: string) => (await ask(path)).headers.get("traceparent");
      expect(await traceOf("/named/200")).to.equal(traced ? traceparent : null);
      expect(await traceOf("/named/399")).to.equal(traced ? traceparent : null);
      expect(await traceOf("/named/400"), "it may be somebody else's").to.equal(null);
      expect(await traceOf("/named/200?own=1"), "it has one already").to.equal(own);
      run = "run_that_is_gone";
      expect(await traceOf("/named/200")).to.equal(null);
      if (traced) await service.close(0);
    }
  });

  it("its caller is known by Node's request too", async () => {
    const raw = routes(({ server, account, caller }) => {
      server.get("/raw", async (request) => {
        account(request.raw).hold(5, "reply");
        return caller(request.raw).tenant;
      });
    });
    service = await serve({ scripts: {}, channels: [raw], parts: { identify: async () => holder } });
    expect(await (await ask("/raw")).text()).to.equal("acme");
    expect([...service.memory.tenants]).to.deep.equal([["acme", 5]]);
  });

  it("a request that was not checked has no caller, and is charged to no tenant", async () => {
    let host: ChannelHost | undefined;
    const open = routes((given) => {
      host = given;
      given.server.get("/open", { config: { open: true } }, async (request) => {
        given.account(request).hold(10, "reply");
        return {};
      });
    });
    service = await serve({ scripts: {}, channels: [open], settings: { auth } });
    expect((await fetch(`${service.url}/open`)).status).to.equal(200);
    expect([...service.memory.tenants]).to.deep.equal([["", 10]]);
    for (const request of [undefined, null, "x", {}])
      expect(() => host?.caller(request))
        .to.throw(VenturiError, "send a key")
        .that.includes({ op: "auth.check", code: "unauthorized" });
  });
});
