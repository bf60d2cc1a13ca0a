import { assert } from "chai";
import plugin from "../../../plugins/bedrock/index.ts";
import type { Wire } from "../../../src/plugin.ts";
import { anyCutAgrees, callsOf, decode, everyCutFails, fixture, of } from "../decoding.ts";
import { begin, blockStop, callStart, delta, exception, figures, message, stop, transportError } from "./stream.ts";

const wire = plugin.wires?.["bedrock-converse"] as Wire; // declared by the plugin
const calls = fixture("bedrock", "thoughts-and-calls.bin");

describe("Bedrock's Converse stream", () => {
  it("says text, signed and redacted thoughts, calls and figures", () => {
    const decoded = decode(wire, calls);
    assert.equal(decoded.transcript.text, "Ich prüfe ⚓ beide.");
    assert.deepEqual(of(decoded, "reasoning"), [
      { type: "reasoning", text: "Zwei Häfen", part: 0 },
      { type: "reasoning", text: ", hm.", part: 0 },
      { type: "reasoning", text: "", part: 0, signature: "sig+1/2=" },
      { type: "reasoning", text: "", part: 1, encrypted: Buffer.from("secret thought").toString("base64") },
    ]);
    assert.deepEqual(
      decoded.transcript.calls.map(({ id, name, text }) => [id, name, text]),
      [
        ["tooluse_1", "tide_table", '{"port": "Kiel", "n": 12345678901234567890}'],
        ["tooluse_2", "now", ""],
      ],
    );
    assert.deepEqual(callsOf(decoded)[1], ["now", {}]);
    assert.deepInclude(of(decoded, "usage")[0]?.usage, {
      inputTokens: 150,
      cacheReadTokens: 30,
      cacheWriteTokens: 20,
      cacheWrite1hTokens: 20,
      outputTokens: 40,
    });
    assert.deepEqual(of(decoded, "done"), [{ type: "done", finish: "tool_calls", raw: "tool_use" }]);
    assert.deepEqual(of(decoded, "response")[0]?.native?.fields, { metrics: { latencyMs: 1600 } });
    assert.deepEqual(decoded.quirks, {});
  });

  it("says the same however it is cut, and is complete once messageStop has come", () => {
    for (const name of ["thoughts-and-calls.bin", "own-tools.bin"]) anyCutAgrees(wire, fixture("bedrock", name));
    const answer = Buffer.concat([begin, delta(0, { text: "Hi" }), blockStop(0), stop("end_turn")]);
    everyCutFails(wire, answer, answer.length);
    everyCutFails(wire, calls, calls.indexOf("messageStop"));
    const { quirks } = decode(wire, answer);
    assert.deepEqual(quirks, { missing_metadata: 1 });
  });

  it("with a wrong CRC fails, and no call that came before it runs twice or differently", () => {
    for (let at = 0; at < calls.length; at += 7) {
      const hurt = Buffer.from(calls);
      hurt[at] = (hurt[at] ?? 0) ^ 0x10;
      const decoded = decode(wire, hurt);
      assert.equal(of(decoded, "error").length, 1, `at ${at}`);
      assert.equal(of(decoded, "error")[0]?.error.code, "stream_error", `at ${at}`);
      assert.equal(of(decoded, "done").length, 0, `at ${at}`);
    }
  });

  it("keeps the tools that Bedrock runs itself, and their results, to send them back", () => {
    const decoded = decode(wire, fixture("bedrock", "own-tools.bin"));
    assert.deepEqual(
      of(decoded, "activity").map(({ kind, keep, data }) => [kind, keep, data]),
      [
        [
          "server_tool",
          true,
          {
            toolUse: {
              toolUseId: "t1",
              name: "nova_code_interpreter",
              type: "server_tool_use",
              input: { snippet: "1234 * 5678" },
            },
          },
        ],
        [
          "server_tool",
          true,
          {
            toolResult: {
              toolUseId: "t1",
              type: "nova_code_interpreter_result",
              status: "success",
              content: [{ json: { stdOut: "7006652" } }],
            },
          },
        ],
        ["citation", undefined, { title: "Sums", location: { web: { url: "https://example.com" } } }],
      ],
    );
    assert.deepEqual(callsOf(decoded), []);
    assert.equal(of(decoded, "done")[0]?.finish, "stop");
  });

  for (const [type, code, retry] of [
    ["throttlingException", "rate_limited", true],
    ["serviceUnavailableException", "unavailable", true],
    ["internalServerException", "unavailable", true],
    ["modelTimeoutException", "unavailable", true],
    ["modelStreamErrorException", "llm_error", true],
    ["validationException", "invalid_input", false],
    ["somethingNewException", "llm_error", false],
  ] as const) {
    it(`${type} in the middle is ${code}, after what had arrived`, () => {
      const decoded = decode(wire, begin, delta(0, { text: "Gu" }), exception(type, { message: "said so" }), figures);
      assert.equal(decoded.transcript.text, "Gu");
      const [failed, ...others] = of(decoded, "error");
      assert.equal(others.length + of(decoded, "done").length, 0);
      assert.equal(failed?.error.code, code);
      assert.equal(failed?.error.retryable || failed?.error.details?.retry === true, retry);
      assert.include(failed?.error.message, "said so");
    });
  }

  it("an error of the transport, which has no payload, ends it too", () => {
    const decoded = decode(wire, begin, transportError("InternalFailure", "broken"));
    assert.equal(of(decoded, "error")[0]?.error.message, "the provider reported InternalFailure: broken");
  });

  it("arguments for a block that is no call fail the answer", () => {
    const pieces = [begin, callStart(0, "a", "now"), delta(1, { toolUse: { input: "{}" } }), stop("tool_use"), figures];
    assert.equal(of(decode(wire, ...pieces), "error")[0]?.error.code, "stream_error");
  });

  it("what a model wrote wrongly can be tried again", () => {
    for (const reason of ["malformed_tool_use", "malformed_model_output"]) {
      const [failed] = of(decode(wire, begin, stop(reason), figures), "error");
      assert.deepInclude(failed?.error.details, { retry: true, vendorCode: reason });
    }
  });

  it("unknown events, blocks and deltas are counted, and harm nothing", () => {
    const decoded = decode(
      wire,
      begin,
      message("brandNew", { a: 1 }),
      message("contentBlockStart", { contentBlockIndex: 0, start: { video: { format: "mp4" } } }),
      delta(0, { video: { source: { bytes: "AA==" } } }),
      blockStop(0),
      delta(5, { hologram: {} }),
      delta(1, { text: "Hi" }),
      stop("end_turn"),
      figures,
    );
    assert.deepEqual(decoded.quirks, { unknown_event: 1, unknown_block: 1, unknown_delta: 1 });
    assert.deepEqual(of(decoded, "activity")[0]?.data, { video: { format: "mp4", source: { bytes: "AA==" } } });
    assert.equal(decoded.transcript.text, "Hi");
  });

  it("never runs a call without input in an answer that was cut, in pieces or whole", () => {
    const begun = [begin, callStart(0, "t", "now")];
    for (const [reason, ran] of [
      ["tool_use", {}],
      ["max_tokens", "tool_invalid_arguments"],
      ["guardrail_intervened", "tool_invalid_arguments"],
      ["model_context_window_exceeded", "tool_invalid_arguments"],
    ] as const) {
      const ends = [stop(reason), figures];
      assert.deepEqual(callsOf(decode(wire, ...begun, blockStop(0), ...ends)), [["now", ran]], reason);
      assert.deepEqual(callsOf(decode(wire, ...begun, ...ends)), [["now", ran]], reason);
      const content = [{ toolUse: { toolUseId: "t", name: "now", input: {} } }];
      const whole = message("", { output: { message: { role: "assistant", content } }, stopReason: reason });
      assert.deepEqual(callsOf(decode(wire, whole)), [["now", ran]], reason);
    }
  });

  it("never takes input that is no object for none", () => {
    for (const [input, ran] of [
      [null, {}],
      [[], "tool_invalid_arguments"],
      ["x", "tool_invalid_arguments"],
      [0, "tool_invalid_arguments"],
    ] as const) {
      const content = [{ toolUse: { toolUseId: "t", name: "now", input } }];
      const whole = message("", { output: { message: { role: "assistant", content } }, stopReason: "tool_use" });
      assert.deepEqual(callsOf(decode(wire, whole)), [["now", ran]], JSON.stringify(input));
    }
  });

  it("counts a call once whose start is sent twice, and fails when the whole answer begins again", () => {
    const input = delta(0, { toolUse: { input: '{"n":1}' } });
    const twice = [callStart(0, "t", "pay"), callStart(0, "t", "pay"), input, blockStop(0), stop("tool_use"), figures];
    const decoded = decode(wire, begin, begin, ...twice);
    assert.deepEqual(callsOf(decoded), [["pay", { n: 1 }]]);
    assert.deepEqual(decoded.quirks, { repeated_call: 1 });
    const again = decode(wire, begin, delta(0, { text: "Hel" }), begin, delta(0, { text: "Hello" }), stop("end_turn"));
    assert.equal(again.transcript.text, "Hel");
    assert.include(of(again, "error")[0]?.error.message, "second message");
  });
});
