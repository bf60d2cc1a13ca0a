import { assert } from "chai";
import { ChatDecoder } from "../../../plugins/openai/decoder.ts";
import { bytesOf, callsOf, comparable, decode as decodeWith } from "../../provider/decoding.ts";
import { calls, done, event, fragment, stop } from "./streams.ts";

const wire = { framing: "sse", decoder: () => new ChatDecoder() } as const;

/** However the bytes are cut, the answer is the same. */
function decode(body: string) {
  const decoded = decodeWith(wire, body);
  assert.deepEqual(comparable(decodeWith(wire, bytesOf(body)).deltas), comparable(decoded.deltas));
  return decoded;
}

const chunk = (...choices: string[]): string => `data: {"id":"c","model":"m","choices":[${choices.join(",")}]}\n\n`;
const entry = (id: string, name: string, args: string): string =>
  `{"id":"${id}","function":{"name":"${name}","arguments":${args}}}`;

describe("calls in Chat Completions that servers write strangely", () => {
  it("with indexes as text keep their own fragments", () => {
    const decoded = decode(
      fragment('"index":"0","id":"a","function":{"name":"weather","arguments":"{\\"city\\":"}') +
        fragment('"index":"1","id":"b","function":{"name":"time","arguments":"{\\"zone\\":"}') +
        fragment('"index":"0","function":{"arguments":"\\"Oslo\\"}"}') +
        fragment('"index":"1","function":{"arguments":"\\"CET\\"}"}') +
        calls +
        done,
    );
    assert.deepEqual(callsOf(decoded), [
      ["weather", { city: "Oslo" }],
      ["time", { zone: "CET" }],
    ]);
  });

  it("at one index without ids are as many as there are names, and none takes the arguments of the next", () => {
    const decoded = decode(
      fragment('"index":0,"function":{"name":"now","arguments":""}') +
        fragment('"index":0,"function":{"name":"remove","arguments":""}') +
        fragment('"index":0,"function":{"arguments":"{\\"path\\":\\"a\\"}"}') +
        calls +
        done,
    );
    assert.deepEqual(callsOf(decoded), [
      ["now", {}],
      ["remove", { path: "a" }],
    ]);
  });

  it("with arguments as an object have their own, not those of the message beside the delta", () => {
    const [a, b] = [
      entry("a", "keep", '{"n":12345678901234567890}'),
      entry("b", "remove", '{"n":98765432109876543210}'),
    ];
    const decoded = decode(
      chunk(`{"index":0,"message":{"tool_calls":[${a},${b}]},"delta":{"tool_calls":[${b}]}}`) + calls + done,
    );
    assert.deepEqual(
      decoded.transcript.calls.map(({ name, text }) => [name, text]),
      [["remove", '{"n":98765432109876543210}']],
    );
  });

  it("with arguments as an object have their own, not those of another choice", () => {
    const choice = (index: string, path: string): string =>
      `{"index":${index},"delta":{"tool_calls":[${entry(`c${path}`, "remove", `{"path":"${path}"}`)}]}}`;
    for (const [first, second] of [
      ["0", "1"],
      ['"0"', '"1"'],
    ] as const) {
      const decoded = decode(
        chunk(`{"index":${first},"delta":{"content":"Hm."}}`, `{"index":${second},"delta":{"content":"Oh."}}`) +
          chunk(choice(second, "b"), choice(first, "a")) +
          chunk(`{"index":${second},"finish_reason":"stop"}`, `{"index":${first},"finish_reason":"stop"}`) +
          done,
      );
      assert.equal(decoded.transcript.text, "Hm.");
      assert.deepEqual(callsOf(decoded), [["remove", { path: "a" }]]);
    }
  });

  it("keep long numbers also without `function` around them", () => {
    const flat = fragment('"index":0,"id":"a","name":"pay","arguments":{"n":12345678901234567890}');
    assert.equal(decode(flat + calls + done).transcript.calls[0]?.text, '{"n":12345678901234567890}');
  });

  it("that had no arguments when the server stopped early do not run", () => {
    const begun = fragment('"index":0,"id":"a","function":{"name":"now","arguments":""}');
    assert.deepEqual(callsOf(decode(begun + calls + done)), [["now", {}]]);
    for (const finish of ["length", "content_filter", "refusal", "abort", "insufficient_system_resource"]) {
      assert.deepEqual(callsOf(decode(begun + event("{}", `"${finish}"`) + done)), [["now", ""]], finish);
    }
  });
});

describe("a whole message in a stream of Chat Completions", () => {
  const thought = '"reasoning_content":"Hm, a list."';
  const list = '{"function":{"name":"list","arguments":"{\\"path\\":\\"a\\"}"}}';
  const whole = (message: string, finish = "null"): string =>
    chunk(`{"index":0,"message":{"role":"assistant",${message}},"finish_reason":${finish}}`);

  it("that repeats what the deltas said adds nothing, neither text, reasoning nor calls", () => {
    const long = "Three files. ".repeat(40);
    const decoded = decode(
      event('{"reasoning_content":"Hm, "}') +
        event('{"reasoning_content":"a list."}') +
        event(`{"content":${JSON.stringify(long)}}`) +
        event('{"content":"Look:"}') +
        fragment(list.slice(1, -1)) +
        whole(`${thought},"content":${JSON.stringify(`${long}Look:`)},"tool_calls":[${list}]`, '"tool_calls"') +
        done,
    );
    assert.equal(decoded.transcript.text, `${long}Look:`);
    assert.equal(decoded.transcript.reasoning, "Hm, a list.");
    assert.deepEqual(callsOf(decoded), [["list", { path: "a" }]]);
  });

  it("that grows adds what is new, and a call in each of them is one call", () => {
    const decoded = decode(
      whole(`${thought},"content":"Three"`) +
        whole(`${thought},"content":"Three files","tool_calls":[${list}]`) +
        whole(`${thought},"content":"Three files.","tool_calls":[${list},${list.replace("a\\", "b\\")}]`) +
        stop +
        done,
    );
    assert.equal(decoded.transcript.text, "Three files.");
    assert.equal(decoded.transcript.reasoning, "Hm, a list.");
    assert.deepEqual(callsOf(decoded), [
      ["list", { path: "a" }],
      ["list", { path: "b" }],
    ]);
  });
});
