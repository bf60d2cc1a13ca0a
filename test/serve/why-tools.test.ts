import { expect } from "chai";
import type { EventBody, RunEvent } from "../../src/core/run/events.ts";
import { causeOf } from "../../src/serve/why/judge.ts";
import { Story } from "../../src/serve/why/story.ts";

const usage = { inputTokens: 1, outputTokens: 1 };

/** A run whose calls end with these codes, one a round, and which ends with this. */
function causeOfCalls(codes: readonly string[], finish: string): string {
  const bodies: EventBody[] = [{ type: "run.started", agent: "a", input: { text: "hi" } }];
  for (const [index, code] of codes.entries()) {
    const of = { round: index + 1, call: `c${index}` };
    bodies.push(
      { type: "round.started", round: of.round, model: "m", provider: "p", attempt: 1 },
      { type: "generation.finished", round: of.round, attempt: 1, finish: "tool_calls", usage },
      { type: "tool.started", ...of, name: "pay", attempt: 1, idempotencyKey: "k" },
      {
        type: "tool.finished",
        ...of,
        name: "pay",
        ok: false,
        error: { op: "tool.call", code, err: "no" },
      } as EventBody,
      { type: "round.finished", round: of.round, finish: "tool_calls", usage },
    );
  }
  const story = new Story();
  const end = { type: "run.finished", finish, output: "done", usage, rounds: codes.length } as EventBody;
  for (const [index, body] of [...bodies, end].entries())
    story.take({ ...body, run: "run_t", seq: index + 1, at: index } as RunEvent);
  return causeOf(story);
}

describe("why, of calls that failed", () => {
  for (const [finish, codes] of [
    ["stop", 1],
    ["max_tool_rounds", 3],
  ] as const)
    it(`names the journal, a timeout or the tool, in a run that ended with ${finish}`, () => {
      const all = (code: string) => Array.from({ length: codes }, () => code);
      for (const code of ["tool_failed", "tool_timeout", "journal_failed"])
        expect(causeOfCalls(all(code), finish)).to.equal(code);
      expect(causeOfCalls([...all("tool_failed"), "journal_failed"], finish)).to.equal("journal_failed");
    });
});
