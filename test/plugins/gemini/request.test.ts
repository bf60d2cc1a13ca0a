import { assert } from "chai";
import { bodyOf, urlOf } from "../../../plugins/gemini/request.ts";
import { ask, conversation, tideTable } from "../conversation.ts";

describe("a request to Gemini", () => {
  it("sends the conversation back in Google's own form, signatures on the parts they came with", () => {
    const body = bodyOf(ask({ messages: conversation("gemini") }));
    assert.deepEqual(body.systemInstruction, { parts: [{ text: "Be brief." }] });
    assert.deepEqual(body.contents, [
      {
        role: "user",
        parts: [{ text: "When is high water?" }, { inlineData: { mimeType: "image/png", data: "iVBORw0=" } }],
      },
      {
        role: "model",
        parts: [
          { text: "Two ports.", thought: true, thoughtSignature: "sig+1/=" },
          { text: "One moment." },
          { kept: "as it came" },
          {
            functionCall: { id: "toolu_1", name: "tide_table", args: { port: "Kiel" } },
            thoughtSignature: "sig+2/=",
          },
          { functionCall: { name: "now", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "toolu_1", name: "tide_table", response: { output: { high: "12:00" } } } },
          { functionResponse: { name: "now", response: { error: "tool_failed: no clock" } } },
          { inlineData: { mimeType: "image/png", data: "aWNvbg==" } },
        ],
      },
      { role: "user", parts: [{ text: "And tomorrow?" }] },
    ]);
  });

  it("keeps an empty text for the sake of its signature", () => {
    const parts = [{ type: "text" as const, text: "", signature: "s" }];
    assert.deepEqual(bodyOf(ask({ messages: [{ role: "assistant", parts }] })).contents, [
      { role: "model", parts: [{ text: "", thoughtSignature: "s" }] },
    ]);
  });

  it("adds a placeholder signature to another vendor's calls where Gemini requires one", () => {
    const call = { type: "tool_call" as const, call: "call_1", name: "now", arguments: {} };
    const messages = [{ role: "assistant" as const, parts: [call, call] }];
    const parts = (model: string) => (bodyOf(ask({ model, messages })).contents as { parts: object[] }[])[0]?.parts;
    assert.deepEqual(
      parts("gemini-3-pro")?.map((part) => "thoughtSignature" in part),
      [true, false],
    );
    assert.deepEqual(
      parts("gemini-2.5-flash")?.map((part) => "thoughtSignature" in part),
      [false, false],
    );
    const own = [{ role: "assistant" as const, parts: [call, { ...call, signature: "s" }] }];
    const body = bodyOf(ask({ model: "gemini-3-pro", messages: own }));
    assert.deepEqual(
      (body.contents as { parts: object[] }[])[0]?.parts.map((part) => "thoughtSignature" in part),
      [false, true],
    );
  });

  it("puts results of parallel calls that came as several messages into one content", () => {
    const result = (call: string) => ({
      role: "tool" as const,
      parts: [{ type: "tool_result" as const, call, name: "now", ok: true, output: "noon" }],
    });
    const contents = bodyOf(ask({ messages: [result("a1"), result("b2")] })).contents as { parts: unknown[] }[];
    assert.deepEqual(
      contents.map((content) => content.parts.length),
      [2],
    );
  });

  it("offers tools beside Google's own and translates the choice among them", () => {
    const body = bodyOf(
      ask({ tools: [tideTable], toolChoice: "required", options: { tools: [{ googleSearch: {} }] } }),
    );
    const { parameters: parametersJsonSchema, ...tool } = tideTable;
    assert.deepEqual(body.tools, [{ functionDeclarations: [{ ...tool, parametersJsonSchema }] }, { googleSearch: {} }]);
    for (const [choice, expected] of [
      ["required", { mode: "ANY" }],
      ["auto", { mode: "AUTO" }],
      ["none", { mode: "NONE" }],
      [{ name: "tide_table" }, { mode: "ANY", allowedFunctionNames: ["tide_table"] }],
    ] as const) {
      const { toolConfig } = bodyOf(ask({ tools: [tideTable], toolChoice: choice }));
      assert.deepEqual(toolConfig, { functionCallingConfig: expected });
    }
  });

  it("translates the named options, merges generationConfig and passes other keys on", () => {
    const schema = { type: "object" };
    const body = bodyOf(
      ask({
        output: { name: "answer", schema },
        options: {
          temperature: 0.2,
          topP: 0.9,
          maxTokens: 100,
          stop: ["END"],
          seed: 7,
          generationConfig: { topK: 3 },
          safetySettings: [],
        },
      }),
    );
    assert.deepEqual(body.generationConfig, {
      temperature: 0.2,
      topP: 0.9,
      maxOutputTokens: 100,
      stopSequences: ["END"],
      seed: 7,
      responseMimeType: "application/json",
      responseJsonSchema: schema,
      topK: 3,
    });
    assert.deepEqual(body.safetySettings, []);
  });

  it("asks for thinking by level, or by budget where the model takes no level", () => {
    const thinking = (model: string, reasoning: object) =>
      (bodyOf(ask({ model, options: { reasoning } })).generationConfig as { thinkingConfig: object }).thinkingConfig;
    assert.deepEqual(thinking("gemini-3-pro", { effort: "low" }), { includeThoughts: true, thinkingLevel: "low" });
    assert.deepEqual(thinking("gemini-2.5-pro", { effort: "low" }), { includeThoughts: true, thinkingBudget: 1024 });
    assert.deepEqual(thinking("gemini-3-pro", { budget: 99 }), { includeThoughts: true, thinkingBudget: 99 });
  });

  it("finds the model below the base URL, and escapes its name", () => {
    assert.equal(
      urlOf("https://x/v1beta", "gemini-3-pro", "stream"),
      "https://x/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
    );
    assert.equal(
      urlOf("https://x/v1beta", "tunedModels/a?b", "whole"),
      "https://x/v1beta/tunedModels/a%3Fb:generateContent",
    );
  });
});
