import { expect } from "chai";
import { Waits } from "../../src/agent/run/waits.ts";
import type { Provider } from "../../src/core/model/provider.ts";
import { systemClock } from "../../src/core/ports/clock.ts";
import type { Tool } from "../../src/core/ports/tool.ts";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { madeIn, unfinishedIn } from "../../src/host/runs/recorded-calls.ts";
import { Story } from "../../src/serve/why/story.ts";
import { Bench } from "./harness.ts";

const look: Tool = { name: "look", description: "looks", parameters: {}, effect: "pure", call: async () => "seen" };

/** Calls a tool once, then answers. */
const model: Provider = {
  capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
  async *stream({ messages }) {
    const again = messages.some(({ role }) => role === "tool");
    if (!again) yield [{ type: "tool_call", index: 0, id: "c", name: "look", arguments: "{}", sealed: true }];
    else yield [{ type: "text", text: "done" }];
    yield [{ type: "done", finish: again ? "stop" : "tool_calls" }];
  },
};

describe("a pause", () => {
  it("is over when the run is told to go on while the pause is being stored: parked then, nothing would wake it", async () => {
    const bench = new Bench({ model, tools: [look] });
    bench.log.onEvent = ({ type }) => {
      if (type === "tool.started") bench.signal("pause", {});
      if (type === "run.paused") bench.signal("resume", {});
    };
    await bench.run();
    expect(bench.log.parks).to.deep.equal([]);
    expect(bench.types).to.include.members(["run.paused", "run.continued"]);
    expect(bench.terminal.type).to.equal("run.finished");
  });

  for (const at of ["tool.started", "tool.finished", "round.finished", "run.paused"]) {
    it(`does not outlive a cancel that arrives with ${at}`, async () => {
      const bench = new Bench({ model, tools: [look] });
      bench.log.onEvent = ({ type }) => {
        if (type === "tool.started") bench.signal("pause", {});
        if (type === at) bench.signal("cancel", {});
      };
      await bench.run();
      expect(bench.log.parks).to.deep.equal([]);
      expect(bench.terminal)
        .to.deep.include({ type: "run.failed" })
        .and.nested.include({ "error.code": "stream_interrupted" });
    });
  }

  it("parks the run after its round", async () => {
    const bench = new Bench({ model, tools: [look] });
    bench.log.onEvent = ({ type }) => type === "tool.started" && bench.signal("pause", {});
    await bench.run();
    expect(bench.types.at(-1)).to.equal("run.paused");
    expect(bench.log.parks).to.deep.equal([{ seenSignals: 1, wakeAfter: undefined }]);
  });
});

describe("a wait that events do not show", () => {
  it("is recorded at its own time, whatever short waits came before", () => {
    let now = 0;
    const waits = new Waits({ ...systemClock, monotonic: () => now });
    const wait = (ms: number) => {
      const end = waits.begin("journal");
      now += ms;
      end();
    };
    wait(30);
    now = 5_000;
    wait(2_000);
    const body = {} as EventBody;
    waits.putOn(body, 0);
    expect(body.waited).to.deep.equal([{ for: "journal", from: 5_000, ms: 2_000 }]);
    wait(80);
    waits.putOn(body, 0);
    expect(body.waited).to.deep.equal([{ for: "journal", from: 0, ms: 110 }]);
  });
});

describe("what a fork is told by", () => {
  const event = (seq: number, rest: object) => ({ run: "r", at: seq, seq, ...rest }) as RunEvent;

  it("a call that was cancelled may have taken effect", () => {
    const call = { call: "c", name: "pay", round: 1 };
    const events = [
      event(1, { type: "round.started", round: 1, model: "m", attempt: 1 }),
      event(2, { type: "tool_call.ready", ...call, arguments: {} }),
      event(3, { type: "tool.started", ...call }),
    ];
    const finished = (code: string) => event(4, { type: "tool.finished", ...call, ok: false, error: { code } });
    expect(unfinishedIn([...events, finished("stream_interrupted")])).to.have.length(1);
    expect(unfinishedIn([...events, finished("tool_failed")])).to.have.length(0);
    const again = [
      event(4, { type: "round.retracted", round: 1, reason: "cut" }),
      event(5, { type: "round.started", round: 1, model: "m", attempt: 2 }),
      event(6, { type: "tool_call.started", ...call, index: 0 }),
      event(7, { type: "tool_call.ready", ...call, arguments: {} }),
    ];
    expect(unfinishedIn([...events, ...again]), "another attempt took its id").to.have.length(1);
    expect(madeIn([...events, ...again])).to.have.length(1);
  });

  it("neither a fork's first resumption nor that of a run that waited for an answer counts as a takeover", () => {
    const story = new Story();
    story.take(event(1, { type: "run.started", agent: "a", fork: { run: "o", after: 1 } }));
    story.take(event(2, { type: "run.resumed", epoch: 2 }));
    expect(story.resumes).to.equal(0);
    story.take(event(3, { type: "run.resumed", epoch: 3 }));
    expect(story.resumes).to.equal(1);
    story.take(event(4, { type: "approval.requested", call: "c", name: "pay" }));
    story.take(event(5, { type: "run.resumed", epoch: 4 }));
    expect(story.resumes).to.equal(1);
  });
});
