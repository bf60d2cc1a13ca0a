import { expect } from "chai";
import { mayFollow } from "../../src/agent/state/call-order.ts";
import { RunState } from "../../src/agent/state/run-state.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";

const round = { type: "round.started", round: 1, model: "p/m", attempt: 1 } as const;
const opened = { type: "tool_call.started", round: 1, call: "c", name: "look", index: 0 } as const;
const piece = { type: "tool_call.delta", round: 1, call: "c", arguments: "{}" } as const;
const ready = { type: "tool_call.ready", round: 1, call: "c", name: "look", arguments: {} } as const;
const error = { op: "tool.call", code: "tool_invalid_arguments", err: "no" } as const;
const rejected = { type: "tool_call.rejected", round: 1, call: "c", name: "look", arguments: "{", error } as const;
const started = { type: "tool.started", round: 1, call: "c", name: "look", attempt: 1, idempotencyKey: "k" } as const;
const output = { type: "tool.output", round: 1, call: "c", text: "…" } as const;
const finished = { type: "tool.finished", round: 1, call: "c", name: "look", ok: true, output: "", ms: 1 } as const;

const all: readonly EventBody[] = [opened, piece, ready, rejected, started, output, finished];

/** Which events of one call may follow these. */
function allowed(...before: readonly EventBody[]): string[] {
  const events = [round, ...before].map((body, at) => ({ ...body, run: "r", seq: at + 1, at: 0 }) as RunEvent);
  const state = RunState.of(events);
  return all.filter((body) => passes(state, body)).map(({ type }) => type);
}

function passes(state: RunState, body: EventBody): boolean {
  try {
    mayFollow(state, body);
    return true;
  } catch (thrown) {
    expect(thrown).to.include({ op: "run.write", code: "internal" });
    return false;
  }
}

describe("the order of a call's events", () => {
  it("is opened, its arguments, sealed, started, finished, each once", () => {
    expect(allowed()).to.deep.equal(["tool_call.started"]);
    const sealing = ["tool_call.delta", "tool_call.ready", "tool_call.rejected"];
    expect(allowed(opened)).to.deep.equal(sealing);
    expect(allowed(opened, piece)).to.deep.equal(sealing);
    expect(allowed(opened, rejected)).to.deep.equal([]);
    expect(allowed(opened, ready)).to.deep.equal(["tool.started", "tool.finished"]);
    expect(allowed(opened, ready, started)).to.deep.equal(["tool.output", "tool.finished"]);
    expect(allowed(opened, ready, started, finished)).to.deep.equal([]);
  });

  it("lets the next owner start a call again", () => {
    const state = RunState.of(
      [round, opened, ready, started].map((body, at) => ({ ...body, run: "r", seq: at + 1, at: 0 })),
    );
    expect(passes(state, { ...started, attempt: 2 })).to.equal(true);
    expect(passes(state, { ...started, attempt: 3 })).to.equal(false);
  });

  it("is not checked in runs written by an earlier release", () => {
    const other = { ...ready, arguments: { a: 1 } };
    const twice = [round, opened, ready, started, finished, other, { ...started, attempt: 1 }, finished];
    const state = RunState.of(twice.map((body, at) => ({ ...body, run: "r", seq: at + 1, at: 0 }) as RunEvent));
    expect(state.round?.calls.get("c")?.arguments).to.deep.equal({ a: 1 });
  });
});
