import { assert } from "chai";
import { bodyOf } from "../../../plugins/ollama/request.ts";
import { VenturiError } from "../../../src/internal.ts";
import { ask, conversation, tideTable } from "../conversation.ts";

describe("a request to Ollama", () => {
  it("sends the conversation back in Ollama's own form", () => {
    assert.deepEqual(bodyOf(ask({ messages: conversation("ollama") })).messages, [
      { role: "system", content: "Be brief." },
      { role: "user", content: "When is high water?", images: ["iVBORw0="] },
      {
        role: "assistant",
        content: "One moment.",
        thinking: "Two ports.A note without proof.",
        tool_calls: [
          { id: "toolu_1", function: { name: "tide_table", arguments: { port: "Kiel" } } },
          { id: "call_1", function: { name: "now", arguments: {} } },
        ],
      },
      { role: "tool", content: '{"high":"12:00"}', tool_name: "tide_table", tool_call_id: "toolu_1" },
      {
        role: "tool",
        content: "error: tool_failed: no clock",
        tool_name: "now",
        tool_call_id: "call_1",
        images: ["aWNvbg=="],
      },
      { role: "user", content: "And tomorrow?" },
    ]);
  });

  it("refuses an image by URL, which Ollama would not load", () => {
    const image = { type: "image" as const, mediaType: "image/png", url: "https://example.com/a.png" };
    const error = caught(() => bodyOf(ask({ messages: [{ role: "user", parts: [image] }] })));
    assert.equal(error?.code, "invalid_input");
  });

  it("offers only what may be called, since there is no tool choice", () => {
    const now = { ...tideTable, name: "now" };
    const offered = (toolChoice: "none" | "required" | { name: string }) =>
      (bodyOf(ask({ tools: [tideTable, now], toolChoice })).tools as { function: { name: string } }[] | undefined)?.map(
        (tool) => tool.function.name,
      );
    assert.isUndefined(offered("none"));
    assert.deepEqual(offered({ name: "now" }), ["now"]);
    assert.deepEqual(offered("required"), ["tide_table", "now"]);
  });

  it("puts sampling into options with the user's own, structured output into format, other keys beside them", () => {
    const schema = { type: "object" };
    const body = bodyOf(
      ask({
        output: { name: "answer", schema },
        options: {
          temperature: 0,
          maxTokens: 9,
          seed: 1,
          stop: ["x"],
          topP: 1,
          options: { num_ctx: 64 },
          keep_alive: "5m",
        },
      }),
    );
    assert.deepEqual(body.options, { temperature: 0, top_p: 1, num_predict: 9, stop: ["x"], seed: 1, num_ctx: 64 });
    assert.deepEqual(body.format, schema);
    assert.equal(body.keep_alive, "5m");
    assert.notProperty(body, "think");
  });

  it("enables thinking, with levels for models that support them", () => {
    const think = (model: string, effort?: "minimal" | "high") =>
      bodyOf(ask({ model, options: { reasoning: effort === undefined ? {} : { effort } } })).think;
    assert.equal(think("qwen3:4b", "high"), true);
    assert.equal(think("gpt-oss:20b", "minimal"), "low");
    assert.equal(think("gpt-oss:20b"), true);
  });
});

function caught(act: () => unknown): VenturiError | undefined {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof VenturiError) return thrown;
  }
  return undefined;
}
