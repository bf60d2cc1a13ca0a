import { expect } from "chai";
import { isSameCall } from "../../src/agent/state/call-key.ts";
import { readOn } from "../../src/agent/state/call-result.ts";
import { RunState } from "../../src/agent/state/run-state.ts";
import { extendSession } from "../../src/agent/state/session-messages.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { noTiming } from "../../src/core/run/timing.ts";

/** The state after these events; `at` counts 10, 20, 30 … */
const after = (...bodies: readonly object[]): RunState =>
  RunState.of(bodies.map((body, index) => ({ run: "r", seq: index + 1, at: 10 * (index + 1), ...body }) as RunEvent));

const start = { type: "run.started", agent: "a", input: { text: "hi" } };
const round = (number = 1, attempt = 1) => ({
  type: "round.started",
  round: number,
  attempt,
  model: "p/m",
  provider: "p",
});
const text = (value: string, more = {}) => ({ type: "text.delta", round: 1, text: value, ...more });
const reasoning = (value: string, more = {}) => ({ type: "reasoning.delta", round: 1, text: value, ...more });
const opened = (call: string, index = 0) => ({ type: "tool_call.started", round: 1, call, name: "look", index });
const ready = (call: string, input = {}, more = {}) => ({
  type: "tool_call.ready",
  round: 1,
  call,
  name: "look",
  arguments: input,
  ...more,
});
const rejected = (call: string, raw: string) => ({
  type: "tool_call.rejected",
  round: 1,
  call,
  name: "look",
  arguments: raw,
  error: { op: "o", code: "tool_invalid_arguments", err: "bad" },
});
const toolStarted = (call: string, attempt = 1) => ({ type: "tool.started", round: 1, call, name: "look", attempt });
const toolFinished = (call: string, more: object) => ({
  type: "tool.finished",
  round: 1,
  call,
  name: "look",
  ok: true,
  ms: 1,
  ...more,
});
const generated = (finish = "stop", usage = {}) => ({
  type: "generation.finished",
  round: 1,
  attempt: 1,
  finish,
  usage,
});
const closed = (number = 1) => ({ type: "round.finished", round: number, finish: "stop", usage: {} });
const asked = (call: string, more = {}) => ({ type: "approval.requested", round: 1, call, name: "look", ...more });
const answered = (call: string, approved: boolean, more = {}) => ({
  type: "approval.resolved",
  round: 1,
  call,
  approved,
  ...more,
});

describe("the state of a run, folded from its events", () => {
  it("begins with its input, and reserves the ids of the calls in it", () => {
    const messages = [
      { role: "assistant" as const, parts: [{ type: "tool_call" as const, call: "old", name: "n", arguments: {} }] },
    ];
    const state = after({ ...start, input: { messages, text: "hi" } });
    expect(state.messages).to.deep.equal([...messages, { role: "user", parts: [{ type: "text", text: "hi" }] }]);
    expect([...state.callIds]).to.deep.equal(["old"]);
    expect(after({ ...start, input: { messages: [] } }).messages).to.deep.equal([]);
    state.useIds([
      {
        role: "assistant",
        parts: [
          { type: "text", text: "" },
          { type: "tool_call", call: "s", name: "n", arguments: {} },
        ],
      },
    ]);
    expect([...state.callIds]).to.deep.equal(["old", "s"]);
  });

  it("has a round with the text, its signatures apart, and what was shown", () => {
    const state = after(start, round(2, 3), text("a"), text("b"), text("c", { signature: "s" }), text("d"), {
      type: "refusal.delta",
      round: 1,
      text: "e",
    });
    expect(state.round?.parts).to.deep.equal([
      { type: "text", text: "ab" },
      { type: "text", text: "c", signature: "s" },
      { type: "text", text: "de" },
    ]);
    expect([state.round?.text, state.output, state.round?.shown]).to.deep.equal(["abcde", "abcde", true]);
    expect([state.roundNumber, state.attempt, state.model]).to.deep.equal([2, 3, "p/m"]);
    expect(after(start, round()).round?.shown).to.equal(false);
    expect(after(start, text("lost")).output).to.equal("");
  });

  it("joins reasoning of one part, and keeps parts, signatures, ids and encrypted pieces", () => {
    const parts = (...events: object[]) => after(start, round(), ...events).round?.parts;
    expect(parts(reasoning("a"), reasoning("b", { signature: "s" }), reasoning("", { signature: "t" }))).to.deep.equal([
      { type: "reasoning", text: "ab", signature: "st" },
    ]);
    expect(
      parts(reasoning("a", { part: 0 }), reasoning("b", { part: 0 }), reasoning("c", { part: 1 }), reasoning("d")),
    ).to.deep.equal([
      { type: "reasoning", text: "ab" },
      { type: "reasoning", text: "cd" },
    ]);
    expect(parts(reasoning("", { encrypted: "e", id: "i" }))).to.deep.equal([
      { type: "reasoning", text: "", encrypted: "e", id: "i" },
    ]);
    expect(parts(reasoning("a"), text("b"), reasoning("c"))).to.have.length(3);
    expect(after(start, round(), reasoning("a")).round?.shown).to.equal(true);
    expect(after(start, round(), reasoning("a")).output).to.equal("");
  });

  it("keeps a vendor's parts that are to be sent back, and no others", () => {
    const activity = { type: "provider.activity", round: 1, kind: "part", wire: "w", data: { a: 1 } };
    expect(after(start, round(), activity).round?.parts).to.deep.equal([]);
    expect(after(start, round(), { ...activity, keep: true }).round?.parts).to.deep.equal([
      { type: "opaque", wire: "w", data: { a: 1 } },
    ]);
  });

  it("has calls in the order in which the model began them, and the last arguments of each", () => {
    const state = after(
      start,
      round(),
      opened("a"),
      opened("b", 1),
      opened("a"),
      ready("b", { n: 1 }),
      ready("a"),
      ready("b", { n: 2 }, { signature: "s" }),
    );
    expect(state.round?.inOrder.map(({ call, arguments: input }) => [call, input])).to.deep.equal([
      ["a", {}],
      ["b", { n: 2 }],
    ]);
    expect(state.round?.parts).to.deep.equal([
      { type: "tool_call", call: "b", name: "look", arguments: { n: 2 }, signature: "s" },
      { type: "tool_call", call: "a", name: "look", arguments: {} },
    ]);
    expect(state.round?.pending.map(({ call }) => call)).to.deep.equal(["a", "b"]);
    expect([...state.callIds]).to.deep.equal(["a", "b"]);
    expect(after(start, round(), opened("a")).round?.shown).to.equal(true);
    expect([...after(start, round(), ready("late")).callIds]).to.deep.equal(["late"]);
    // The messages have calls and results in that order, too.
    const [said, results] = state.round?.messages() ?? [];
    expect(said?.parts.map((part) => part.type === "tool_call" && part.call)).to.deep.equal(["a", "b"]);
    expect(results).to.deep.equal({
      role: "tool",
      parts: ["a", "b"].map((call) => ({ type: "tool_result", call, name: "look", ok: false, output: "not executed" })),
    });
    expect(said).to.include({ role: "assistant", provider: "p" });
  });

  it("has a result for a rejected call, with its arguments if they are an object and its text otherwise", () => {
    const rows: readonly (readonly [string, object, object])[] = [
      ['{"n":"x"}', { n: "x" }, {}],
      ['{"n":', {}, { raw: '{"n":' }],
      ["[1]", {}, { raw: "[1]" }],
      ["null", {}, { raw: "null" }],
      ['"x"', {}, { raw: '"x"' }],
      ["", {}, {}],
    ];
    for (const [raw, input, more] of rows) {
      const state = after(start, round(), rejected("a", raw));
      expect(state.round?.parts, raw).to.deep.equal([
        { type: "tool_call", call: "a", name: "look", arguments: input, ...more },
      ]);
      const [call] = state.round?.inOrder ?? [];
      expect(call?.raw).to.equal(raw);
      expect(call?.result).to.deep.equal({ ok: false, output: "tool_invalid_arguments: bad", images: [], files: [] });
      expect(state.round?.pending).to.deep.equal([]);
    }
    expect(after(start, round(), ready("a")).round?.inOrder[0]).to.include({
      raw: undefined,
      rejected: undefined,
      result: undefined,
    });
  });

  it("counts a call once, however often it is started, and forgets its result and approval then", () => {
    const state = after(
      start,
      round(),
      ready("a"),
      toolStarted("a"),
      toolFinished("a", { output: "x" }),
      toolStarted("a", 2),
    );
    expect(state.toolCalls).to.equal(1);
    expect(state.round?.inOrder[0]).to.include({ attempts: 2, result: undefined });
    const approved = after(start, round(), ready("a"), asked("a"), answered("a", true), toolStarted("a"));
    expect(approved.round?.inOrder[0]?.approval).to.equal(undefined);
    expect(
      after(start, round(), ready("a"), toolStarted("a", 2), ready("a", { n: 1 })).round?.inOrder[0]?.attempts,
    ).to.equal(2);
  });

  it("has a tool's output as the model sees it: cut, explained, with images and files", () => {
    const result = (more: object, ...before: object[]) =>
      after(start, round(), ready("a"), ...before, toolStarted("a"), toolFinished("a", more)).round?.inOrder[0]?.result;
    expect(result({ output: "x" })).to.deep.equal({ ok: true, output: "x", images: [], files: [] });
    expect(result({ ok: false, error: { op: "o", code: "tool_failed", err: "no" } })?.output).to.equal(
      "tool_failed: no",
    );
    expect(result({})?.output).to.equal("");
    expect(result({ output: "12345", shown: 5 })?.output).to.equal("12345");
    expect(result({ output: "12345", shown: 2 })?.output).to.equal(
      `12\n[cut: 2 of 5 characters are shown${readOn("a")}]`,
    );
    const content = { images: [{ mediaType: "i", data: "d" }], files: [{ mediaType: "f", hash: "h" }] };
    expect(result({ output: "", ...content })).to.deep.include({
      images: [{ type: "image", mediaType: "i", data: "d" }],
      files: [{ type: "file", mediaType: "f", hash: "h" }],
    });
    expect(result({ output: "x" }, asked("a"), answered("a", true, { arguments: { n: 2 } }))?.output).to.equal(
      '[a person changed the arguments to {"n":2}]\nx',
    );
    const cut = after(start, round(), ready("a"), toolFinished("a", { output: "12345", shown: 2 }));
    expect([...cut.cutResults]).to.deep.equal([["a", "12345"]]);
    expect(
      after(start, round(), ready("a"), toolFinished("a", { output: "12345", shown: 5 })).cutResults.size,
    ).to.equal(0);
  });

  it("knows open approvals, their outcomes and allowed tools", () => {
    const open = after(start, round(), ready("a"), asked("a"));
    expect(open.round?.inOrder[0]).to.include({ approval: "requested", approvalAt: 40 });
    const yes = after(start, round(), ready("a"), asked("a"), answered("a", true, { signal: 7 }));
    expect(yes.round?.inOrder[0]?.approval).to.equal("approved");
    expect([[...yes.approvedOnce], [...yes.seenSignals]]).to.deep.equal([["look"], [7]]);
    const no = after(start, round(), ready("a"), asked("a"), answered("a", false, { reason: "not now" }));
    expect(no.round?.inOrder[0]).to.include({ approval: "denied", denial: "not now" });
    expect([no.approvedOnce.size, no.seenSignals.size]).to.deep.equal([0, 0]);
  });

  it("knows questions that belong to no call, and the first answer to each", () => {
    const state = after(
      start,
      round(),
      asked("q", { until: 99 }),
      answered("q", true, { by: "me", reason: "r", arguments: { a: 1 } }),
      answered("q", false),
    );
    expect(state.questions.get("q")).to.deep.equal({
      since: 30,
      until: 99,
      verdict: { approved: true, by: "me", reason: "r", arguments: { a: 1 } },
    });
    const open = after(start, round(), asked("q"));
    expect(open.questions.get("q")?.verdict).to.equal(undefined);
    expect(after(start, round(), asked("q"), answered("q", false)).questions.get("q")?.verdict).to.deep.equal({
      approved: false,
    });
  });

  it("settles a round: its messages, calls, text and count, and forgets it", () => {
    const state = after(
      start,
      round(1, 2),
      text("a"),
      ready("c", { n: 1 }),
      generated("tool_calls", { inputTokens: 2 }),
      toolFinished("c", { output: "o" }),
      closed(),
      round(2),
      text("b"),
    );
    expect(state.messages.map(({ role }) => role)).to.deep.equal(["user", "assistant", "tool"]);
    expect(state.callHistory.map(({ name, arguments: input }) => [name, input])).to.deep.equal([["look", { n: 1 }]]);
    expect([state.toolRounds, state.roundsFinished, state.output, state.closedRound]).to.deep.equal([
      1,
      1,
      "ab",
      undefined,
    ]);
    const just = after(start, round(1, 2), text("a"), generated(), closed());
    expect([just.toolRounds, just.roundsFinished, just.attempt, just.round, just.closedRound?.text]).to.deep.equal([
      0,
      1,
      0,
      undefined,
      "a",
    ]);
    expect(after(start, round(), generated("pause"), closed()).toolRounds).to.equal(1);
    expect(after(start, closed()).roundsFinished).to.equal(0);
    expect(after(start, round(), generated(), closed()).messages).to.have.length(1);
    const called = { name: "n", arguments: { b: 1 } };
    expect(isSameCall(called, { name: "n", arguments: { b: 1 } })).to.equal(true);
    expect(isSameCall(called, { name: "n", arguments: { b: 2 } })).to.equal(false);
    expect(isSameCall(called, { name: "m", arguments: called.arguments })).to.equal(false);
  });

  it("forgets a retracted round, but neither its cost nor its ids", () => {
    const failed = {
      type: "generation.failed",
      round: 1,
      attempt: 1,
      model: "p/m",
      error: {},
      usage: { outputTokens: 3 },
    };
    const state = after(start, round(), text("gone"), opened("x"), failed, {
      type: "round.retracted",
      round: 1,
      attempt: 1,
      reason: "r",
    });
    expect([state.output, state.round, state.usage, [...state.callIds]]).to.deep.equal([
      "",
      undefined,
      { outputTokens: 3 },
      ["x"],
    ]);
    expect(state.spending.bill.spent).to.deep.equal([
      { by: "failed", name: "p/m", count: 1, usage: { outputTokens: 3 } },
    ]);
    const spent = after(
      start,
      round(),
      generated("stop", { inputTokens: 1 }),
      toolFinished("c", { usage: { inputTokens: 5 } }),
    );
    expect(spent.usage).to.deep.equal({ inputTokens: 6 });
    expect(spent.spending.bill.spent?.map(({ by, name }) => [by, name])).to.deep.equal([
      ["generation", "p/m"],
      ["tool", "look"],
    ]);
  });

  it("is handed to another agent when the round ends", () => {
    const changed = { type: "agent.changed", round: 1, call: "c", agent: "b" };
    const during = after(start, round(), changed);
    expect([during.handedTo?.agent, during.active]).to.deep.equal(["b", undefined]);
    const done = after(start, round(), changed, closed(), round(2), closed(2));
    expect([done.handedTo, done.active?.agent]).to.deep.equal([undefined, "b"]);
  });

  it("remembers added messages: a person's by their signal, its own as a repair", () => {
    const message = { role: "user", parts: [{ type: "text", text: "more" }] };
    const sent = after(start, { type: "message.added", message, signal: 4 });
    expect([sent.messages.at(-1), sent.repaired, [...sent.seenSignals]]).to.deep.equal([message, false, [4]]);
    const own = after(start, round(), closed(), { type: "message.added", message });
    expect([own.repaired, own.seenSignals.size, own.closedRound]).to.deep.equal([true, 0, undefined]);
    expect(after(start, { type: "agent.revised", revision: "r2" }).revision).to.equal("r2");
    expect(after(start, { type: "context.compacted", dropped: 3 }).compacted).to.equal(3);
  });

  it("adds to its session what was said, without calls left open and without the way to read on", () => {
    const end = (more = {}): EventBody =>
      ({
        type: "run.finished",
        finish: "stop",
        output: "",
        usage: {},
        rounds: 1,
        timing: noTiming,
        ...more,
      }) as EventBody;
    const pending = [{ call: "c", name: "look", arguments: {} }];
    const client = after(start, round(), ready("c"), generated(), closed(), end({ calls: pending }));
    expect(extendSession([], client).map(({ role, parts }) => [role, parts.length])).to.deep.equal([
      ["user", 1],
      ["assistant", 1],
    ]);
    const cut = after(
      start,
      round(),
      ready("c"),
      toolFinished("c", { output: "12345", shown: 2 }),
      generated(),
      closed(),
      end(),
    );
    expect(extendSession([], cut).at(-1)?.parts[0]).to.include({ output: "12\n[cut: 2 of 5 characters are shown]" });
    const broken = after(start, round(), text("half"), {
      type: "run.failed",
      error: {},
      output: "half",
      usage: {},
      rounds: 1,
      timing: noTiming,
    });
    expect(extendSession([], broken).at(-1)).to.deep.equal({
      role: "assistant",
      parts: [{ type: "text", text: "half" }],
    });
    const empty = after({ ...start, input: { messages: [{ role: "user", parts: [] }] } }, end());
    expect(extendSession([], empty)).to.deep.equal([{ role: "user", parts: [] }]);
  });
});
