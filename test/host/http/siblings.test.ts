import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { runningProcesses } from "../../../src/host/doctor-processes.ts";
import { type BoundSocket, bindSocket } from "../../../src/host/processes/bound-socket.ts";
import type { ProcessState } from "../../../src/host/processes/protocol.ts";
import type { Siblings } from "../../../src/host/processes/siblings.ts";
import { endless, keyOf, routes, serve, type TestService } from "../../service.ts";

const auth = { keys: [{ ...keyOf("slow", "s"), requestsPerMinute: 2 }] };
const key = { authorization: "Bearer s" };
const errorOf = async (response: Response) => ((await response.json()) as { error: Record<string, unknown> }).error;
/** Never closed: the server closes the descriptor, and a second close could hit another file. */
const bound: BoundSocket[] = [];

describe("one of several processes", () => {
  let service: TestService | undefined;
  afterEach(async () => {
    await service?.close(0);
    service = undefined;
  });
  const open = async (
    has: Partial<Siblings>,
    { parts, ...more }: Partial<Parameters<typeof serve>[0]> = {},
  ): Promise<TestService> => {
    const shared = await bindSocket({ host: "127.0.0.1", port: 0 });
    bound.push(shared);
    const siblings: Siblings = {
      url: shared.url,
      socket: shared.fd,
      taking: true,
      share: async () => undefined,
      states: async () => [],
      telemetry: (own) => own,
      ended: async () => {},
      count: async () => ({ current: 1, ttl: 1 }),
      ...has,
    };
    service = await serve({ scripts: { endless }, channels: [], parts: { siblings, ...parts }, ...more });
    return service;
  };

  it("listens on the shared socket, and says why when it cannot", async () => {
    const { url } = await open({});
    expect(url).to.equal(bound.at(-1)?.url);
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
    const failed = await open({ socket: 9_999 }).catch((thrown: unknown) => thrown);
    expect(failed).to.be.instanceOf(VenturiError).and.to.include({ op: "server.listen", code: "unavailable" });
    const parts = { socket: { fd: 9_999, url: "http://127.0.0.1:1" } };
    const other = await serve({ scripts: {}, channels: [], parts }).catch((thrown: unknown) => thrown);
    expect(other).to.include({ op: "server.listen", code: "unavailable" });
  });

  it("counts requests with all others, and alone while they cannot be asked", async () => {
    const asked: unknown[] = [];
    let answers = true;
    const count = async (...given: unknown[]) => {
      asked.push(given);
      if (!answers) throw new Error("no supervisor");
      return { current: 3, ttl: 1_500 };
    };
    const any = routes(({ server }) => void server.put("/any", async () => ({})));
    const { url } = await open({ count }, { channels: [any], settings: { auth } });
    const put = () => fetch(`${url}/any`, { method: "PUT", headers: key });
    const refused = await put();
    expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([429, "2"]);
    const details = { limit: "requestsPerMinute", value: 3, most: 2, retryAfterMs: 1_500 };
    expect(await errorOf(refused)).to.deep.include({ op: "auth.check", code: "rate_limited", details });
    expect(asked).to.deep.equal([["slow", 60_000]]);
    answers = false;
    const statuses = [];
    for (let times = 0; times < 3; times++) statuses.push((await put()).status);
    expect(statuses).to.deep.equal([200, 200, 429]);
  });

  it("that is not ready any more accepts no connection and closes idle ones, but finishes answers", async () => {
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<string>();
    const slow = routes(({ server }) => {
      server.get("/slow", async () => {
        asked.resolve();
        return await held.promise;
      });
    });
    const { url, unready } = await open({}, { channels: [slow] });
    const idle = connect(Number(new URL(url).port), "127.0.0.1");
    const answer = fetch(`${url}/slow`);
    await Promise.all([once(idle, "connect"), asked.promise]);
    // The connection is there once it has been answered.
    idle.write("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(idle, "data");
    unready();
    await once(idle, "close");
    held.resolve("late");
    expect(await (await answer).text()).to.equal("late");
    const late = await fetch(`${url}/livez`).catch((thrown: Error) => thrown.cause);
    expect(late).to.have.property("code", "ECONNREFUSED");
  });

  it("without others goes on listening when it is not ready", async () => {
    service = await serve({ scripts: {}, channels: [] });
    const { url } = service;
    service.unready();
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
    expect(await service.status()).to.have.nested.property("reason.code", "shutting_down");
    expect((await service.status()).status).to.equal("draining");
    const refused = await fetch(`${url}/readyz`);
    expect([refused.status, (await errorOf(refused)).op]).to.deep.equal([503, "server.ready"]);
  });

  it("is ready while one of all is, and lists them", async () => {
    const state = (number: number, status: ProcessState["status"]): ProcessState => ({
      number,
      pid: number,
      status,
      restarts: 0,
      startedAt: 1,
    });
    let states: readonly ProcessState[] = [state(1, "busy"), state(2, "ready")];
    let answers = true;
    let own = true;
    const { url } = await open(
      {
        states: async () => {
          if (!answers) throw new Error("no supervisor");
          return states;
        },
      },
      {
        parts: {
          ready: async () => {
            if (!own) throw new VenturiError("journal.ping", "journal_failed", "away");
          },
        },
      },
    );
    const readyz = () => fetch(`${url}/readyz`);
    const listed = await readyz();
    expect([listed.status, await listed.json()]).to.deep.equal([200, { status: "ready", processes: states }]);
    own = false;
    expect((await readyz()).status, "another one is").to.equal(200);
    states = [state(1, "not_ready"), state(2, "starting")];
    const details = { processes: states };
    expect(await errorOf(await readyz())).to.deep.include({ op: "server.ready", code: "journal_failed", details });
    const told = await runningProcesses({ listen: { host: "127.0.0.1", port: Number(new URL(url).port) } });
    expect(told.map(({ what, status }) => [what, status])).to.deep.equal([
      ["process 1", "note"],
      ["process 2", "note"],
    ]);
    own = true;
    const none = await readyz();
    expect([none.status, await errorOf(none)][1]).to.deep.include({ code: "unavailable", details });
    answers = false;
    expect(await (await readyz()).json(), "only of itself").to.deep.equal({ status: "ready" });
  });

  it("asks how many connections to keep", async () => {
    const asked: number[] = [];
    const share = async (count: number) => {
      asked.push(count);
      return 1;
    };
    const { url } = await open({ share });
    const kept = connect(Number(new URL(url).port), "127.0.0.1");
    while (asked.at(-1) !== 1) await sleep(10);
    kept.destroy();
  });

  it("is busy when its event loop is blocked for more than half of the time, and says so", async () => {
    let blockedMs = 5_000;
    const eventLoop = () => ({ blockedMs, longestMs: 40 });
    service = await serve({ scripts: {}, channels: [], parts: { eventLoop } });
    const readyz = `${service.url}/readyz`;
    const ready = await fetch(readyz);
    expect(await ready.json()).to.deep.equal({ status: "ready", eventLoop: { blockedMs, longestMs: 40 } });
    blockedMs = 5_001;
    const busy = await fetch(readyz);
    expect([busy.status, await errorOf(busy)][1]).to.deep.include({
      op: "server.ready",
      code: "unavailable",
      details: { eventLoop: { blockedMs, longestMs: 40 } },
    });
    expect((await service.status()).status).to.equal("busy");
  });

  it("logs why it is not ready, and tells strangers of a journal only that it failed", async () => {
    const logged: unknown[] = [];
    const log = { ...silentLog, warn: (message: string, fields?: object) => void logged.push([message, fields]) };
    let failure: Error = new VenturiError("journal.ping", "unavailable", "being moved");
    const ready = () => Promise.reject(failure);
    service = await serve({ scripts: {}, channels: [], parts: { log, ready } });
    const readyz = `${service.url}/readyz`;
    expect(await errorOf(await fetch(readyz))).to.include({ code: "unavailable", err: "being moved" });
    failure = new Error("no such file /secret/runs.db");
    const told = await errorOf(await fetch(readyz));
    expect(told.code).to.equal("journal_failed");
    expect(JSON.stringify(told)).not.to.include("secret");
    expect(logged).to.deep.equal([
      ["not ready", { code: "unavailable", reason: "being moved" }],
      ["not ready", { code: "journal_failed", reason: "no such file /secret/runs.db" }],
    ]);
  });

  it("cuts streams once its grace is over", async () => {
    const stream = routes(({ server }) => {
      server.get("/stream", (_, reply) => {
        reply.hijack();
        reply.raw.write("more to come");
      });
    });
    const { url, close } = await open({}, { channels: [stream] });
    const response = await fetch(`${url}/stream`);
    const closed = close(50);
    expect((await service?.status())?.status).to.equal("draining");
    await closed;
    service = undefined;
    expect(await response.text().catch((thrown: Error) => thrown.message)).to.match(/terminated/);
    const late = await fetch(`${url}/livez`).catch((thrown: Error) => thrown.cause);
    expect(late, "nothing listens any more").to.have.property("code", "ECONNREFUSED");
  });
});
