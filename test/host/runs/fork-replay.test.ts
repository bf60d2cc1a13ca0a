import { expect } from "chai";
import type { Signal } from "../../../src/core/journal/journal.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { ProviderRegistry, ToolRegistry } from "../../../src/core/ports/registries.ts";
import type { ToolContext } from "../../../src/core/ports/tool.ts";
import type { EventBody, EventOf, RunEvent } from "../../../src/core/run/events.ts";
import { noTiming } from "../../../src/core/run/timing.ts";
import type { Unanswered } from "../../../src/core/run/unanswered.ts";
import { provide } from "../../../src/core/values/token.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { type Generation, ScriptedModel, say } from "../../../src/testing/model.ts";
import { tool } from "../../agent/harness.ts";
import { testFolder } from "../folder.ts";

const config = `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools: { look: { type: calculator } }
agents: { assistant: { model: demo/small, tools: [look] }, player: { model: demo/small } }
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
  let keys: string[] = [];
  let signals: Signal[] = [];
  /** What a person answers when asked. */
  let approved = false;
  afterEach(() => {
    signals = [];
    return host.close();
  });

  /** Forks a run of these events after the given one, on a model that says this. */
  async function forked(
    bodies: readonly EventBody[],
    after: number,
    script: readonly Generation[],
    effect: "pure" | "effectful" = "pure",
    unanswered?: Unanswered,
  ) {
    ran = [];
    const reasons: unknown[] = [];
    const model = new ScriptedModel(script);
    keys = [];
    const look = {
      ...tool("look", () => undefined, { effect }),
      call: ({ at }: Record<string, unknown>, { idempotencyKey }: ToolContext) => {
        ran.push(at);
        keys.push(idempotencyKey);
        return "it ran";
      },
    };
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
      signals,
      wires: [],
      events,
    });
    const { run } = await host.runs.fork("run_original", {
      after,
      ...(unanswered === undefined ? {} : { unanswered }),
    });
    const copy: RunEvent[] = [];
    for await (const batch of host.runs.follow(run)) {
      copy.push(...batch);
      for (const event of batch) {
        if (event.type !== "approval.requested") continue;
        reasons.push(event.reason);
        await host.runs.signal(run, "approve", { call: event.call, approved });
      }
    }
    const finished = copy.filter((event): event is EventOf<"tool.finished"> => event.type === "tool.finished");
    return {
      run,
      finished,
      results: finished.map(({ ok, output }) => [ok, output]),
      types: copy.map(({ type }) => type),
      reasons,
    };
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

  it("belong to the arguments they were made with, in whatever order they are made again", async () => {
    const both = [
      round(1),
      ...call(1, "c1", 1),
      ...result(1, "c1", "of one"),
      ...closed(1),
      round(2),
      ...call(2, "c2", 2),
      ...result(2, "c2", "of two"),
      ...closed(2),
    ];
    const { results } = await forked(both, 1, [look(2), look(1), ["done"]]);
    expect(results.map(([, output]) => String(output).split("\n", 1)[0])).to.deep.equal(["of two", "of one"]);
    expect(ran).to.deep.equal([]);
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

  for (const [fact, lost] of [
    ["was cancelled", cancelledResult(1, "c1")],
    ["had ended", result(1, "c1", "unseen")],
  ] as const) {
    it(`are never those of a call that ${fact} in a retracted round: what it gave when it was made again`, async () => {
      const events = [
        round(1),
        ...call(1, "c1", 1),
        ...lost,
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
  }

  it("are missing for a call that was cancelled with its run: it may have taken effect, so a person is asked", async () => {
    const cut = [round(1), ...call(1, "c1", 1), ...cancelledResult(1, "c1")];
    const { results, reasons } = await forked(cut, 1, [look(), ["ok"]], "effectful");
    expect(reasons).to.have.length(1);
    expect(reasons[0]).to.match(/may have run already/);
    expect(results).to.deep.equal([[false, "tool_denied: the call was denied"]]);
    expect(ran).to.deep.equal([]);
  });

  it("stand beside the signals that the fork took over, and no later ones", async () => {
    const asked = { type: "approval.requested", round: 1, call: "c1", name: "look", arguments: { at: 1 } } as EventBody;
    const answered = { type: "approval.resolved", round: 1, call: "c1", approved: true, signal: 1 } as EventBody;
    const events = [round(1), ...call(1, "c1", 1), asked, answered, ...result(1, "c1", "first"), ...closed(1)];
    signals = [1, 2].map((number) => ({
      number,
      id: `s${number}`,
      kind: "approve" as const,
      body: { call: `c${number}`, approved: true },
    }));
    const { run } = await forked(events, events.length + 1, [["ok"]]);
    expect((await host.journal.signals(run, 0)).map(({ id }) => id)).to.deep.equal(["s1"]);
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

  const once = twice.slice(0, twice.findIndex(({ type }) => type === "round.finished") + 1);
  const first = (output: unknown) => String(output).split("\n", 1)[0];

  it("end where the original's end: an effectful call that was made once is answered once", async () => {
    const { results, types } = await forked(once, 1, [look(), look(), ["ok"]], "effectful");
    expect(results[0]).to.deep.equal([true, "first"]);
    expect(types.filter((type) => type === "approval.requested")).to.have.length(1);
    expect(ran).to.deep.equal([]);
  });

  it("of two equal calls of one round, only one of which was made, answer one", async () => {
    const both: Generation = [say.call(0, "look", { at: 1 }), say.call(1, "look", { at: 1 })];
    const { finished } = await forked(once, 1, [both, ["ok"]], "effectful", "fail");
    expect(finished.map(({ ok }) => ok).toSorted()).to.deep.equal([false, true]);
    expect(ran).to.deep.equal([]);
  });

  it("that are missing fail the call with `unanswered: fail`, whatever the tool, and nobody is asked", async () => {
    for (const effect of ["pure", "effectful"] as const) {
      const { finished, types } = await forked(once, 1, [look(2), ["ok"]], effect, "fail");
      expect(finished[0]?.error).to.deep.include({ code: "tool_failed", details: { unanswered: true } });
      expect(types).not.to.include("approval.requested");
      expect(ran).to.deep.equal([]);
      await host.close();
    }
    await forked(once, 1, [look(), ["ok"]], "effectful", "fail");
  });

  it("that are missing run a pure tool with `unanswered: run`, and ask about any other", async () => {
    await forked(once, 1, [look(2), ["ok"]], "pure", "run");
    expect(ran).to.deep.equal([2]);
    await host.close();
    const { types } = await forked(once, 1, [look(2), ["ok"]], "effectful", "run");
    expect(types).to.include("approval.requested");
    expect(ran).to.deep.equal([]);
  });

  it("that are missing come from a stand-in module, which sees those there are", async () => {
    const file = folder.write({
      "stand-in.mjs":
        "export default ({ name, arguments: { at }, recorded }) => at === 3 ? undefined : `${name} ${at} after ${recorded[0].output}`;",
    });
    const { results, finished } = await forked(once, 1, [look(2), look(3), ["ok"]], "effectful", { module: file });
    expect(results[0]).to.deep.equal([true, "look 2 after first"]);
    expect(finished[1]?.error?.details).to.deep.equal({ unanswered: true });
    expect(ran).to.deep.equal([]);
    await host.close();
    const broken = folder.write({ "broken.mjs": "export const nothing = 1;" });
    const { finished: failed } = await forked(once, 1, [look(2), ["ok"]], "effectful", { module: broken });
    expect(failed[0]?.error?.code).to.equal("plugin_failed");
  });

  it("that are missing come from an agent that plays the tool, in a run that the fork is the parent of", async () => {
    const script = [look(2), ["forty-two"], ["ok"]] as const;
    const { results, run } = await forked(once, 1, script, "effectful", { agent: "player" });
    expect(first(results[0]?.[1])).to.equal("forty-two");
    expect(ran).to.deep.equal([]);
    const { runs } = await host.runs.list({ agent: "player" });
    expect(runs[0]?.request.parent?.run).to.equal(run);
    expect(runs[0]?.request.input.text).to.include('{"at":2}').and.include("first");
  });

  it("do not make an effect happen twice: a call that was taken over keeps its idempotency key", async () => {
    approved = true;
    const cut = [round(1), ...call(1, "c1", 1), closed(1)[0] as EventBody];
    await forked(cut, cut.length + 1, [["ok"]], "effectful");
    expect(keys).to.deep.equal(["run_original:c1"]);
    await host.close();
    const { run } = await forked(cut, 1, [look(), ["ok"]], "effectful");
    expect(keys[0]).to.match(new RegExp(`^${run}:`));
    approved = false;
  });
});
