import { expect } from "chai";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import type { AgentDefinition } from "../../../src/agent/run/definition.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import type { Journal } from "../../../src/core/journal/journal.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { PausedAgents } from "../../../src/host/runs/paused-agents.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";

const agent = (name: string, aliases: string[] = []) =>
  ({
    name,
    aliases,
    description: "",
    model: { name: "demo/small" },
    overrides: { models: new Map() },
    tools: () => [],
    inputs: {},
    revision: "1",
  }) as unknown as AgentDefinition;

describe("paused agents", () => {
  let clock: VirtualClock;
  let journal: Journal;
  let resumed = 0;
  const observed = new Map<string, () => readonly { value: number; attributes?: unknown }[]>();
  const parts = () => ({
    journal,
    clock,
    log: silentLog,
    telemetry: {
      observe: (name: string, read: () => readonly { value: number; attributes?: unknown }[]) =>
        void observed.set(name, read),
    } as never,
    revisions: {
      current: {
        agents: new Map([
          ["writer", agent("writer", ["w"])],
          ["reader", agent("reader")],
        ]),
      },
    },
  });
  const open = () => new PausedAgents(parts(), () => void resumed++);
  beforeEach(() => {
    clock = new VirtualClock();
    journal = new MemoryJournal({ clock, keep: 10, lease: 10_000 });
    resumed = 0;
  });

  it("stay so until they are resumed, in every process; each change happens once", async () => {
    const here = open();
    const there = open();
    expect(here.known).to.equal(false);
    await here.read();
    expect(here.known).to.equal(true);
    const since = clock.now();
    expect(await here.pause("writer", { by: "ann", reason: "tired" })).to.equal(true);
    expect(await there.pause("writer", { by: "bob" })).to.equal(false);
    expect(here.of("writer")).to.deep.equal({ since, by: "ann", reason: "tired" });
    expect(here.of("reader")).to.equal(undefined);
    expect(there.of("writer")).to.deep.equal({ since, by: "ann", reason: "tired" });
    expect(here.infos().map(({ name, paused }) => [name, paused?.by])).to.deep.equal([
      ["writer", "ann"],
      ["reader", undefined],
    ]);
    const values = observed.get("venturi.agents.paused")?.();
    expect(values?.map(({ value, attributes }) => [value, attributes])).to.deep.equal([
      [1, { "gen_ai.agent.name": "writer" }],
      [0, { "gen_ai.agent.name": "reader" }],
    ]);
    expect(await there.resume("writer")).to.equal(true);
    expect(resumed).to.equal(1);
    expect(await there.resume("writer")).to.equal(false);
    expect(there.of("writer")).to.equal(undefined);
    expect(await there.resume("reader")).to.equal(false);
  });

  it("are known elsewhere a second later, without a question before that", async () => {
    const here = open();
    const there = open();
    await there.read();
    await here.pause("writer");
    await clock.advance(999);
    expect(there.of("writer")).to.equal(undefined);
    await clock.advance(1);
    there.lookAgain();
    await clock.advance(0);
    expect(there.of("writer")).to.include({ since: clock.now() - 1_000 });
  });

  it("tell how much of a stretch they were paused, also after it", async () => {
    const paused = open();
    const begin = clock.now();
    expect(paused.overlap("writer", begin, begin + 5)).to.equal(undefined);
    await clock.advance(100);
    await paused.pause("writer");
    await clock.advance(50);
    expect(paused.overlap("writer", begin, clock.now())).to.deep.equal({ from: begin + 100, ms: 50 });
    await paused.resume("writer");
    await clock.advance(1_000);
    expect(paused.overlap("writer", begin + 120, clock.now())).to.deep.equal({ from: begin + 120, ms: 30 });
    expect(paused.overlap("writer", begin + 150, clock.now())).to.equal(undefined);
  });

  it("are forgotten a week after their pause has ended", async () => {
    const paused = open();
    await paused.pause("writer");
    await paused.resume("writer");
    const begin = clock.now();
    await clock.advance(7 * 86_400_000 - 1);
    await paused.pause("reader");
    expect(paused.overlap("writer", 0, clock.now())).to.equal(undefined); // it took no time
    const kept = async () =>
      Object.keys(JSON.parse((await journal.keyValues?.get("venturi.agents.paused", "all"))?.value ?? "{}"));
    expect(await kept()).to.deep.equal(["writer", "reader"]);
    await clock.advance(1);
    await paused.resume("reader");
    expect(await kept()).to.deep.equal(["reader"]);
    expect(paused.overlap("reader", begin, clock.now())).to.include({ ms: 1 });
  });

  it("are named by an alias too, and by nothing else", async () => {
    const paused = open();
    expect(await paused.pause("w")).to.equal(true);
    expect(paused.of("writer")).to.include({ since: clock.now() });
    for (const [name, code] of [
      ["nobody", "not_found"],
      ["", "invalid_input"],
      ["a\0", "invalid_input"],
      [3, "invalid_input"],
    ] as const) {
      const error = await paused.pause(name as string).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(VenturiError.isInstance(error) && error.code, String(name)).to.equal(code);
    }
  });

  it("keep texts of a bounded length, and nothing that is not a text", async () => {
    const paused = open();
    await paused.pause("writer", { by: "b".repeat(300), reason: "r".repeat(5_000) });
    expect(paused.of("writer")?.by).to.have.length(256);
    expect(paused.of("writer")?.reason).to.have.length(4_000);
    await paused.pause("reader", { by: 3, reason: {} } as never);
    expect(paused.of("reader")).to.have.all.keys("since");
  });

  it("are changed by one of two that change them at the same time, then by the other", async () => {
    const [here, there] = [open(), open()];
    const taken = await Promise.all([here.pause("writer"), there.pause("reader"), here.pause("writer")]);
    expect(taken.filter(Boolean)).to.have.length(2);
    await here.read();
    expect(here.infos().map(({ paused }) => paused !== undefined)).to.deep.equal([true, true]);
  });

  it("are given up on when others keep changing them", async () => {
    let tries = 0;
    const put = async () => {
      tries += 1;
      return undefined;
    };
    journal = {
      ...journal,
      keyValues: { get: async () => undefined, put, list: async () => [] },
    } as unknown as Journal;
    const error = await open()
      .pause("writer")
      .catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: "conflict", op: "agent.pause" });
    expect(tries).to.equal(20);
  });

  it("need a journal that keeps values: without one nothing is paused, and nothing waits to be known", async () => {
    journal = { ...journal, keyValues: undefined } as unknown as Journal;
    const paused = open();
    expect(paused.known).to.equal(true);
    expect(paused.of("writer")).to.equal(undefined);
    expect(await paused.pause("writer").catch((thrown: unknown) => thrown)).to.include({ code: "invalid_input" });
  });

  it("stay as they were known while the journal does not answer", async () => {
    const paused = open();
    await paused.pause("writer");
    const values = journal.keyValues;
    if (values === undefined) throw new Error("the memory journal has values");
    values.get = () => Promise.reject(new Error("away"));
    await paused.read();
    expect(paused.of("writer")).not.to.equal(undefined);
    const other = open();
    await other.read();
    expect(other.known).to.equal(false);
  });
});
