import { assert } from "chai";
import plugin from "../../../plugins/anthropic/index.ts";
import type { Wire } from "../../../src/plugin.ts";
import { anyCutAgrees, callsOf, decode, everyCutFails, fixture, of } from "../decoding.ts";
import { begin, end, event, stop } from "./events.ts";

const wire = plugin.wires?.["anthropic-messages"] as Wire; // declared by the plugin itself
const tools = fixture("anthropic", "thinking-and-tools.sse");
const served = fixture("anthropic", "server-tools.sse");

describe("the Anthropic decoder", () => {
  it("tells text, thinking, calls, usage and the end of a stream", () => {
    const { transcript, ...decoded } = decode(wire, tools);
    assert.equal(transcript.text, "Ich prüfe beide Häfen ⚓.");
    assert.equal(transcript.reasoning, "Two ports, one tide table.");
    assert.deepEqual(callsOf({ transcript, ...decoded }), [
      ["tide_table", { port: "Kiel", days: 2 }],
      ["now", {}],
    ]);
    assert.deepEqual(transcript.done, { type: "done", finish: "tool_calls", raw: "tool_use" });
    assert.deepEqual(transcript.usage, {
      inputTokens: 250,
      outputTokens: 77,
      cacheReadTokens: 200,
      cacheWriteTokens: 10,
      reasoningTokens: 21,
      source: "reported",
    });
    assert.deepEqual(decoded.quirks, {});
  });

  it("keeps signatures and redacted thinking byte for byte, each in its own part", () => {
    const reasoning = of(decode(wire, tools), "reasoning");
    assert.deepEqual(
      reasoning.filter((delta) => delta.part === 0 && delta.signature !== undefined).map((delta) => delta.signature),
      ["c2lnbmVkK2J5L3RoZS12ZW5kb3I="],
    );
    assert.deepEqual(
      reasoning.filter((delta) => delta.part === 1),
      [{ type: "reasoning", text: "", part: 1, encrypted: "b3BhcXVlK3RvL3Vz" }],
    );
  });

  for (const name of ["thinking-and-tools.sse", "server-tools.sse", "spliced.sse", "gateway.sse"]) {
    it(`reads ${name} the same however it is cut into reads`, () => anyCutAgrees(wire, fixture("anthropic", name)));
  }

  it("ends with one error and runs nothing unfinished, wherever the stream is cut", () => {
    everyCutFails(wire, tools, tools.lastIndexOf("}"));
  });

  it("gives server tools, their results and compactions back whole, to be kept, and never as calls", () => {
    const decoded = decode(wire, served);
    const kept = of(decoded, "activity").filter((delta) => delta.keep);
    assert.deepEqual(
      kept.map((delta) => [delta.kind, (delta.data as { type: string }).type]),
      [
        ["server_tool", "server_tool_use"],
        ["server_tool", "web_search_tool_result"],
        ["part", "compaction"],
        ["part", "container"],
      ],
    );
    assert.deepInclude(kept[0]?.data, { id: "srvtoolu_1", input: { query: "high water Kiel" } });
    assert.deepEqual(kept[2]?.data, { type: "compaction", content: "So far: tides." });
    assert.deepEqual(callsOf(decoded), [["berth", { pier: 4 }]]);
  });

  it("tells citations as activity", () => {
    const citations = of(decode(wire, served), "activity").filter((delta) => delta.kind === "citation");
    assert.deepInclude(citations[0]?.data, { cited_text: "12:00" });
  });

  it("takes a call's input from the block's start when no JSON follows, and notes who called", () => {
    const decoded = decode(wire, served);
    const caller = { type: "code_execution_20250825", tool_id: "srvtoolu_0" };
    assert.equal(of(decoded, "tool_call")[0]?.signature, JSON.stringify({ caller }));
    assert.equal(decoded.quirks.input_in_block_start, 1);
  });

  it("takes calls that message_start already holds", () => {
    const content = [{ type: "tool_use", id: "toolu_p", name: "roll", input: { player: 2 } }];
    const message = { id: "msg_2", content, stop_reason: "tool_use", usage: { input_tokens: 0, output_tokens: 0 } };
    const decoded = decode(wire, event({ type: "message_start", message }), end);
    assert.deepEqual(callsOf(decoded), [["roll", { player: 2 }]]);
    assert.equal(decoded.transcript.usage?.outputTokens, 0);
    assert.equal(decoded.transcript.done?.finish, "tool_calls");
  });

  it("never completes a call whose input max_tokens cut, not even one that had no input yet", () => {
    for (const json of ['{"path":"a","content":"half', ""]) {
      const decoded = decode(
        wire,
        begin,
        event({
          type: "content_block_start",
          index: 0,
          content_block: { type: "tool_use", id: "t", name: "write", input: {} },
        }),
        event({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: json } }),
        event({ type: "content_block_stop", index: 0 }),
        stop("max_tokens"),
        end,
      );
      assert.deepEqual(callsOf(decoded), [["write", "tool_invalid_arguments"]]);
      assert.equal(decoded.transcript.done?.finish, "length");
    }
  });

  it("maps an error inside the stream by its type", () => {
    for (const [type, code] of [
      ["overloaded_error", "unavailable"],
      ["rate_limit_error", "rate_limited"],
      ["api_error", "llm_error"],
      ["something_new", "llm_error"],
    ] as const) {
      const failure = event({ type: "error", error: { type, message: "no" }, request_id: "req_1" });
      const decoded = decode(wire, begin, failure, stop("end_turn"), end);
      assert.equal(decoded.transcript.error?.code, code);
      assert.equal(of(decoded, "error").length + of(decoded, "done").length, 1);
      assert.include(decoded.transcript.error?.details, { requestId: "req_1", vendorCode: type });
    }
  });

  it("normalises every reason to stop and keeps the raw one", () => {
    for (const [raw, finish] of [
      ["end_turn", "stop"],
      ["stop_sequence", "stop"],
      ["max_tokens", "length"],
      ["model_context_window_exceeded", "length"],
      ["pause_turn", "pause"],
      ["refusal", "refusal"],
      ["brand_new", "other"],
    ] as const) {
      assert.deepEqual(decode(wire, begin, stop(raw), end).transcript.done, { type: "done", finish, raw });
    }
  });

  it("tells why the model refused", () => {
    const delta = { stop_reason: "refusal", stop_details: { type: "refusal", explanation: "Not this." } };
    const decoded = decode(wire, begin, event({ type: "message_delta", delta }), end);
    assert.equal(decoded.transcript.refusal, "Not this.");
  });

  it("keeps a thought without words for the sake of its signature", () => {
    const decoded = decode(
      wire,
      begin,
      event({
        type: "content_block_start",
        index: 0,
        content_block: { type: "thinking", thinking: "", signature: "" },
      }),
      event({ type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "only" } }),
      event({ type: "content_block_stop", index: 0 }),
      stop("end_turn"),
      end,
    );
    assert.deepEqual(of(decoded, "reasoning").at(-1), { type: "reasoning", text: "", part: 0, signature: "only" });
  });

  it("tells a signature once, the last of several, and not again after its block has closed", () => {
    const sign = (signature: string) =>
      event({ type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature } });
    const block = event({ type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "a" } });
    const close = event({ type: "content_block_stop", index: 0 });
    const decoded = decode(wire, begin, block, sign("first"), sign("last"), close, sign("more"), stop("end_turn"), end);
    assert.deepEqual(
      of(decoded, "reasoning").flatMap(({ signature }) => signature ?? []),
      ["last"],
    );
  });

  it("names the response as far as it is named", () => {
    const named = { type: "response" as const, id: "msg_harbour", model: "claude-test-1" };
    assert.deepEqual(of(decode(wire, tools), "response")[0], named);
    assert.deepEqual(of(decode(wire, begin), "response")[0], { type: "response", id: "msg_1" });
  });

  it("calls a frame that is no JSON a broken stream, and an empty body a cut one", () => {
    assert.equal(decode(wire, begin, "data: {oops\n\n").transcript.error?.code, "stream_error");
    assert.equal(decode(wire, "").transcript.error?.code, "stream_error");
  });

  it("keeps cached input counted when a later event repeats only part of the usage", () => {
    const message = {
      id: "m",
      content: [],
      usage: { input_tokens: 3, cache_read_input_tokens: 100, output_tokens: 1 },
    };
    const later = {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { input_tokens: 4, output_tokens: 6 },
    };
    const { usage } = decode(wire, event({ type: "message_start", message }), event(later), end).transcript;
    assert.deepEqual(usage, { inputTokens: 104, cacheReadTokens: 100, outputTokens: 6, source: "reported" });
  });
});
