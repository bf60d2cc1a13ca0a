import { assert } from "chai";
import { ResponsesDecoder } from "../../../plugins/openai-responses/decoder.ts";
import { bytesOf, callsOf, comparable, decode as decodeWith } from "../../provider/decoding.ts";
import {
  added,
  argumentsDelta,
  argumentsDone,
  call,
  completed,
  created,
  event,
  finished,
  message,
  textDelta,
} from "./streams.ts";

const wire = { framing: "sse", decoder: () => new ResponsesDecoder() } as const;

/** However the bytes are cut, the answer is the same. */
function decode(body: string) {
  const decoded = decodeWith(wire, body);
  assert.deepEqual(comparable(decodeWith(wire, bytesOf(body)).deltas), comparable(decoded.deltas));
  return decoded;
}

const failure = (body: string): string | undefined => {
  const last = decode(body).deltas.at(-1);
  return last?.type === "error" ? last.error.message : undefined;
};

/** A function call without an id of its own. */
const bare = (id: string, name: string, args: string): string => call(id, name, args).replace('"id":"fc_1",', "");

describe("items of a response that servers write strangely", () => {
  it("have the arguments of their own call when items share an index", () => {
    const decoded = decode(
      created +
        added(0, bare("a", "keep", "")) +
        added(0, bare("b", "remove", "")) +
        finished(0, bare("a", "keep", '{"n":1}')) +
        finished(0, bare("b", "remove", '{"n":2}')) +
        completed(),
    );
    assert.deepEqual(callsOf(decoded), [
      ["keep", { n: 1 }],
      ["remove", { n: 2 }],
    ]);
    assert.equal(decoded.transcript.done?.finish, "tool_calls");
  });

  it("have the arguments of their own call when the final response has another order, or lacks one", () => {
    const begun = created + added(0, bare("a", "keep", "")) + added(1, bare("b", "remove", ""));
    const [keep, remove] = [`{${bare("a", "keep", '{"n":1}')}}`, `{${bare("b", "remove", '{"n":2}')}}`];
    assert.deepEqual(callsOf(decode(begun + completed(`[${remove},${keep}]`))), [
      ["keep", { n: 1 }],
      ["remove", { n: 2 }],
    ]);
    const lacking = decode(begun + completed(`[${remove}]`));
    assert.deepEqual(callsOf(lacking), [
      ["keep", ""],
      ["remove", { n: 2 }],
    ]);
    assert.equal(lacking.deltas.at(-1)?.type, "error");
  });

  it("are one call although its ids are new when it ends and in the final response, as with vLLM", () => {
    const args = '{"n":1}';
    const announced = added(1, call("a", "pay", "", "fc_a")) + argumentsDelta(1, args, "fc_a");
    const end = finished(1, bare("b", "pay", args));
    const thought = '{"id":"rs_2","type":"reasoning","summary":[]}';
    const final = `{${call("c", "pay", args, "fc_c")}}`;
    const begun = created + added(0, '"id":"rs_1","type":"reasoning","summary":[]');
    for (const body of [
      announced + end + completed(),
      announced + argumentsDone(1, args, "fc_a") + end + completed(`[${thought},${final}]`),
      announced + argumentsDone(1, args, "fc_a") + completed(`[${thought},${final}]`),
      announced + end + completed(`[${final}]`),
      announced + end + completed(`[${thought},${thought},${final}]`),
      added(1, call("a", "pay", "", "fc_a")) + end + completed(`[${thought},${final}]`),
    ]) {
      assert.deepEqual(callsOf(decode(begun + body)), [["pay", { n: 1 }]], body);
    }
    const again = `{${call("d", "pay", args, "fc_d")}}`;
    assert.lengthOf(callsOf(decode(begun + announced + end + completed(`[${thought},${final},${again}]`))), 2);
  });

  it("that are sent twice are executed and kept once", () => {
    const custom = '"id":"ct_1","type":"custom_tool_call","call_id":"c","name":"sql","input":"select 1"';
    const search = '"id":"ws_1","type":"web_search_call","status":"completed"';
    const decoded = decode(
      created +
        added(0, custom) +
        finished(0, custom) +
        finished(0, custom) +
        added(1, search) +
        finished(1, search) +
        finished(1, search) +
        completed(`[{${custom}},{${search}}]`),
    );
    assert.deepEqual(callsOf(decoded), [["sql", { input: "select 1" }]]);
    assert.equal(decoded.deltas.filter((delta) => delta.type === "activity" && delta.keep).length, 1);
  });

  it("that are announced twice are one call, also after it has ended", () => {
    const [begun, ended] = [added(0, call("a", "remove", "")), finished(0, call("a", "remove", '{"n":1}'))];
    for (const body of [begun + begun + ended, begun + ended + begun + ended]) {
      const decoded = decode(created + body + completed());
      assert.deepEqual(callsOf(decoded), [["remove", { n: 1 }]]);
      assert.equal(decoded.transcript.done?.finish, "tool_calls");
    }
  });

  it("that have the same call id and other contents are all executed", () => {
    const custom = (at: number, input: string): string =>
      `"id":"ct_${at}","type":"custom_tool_call","call_id":"c","name":"sql","input":"${input}"`;
    const decoded = decode(
      created + finished(0, custom(0, "select 1")) + finished(1, custom(1, "select 2")) + completed(),
    );
    assert.equal(callsOf(decoded).length, 2);
  });

  it("keep the long numbers of arguments that are an object", () => {
    const text = '{"n": 12345678901234567890}';
    const item = bare("a", "pay", "").replace('"arguments":""', `"arguments":${text}`);
    const announced = created + added(0, bare("a", "pay", ""));
    for (const body of [
      announced + finished(0, item) + completed(),
      announced + completed(`[{${item}}]`),
      `{"object":"response","id":"r","status":"completed","output":[{${item}}]}`,
      announced +
        event("response.function_call_arguments.done", `"output_index":0,"arguments":${text}`) +
        finished(0, bare("a", "pay", "")) +
        completed(),
    ]) {
      assert.equal(decode(body).transcript.calls[0]?.text, text, body);
    }
  });
});

describe("the end of a response", () => {
  const said = created + added(0, message("")) + textDelta(0, "Hi");
  const called = created + added(0, call("a", "remove", "")) + finished(0, call("a", "remove", '{"n":1}'));

  it("is bad when the event says so, whatever the status is", () => {
    for (const status of ["", '"status":null,', '"status":"completed",', '"status":"in_progress",']) {
      const failed = event("response.failed", `"response":{${status}"error":{"code":"server_error","message":"lost"}}`);
      assert.include(failure(called + failed), "lost", status);
      assert.include(failure(called + event("response.cancelled", `"response":{${status}"id":"r"}`)), "cancelled");
      const { done } = decode(said + event("response.incomplete", `"response":{${status}"id":"r"}`)).transcript;
      assert.deepEqual(done, { type: "done", finish: "other", raw: "incomplete" }, status);
    }
  });

  it("has not come when a response in one piece is still queued or in progress", () => {
    for (const status of ["queued", "in_progress"]) {
      assert.include(failure(`{"object":"response","id":"r","status":"${status}","output":[]}`), status);
    }
  });

  it("has not come when a second response begins, which would say everything twice", () => {
    assert.include(failure(said + said + completed()), "second response");
    assert.isUndefined(failure(created + said + completed()));
  });
});
