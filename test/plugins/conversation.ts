import type { GenerationRequest, Message } from "../../src/plugin.ts";

/** A conversation with everything in it, as one vendor's model left it: thinking, parallel calls, their results, a picture. */
export const conversation = (wire: string): Message[] => [
  { role: "system", parts: [{ type: "text", text: "Be brief." }] },
  {
    role: "user",
    parts: [
      { type: "text", text: "When is high water?" },
      { type: "image", mediaType: "image/png", data: "iVBORw0=" },
    ],
  },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "Two ports.", signature: "sig+1/=" },
      { type: "reasoning", text: "", encrypted: "enc+1/=" },
      { type: "reasoning", text: "A note without proof." },
      { type: "text", text: "One moment." },
      { type: "opaque", wire, data: { kept: "as it came" } },
      { type: "opaque", wire: "another-wire", data: { kept: "not here" } },
      { type: "tool_call", call: "toolu_1", name: "tide_table", arguments: { port: "Kiel" }, signature: "sig+2/=" },
      { type: "tool_call", call: "call_1", name: "now", arguments: {} },
    ],
  },
  {
    role: "tool",
    parts: [
      { type: "tool_result", call: "toolu_1", name: "tide_table", ok: true, output: '{"high":"12:00"}' },
      {
        type: "tool_result",
        call: "call_1",
        name: "now",
        ok: false,
        output: "tool_failed: no clock",
        images: [{ type: "image", mediaType: "image/png", data: "aWNvbg==" }],
      },
    ],
  },
  { role: "user", parts: [{ type: "text", text: "And tomorrow?" }] },
];

export const tideTable = {
  name: "tide_table",
  description: "Tides of a port",
  parameters: { type: "object", properties: { port: { type: "string" } }, required: ["port"] },
};

export const ask = (changes: Partial<GenerationRequest> = {}): GenerationRequest => ({
  model: "test-model",
  messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }],
  tools: [],
  options: {},
  ...changes,
});
