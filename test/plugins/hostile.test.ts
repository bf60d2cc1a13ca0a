import { assert } from "chai";
import fc from "fast-check";
import { ChatDecoder } from "../../plugins/openai/decoder.ts";
import { ResponsesDecoder } from "../../plugins/openai-responses/decoder.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { Decoder } from "../../src/core/ports/plugin.ts";
import { Transcript } from "../../src/provider/transcript.ts";

/** A value of the right shape here and of any shape there. */
const or = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: fc.jsonValue() });
const shape = (fields: Record<string, fc.Arbitrary<unknown>>) => or(fc.record(fields, { requiredKeys: [] }));
const text = fc.constantFrom("", "a", "{", "}", '{"a":1}', "null", "__proto__", "\n");
const index = fc.constantFrom<unknown>(0, 1, -1, 1e9, "0", null);

const toolCall = shape({
  index,
  id: or(text),
  type: or(text),
  function: shape({ name: or(text), arguments: or(text) }),
  custom: shape({ name: or(text), input: or(text) }),
  extra_content: or(fc.constant(null)),
  name: or(text),
  arguments: or(text),
});
const delta = shape({
  content: or(text),
  reasoning: or(text),
  reasoning_content: or(text),
  reasoning_details: or(fc.array(shape({ index, type: or(text), text: or(text), data: or(text) }))),
  refusal: or(text),
  tool_calls: or(fc.array(toolCall, { maxLength: 3 })),
  function_call: shape({ name: or(text), arguments: or(text) }),
});
const choice = shape({
  index,
  delta,
  message: delta,
  finish_reason: fc.constantFrom<unknown>(null, "stop", "length", "", "error", 7),
  usage: or(fc.constant(null)),
});
const chatFrame = shape({
  id: or(text),
  choices: or(fc.array(choice, { maxLength: 2 })),
  usage: shape({ prompt_tokens: or(fc.nat()), completion_tokens: or(fc.nat()) }),
  error: or(fc.constant(null)),
  x_groq: or(fc.constant(null)),
});

const item = shape({
  id: or(text),
  type: fc.constantFrom(
    "message",
    "function_call",
    "reasoning",
    "custom_tool_call",
    "shell_call",
    "web_search_call",
    "",
  ),
  call_id: or(text),
  name: or(text),
  arguments: or(text),
  input: or(text),
  content: or(fc.array(shape({ type: or(text), text: or(text), refusal: or(text) }), { maxLength: 2 })),
  summary: or(fc.array(shape({ text: or(text) }), { maxLength: 2 })),
});
const responsesFrame = shape({
  type: fc.constantFrom(
    "response.created",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.output_text.done",
    "response.reasoning_summary_text.delta",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.completed",
    "response.incomplete",
    "error",
    "",
  ),
  output_index: index,
  content_index: index,
  item_id: or(text),
  item,
  delta: or(text),
  text: or(text),
  arguments: or(text),
  response: shape({
    status: fc.constantFrom("completed", "incomplete", "failed"),
    output: or(fc.array(item, { maxLength: 2 })),
    usage: or(fc.constant(null)),
    error: or(fc.constant(null)),
  }),
});

for (const [name, make, frame] of [
  ["Chat Completions", () => new ChatDecoder(), chatFrame],
  ["Responses", () => new ResponsesDecoder(), responsesFrame],
] as const) {
  describe(`the ${name} decoder, whatever it is sent`, () => {
    it("never throws, ends exactly once, and counts its calls without a gap", () => {
      fc.assert(
        fc.property(fc.array(frame, { maxLength: 8 }), fc.constantFrom("", "error"), (frames, event) => {
          const deltas = run(make(), frames, event);
          const ends = deltas.filter((delta) => delta.type === "done" || delta.type === "error");
          assert.lengthOf(ends, 1);
          // The accumulator refuses an index that was skipped.
          new Transcript().push(deltas);
        }),
        { numRuns: 300 },
      );
    });
  });
}

function run(decoder: Decoder, frames: readonly unknown[], event: string): Delta[] {
  const deltas: Delta[] = [];
  for (const frame of frames) decoder.push({ data: JSON.stringify(frame), event }, deltas);
  decoder.end(deltas);
  return deltas;
}
