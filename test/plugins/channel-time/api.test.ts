import { expect } from "chai";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import type { KeyValues } from "../../../src/core/journal/key-values.ts";
import { StoredSchedules } from "../../../src/core/ports/schedules.ts";
import type { Service } from "../../../src/host/service.ts";
import { keyOf } from "../../service.ts";
import { serviceOf, until } from "./world.ts";

const keys = [
  { ...keyOf("ada", "ada-key"), may: ["start", "see", "schedule"] },
  { ...keyOf("bob", "bob-key"), may: ["start", "see", "schedule"] },
  { ...keyOf("plain", "plain-key"), tenant: "ada" },
  { ...keyOf("narrow", "narrow-key"), tenant: "ada", agents: ["other"], may: ["start", "see", "schedule"] },
];

describe("schedules over HTTP", () => {
  let service: Service & { close(): Promise<void> };
  before(async () => {
    service = await serviceOf(
      `schedules: { nightly: { cron: "0 3 * * *", timezone: Europe/Berlin, agent: assistant, input: Tidy up., tenant: ada } }
agents: { assistant: { model: demo/small, tools: [remind] }, other: { model: demo/small, aliases: [spare] } }
tools: { remind: { type: later, most: 2 } }
`.replace("schedules:", `server: { listen: 0, auth: { keys: ${JSON.stringify(keys)} } }\nschedules:`),
    );
  });
  after(() => service.close());

  const ask = async (key: string, method: string, path: string, body?: object) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}-key`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
  };
  const make = (key: string, rest: object) =>
    ask(key, "POST", "/v1/schedules", { agent: "assistant", input: "Hello.", ...rest });

  it("of a key for some agents get into no session with a run of another", async () => {
    const first = { agent: "assistant", input: "My name is Ada.", session: "theirs" };
    expect((await ask("ada", "POST", "/v1/runs", first)).status).to.be.below(300);
    await make("narrow", { name: "sly", cron: "* * * * * *", agent: "other", session: "theirs" });
    const error = await until(async () => {
      const { body } = await ask("narrow", "GET", "/v1/schedules/sly");
      return body.last[0]?.error as string | undefined;
    });
    expect(error).to.equal('not_found: there is no session "theirs"');
    await ask("narrow", "DELETE", "/v1/schedules/sly");
  });

  it("are made, listed with their next times, run and removed, each tenant its own", async () => {
    expect((await make("ada", { name: "often", cron: "* * * * * *" })).status).to.equal(201);
    const run = await until(async () => {
      const { body } = await ask("ada", "GET", "/v1/schedules/often");
      return body.last[0]?.run as string | undefined;
    });
    expect((await ask("ada", "GET", `/v1/runs/${run}`)).body.status).to.be.oneOf(["ready", "running", "finished"]);
    expect((await ask("bob", "GET", `/v1/runs/${run}`)).status).to.equal(404);
    const names = async (key: string) =>
      (await ask(key, "GET", "/v1/schedules")).body.schedules.map(({ name }: { name: string }) => name);
    expect(await names("ada")).to.deep.equal(["nightly", "often"]);
    expect(await names("bob")).to.deep.equal([]);
    expect((await ask("bob", "DELETE", "/v1/schedules/often")).status).to.equal(404);
    expect((await ask("ada", "DELETE", "/v1/schedules/often")).status).to.equal(204);
    expect((await ask("ada", "DELETE", "/v1/schedules/nightly")).status).to.equal(409);
    expect(await names("ada")).to.deep.equal(["nightly"]);
  });

  it("for a single time run once and are removed", async () => {
    expect((await make("bob", { name: "once", in: "100ms" })).status).to.equal(201);
    await until(async () => (await ask("bob", "GET", "/v1/schedules/once")).status === 404);
    const { runs } = await service.host.runs.list({ metadata: { schedule: "once" } });
    expect(runs.map(({ tenant, request }) => [tenant, request.caller?.id])).to.deep.equal([["bob", "bob"]]);
  });

  it("are refused to keys that may not, for agents that are not theirs, under a name that is taken, and when they are never due", async () => {
    const at = "2020-01-01T00:00:00Z";
    const asked: [string, object, number][] = [
      ["plain", { name: "a", in: "1h" }, 403],
      ["narrow", { name: "a", in: "1h" }, 403],
      ["narrow", { name: "a", in: "1h", agent: "nobody" }, 403],
      ["ada", { name: "a", in: "1h", agent: "nobody" }, 404],
      ["ada", { name: "nightly", in: "1h" }, 409],
      ["ada", { name: "a", cron: "99 * * * *" }, 400],
      ["ada", { name: "a", cron: "* * * * *", timezone: "Nowhere" }, 400],
      ["ada", { name: "a", cron: "* * * * *", in: "1h" }, 400],
      ["ada", { name: "a" }, 400],
      ["ada", { name: "a", at }, 400],
      ["ada", { name: "../a", in: "1h" }, 400],
      ["ada", { name: "a", in: "1h", notify: { webhook: "none" } }, 400],
    ];
    for (const [key, body, status] of asked)
      expect((await make(key, body)).status, JSON.stringify(body)).to.equal(status);
  });

  it("whose durations are beyond all numbers and dates are refused, and stop nobody's schedules", async () => {
    const digits = `${"9".repeat(320)}d`;
    for (const timing of [
      { cron: "* * * * *", jitter: digits },
      { cron: "* * * * *", catchUp: digits },
      { cron: "* * * * *", jitter: 1e300 },
      { in: digits },
      { in: "99999999d" },
      { in: 1e308 },
    ])
      expect((await make("bob", { name: "beyond", ...timing })).status, JSON.stringify(timing)).to.equal(400);
    // As an earlier release has stored them.
    const { keyValues } = service.host.journal;
    const definition = { tenant: "bob", agent: "assistant", input: { text: "x" }, timezone: "UTC", overlap: "queue" };
    const unreadable = {
      "no-number": { jitter: null },
      "no-date": { jitter: 0, at: 1e308 },
      "no-zone": { jitter: 0, cron: "* * * * *", timezone: "Mars/Olympus" },
      "no-cron": { jitter: 0, cron: "* * * * * * * * *" },
    };
    for (const [name, rest] of Object.entries(unreadable)) {
      const value = JSON.stringify({ name, ...definition, catchUp: 0, createdAt: 0, ...rest });
      await keyValues?.put("schedules", { key: `of/bob/${name}`, value, version: 0 });
    }
    expect((await make("ada", { name: "unharmed", in: "1ms" })).status).to.equal(201);
    await until(async () => (await service.host.runs.list({ metadata: { schedule: "unharmed" } })).runs[0]);
    expect((await ask("bob", "GET", "/v1/schedules")).status).to.equal(200);
    for (const name of Object.keys(unreadable))
      expect((await ask("bob", "GET", `/v1/schedules/${name}`)).status).to.equal(404);
    // Their names are taken, so they have to go.
    expect((await make("bob", { name: "no-date", in: "1h" })).status).to.equal(409);
    expect((await ask("ada", "DELETE", "/v1/schedules/no-date")).status).to.equal(404);
    expect((await ask("bob", "DELETE", "/v1/schedules/no-date")).status).to.equal(204);
    expect((await make("bob", { name: "no-date", in: "1h" })).status).to.equal(201);
  });

  it("that are made for an agent's other name are seen and removed by a key of that agent", async () => {
    expect((await make("narrow", { name: "by-alias", agent: "spare", in: "1h" })).body.agent).to.equal("other");
    expect((await ask("narrow", "GET", "/v1/schedules/by-alias")).status).to.equal(200);
    expect((await ask("narrow", "DELETE", "/v1/schedules/by-alias")).status).to.equal(204);
  });

  it("are bounded in size and, for each tenant, in number", async () => {
    const large = await make("bob", { name: "large", in: "1h", input: "x".repeat(200_000) });
    expect([large.status, large.body.error.code]).to.deep.equal([413, "too_large"]);
    const stored = new StoredSchedules(service.host.journal.keyValues as KeyValues);
    const one = { tenant: "bob", agent: "other", input: {}, timezone: "UTC", overlap: "queue", jitter: 0, catchUp: 0 };
    const at = Date.now() + 86_400_000;
    for (let index = 0; index < 1_000; index++)
      await stored.add({ ...one, overlap: "queue", name: `many-${index}`, at, createdAt: 0 });
    const next = await make("bob", { name: "one-more", in: "1h" });
    expect([next.status, next.body.error.code]).to.deep.equal([413, "too_large"]);
    expect((await make("ada", { name: "another-tenant", in: "1h" })).status).to.equal(201);
  });

  it("of a tool are bounded for each run, made once for each call, and start a run of the same tenant, for the same user", async () => {
    const tool = service.host
      .revision()
      .agents.get("assistant")
      ?.tools()
      .find(({ name }) => name === "remind");
    if (tool === undefined) throw new Error("no tool");
    const request = { agent: "assistant", input: { text: "Hello." }, metadata: { user: "ana" } };
    const { run } = await service.host.runs.start(request, { tenant: "ada" });
    const call = async (id: string, input: object) =>
      await tool.call(input as never, { run, call: id, agent: "assistant" } as never);
    const first = await call("c1", { task: "Say hello.", in: "10ms" });
    expect(await call("c1", { task: "Say hello.", in: "10ms" })).to.deep.equal(first);
    await call("c2", { task: "Later.", in: "3h" });
    const third = await call("c3", { task: "Too many.", in: "3h" }).catch((thrown: unknown) => thrown);
    expect(VenturiError.isInstance(third) && third.message).to.contain("limit");
    for (const input of [
      { task: "x", in: "31d" },
      { task: "x" },
      { task: "x", at: "2020-01-01T00:00:00Z" },
      { task: "x", in: "1h", here: true },
    ]) {
      expect(
        VenturiError.isInstance(await call("c4", input).catch((thrown: unknown) => thrown)),
        JSON.stringify(input),
      ).to.equal(true);
    }
    const started = await until(async () => {
      const { runs } = await service.host.runs.list({ metadata: { schedule: `later.${run}.1` } });
      return runs[0];
    });
    expect(started).to.include({ tenant: "ada", agent: "assistant" });
    expect(started.request.metadata?.laterDepth).to.equal(1);
    expect(started.request.user).to.equal("ana");
  });
});
