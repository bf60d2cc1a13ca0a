import { expect } from "chai";
import type { Service } from "../../../src/host/service.ts";
import { serviceOf } from "../../plugins/channel-time/world.ts";
import { keyOf } from "../../service.ts";

describe("a start that is repeated under its Idempotency-Key", () => {
  let service: Service & { close(): Promise<void> };
  before(async () => {
    service = await serviceOf(`
guards: { pii: { type: rules, find: [email], input: redact } }
agents:
  assistant: { model: demo/small, aliases: [helper], inputs: { tone: { type: string, default: kind } } }
  guarded: { model: demo/small, guards: [pii] }
channels: { http: {} }
`);
  });
  after(() => service.close());

  let keys = 0;
  const answers = async (...bodies: object[]) => {
    const key = `k${++keys}`;
    const found: { status: number; run: unknown }[] = [];
    for (const body of bodies) {
      const response = await fetch(`${service.url}/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify({ agent: "assistant", input: "hello", ...body }),
      });
      const { run } = (await response.json()) as { run?: string };
      found.push({ status: response.status, run });
    }
    return found;
  };

  it("finds its run: by an agent's alias, with what a guard masks, with defaults, settings and metadata", async () => {
    for (const body of [
      { agent: "helper" },
      { agent: "guarded", input: "write to bob@example.com" },
      { agent: "guarded", input: { messages: [{ role: "user", parts: [{ type: "text", text: "bob@example.com" }] }] } },
      { input: { text: "hello", variables: { tone: "rude" } } },
      { session: "s", metadata: { user: "ana", deep: { list: [1, -0] } }, limits: { maxToolRounds: 2 } },
    ]) {
      const [first, again] = await answers(body, body);
      expect(first?.status, JSON.stringify(body)).to.equal(200);
      expect(again, JSON.stringify(body)).to.deep.equal(first);
    }
    const [byName, byAlias] = await answers({}, { agent: "helper" });
    expect(byAlias).to.deep.equal(byName);
  });

  it("is refused when the request is another one: its session, user, limits, variables, or what is around a mask", async () => {
    const other: [object, object][] = [
      [{ session: "one" }, { session: "two" }],
      [{}, { session: "one" }],
      [{ metadata: { user: "ana" } }, { metadata: { user: "zoe" } }],
      [{}, { limits: { maxToolRounds: 2 } }],
      [{ input: { text: "hello", variables: { tone: "rude" } } }, {}],
      [
        { agent: "guarded", input: "write to bob@example.com" },
        { agent: "guarded", input: "call bob@example.com" },
      ],
    ];
    for (const [one, two] of other) {
      const [first, second] = await answers(one, two);
      expect([first?.status, second?.status], JSON.stringify(two)).to.deep.equal([200, 409]);
    }
  });

  it("is answered without the id of a run that was erased", async () => {
    const start = async () => {
      const headers = { "content-type": "application/json", "idempotency-key": "erased" };
      const body = JSON.stringify({ agent: "assistant", input: "hello" });
      const response = await fetch(`${service.url}/v1/runs`, { method: "POST", headers, body });
      return { status: response.status, text: await response.text() };
    };
    const { run } = JSON.parse((await start()).text) as { run: string };
    await service.host.runs.remove(run);
    const again = await start();
    expect(again.status).to.equal(404);
    expect(again.text).to.include("Idempotency-Key").and.not.include(run);
  });

  it("does not tell a key of some agents about another agent's run, only that the Idempotency-Key was used", async () => {
    const auth = [keyOf("all", "all"), { ...keyOf("some", "some"), tenant: "all", agents: ["b"] }];
    const limited = await serviceOf(`
agents: { a: { model: demo/small }, b: { model: demo/small } }
channels: { http: {} }
server: { listen: 0, auth: { keys: ${JSON.stringify(auth)} } }
`);
    const start = async (key: string, agent: string) => {
      const headers = { "content-type": "application/json", "idempotency-key": "k", authorization: `Bearer ${key}` };
      const body = JSON.stringify({ agent, input: "hello" });
      const response = await fetch(`${limited.url}/v1/runs`, { method: "POST", headers, body });
      return { status: response.status, text: await response.text() };
    };
    try {
      expect((await start("all", "a")).status).to.equal(200);
      const { status, text } = await start("some", "b");
      expect(status).to.equal(409);
      expect(text).not.to.include("run_");
    } finally {
      await limited.close();
    }
  });
});
