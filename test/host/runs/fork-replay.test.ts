import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { ProviderRegistry, ToolRegistry } from "../../../src/core/ports/registries.ts";
import { type EventBody, type EventOf, noTiming, type RunEvent } from "../../../src/core/run/events.ts";
import { provide } from "../../../src/core/values/token.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { type Generation, ScriptedModel, say } from "../../../src/testing/model.ts";
import { tool } from "../../agent/harness.ts";
import { testFolder } from "../folder.ts";

const config = `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools: { look: { type: calculator } }
agents: { assistant: { model: demo/small, tools: [look] } }
journal: { type: memory }
channels: {}
telemetry: off
`;

const usage = {};
const round = (number: number): EventBody => ({
  type: "round.started",
  round: number,
  model: "demo/small",
  attempt: 1,
});
const call = (number: number, id: string, at: number): EventBody[] => [
  { type: "tool_call.started", round: number, call: id, name: "look", index: 0 } as EventBody,
  { type: "tool_call.ready", round: number, call: id, name: "look", arguments: { at } },
];
const result = (number: number, id: string, output: string): EventBody[] => [
  { type: "tool.started", round: number, call: id, name: "look", attempt: 1, idempotencyKey: id },
  { type: "tool.finished", round: number, call: id, name: "look", ok: true, output, ms: 1 },
];
const cancelledResult = (number: number, id: string): EventBody[] => [
  { type: "tool.started", round: number, call: id, name: "look", attempt: 1, idempotencyKey: id },
  {
    type: "tool.finished",
    round: number,
    call: id,
    name: "look",
    ok: false,
    output: "cancelled",
    error: { op: "tool.call", code: "stream_interrupted", err: "cancelled" },
    ms: 1,
  },
];
const closed = (number: number): EventBody[] => [
  { type: "generation.finished", round: number, attempt: 1, finish: "tool_calls", usage },
  { type: "round.finished", round: number, finish: "tool_calls", usage },
];
const ended: EventBody = { type: "run.finished", finish: "stop", output: "ok", usage, rounds: 3, timing: noTiming };

describe("recorded results in a fork", () => {
  const folder = testFolder();
  let host: Host;
  let ran: unknown[] = [];
  afterEach(() => host.close());

  /** Forks a run of these events after the given one, on a model that says this. */
  async function forked(
    bodies: readonly EventBody[],
    after: number,
    script: readonly Generation[],
    effect: "pure" | "effectful" = "pure",
  ) {
    ran = [];
    const reasons: unknown[] = [];
    const model = new ScriptedModel(script);
    const look = tool("look", ({ at }) => void ran.push(at), { effect });
    host = await openHost({
      configFile: folder.write({ "venturi.yaml": config }),
      env: {},
      log: silentLog,
      replace: [
        provide(ProviderRegistry, { names: () => ["demo"], get: () => model }),
        provide(ToolRegistry, { names: () => ["look"], get: () => () => [look] }),
      ],
    });
    const all: EventBody[] = [{ type: "run.started", agent: "assistant", input: { text: "go" } }, ...bodies, ended];
    const events = all.map(
      (body, index) => ({ ...body, run: "run_original", seq: index + 1, at: 1_000 + index }) as RunEvent,
    );
    await host.journal.restore({
      run: "run_original",
      tenant: "default",
      session: undefined,
      request: { agent: "assistant", input: { text: "go" } },
      signals: [],
      wires: [],
      events,
    });
    const { run } = await host.runs.fork("run_original", { after });
    const copy: RunEvent[] = [];
    for await (const batch of host.runs.follow(run)) {
      copy.push(...batch);
      for (const event of batch) {
        if (event.type !== "approval.requested") continue;
        reasons.push(event.reason);
        await host.runs.signal(run, "approve", { call: event.call, approved: false });
      }
    }
    const finished = copy.filter((event): event is EventOf<"tool.finished"> => event.type === "tool.finished");
    return { results: finished.map(({ ok, output }) => [ok, output]), types: copy.map(({ type }) => type), reasons };
  }

  const twice = [
    round(1),
    ...call(1, "c1", 1),
    ...result(1, "c1", "first"),
    ...closed(1),
    round(2),
    ...call(2, "c2", 1),
    ...result(2, "c2", "second"),
    ...closed(2),
  ];
  const look = (at = 1): Generation => [say.call(0, "look", { at })];

  it("of a call that was made twice are the first, then the second, then the second again", async () => {
    const { results, types } = await forked(twice, 1, [look(), look(), look(), ["ok"]]);
    expect(results.map(([, output]) => String(output).split("\n", 1)[0])).to.deep.equal(["first", "second", "second"]);
    expect(ran).to.deep.equal([]);
    expect(types).not.to.include("approval.requested");
  });

  it("go on after the results that the fork took over", async () => {
    const after = twice.findIndex(({ type }) => type === "round.finished") + 2;
    const { results } = await forked(twice, after, [look(), ["ok"]]);
    expect(results).to.deep.equal([
      [true, "first"],
      [true, "second"],
    ]);
    expect(ran).to.deep.equal([]);
  });

  it("are never those of a call that was cancelled with its round: what it gave when it was made again", async () => {
    const events = [
      round(1),
      ...call(1, "c1", 1),
      ...cancelledResult(1, "c1"),
      { type: "round.retracted", round: 1, attempt: 1, reason: "the stream broke" } as EventBody,
      { ...round(1), attempt: 2 } as EventBody,
      ...call(1, "c2", 1),
      ...result(1, "c2", "real"),
      ...closed(1),
    ];
    const { results } = await forked(events, 1, [look(), look(), ["ok"]]);
    expect(results).to.deep.equal([
      [true, "real"],
      [true, "real"],
    ]);
    expect(ran).to.deep.equal([]);
  });

  it("are missing for a call whose effect may have happened, and whoever is asked about it is told so", async () => {
    const cut = [round(1), ...call(1, "c1", 1), ...result(1, "c1", "never stored").slice(0, 1)];
    const script = [look(1), look(2), ["ok"]] as const;
    const { reasons } = await forked(cut, 1, script, "effectful");
    expect(reasons[0]).to.match(/original .* may have run already/);
    expect(reasons[1]).to.equal(undefined);
    expect(ran).to.deep.equal([]);
    await host.close();
    expect((await forked(cut, 1, script, "pure")).reasons).to.deep.equal([undefined, undefined]);
  });
});
