import { assert } from "chai";
import { ResponsesDecoder } from "../../../plugins/openai-responses/decoder.ts";
import plugin from "../../../plugins/openai-responses/index.ts";
import type { ResponsesOptions } from "../../../plugins/openai-responses/options.ts";
import { bodyOf } from "../../../plugins/openai-responses/request.ts";
import { type Message, type Part, textMessage } from "../../../src/core/model/messages.ts";
import type { GenerationRequest } from "../../../src/core/model/provider.ts";
import { generationOf } from "../../../src/provider/collect.ts";
import { decode } from "../../provider/decoding.ts";
import { completed, created, finished, reasoning } from "./streams.ts";

const options = (changes: object = {}): ResponsesOptions => plugin.options.parse(changes) as ResponsesOptions; // the schema's own output

const body = (changes: Partial<GenerationRequest> = {}, settings: object = {}) =>
  bodyOf({ model: "m", messages: [], tools: [], options: {}, ...changes }, options(settings), "stream");

const input = (messages: Message[], settings: object = {}) => body({ messages }, settings).input;
const said = (...parts: Part[]): Message => ({ role: "assistant", parts });
const partsOf = (stream: string) => [
  ...generationOf(decode({ framing: "sse", decoder: () => new ResponsesDecoder() }, stream).deltas).parts,
];

describe("a Responses request", () => {
  it("holds the conversation as items and is not stored", () => {
    const image = { type: "image", mediaType: "image/png", data: "QUJD" } as const;
    assert.deepEqual(
      body({
        messages: [textMessage("system", "Be brief."), { role: "user", parts: [{ type: "text", text: "Hi" }, image] }],
      }),
      {
        model: "m",
        store: false,
        stream: true,
        input: [
          { role: "system", content: "Be brief." },
          {
            role: "user",
            content: [
              { type: "input_text", text: "Hi" },
              { type: "input_image", image_url: "data:image/png;base64,QUJD" },
            ],
          },
        ],
      },
    );
  });

  it("translates tools, choice, output schema and settings, and passes other keys on", () => {
    const asked = body({
      tools: [{ name: "t", description: "d", parameters: { type: "object" } }],
      toolChoice: { name: "t" },
      output: { name: "o", schema: { type: "object" } },
      options: { maxTokens: 5, temperature: 0, topP: 1, reasoning: { effort: "high" }, truncation: "auto" },
    });
    assert.deepInclude(asked, {
      tools: [{ type: "function", name: "t", description: "d", parameters: { type: "object" }, strict: false }],
      tool_choice: { type: "function", name: "t" },
      text: { format: { type: "json_schema", name: "o", schema: { type: "object" }, strict: false } },
      max_output_tokens: 5,
      temperature: 0,
      top_p: 1,
      reasoning: { effort: "high" },
      include: ["reasoning.encrypted_content"],
      truncation: "auto",
    });
  });

  it("asks for enciphered reasoning of models that think, unless responses are stored", () => {
    assert.property(body({ model: "gpt-5-mini" }), "include");
    assert.notProperty(body({ model: "gpt-4o" }), "include");
    assert.notProperty(body({ model: "gpt-5-mini" }, { store: true }), "include");
  });

  it("sends reasoning back as the item it was", () => {
    assert.deepEqual(input([said(...partsOf(reasoning))]), [
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "First, look.\n\nThen say." }],
        encrypted_content: "Z0FBQQ==",
      },
      { role: "assistant", content: [{ type: "output_text", text: "42" }] },
    ]);
  });

  it("sends reasoning without its enciphered form only where it is stored", () => {
    const bare = said({ type: "reasoning", text: "Hm", id: "rs_1" });
    assert.deepEqual(input([bare]), []);
    assert.lengthOf(input([bare], { store: true }) as unknown[], 1);
    assert.deepEqual(input([said({ type: "reasoning", text: "Hm" })], { store: true }), []);
  });

  it("sends calls with their results, images among them", () => {
    const image = { type: "image", mediaType: "image/png", data: "QUJD" } as const;
    assert.deepEqual(
      input([
        said({
          type: "tool_call",
          call: "c",
          name: "t",
          arguments: { a: 1 },
          signature: '{"type":"function_call","namespace":"n"}',
        }),
        {
          role: "tool",
          parts: [{ type: "tool_result", call: "c", name: "t", ok: true, output: "x", images: [image] }],
        },
      ]),
      [
        { type: "function_call", call_id: "c", name: "t", arguments: '{"a":1}', namespace: "n" },
        {
          type: "function_call_output",
          call_id: "c",
          output: [
            { type: "input_text", text: "x" },
            { type: "input_image", image_url: "data:image/png;base64,QUJD" },
          ],
        },
      ],
    );
  });

  it("sends a call of the vendor's own kind back as it came, and its result in that kind's form", () => {
    const custom =
      '"id":"ct_1","type":"custom_tool_call","call_id":"v1","name":"sql","input":"select 1","status":"completed"';
    const patch = '"id":"ap_1","type":"apply_patch_call","call_id":"v2","operation":{"type":"delete_file","path":"x"}';
    const parts = partsOf(created + finished(0, custom) + finished(1, patch) + completed());
    const results: Message = {
      role: "tool",
      parts: [
        { type: "tool_result", call: "v1", name: "sql", ok: true, output: "1" },
        { type: "tool_result", call: "v2", name: "apply_patch", ok: true, output: "done" },
      ],
    };
    assert.deepEqual(input([said(...parts), results]), [
      JSON.parse(`{${custom}}`),
      JSON.parse(`{${patch}}`),
      { type: "custom_tool_call_output", call_id: "v1", output: "1" },
      { type: "apply_patch_call_output", call_id: "v2", status: "completed", output: "done" },
    ]);
  });

  it("sends back what the vendor's own tools did, and nothing of another wire", () => {
    const search = '"id":"ws_1","type":"web_search_call","status":"completed"';
    const parts = partsOf(created + finished(0, search) + completed());
    assert.deepEqual(input([said(...parts, { type: "opaque", wire: "gemini", data: {} })]), [
      JSON.parse(`{${search}}`),
    ]);
  });
});
