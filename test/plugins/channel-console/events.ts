import fc from "fast-check";
import { type Message, textMessage } from "../../../src/core/model/messages.ts";
import type { EventBody, RunEvent } from "../../../src/core/run/events.ts";

const usage = { inputTokens: 3, outputTokens: 5 };
const timing = {
  providerWait: 1,
  providerStream: 1,
  retryWait: 0,
  tool: 0,
  approval: 0,
  client: 0,
  stalled: 0,
  runtime: 0,
};
const error = { op: "provider.stream", code: "stream_error", err: "cut" } as const;
const call = fc.constantFrom("call_1", "call_2", "call_3");
const round = fc.constantFrom(1, 2, 3);
const name = fc.constantFrom("clock", "refund");
const text = fc.string({ maxLength: 12 });
const model = fc.constantFrom("a/one", "b/two");

const body: fc.Arbitrary<EventBody> = fc.oneof(
  fc.record({ type: fc.constant("run.started" as const), agent: fc.constant("a"), input: fc.record({ text }) }),
  fc.record({ type: fc.constant("round.started" as const), round, model, attempt: fc.constantFrom(1, 2) }),
  fc.record({ type: fc.constantFrom("text.delta" as const, "refusal.delta" as const), round, text }),
  fc.record({ type: fc.constant("reasoning.delta" as const), round, text }),
  fc.record({ type: fc.constant("tool_call.started" as const), round, call, name, index: fc.constant(0) }),
  fc.record({ type: fc.constant("tool_call.delta" as const), round, call, arguments: text }),
  fc.record({ type: fc.constant("tool_call.ready" as const), round, call, name, arguments: fc.constant({ a: 1 }) }),
  fc.record({
    type: fc.constant("tool_call.rejected" as const),
    round,
    call,
    name,
    arguments: text,
    error: fc.constant(error),
  }),
  fc.record({
    type: fc.constant("tool.started" as const),
    round,
    call,
    name,
    attempt: fc.constant(1),
    idempotencyKey: text,
  }),
  fc.record({ type: fc.constant("tool.output" as const), round, call, text }),
  fc.record({ type: fc.constant("tool.finished" as const), round, call, name, ok: fc.boolean(), ms: fc.nat(50) }),
  fc.record({ type: fc.constant("approval.requested" as const), round, call, name, arguments: fc.constant({}) }),
  fc.record({ type: fc.constant("approval.resolved" as const), round, call, approved: fc.boolean() }),
  fc.record({
    type: fc.constant("message.added" as const),
    message: fc.constant(textMessage("user", "and?") as Message),
  }),
  fc.record({ type: fc.constant("context.compacted" as const), dropped: fc.nat(9) }),
  fc.record({
    type: fc.constant("memory.recalled" as const),
    store: text,
    query: text,
    notes: fc.array(
      fc.record({ id: text, scope: fc.constant("user" as const), owner: text, text, at: fc.nat(9), score: fc.nat(9) }),
      { maxLength: 3 },
    ),
  }),
  fc.record({ type: fc.constant("run.resumed" as const), epoch: fc.nat(9) }),
  fc.record({
    type: fc.constant("generation.failed" as const),
    round,
    attempt: fc.constant(1),
    model,
    error: fc.constant(error),
  }),
  fc.record({ type: fc.constant("round.retracted" as const), round, attempt: fc.constant(1), reason: text }),
  fc.record({
    type: fc.constant("generation.finished" as const),
    round,
    attempt: fc.constant(1),
    finish: fc.constant("stop"),
    usage: fc.constant(usage),
  }),
  fc.record({
    type: fc.constant("round.finished" as const),
    round,
    finish: fc.constant("stop"),
    usage: fc.constant(usage),
  }),
  fc.record({
    type: fc.constant("run.finished" as const),
    finish: fc.constant("stop"),
    output: text,
    usage: fc.constant(usage),
    rounds: fc.constant(1),
    timing: fc.constant(timing),
  }),
);

/** Events of a run in any order at all, numbered and timed as a journal does. */
export const anyEvents: fc.Arbitrary<RunEvent[]> = fc
  .array(fc.tuple(body, fc.nat(40)), { maxLength: 60 })
  .map((bodies) => {
    let at = 1_000;
    return bodies.map(([each, passed], index) => {
      at += passed;
      return { ...each, run: "run_1", seq: index + 1, at } as RunEvent; // a body with what the journal adds
    });
  });
