import { assert } from "chai";
import plugin from "../../../plugins/ollama/index.ts";
import type { Wire } from "../../../src/plugin.ts";
import { anyCutAgrees, callsOf, decode, everyCutFails, fixture, of } from "../decoding.ts";

const wire = plugin.wires?.ollama as Wire; // declared by the plugin itself
const main = fixture("ollama", "thinking-and-tools.ndjson");

const line = (value: object): string => `${JSON.stringify(value)}\n`;
const say = (message: object): string => line({ model: "m", message: { role: "assistant", ...message }, done: false });
const done = line({ model: "m", message: { role: "assistant", content: "" }, done: true, done_reason: "stop" });

describe("the Ollama decoder", () => {
  it("tells thinking, text, whole calls, usage and the end, also when the last line has no end", () => {
    const decoded = decode(wire, main);
    const { transcript } = decoded;
    assert.equal(transcript.text, "Ich prüfe ⚓.");
    assert.equal(transcript.reasoning, "Two ports, one table.");
    assert.deepEqual(callsOf(decoded), [
      ["tide_table", { port: "Kiel", days: 2 }],
      ["now", {}],
    ]);
    assert.equal(transcript.calls[1]?.id, "call_b2");
    assert.deepEqual(transcript.done, { type: "done", finish: "tool_calls", raw: "stop" });
    assert.deepEqual(transcript.usage, { inputTokens: 31, outputTokens: 18 });
    assert.deepEqual(of(decoded, "response"), [{ type: "response", model: "qwen-test:4b" }]);
    assert.deepEqual(decoded.quirks, {});
  });

  it("reads /api/generate", () => {
    const { transcript } = decode(wire, fixture("ollama", "generate.ndjson"));
    assert.equal(transcript.text, "The tide turns.");
    assert.deepEqual(transcript.done, { type: "done", finish: "length", raw: "length" });
  });

  for (const name of ["thinking-and-tools.ndjson", "generate.ndjson"]) {
    it(`reads ${name} the same however it is cut into reads`, () => anyCutAgrees(wire, fixture("ollama", name)));
  }

  it("ends with one error and runs nothing unfinished, wherever the stream is cut", () => {
    everyCutFails(wire, main, main.lastIndexOf("}"));
  });

  it("fails on an error line in the middle, by its status when it has one", () => {
    for (const [failure, code] of [
      [{ error: "the model crashed" }, "llm_error"],
      [{ error: "too many requests", status_code: 429 }, "rate_limited"],
      [{ error: "server busy", status_code: 503 }, "unavailable"],
    ] as const) {
      const decoded = decode(wire, say({ content: "Yes" }), line(failure), done);
      assert.equal(decoded.transcript.error?.code, code);
      assert.equal(of(decoded, "error").length + of(decoded, "done").length, 1);
      assert.include(decoded.transcript.error?.message, failure.error);
    }
  });

  it("takes calls that are flat, or whose arguments are text, and never repairs them", () => {
    const decoded = decode(
      wire,
      say({
        tool_calls: [{ name: "flat", arguments: { a: 1 } }, { function: { name: "text", arguments: '{"b":2}' } }],
      }),
      say({ tool_calls: [{ function: { name: "list", arguments: [1] } }, { function: { name: "", arguments: {} } }] }),
      done,
    );
    assert.deepEqual(callsOf(decoded), [
      ["flat", { a: 1 }],
      ["text", { b: 2 }],
      ["list", "tool_invalid_arguments"],
    ]);
    assert.deepEqual(decoded.quirks, { arguments_as_text: 1, call_without_name: 1 });
  });

  it("reports only the usage it got, and a zero as a zero", () => {
    const partly = line({ model: "m", done: true, done_reason: "stop", eval_count: 0 });
    assert.deepEqual(decode(wire, partly).transcript.usage, { outputTokens: 0, source: "partial" });
    assert.isUndefined(decode(wire, done).transcript.usage);
  });

  it("normalises reasons to be done and keeps the raw one; builds that give none have stopped", () => {
    for (const [raw, finish] of [
      ["stop", "stop"],
      ["length", "length"],
      ["load", "other"],
    ] as const) {
      assert.deepEqual(decode(wire, line({ done: true, done_reason: raw })).transcript.done, {
        type: "done",
        finish,
        raw,
      });
    }
    const old = decode(wire, line({ done: true }));
    assert.deepEqual(old.transcript.done, { type: "done", finish: "stop" });
    assert.deepEqual(old.quirks, { missing_done_reason: 1 });
  });

  it("counts lines that it does not know, and tells images as parts", () => {
    const decoded = decode(wire, line({ model: "m", progress: 3 }), say({ images: ["iVBORw0="] }), done);
    assert.deepEqual(decoded.quirks, { unknown_event: 1 });
    assert.deepEqual(of(decoded, "activity")[0]?.data, { image: "iVBORw0=" });
  });

  it("ignores what comes after the end, and counts it", () => {
    const decoded = decode(wire, done, say({ content: "more" }));
    assert.equal(decoded.transcript.text, "");
    assert.equal(decoded.quirks.after_end, 1);
  });

  it("calls a line that is no JSON a broken stream", () => {
    assert.equal(decode(wire, say({ content: "a" }), "oops\n", done).transcript.error?.code, "stream_error");
  });

  it("never takes arguments that are no object for an empty one", () => {
    for (const given of [0, 1, false, true, [], "", "x"]) {
      const decoded = decode(wire, say({ tool_calls: [{ function: { name: "f", arguments: given } }] }), done);
      assert.deepEqual(callsOf(decoded), [["f", given === "" ? {} : "tool_invalid_arguments"]]);
    }
  });
});
