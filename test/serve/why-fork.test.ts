import { expect } from "chai";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { causeOf } from "../../src/serve/why/judge.ts";
import { Story } from "../../src/serve/why/story.ts";

const usage = { inputTokens: 1, outputTokens: 1 };

const causeIn = (timed: readonly (readonly [number, EventBody])[]): string => {
  const story = new Story();
  for (const [index, [at, body]] of timed.entries())
    story.take({ ...body, run: "run_f", seq: index + 1, at } as RunEvent);
  return causeOf(story);
};

const round = (number: number, at: number): (readonly [number, EventBody])[] => [
  [at, { type: "round.started", round: number, model: "m", provider: "p", attempt: 1 }],
  [at + 10, { type: "generation.finished", round: number, attempt: 1, finish: "stop", usage }],
  [at + 10, { type: "round.finished", round: number, finish: "stop", usage }],
];

describe("why, of a fork", () => {
  const started = { type: "run.started", agent: "a", input: { text: "hi" } } as const;
  const fork = { run: "run_o", after: 4 };
  const end = { type: "run.finished", finish: "stop", output: "yes", usage } as EventBody;

  it("takes the wait for its own first event for a queue, and a takeover of its original for what it was", () => {
    const events = [[0, { ...started, fork }], ...round(1, 0), [4_000, { type: "run.resumed", epoch: 2 }]] as const;
    expect(causeIn([...events, ...round(2, 4_000), [4_020, end]])).to.equal("queued");
    const taken = [3_000, { type: "run.resumed", epoch: 2 }] as const;
    const copied = [[0, { ...started, fork: { ...fork, after: 5 } }], ...round(1, 0), taken] as const;
    const own = [3_010, { type: "run.resumed", epoch: 3 }] as const;
    expect(causeIn([...copied, own, ...round(2, 3_010), [3_030, end]])).to.equal("taken_over");
  });

  it("tells that it was taken over later", () => {
    const events = [[0, { ...started, fork }], ...round(1, 0), [10, { type: "run.resumed", epoch: 2 }]] as const;
    const again = [5_000, { type: "run.resumed", epoch: 3 }] as const;
    expect(causeIn([...events, ...round(2, 10), again, [5_010, end]])).to.equal("taken_over");
  });
});
