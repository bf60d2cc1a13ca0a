import { assert } from "chai";
import { bodyOf, ignoredBy } from "../../../plugins/anthropic/request.ts";
import { textMessage } from "../../../src/core/model/messages.ts";
import { ask, conversation, tideTable } from "../conversation.ts";

const api = { version: "2023-06-01", baseUrl: "https://api.anthropic.com" };

describe("a request to Anthropic", () => {
  it("sends the conversation back in Anthropic's own form", () => {
    const body = bodyOf(ask({ messages: conversation("anthropic-messages") }), api);
    assert.equal(body.system, "Be brief.");
    assert.deepEqual(body.messages, [
      {
        role: "user",
        content: [
          { type: "text", text: "When is high water?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0=" } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Two ports.", signature: "sig+1/=" },
          { type: "redacted_thinking", data: "enc+1/=" },
          { type: "text", text: "One moment." },
          { kept: "as it came" },
          { type: "tool_use", id: "toolu_1", name: "tide_table", input: { port: "Kiel" } },
          { type: "tool_use", id: "call_1", name: "now", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", content: '{"high":"12:00"}' },
          {
            type: "tool_result",
            tool_use_id: "call_1",
            content: [
              { type: "text", text: "tool_failed: no clock" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "aWNvbg==" } },
            ],
            is_error: true,
          },
          { type: "text", text: "And tomorrow?" },
        ],
      },
    ]);
  });

  it("returns who made a call, and the container it was made in", () => {
    const caller = { type: "code_execution_20250825", tool_id: "srvtoolu_0" };
    const signature = JSON.stringify({ caller });
    const body = bodyOf(
      ask({
        messages: [
          {
            role: "assistant",
            parts: [
              { type: "tool_call", call: "functions.berth:0", name: "berth", arguments: {}, signature },
              { type: "opaque", wire: "anthropic-messages", data: { type: "container", id: "container_7" } },
            ],
          },
        ],
      }),
      api,
    );
    assert.deepEqual(body.messages, [
      { role: "assistant", content: [{ type: "tool_use", id: "functions_berth_0", name: "berth", input: {}, caller }] },
    ]);
    assert.equal(body.container, "container_7");
  });

  it("leaves out text that is only blanks, and messages with nothing left in them", () => {
    const blank = (role: "user" | "assistant") => ({ role, parts: [{ type: "text" as const, text: "\n\n" }] });
    const hello = { role: "user" as const, parts: [{ type: "text" as const, text: " hi " }] };
    assert.deepEqual(bodyOf(ask({ messages: [hello, blank("assistant"), blank("user")] }), api).messages, [
      { role: "user", content: [{ type: "text", text: " hi " }] },
    ]);
  });

  it("sends an image by its URL", () => {
    const image = { type: "image" as const, mediaType: "image/jpeg", url: "https://example.com/a.jpg" };
    const body = bodyOf(ask({ messages: [{ role: "user", parts: [image] }] }), api);
    assert.deepEqual(body.messages, [
      { role: "user", content: [{ type: "image", source: { type: "url", url: "https://example.com/a.jpg" } }] },
    ]);
  });

  it("offers tools beside the vendor's own and translates the choice among them", () => {
    const own = { type: "web_search_20250305", name: "web_search" };
    const body = bodyOf(ask({ tools: [tideTable], toolChoice: "required", options: { tools: [own] } }), api);
    const { parameters: input_schema, ...tool } = tideTable;
    assert.deepEqual(body.tools, [{ ...tool, input_schema }, own]);
    assert.deepEqual(body.tool_choice, { type: "any" });
    for (const [choice, expected] of [
      ["auto", { type: "auto" }],
      ["none", { type: "none" }],
      [{ name: "tide_table" }, { type: "tool", name: "tide_table" }],
    ] as const) {
      assert.deepEqual(bodyOf(ask({ tools: [tideTable], toolChoice: choice }), api).tool_choice, expected);
    }
    assert.notProperty(bodyOf(ask({ toolChoice: "auto" }), api), "tool_choice");
  });

  it("translates the named options and passes the others on", () => {
    const options = {
      temperature: 0.2,
      topP: 0.9,
      maxTokens: 100,
      stop: ["END"],
      seed: 7,
      top_k: 5,
      metadata: { user_id: "u" },
    };
    assert.deepEqual(bodyOf(ask({ options }), api), {
      model: "test-model",
      max_tokens: 100,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      stop_sequences: ["END"],
      temperature: 0.2,
      top_p: 0.9,
      top_k: 5,
      metadata: { user_id: "u" },
    });
  });

  it("sends a late system message as the API's own where the model and its place allow it, else as a user turn", () => {
    const says = (role: "system" | "user" | "assistant", text: string) => textMessage(role, text);
    const messages = [says("user", "a"), says("system", "b"), says("assistant", "c"), says("system", "d")];
    const roles = (model: string, baseUrl = api.baseUrl) =>
      (bodyOf({ ...ask({ messages }), model }, { ...api, baseUrl }).messages as { role: string }[]).map(
        ({ role }) => role,
      );
    assert.deepEqual(roles("claude-opus-4-8"), ["user", "system", "assistant", "user"]);
    assert.deepEqual(roles("claude-sonnet-5"), ["user", "system", "assistant", "user"]);
    assert.deepEqual(roles("claude-opus-4-20250514"), ["user", "assistant", "user"]);
    assert.deepEqual(roles("claude-sonnet-4-5"), ["user", "assistant", "user"]);
    assert.deepEqual(roles("claude-opus-4-8", "https://bedrock.example"), ["user", "assistant", "user"]);
  });

  it("leaves sampling out where the API refuses it: in newer versions and beside thinking", () => {
    const options = { temperature: 0.2, topP: 0.9 };
    for (const body of [
      bodyOf(ask({ options }), { ...api, version: "2026-10-21" }),
      bodyOf(ask({ options: { ...options, reasoning: { budget: 2048 } } }), api),
    ]) {
      assert.doesNotHaveAnyKeys(body, ["temperature", "top_p"]);
    }
  });

  it("always says how many tokens may be written, leaving room for thinking", () => {
    assert.equal(bodyOf(ask(), api).max_tokens, 8192);
    const body = bodyOf(ask({ options: { reasoning: { budget: 2048 } } }), api);
    assert.deepEqual([body.max_tokens, body.thinking], [8192 + 2048, { type: "enabled", budget_tokens: 2048 }]);
  });

  it("asks for effort and for structured output in one place, the user's own keys winning", () => {
    const schema = { type: "object", additionalProperties: false };
    const body = bodyOf(
      ask({ output: { name: "answer", schema }, options: { reasoning: { effort: "minimal" } } }),
      api,
    );
    assert.deepEqual(body.thinking, { type: "adaptive" });
    assert.deepEqual(body.output_config, { effort: "low", format: { type: "json_schema", schema } });
    const own = bodyOf(ask({ options: { reasoning: { effort: "high" }, output_config: { effort: "max" } } }), api);
    assert.deepEqual(own.output_config, { effort: "max" });
  });

  it("says which pictures and files of another vendor's model it leaves out", () => {
    const image = { type: "image", mediaType: "image/png", data: "iVBORw0=" } as const;
    const file = { type: "file", mediaType: "application/pdf", data: "JVBERi0=" } as const;
    const says = (role: "user" | "assistant", parts: readonly object[]) =>
      ask({ messages: [{ role, parts }] as never });
    assert.deepEqual(ignoredBy(says("assistant", [image, image, file]), api), [
      "messages.content.image",
      "messages.content.file",
    ]);
    assert.deepEqual(bodyOf(says("assistant", [image, file]), api).messages, []);
    assert.deepEqual(ignoredBy(says("user", [image, file]), api), []);
    const own = { ...image, native: { wire: "anthropic-messages", fields: { type: "image" } } };
    assert.deepEqual(ignoredBy(says("assistant", [own]), api), []);
  });
});
