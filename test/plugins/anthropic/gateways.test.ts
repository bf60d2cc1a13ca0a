import { assert } from "chai";
import plugin from "../../../plugins/anthropic/index.ts";
import type { Wire } from "../../../src/plugin.ts";
import { Accumulator } from "../../../src/provider/accumulate.ts";
import { callsOf, decode, fixture, of } from "../decoding.ts";
import { begin, end, event, stop } from "./events.ts";

const wire = plugin.wires?.["anthropic-messages"] as Wire; // declared by the plugin itself

describe("Anthropic's wire as gateways bend it", () => {
  it("does not repeat a call that message_start holds and the stream sends again", () => {
    const block = { type: "tool_use", id: "toolu_p", name: "roll", input: {} };
    const decoded = decode(
      wire,
      event({ type: "message_start", message: { id: "msg_2", content: [block] } }),
      event({ type: "content_block_start", index: 0, content_block: block }),
      event({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"n":1}' } }),
      stop("tool_use"),
      end,
    );
    assert.deepEqual(callsOf(decoded), [["roll", { n: 1 }]]);
  });

  it("takes a call that message_start holds and the stream sends again in any form, but not with other arguments", () => {
    const call = (input: object) => ({ type: "tool_use", id: "toolu_p", name: "roll", input });
    const held = (input: object) => event({ type: "message_start", message: { id: "msg_2", content: [call(input)] } });
    const opened = (input: object) => event({ type: "content_block_start", index: 0, content_block: call(input) });
    const pieces = (...json: string[]) =>
      json.map((partial_json) =>
        event({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json } }),
      );
    const closed = event({ type: "content_block_stop", index: 0 });
    const streamed = pieces('{"n"', ":1", "}");
    const sent: Record<string, readonly string[]> = {
      "empty, then in pieces": [held({}), opened({}), ...streamed, closed],
      "empty, then in pieces without a start": [held({}), ...streamed, closed],
      "empty, then whole": [held({}), opened({ n: 1 }), closed],
      "whole, then in pieces": [held({ n: 1 }), opened({}), ...streamed, closed],
      "whole, then whole": [held({ n: 1 }), opened({ n: 1 }), closed],
      "whole, then empty": [held({ n: 1 }), opened({}), closed],
      "a start that is sent twice": [begin, opened({}), opened({}), ...streamed, closed],
    };
    for (const [how, frames] of Object.entries(sent)) {
      const decoded = decode(wire, ...frames, stop("tool_use"), end);
      assert.deepEqual(callsOf(decoded), [["roll", { n: 1 }]], how);
      assert.equal(of(decoded, "error").length, 0, how);
    }
    assert.deepEqual(callsOf(decode(wire, held({}), stop("tool_use"), end)), [["roll", {}]]);
    const other = decode(wire, held({ n: 1 }), opened({}), ...pieces('{"n":2}'), closed, stop("tool_use"), end);
    const contradictions = new Accumulator();
    const steps = of(other, "tool_call").map((delta) => contradictions.push(delta).contradicted);
    assert.include(steps, true);
  });

  it("does not take a call for one without arguments when they came before it", () => {
    const call = { type: "tool_use", id: "t", name: "berth", input: {} };
    const decoded = decode(
      wire,
      begin,
      event({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"pier":1}' } }),
      event({ type: "content_block_start", index: 0, content_block: call }),
      event({ type: "content_block_stop", index: 0 }),
      stop("tool_use"),
      end,
    );
    assert.equal(of(decoded, "done").length, 0);
    assert.equal(of(decoded, "error")[0]?.error.code, "stream_error");
  });

  it("does not lose arguments that a gateway sends as a value", () => {
    const call = { type: "tool_use", id: "t", name: "berth", input: {} };
    const decoded = decode(
      wire,
      begin,
      event({ type: "content_block_start", index: 0, content_block: call }),
      event({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: { pier: 1 } } }),
      event({ type: "content_block_stop", index: 0 }),
      stop("tool_use"),
      end,
    );
    assert.deepEqual(callsOf(decoded), [["berth", { pier: 1 }]]);
    assert.equal(decoded.quirks.json_as_value, 1);
  });

  it("fails when a second message is spliced into an open one", () => {
    const decoded = decode(wire, fixture("anthropic", "spliced.sse"));
    assert.equal(decoded.transcript.error?.code, "stream_error");
    assert.equal(decoded.transcript.text, "");
    assert.isTrue(decoded.transcript.calls.every((call) => !call.sealed));
  });

  it("reads what gateways send: no event names, repeated starts, wrong and overlapping indexes, [DONE] for an end", () => {
    const decoded = decode(wire, fixture("anthropic", "gateway.sse"));
    assert.equal(decoded.transcript.text, "One moment.");
    assert.deepEqual(callsOf(decoded), [["berth", { pier: 9 }]]);
    assert.deepEqual(decoded.transcript.done, { type: "done", finish: "tool_calls", raw: "end_turn" });
    assert.equal(decoded.transcript.usage?.outputTokens, 0);
    assert.deepEqual(decoded.quirks, {
      missing_event_name: 2,
      repeated_message_start: 1,
      overlapping_index: 1,
      index_mismatch: 1,
      stop_without_block: 1,
      unknown_event: 1,
      comment_as_data: 1,
      done_sentinel: 1,
      block_without_stop: 1,
    });
  });

  it("does not take [DONE] for an end when no reason to stop was given", () => {
    assert.equal(decode(wire, begin, "data: [DONE]\n\n").transcript.error?.code, "stream_error");
  });

  it("keeps thinking that comes without its block, or under another index, and a signature that comes late", () => {
    const delta = (index: number, more: object) => event({ type: "content_block_delta", index, delta: more });
    const block = { type: "thinking", thinking: "" };
    const decoded = decode(
      wire,
      begin,
      delta(0, { type: "thinking_delta", thinking: "stray" }),
      delta(5, { type: "thinking_delta", thinking: " too" }),
      event({ type: "content_block_start", index: 1, content_block: block }),
      delta(1, { type: "thinking_delta", thinking: "real" }),
      event({ type: "content_block_stop", index: 1 }),
      delta(1, { type: "signature_delta", signature: "late" }),
      stop("end_turn"),
      end,
    );
    assert.deepEqual(
      of(decoded, "reasoning").map(({ text, part, signature }) => [text, part, signature]),
      [
        ["stray", 0, undefined],
        [" too", 0, undefined],
        ["", 1, undefined],
        ["real", 1, undefined],
        ["", 1, "late"],
      ],
    );
    assert.equal(decoded.quirks.index_mismatch, 3);
  });

  const json = (index: number, partial_json: string) =>
    event({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } });
  const call = (index: number, more: object = {}) =>
    event({
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", name: "berth", input: {}, ...more },
    });
  const harbour = { id: "t", toolset_name: "harbour" };
  const close = (index: number) => event({ type: "content_block_stop", index });

  it("takes arguments under a wrong index where only one call can be meant", () => {
    for (const reads of [
      [call(0, harbour), json(3, '{"pier":1}'), close(0)],
      [call(0, harbour), close(0), json(3, '{"pier":1}')],
      [call(0, { id: "s", name: "look" }), close(0), call(1, harbour), json(3, '{"pier":1}'), close(1)],
    ]) {
      const decoded = decode(wire, begin, ...reads, stop("tool_use"), end);
      assert.deepEqual(callsOf(decoded).at(-1), ["berth", { pier: 1 }]);
      assert.equal(decoded.transcript.calls.at(-1)?.signature, '{"toolset_name":"harbour"}');
    }
  });

  it("fails where arguments could be another call's, or come for one that has its own", () => {
    for (const reads of [
      [call(0, { id: "s" }), call(1, { id: "t" }), json(3, '{"pier":1}'), close(0), close(1)],
      [call(0, harbour), json(0, "{}"), close(0), json(3, '{"pier":1}')],
    ]) {
      const decoded = decode(wire, begin, ...reads, stop("tool_use"), end);
      assert.equal(decoded.transcript.error?.code, "stream_error");
      assert.equal(decoded.quirks.stray_json, 1);
      assert.isUndefined(decoded.transcript.done);
    }
  });

  it("counts blocks and deltas that it does not know, and keeps such blocks", () => {
    const decoded = decode(
      wire,
      begin,
      event({ type: "content_block_start", index: 0, content_block: { type: "hologram", data: 1 } }),
      event({ type: "content_block_delta", index: 0, delta: { type: "hologram_delta" } }),
      event({ type: "content_block_stop", index: 0 }),
      stop("end_turn"),
      end,
    );
    assert.deepEqual(decoded.quirks, { unknown_block: 1, unknown_delta: 1 });
    const data = { type: "hologram", data: 1 };
    assert.deepEqual(of(decoded, "activity"), [
      { type: "activity", kind: "part", wire: "anthropic-messages", data, keep: true },
    ]);
  });

  it("gives a call its own arguments when blocks have no index, an empty one or one in text", () => {
    const use = (id: string, name: string) => ({ type: "tool_use", id, name, input: {} });
    const json = { type: "input_json_delta", partial_json: '{"path":"a"}' };
    const indexes: readonly (readonly [unknown, unknown])[] = [
      [null, null],
      [undefined, undefined],
      ["", ""],
      [false, false],
      ["0", "1"],
      ["7", "7"],
    ];
    for (const [first, second] of indexes) {
      const decoded = decode(
        wire,
        begin,
        event({ type: "content_block_start", index: first, content_block: use("a", "now") }),
        event({ type: "content_block_stop", index: first }),
        event({ type: "content_block_start", index: second, content_block: use("b", "remove") }),
        event({ type: "content_block_delta", index: second, delta: json }),
        event({ type: "content_block_stop", index: second }),
        stop("tool_use"),
        end,
      );
      const calls = [
        ["now", {}],
        ["remove", { path: "a" }],
      ];
      assert.deepEqual(callsOf(decoded), calls, String(first));
    }
  });

  it("fails when the same message begins again after some of it, with or without an id", () => {
    const block = event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "Hel" } });
    for (const start of [begin, event({ type: "message_start", message: { content: [] } })]) {
      const decoded = decode(wire, start, start, block, start, block, stop("end_turn"), end);
      assert.equal(decoded.transcript.text, "Hel");
      assert.include(of(decoded, "error")[0]?.error.message, "second message");
    }
  });

  it("never gives a call the pieces of another whose start was lost, or that was closed too early", () => {
    const use = (index: number, id: string, name: string) =>
      event({ type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } });
    const piece = (index: number, partial_json: string) =>
      event({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } });
    const close = (index: number) => event({ type: "content_block_stop", index });
    const [a, b] = [use(0, "a", "keep"), use(1, "b", "remove")];
    for (const pieces of [
      [b, piece(1, '{"n":'), piece(0, '"x"}'), piece(1, '"y"}')],
      [a, b, piece(0, '{"n":'), piece(1, '{"n":'), close(0), piece(0, '"x"}'), piece(1, '"y"}')],
      [a, piece(1, '{"n":'), piece(0, '"x"}')],
    ]) {
      const decoded = decode(wire, begin, ...pieces, close(0), close(1), stop("tool_use"), end);
      assert.isTrue(decoded.transcript.calls.every((call) => !call.sealed || call.text === '{"n":"y"}'));
      assert.equal(of(decoded, "error").length, 1);
    }
  });
});
