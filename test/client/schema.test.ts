import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { type FeedItem, VenturiClient } from "../../src/client/client.ts";
import { RunEvent } from "../../src/core/run/events.ts";
import { Restartable } from "./restartable.ts";

describe("the schemas in /openapi.json", () => {
  let service: Restartable;
  let client: VenturiClient;
  let complaintsOf: (name: string, value: unknown) => unknown;
  let components: { schemas: Record<string, { properties?: Record<string, { const?: string }> }> };

  before(async () => {
    service = await Restartable.start();
    client = new VenturiClient({ url: service.url });
    ({ components } = await client.request<{ components: typeof components }>({ op: "test", path: "/openapi.json" }));
    const ajv = new Ajv2020({ strict: false });
    const checks = new Map<string, ReturnType<typeof ajv.compile>>();
    complaintsOf = (name, value) => {
      const check = checks.get(name) ?? ajv.compile({ $ref: `#/components/schemas/${name}`, components });
      checks.set(name, check);
      return check(value) ? undefined : { value, errors: check.errors };
    };
  });
  after(() => service.stop());

  it("have one for each type of event, and every event of real runs fits", async () => {
    const types = Object.values(components.schemas).map((schema) => schema.properties?.type?.const);
    expect(types).to.include.members(RunEvent.options.map((option) => option.shape.type.value));
    const stop = new AbortController();
    const fed: FeedItem[] = [];
    const watching = (async () => {
      for await (const item of client.feed({ signal: stop.signal })) fed.push(item);
    })().catch(() => {});
    const seen = new Set<string>();
    for (const agent of ["assistant", "asks", "slow"]) {
      const run = await client.start({ agent, input: "what is 17 * 23, and what time is it?", session: agent });
      if (agent === "slow") await run.cancel({ reason: "enough" });
      for await (const event of run.events()) {
        seen.add(event.type);
        expect(complaintsOf("RunEvent", event)).to.equal(undefined);
        if (event.type !== "approval.requested") continue;
        for (const approval of (await client.approvals()).approvals) {
          expect(complaintsOf("Approval", approval)).to.equal(undefined);
        }
        await run.approve(event.call);
      }
      expect(complaintsOf("RunView", await run.get())).to.equal(undefined);
      for (const turn of (await client.session(agent)).runs) expect(complaintsOf("TurnView", turn)).to.equal(undefined);
    }
    stop.abort();
    await watching;
    for (const item of fed) expect(complaintsOf("FeedItem", item)).to.equal(undefined);
    expect(fed.length).to.be.greaterThan(3);
    for (const agent of await client.agents()) expect(complaintsOf("AgentView", agent)).to.equal(undefined);
    expect([...seen]).to.include.members(["tool.finished", "approval.resolved", "run.failed", "run.finished"]);
  });

  it("refuse what is no event", () => {
    expect(complaintsOf("RunEvent", { type: "text.delta", run: "r", seq: 1, at: 1, round: 1 })).to.be.an("object");
    expect(complaintsOf("RunEvent", { type: "text.dalta", run: "r", seq: 1, at: 1, round: 1, text: "" })).to.be.an(
      "object",
    );
  });
});
