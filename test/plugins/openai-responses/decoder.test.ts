import { assert } from "chai";
import fc from "fast-check";
import { ResponsesDecoder } from "../../../plugins/openai-responses/decoder.ts";
import { generationOf } from "../../../src/provider/collect.ts";
import { bytesOf, callsOf, comparable, type Decoded, decode as decodeWith, pieces } from "../../provider/decoding.ts";
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
  parallel,
  reasoning,
  text,
  textDelta,
} from "./streams.ts";

const wire = { framing: "sse", decoder: () => new ResponsesDecoder() } as const;
const decode = (body: string | readonly Uint8Array[]): Decoded => decodeWith(wire, body);
const whole = [["weather", { city: "Oslo" }]];
const oslo = '{"city":"Oslo"}';

describe("the Responses decoder", () => {
  it("gives text, usage, the response's name and the end", () => {
    assert.deepEqual(decode(text).deltas, [
      { type: "response", id: "resp_1", model: "m-1" },
      { type: "text", text: "Grüße " },
      { type: "text", text: "aus 東京 🌊" },
      {
        type: "usage",
        usage: { inputTokens: 8, outputTokens: 5, cacheReadTokens: 2, reasoningTokens: 0 },
        native: { wire: "openai-responses", fields: figures },
      },
      { type: "done", finish: "stop", raw: "completed" },
    ]);
  });

  const figures = {
    input_tokens: 8,
    input_tokens_details: { cached_tokens: 2 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 13,
  };

  it("keeps interleaved parallel calls apart by their output index", () => {
    const decoded = decode(parallel);
    assert.deepEqual(callsOf(decoded), [
      ["weather", { city: "Oslo" }],
      ["time", { zone: "CET" }],
    ]);
    assert.deepEqual(
      decoded.transcript.calls.map(({ id }) => id),
      ["a", "b"],
    );
    assert.equal(decoded.transcript.done?.finish, "tool_calls");
    assert.deepEqual(decoded.quirks, {});
  });

  it("keeps reasoning with its id and its enciphered form, as one part with its summaries as paragraphs", () => {
    const generation = generationOf(decode(reasoning).deltas);
    assert.deepEqual(generation.parts, [
      { type: "reasoning", text: "First, look.\n\nThen say.", id: "rs_1", encrypted: "Z0FBQQ==" },
      { type: "text", text: "42" },
    ]);
  });

  for (const [name, body] of Object.entries({ text, parallel, reasoning })) {
    it(`decodes "${name}" the same however it is cut, and without event names`, () => {
      const expected = comparable(decode(body).deltas);
      assert.deepEqual(comparable(decode(bytesOf(body)).deltas), expected);
      assert.deepEqual(comparable(decode(bytesOf(body.replaceAll("\n", "\r\n"))).deltas), expected);
      assert.deepEqual(comparable(decode(body.replaceAll(/^event: .*\n/gm, "")).deltas), expected);
      const bytes = Buffer.from(body);
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }), (sizes) => {
          assert.deepEqual(comparable(decode(pieces(bytes, sizes)).deltas), expected);
        }),
      );
    });
  }

  it("says exactly one error, and no end, for a stream that is cut anywhere", () => {
    const bytes = Buffer.from(parallel.trimEnd());
    for (let cut = 0; cut < bytes.length; cut++) {
      const ends = decode([bytes.subarray(0, cut)]).deltas.filter(({ type }) => type === "error" || type === "done");
      assert.deepEqual(
        ends.map((delta) => delta.type),
        ["error"],
        `cut at ${cut}`,
      );
    }
  });

  describe("calls", () => {
    it("prefer the arguments' own end over the sum of their pieces", () => {
      const decoded = decode(
        created +
          added(0, call("a", "weather", "")) +
          argumentsDelta(0, "gAAAAcipher") +
          argumentsDone(0, oslo) +
          completed(),
      );
      assert.deepEqual(callsOf(decoded), whole);
      assert.equal(decoded.quirks.arguments_differ, 1);
    });

    it("take arguments that come only at the end of the call or of its item", () => {
      const opened = created + added(0, call("a", "weather", ""));
      assert.deepEqual(callsOf(decode(opened + argumentsDone(0, oslo) + completed())), whole);
      assert.deepEqual(callsOf(decode(opened + finished(0, call("a", "weather", oslo)) + completed())), whole);
      assert.deepEqual(callsOf(decode(created + finished(0, call("a", "weather", oslo)) + completed())), whole);
    });

    it("take no arguments at the item's end as an empty object", () => {
      const body = created + added(0, call("a", "now", "")) + finished(0, call("a", "now", "")) + completed();
      assert.deepEqual(callsOf(decode(body)), [["now", {}]]);
    });

    it("stay the same call when every event has another item id", () => {
      const decoded = decode(
        created +
          added(0, call("a", "weather", "", "x1")) +
          argumentsDelta(0, '{"city":', "x2") +
          argumentsDelta(0, '"Oslo"}', "x3") +
          finished(0, call("a", "weather", oslo, "x4")) +
          completed(),
      );
      assert.deepEqual(callsOf(decoded), whole);
    });

    it("are distinguished by item id when a server gives two of them one output index", () => {
      const decoded = decode(
        created +
          added(0, call("a", "weather", "", "fc_1")) +
          added(0, call("b", "time", "", "fc_2")) +
          argumentsDelta(0, oslo, "fc_1") +
          argumentsDelta(0, '{"zone":1}', "fc_2") +
          finished(0, call("a", "weather", oslo, "fc_1")) +
          finished(0, call("b", "time", '{"zone":1}', "fc_2")) +
          completed(),
      );
      assert.deepEqual(callsOf(decoded), [...whole, ["time", { zone: 1 }]]);
    });

    it("that never ended make a completed response an error", () => {
      const begun = created + added(0, call("a", "write", "")) + argumentsDelta(0, '{"path":"a","conte');
      assert.equal(decode(begun + completed()).transcript.error?.code, "stream_error");
      const bare = created + added(0, call("a", "write", ""));
      assert.equal(decode(bare + completed()).transcript.error?.code, "stream_error");
    });

    it("that never ended are taken from the final response when it has them", () => {
      const begun = created + added(0, call("a", "weather", "")) + argumentsDelta(0, '{"ci');
      assert.deepEqual(callsOf(decode(begun + completed(`[{${call("a", "weather", oslo)}}]`))), whole);
    });

    it("keep their pieces when the item that ends them has no arguments", () => {
      const body =
        created + added(0, call("a", "weather", "")) + argumentsDelta(0, oslo) + finished(0, call("a", "weather", ""));
      assert.deepEqual(callsOf(decode(body + completed())), whole);
    });

    it("that were never streamed are taken from the final response", () => {
      const output = `[{${message("hi")}},{${call("a", "weather", oslo)}}]`;
      const decoded = decode(created + textDelta(0, "hi") + completed(output));
      assert.equal(decoded.transcript.text, "hi");
      assert.deepEqual(callsOf(decoded), whole);
    });

    it("cut by the token limit are never run", () => {
      const body =
        created +
        added(0, call("a", "weather", "")) +
        argumentsDelta(0, '{"ci') +
        event(
          "response.incomplete",
          '"response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}',
        );
      const decoded = decode(body);
      assert.equal(decoded.transcript.done?.finish, "length");
      assert.deepEqual(callsOf(decoded), [["weather", '{"ci']]);
    });

    it("without their end are an error when a response stops for a reason that is not known", () => {
      const stopped = event(
        "response.incomplete",
        '"response":{"status":"incomplete","incomplete_details":{"reason":"steered"},"output":[]}',
      );
      assert.equal(decode(created + added(0, call("a", "now", "")) + stopped).transcript.error?.code, "stream_error");
    });

    it("keep their namespace to be sent back", () => {
      const namespaced = `${call("a", "weather", oslo)},"namespace":"crm"`;
      const decoded = decode(created + added(0, namespaced) + finished(0, namespaced) + completed());
      assert.deepEqual(JSON.parse(decoded.transcript.calls[0]?.signature ?? ""), {
        type: "function_call",
        namespace: "crm",
      });
    });

    it("of a custom tool, a shell and a patch are the client's, each under its kind", () => {
      const items = [
        '"id":"c","type":"custom_tool_call","call_id":"a","name":"sql","input":"select 1"',
        '"id":"l","type":"local_shell_call","call_id":"b","action":{"type":"exec","command":["ls"]},"status":"completed"',
        '"id":"p","type":"apply_patch_call","call_id":"d","operation":{"type":"delete_file","path":"x"},"status":"completed"',
      ];
      const decoded = decode(
        created + items.map((item, index) => added(index, item) + finished(index, item)).join("") + completed(),
      );
      assert.deepEqual(callsOf(decoded), [
        ["sql", { input: "select 1" }],
        ["local_shell", { action: { type: "exec", command: ["ls"] } }],
        ["apply_patch", { operation: { type: "delete_file", path: "x" } }],
      ]);
      assert.deepEqual(
        decoded.transcript.calls.map((made) => made.kind),
        ["custom_tool_call", "local_shell_call", "apply_patch_call"],
      );
    });

    it("of a shell that the vendor runs are not the client's", () => {
      const shell =
        '"id":"s","type":"shell_call","call_id":"a","action":{"commands":["ls"]},"environment":{"type":"container_auto"}';
      const answered = '"id":"s","type":"shell_call","call_id":"b","action":{"commands":["ls"]}';
      const output = '"id":"o","type":"shell_call_output","call_id":"b","output":[]';
      const body = created + finished(0, shell) + finished(1, answered) + finished(2, output) + completed();
      assert.deepEqual(callsOf(decode(body)), []);
    });
  });

  describe("text", () => {
    const opened = created + added(0, '"id":"msg_1","type":"message","content":[]');

    it("that was never streamed is taken from its end, its item or the final response", () => {
      for (const body of [
        opened + event("response.output_text.done", '"output_index":0,"content_index":0,"text":"hello"') + completed(),
        opened + finished(0, message("hello")) + completed(),
        opened + textDelta(0, "hel") + finished(0, message("hello")) + completed(),
        created + completed(`[{${message("hello")}}]`),
        opened + completed(`[{${message("hello")}}]`),
      ]) {
        assert.equal(decode(body).transcript.text, "hello");
      }
    });

    it("is not doubled when the parts are counted on from the item before", () => {
      const body =
        opened +
        event("response.output_text.delta", '"output_index":0,"content_index":1,"delta":"hello"') +
        finished(0, message("hello")) +
        completed();
      assert.equal(decode(body).transcript.text, "hello");
    });

    it("of a refusal is reported as one", () => {
      const refusal =
        event("response.refusal.delta", '"output_index":0,"content_index":0,"delta":"No, "') +
        event("response.refusal.done", '"output_index":0,"content_index":0,"refusal":"No, thanks."');
      const { transcript } = decode(opened + refusal + completed());
      assert.equal(transcript.refusal, "No, thanks.");
      assert.equal(transcript.done?.finish, "refusal");
    });

    it("carries its log probabilities, also those of a token without text", () => {
      const delta = (text: string) =>
        event(
          "response.output_text.delta",
          `"output_index":0,"content_index":0,"delta":"${text}","logprobs":[{"token":"${text}"}]`,
        );
      const { deltas } = decode(opened + delta("a") + delta("") + delta("b") + completed());
      const told = deltas.flatMap((each) => {
        if (each.type === "text") return [each.native?.fields];
        return each.type === "activity" ? [each.data] : [];
      });
      assert.deepEqual(told, [
        { logprobs: [{ token: "a" }] },
        { parts: { "0": { logprobs: [{ token: "" }] } } },
        { logprobs: [{ token: "b" }] },
      ]);
    });

    it("carries its citations, once", () => {
      const annotation = '{"type":"url_citation","url":"u"}';
      const cited = `"id":"msg_1","type":"message","content":[{"type":"output_text","text":"hi","annotations":[${annotation}]}]`;
      for (const body of [
        opened +
          event("response.output_text.annotation.added", `"output_index":0,"annotation":${annotation}`) +
          finished(0, cited),
        opened + finished(0, cited),
      ]) {
        const found = decode(body + completed()).deltas.filter((delta) => delta.type === "activity");
        assert.lengthOf(found, 1);
      }
    });

    it("goes on in several messages", () => {
      const body = opened + textDelta(0, "a") + added(1, '"type":"message"') + textDelta(1, "b", "msg_2") + completed();
      assert.equal(decode(body).transcript.text, "ab");
    });
  });

  it("keeps what the vendor's own tools did, to be sent back", () => {
    const search = '"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}';
    const { deltas } = decode(
      created +
        added(0, search) +
        event("response.web_search_call.searching", '"output_index":0') +
        finished(0, search) +
        completed(),
    );
    assert.deepEqual(
      deltas.filter((delta) => delta.type === "activity").map((delta) => delta.keep),
      [undefined, true],
    );
  });

  it("starts in the middle, ignores keep-alives and [DONE], and counts events it does not know", () => {
    const { transcript, quirks } = decode(
      `data: {"type":"keepalive"}\n\n: hi\n\ndata: : ping\n\n${textDelta(0, "hi")}${event("response.brand_new.thing", '"a":1')}${completed()}data: [DONE]\n\n`,
    );
    assert.equal(transcript.text, "hi");
    assert.equal(transcript.done?.finish, "stop");
    assert.deepInclude(quirks, { unknown_event: 1, item_not_announced: 1, comment_as_data: 1 });
  });

  it("accepts events without blank lines between them", () => {
    const { transcript, quirks } = decode(text.replaceAll("\n\n", "\n"));
    assert.equal(transcript.text, "Grüße aus 東京 🌊");
    assert.equal(quirks.events_not_separated, 1);
  });

  it("is not ended by [DONE] alone", () => {
    assert.equal(decode(`${created}data: [DONE]\n\n`).transcript.error?.code, "stream_error");
  });

  it("takes a whole response in place of a stream", () => {
    const { transcript } = decode(
      `data: {"object":"response","id":"r","status":"completed","output":[{${message("hi")}}]}\n\n`,
    );
    assert.equal(transcript.text, "hi");
  });

  describe("errors", () => {
    for (const [what, body, code, details] of [
      [
        "flat",
        event("error", '"code":"server_error","message":"overloaded"'),
        "unavailable",
        { vendorCode: "server_error" },
      ],
      [
        "nested",
        event("error", '"error":{"type":"tokens","code":"rate_limit_exceeded","message":"Please try again in 6.5s."}'),
        "rate_limited",
        { vendorCode: "rate_limit_exceeded", retryAfterMs: 6500 },
      ],
      [
        "nested with an empty message",
        event("error", '"error":{"type":"invalid_request_error","message":""}'),
        "invalid_input",
        {},
      ],
      ["without a type", 'data: {"error":{"message":"no"}}\n\n', "llm_error", {}],
      [
        "a response that failed",
        event("response.failed", '"response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"m"}}'),
        "rate_limited",
        {},
      ],
      [
        "a response that was cancelled",
        event("response.cancelled", '"response":{"status":"cancelled","error":null}'),
        "llm_error",
        {},
      ],
      ["no JSON", "data: {oops\n\n", "stream_error", undefined],
    ] as const) {
      it(`${what} is ${code}`, () => {
        const { transcript, deltas } = decode(created + textDelta(0, "Par") + body + completed());
        assert.equal(transcript.error?.code, code);
        assert.equal(transcript.text, "Par");
        assert.equal(deltas.at(-1)?.type, "error");
        if (details !== undefined) assert.deepInclude(transcript.error?.details, details);
      });
    }
  });
});
