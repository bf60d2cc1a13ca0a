import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Script } from "../../src/testing/scripted-run.ts";
import { endless, hello, text } from "../service.ts";

/** Agents for the tests of channels that speak a vendor's wire. */
export const scripts: Record<string, Script> = {
  hello,
  endless,
  /** Uses its own tool, says something in two rounds. */
  clockwork: async ({ emit }) => {
    emit({ type: "round.started", round: 1, model: "test/model", attempt: 1 });
    emit({ type: "reasoning.delta", round: 1, text: "Need the time." });
    emit(text("Let me look. "));
    emit({ type: "tool_call.started", round: 1, call: "c1", name: "clock", index: 0 });
    emit({ type: "tool_call.delta", round: 1, call: "c1", arguments: "{}" });
    emit({ type: "tool_call.ready", round: 1, call: "c1", name: "clock", arguments: {} });
    emit({ type: "round.finished", round: 1, finish: "tool_calls", usage: {} });
    emit({ type: "tool.started", round: 1, call: "c1", name: "clock", attempt: 1, idempotencyKey: "r:c1" });
    emit({ type: "tool.finished", round: 1, call: "c1", name: "clock", ok: true, output: "noon", ms: 1 });
    emit({ type: "round.started", round: 2, model: "test/model", attempt: 1 });
    emit({ type: "text.delta", round: 2, text: "It is noon." });
    emit({ type: "round.finished", round: 2, finish: "stop", usage: {} });
    return { usage: { inputTokens: 10, outputTokens: 7, cacheReadTokens: 4, reasoningTokens: 2 } };
  },
  /** Leaves a call to the client the first time, and reads its result the second. */
  delegating: async ({ request, emit }) => {
    const result = request.input.messages
      ?.flatMap((message) => message.parts)
      .findLast((part) => part.type === "tool_result");
    if (result !== undefined) {
      emit(text(`It is ${result.output} (${result.name}).`));
      return undefined;
    }
    const name = request.clientTools?.[0]?.name ?? "none";
    emit({ type: "tool_call.started", round: 1, call: "call_1", name, index: 0 });
    emit({ type: "tool_call.ready", round: 1, call: "call_1", name, arguments: { city: "Oslo" } });
    return { finish: "tool_calls", calls: [{ call: "call_1", name, arguments: { city: "Oslo" } }] };
  },
  broken: async ({ emit }) => {
    emit(text("so far"));
    throw new VenturiError("provider.stream", "llm_error", "the model broke");
  },
  /** Answers with what it was asked, as JSON. */
  echo: async ({ request, emit }) => {
    emit(text(JSON.stringify(request)));
    return undefined;
  },
};
