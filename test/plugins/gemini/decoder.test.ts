import { assert } from "chai";
import plugin from "../../../plugins/gemini/index.ts";
import type { Wire } from "../../../src/plugin.ts";
import { anyCutAgrees, callsOf, decode, everyCutFails, fixture, of } from "../decoding.ts";

const wire = plugin.wires?.gemini as Wire; // declared by the plugin itself
const main = fixture("gemini", "thoughts-and-calls.sse");

const data = (response: object): string => `data: ${JSON.stringify(response)}\r\n\r\n`;
const candidate = (parts: unknown[], more: object = {}): string =>
  data({ candidates: [{ content: { parts, role: "model" }, index: 0, ...more }] });

describe("the Gemini decoder", () => {
  it("tells thoughts, text, whole calls, usage and the end of a stream", () => {
    const decoded = decode(wire, main);
    const { transcript } = decoded;
    assert.equal(transcript.text, "Ich prüfe ⚓ beide.");
    assert.equal(transcript.reasoning, "**Planning**\n\nTwo ports, one table.");
    assert.deepEqual(callsOf(decoded), [
      ["tide_table", { port: "Kiel", days: 2 }],
      ["now", {}],
    ]);
    assert.equal(transcript.calls[0]?.id, "q81x");
    assert.deepEqual(transcript.done, { type: "done", finish: "tool_calls", raw: "STOP" });
    assert.deepEqual(of(decoded, "response"), [{ type: "response", id: "resp-7", model: "gemini-test-3" }]);
    assert.deepEqual(decoded.quirks, {});
  });

  it("counts thoughts as output and tool prompts as input, last figures winning", () => {
    assert.deepEqual(decode(wire, main).transcript.usage, {
      inputTokens: 17,
      outputTokens: 39,
      reasoningTokens: 9,
      cacheReadTokens: 8,
      source: "reported",
    });
  });

  it("tells the usage first, last and when the stream fails, not with every chunk", () => {
    const chunk = (candidatesTokenCount: number) =>
      data({ candidates: [{ content: { parts: [{ text: "a" }] } }], usageMetadata: { candidatesTokenCount } });
    const failed = decode(wire, chunk(1), chunk(2), chunk(3), data({ error: { code: 500 } }));
    assert.deepEqual(
      of(failed, "usage").map(({ usage }) => [usage.outputTokens, usage.source]),
      [
        [1, "partial"],
        [3, "partial"],
      ],
    );
  });

  it("keeps signatures on the call and on the empty text that they came with", () => {
    const decoded = decode(wire, main);
    assert.deepEqual(
      decoded.transcript.calls.map((call) => call.signature),
      ["c2lnbmVkL2J5K2dvb2dsZQ==", undefined],
    );
    assert.deepEqual(of(decoded, "text").at(-1), { type: "text", text: "", signature: "ZW1wdHkrcGFydA==" });
  });

  for (const name of ["thoughts-and-calls.sse", "array.json", "partial-arguments.sse", "own-tools.sse"]) {
    it(`reads ${name} the same however it is cut into reads`, () => anyCutAgrees(wire, fixture("gemini", name)));
  }

  it("reads the array form as it reads events", () => {
    const array = decode(wire, fixture("gemini", "array.json"));
    // Arguments have the spaces of their form.
    const told = (deltas: unknown) => JSON.stringify(deltas).replace(/\\n|(?<=[{}:,"]|\\n) +/g, "");
    assert.equal(told(array.deltas), told(decode(wire, main).deltas));
  });

  it("ends with one error and runs nothing unfinished, wherever the stream is cut", () => {
    for (const name of ["thoughts-and-calls.sse", "partial-arguments.sse", "array.json"]) {
      const body = fixture("gemini", name);
      everyCutFails(wire, body, body.lastIndexOf("}"));
    }
  });

  it("takes arguments as text, and never runs what is no object", () => {
    const parts = ['{"a":1}', [1], 7].map((args) => ({ functionCall: { name: "book", args } }));
    const decoded = decode(wire, candidate(parts, { finishReason: "STOP" }));
    assert.deepEqual(callsOf(decoded), [
      ["book", { a: 1 }],
      ["book", "tool_invalid_arguments"],
      ["book", "tool_invalid_arguments"],
    ]);
  });

  it("gives Google's own tools and files back as they came, and never as calls", () => {
    const decoded = decode(wire, fixture("gemini", "own-tools.sse"));
    const kept = of(decoded, "activity").filter((delta) => delta.keep);
    assert.deepEqual(
      kept.map((delta) => [delta.kind, Object.keys(delta.data as object)[0]]),
      [
        ["server_tool", "executableCode"],
        ["server_tool", "codeExecutionResult"],
        ["server_tool", "toolCall"],
        ["server_tool", "toolResponse"],
        ["part", "inlineData"],
      ],
    );
    assert.deepInclude(kept[0]?.data, { thoughtSignature: "Y29kZQ==" });
    assert.deepEqual(callsOf(decoded), []);
    assert.equal(decoded.transcript.text, "It is 42.");
    assert.deepEqual(of(decoded, "activity").at(-1)?.data, { groundingMetadata: { webSearchQueries: ["tides"] } });
  });

  it("takes content that comes after a finishReason", () => {
    const stop = { finishReason: "STOP" };
    const decoded = decode(wire, candidate([], stop), candidate([{ text: "late" }], stop));
    assert.equal(decoded.transcript.text, "late");
    assert.equal(decoded.transcript.done?.finish, "stop");
    assert.equal(decoded.quirks.content_after_finish, 1);
  });

  it("ends a blocked prompt with content_filter and the reason", () => {
    const { done, usage } = decode(
      wire,
      data({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 5 } }),
    ).transcript;
    assert.deepEqual(done, { type: "done", finish: "content_filter", raw: "PROHIBITED_CONTENT" });
    assert.deepEqual(usage, { inputTokens: 5, source: "reported" });
  });

  it("fails as retryable when the model wrote a malformed call", () => {
    const more = { finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "Malformed function call: x()" };
    const { error } = decode(wire, data({ candidates: [{ content: {}, ...more }] })).transcript;
    assert.equal(error?.code, "llm_error");
    assert.equal(error?.details?.retry, true);
    assert.include(error?.message, "x()");
  });

  it("maps an error inside the stream by its status and takes the time to wait from it", () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.5s" }];
    for (const [error, code] of [
      [{ code: 503, status: "UNAVAILABLE", message: "busy" }, "unavailable"],
      [{ code: 429, status: "RESOURCE_EXHAUSTED", message: "slow", details }, "rate_limited"],
      [{ code: 429, message: "slow", details }, "rate_limited"],
      [{ code: 500, status: "INTERNAL", message: "oops" }, "llm_error"],
    ] as const) {
      const decoded = decode(
        wire,
        candidate([{ text: "Hel" }]),
        data({ error }),
        candidate([], { finishReason: "STOP" }),
      );
      assert.equal(decoded.transcript.error?.code, code);
      assert.equal(of(decoded, "error").length + of(decoded, "done").length, 1);
      if ("details" in error) assert.equal(decoded.transcript.error?.details?.retryAfterMs, 1500);
    }
    assert.equal(decode(wire, '[{"error":{"code":503,"message":"busy"}}]').transcript.error?.code, "unavailable");
  });

  it("normalises reasons to finish and keeps the raw one", () => {
    for (const [raw, finish] of [
      ["STOP", "stop"],
      ["MAX_TOKENS", "length"],
      ["SAFETY", "content_filter"],
      ["RECITATION", "content_filter"],
      ["LANGUAGE", "other"],
      ["BRAND_NEW", "other"],
    ] as const) {
      assert.deepEqual(decode(wire, candidate([], { finishReason: raw })).transcript.done, {
        type: "done",
        finish,
        raw,
      });
    }
  });

  it("passes over comments and [DONE], and calls anything else that is no JSON a broken stream", () => {
    const stop = candidate([{ text: "a" }], { finishReason: "STOP" });
    const decoded = decode(wire, "data: : hi\r\n\r\n", stop, "data: [DONE] \r\n\r\n");
    assert.equal(decoded.transcript.done?.finish, "stop");
    assert.deepEqual(decoded.quirks, { comment_as_data: 1, done_sentinel: 1 });
    assert.equal(decode(wire, stop, "data: {oops\r\n\r\n").transcript.error?.code, "stream_error");
  });

  it("keeps a signature on a thought, and one that comes on a part of its own", () => {
    const parts = [{ text: "Hm.", thought: true, thoughtSignature: "s1" }, { thoughtSignature: "s2" }, {}];
    const decoded = decode(wire, candidate(parts, { finishReason: "STOP" }));
    assert.deepEqual(of(decoded, "reasoning"), [{ type: "reasoning", text: "Hm.", part: 0, signature: "s1" }]);
    assert.deepEqual(of(decoded, "text"), [{ type: "text", text: "", signature: "s2" }]);
    assert.isEmpty(of(decoded, "activity"));
    assert.deepEqual(decoded.quirks, {});
  });

  it("begins a new thought after something else was said", () => {
    const parts = [
      { text: "a", thought: true },
      { text: "b" },
      { text: "c", thought: true },
      { text: "d", thought: true },
    ];
    const decoded = decode(wire, candidate(parts, { finishReason: "STOP" }));
    assert.deepEqual(
      of(decoded, "reasoning").map(({ part }) => part),
      [0, 1, 1],
    );
  });

  it("keeps and counts parts that it does not know, and keeps files without counting them", () => {
    const parts = [{ hologram: 1 }, { fileData: { fileUri: "gs://a" } }];
    const decoded = decode(wire, candidate(parts, { finishReason: "STOP" }));
    assert.deepEqual(
      of(decoded, "activity").map(({ data, keep }) => [data, keep]),
      parts.map((part) => [part, true]),
    );
    assert.deepEqual(decoded.quirks, { unknown_part: 1 });
  });

  it("says why a prompt was blocked, and does not take mere ratings of a prompt for an end", () => {
    const blocked = { blockReason: "OTHER", blockReasonMessage: "Not this." };
    assert.equal(decode(wire, data({ promptFeedback: blocked })).transcript.refusal, "Not this.");
    const rated = decode(wire, data({ promptFeedback: { safetyRatings: [] } }));
    assert.equal(rated.transcript.error?.code, "stream_error");
    assert.deepEqual(rated.quirks, {});
    assert.equal(decode(wire, data({ promptFeedback: { blockReason: "OTHER" } })).transcript.refusal, "");
  });

  it("names the response once it is named", () => {
    const unnamed = candidate([{ text: "a" }], { finishReason: "STOP" });
    assert.isEmpty(of(decode(wire, unnamed), "response"));
    assert.deepEqual(of(decode(wire, unnamed, data({ responseId: "r" }), data({ responseId: "r" })), "response"), [
      { type: "response", id: "r" },
    ]);
  });

  it("treats the close of a Live session as its end, since it has no other", () => {
    const said = { serverContent: { modelTurn: { parts: [{ inlineData: { mimeType: "audio/pcm", data: "AAA=" } }] } } };
    assert.equal(decode(wire, data({ setupComplete: {} }), data(said)).transcript.done?.finish, "other");
    assert.equal(decode(wire, data(said)).transcript.error?.code, "stream_error");
  });

  it("does not take an unspecified reason for an end", () => {
    const going = candidate([{ text: "a" }], { finishReason: "FINISH_REASON_UNSPECIFIED" });
    assert.equal(decode(wire, going).transcript.error?.code, "stream_error");
    const unblocked = data({ promptFeedback: { blockReason: "BLOCK_REASON_UNSPECIFIED" } });
    assert.equal(decode(wire, unblocked).transcript.error?.code, "stream_error");
  });

  it("reads the first candidate only", () => {
    const first = { content: { parts: [{ text: "a" }] }, index: 0, finishReason: "STOP" };
    const second = { content: { parts: [{ text: "b" }] }, index: 1, finishReason: "STOP" };
    const decoded = decode(wire, data({ candidates: [first, second] }));
    assert.equal(decoded.transcript.text, "a");
    assert.equal(decoded.quirks.further_candidate, 1);
  });

  it("reads the first candidate also when its index is text", () => {
    const two = [0, 1].map((at) => ({ index: `${at}`, content: { parts: [{ text: `${at}` }] }, finishReason: "STOP" }));
    const decoded = decode(wire, data({ candidates: two.toReversed() }));
    assert.equal(decoded.transcript.text, "0");
    assert.equal(decoded.transcript.done?.finish, "stop");
  });
});
