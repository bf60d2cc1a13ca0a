import { assert } from "chai";
import fc from "fast-check";
import { ChatDecoder } from "../../../plugins/openai/decoder.ts";
import { bytesOf, callsOf, comparable, type Decoded, decode as decodeWith, pieces } from "../../provider/decoding.ts";
import { calls, done, event, fragment, parallel, reasoning, stop, text, usage } from "./streams.ts";

const wire = { framing: "sse", decoder: () => new ChatDecoder() } as const;
const decode = (body: string | readonly Uint8Array[]): Decoded => decodeWith(wire, body);
const codeOf = (body: string): string | undefined => decode(body).transcript.error?.code;
const whole = [["weather", { city: "Oslo" }]];

describe("the Chat Completions decoder", () => {
  it("gives text, usage, the response's name and the end", () => {
    const { deltas } = decode(text);
    assert.deepEqual(deltas, [
      { type: "response", id: "cc-1", model: "m-1" },
      { type: "text", text: "Grüße " },
      { type: "text", text: "aus 東京 🌊" },
      {
        type: "usage",
        usage: { inputTokens: 9, outputTokens: 4, cacheReadTokens: 3, reasoningTokens: 0 },
        native: { wire: "openai-chat", fields: figures },
      },
      { type: "done", finish: "stop", raw: "stop" },
    ]);
  });

  const figures = {
    prompt_tokens: 9,
    completion_tokens: 4,
    total_tokens: 13,
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };

  it("tells a field that every chunk repeats once, and log probabilities with each text", () => {
    const filter = ',"content_filter_results":{"hate":{"filtered":false}}';
    const logprobs = ',"logprobs":{"content":[{"token":"a"}]}';
    const chunk = (more: string) => event('{"content":"a"}').replace('"index":0', `"index":0${more}`);
    const tier = (body: string) => body.replaceAll('"model"', '"service_tier":"flex","model"');
    const { deltas } = decode(tier([filter, filter, filter + logprobs, logprobs].map(chunk).join("") + stop + done));
    const told = deltas.flatMap((delta) => (delta.type === "response" && delta.native ? [delta.native.fields] : []));
    assert.deepEqual(told, [{ service_tier: "flex" }]);
    const beside = deltas.flatMap((delta) => (delta.type === "text" ? [Object.keys(delta.native?.fields ?? {})] : []));
    assert.deepEqual(beside, [["content_filter_results"], [], ["logprobs"], ["logprobs"]]);
  });

  it("gives each stream its own name, also one that a server tells late and after others like it", () => {
    const words = ["a", "b", "c", "d"].map((word) => event(`{"content":"${word}"}`)).join("");
    for (const id of ["first", "second", "third"]) {
      const nameless = event('{"content":""}').replace('"cc-1"', '""');
      const body = (nameless + words + stop + done).replaceAll('"cc-1"', `"${id}"`);
      const { deltas } = decode(body);
      assert.deepEqual(
        deltas.filter((delta) => delta.type === "response" && delta.id !== undefined),
        [{ type: "response", id }],
      );
      assert.equal(deltas.map((delta) => (delta.type === "text" ? delta.text : "")).join(""), "abcd");
    }
  });

  it("keeps interleaved parallel calls apart", () => {
    const decoded = decode(parallel);
    assert.deepEqual(callsOf(decoded), [
      ["weather", { city: "Oslo" }],
      ["time", { zone: "CET" }],
    ]);
    assert.deepEqual(
      decoded.transcript.calls.map((call) => call.id),
      ["a", "b"],
    );
    assert.equal(decoded.transcript.done?.finish, "tool_calls");
  });

  it("tells reasoning from text and remembers the field it came in", () => {
    const { deltas, transcript } = decode(reasoning);
    assert.equal(transcript.reasoning, "Let me think – ü");
    assert.equal(transcript.text, "42");
    assert.deepInclude(deltas[1], { type: "reasoning", id: "reasoning_content" });
    assert.deepEqual(transcript.usage, { inputTokens: 5, outputTokens: 7, cacheReadTokens: 2 });
  });

  for (const [name, body] of Object.entries({ text, parallel, reasoning })) {
    it(`decodes "${name}" the same however it is cut`, () => {
      const expected = comparable(decode(body).deltas);
      assert.deepEqual(comparable(decode(bytesOf(body)).deltas), expected);
      assert.deepEqual(comparable(decode(body.replaceAll("\n", "\r\n")).deltas), expected);
      assert.deepEqual(comparable(decode(bytesOf(body.replaceAll("\n", "\r\n"))).deltas), expected);
      const bytes = Buffer.from(body);
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }), (sizes) => {
          assert.deepEqual(comparable(decode(pieces(bytes, sizes)).deltas), expected);
        }),
      );
    });
  }

  it("says exactly one error, and no end, for a stream that is cut anywhere before its finish reason", () => {
    const bytes = Buffer.from(parallel);
    const finished = bytes.indexOf('"finish_reason":"tool_calls"') + '"finish_reason":"tool_calls"}]}'.length;
    for (let cut = 0; cut < finished; cut++) {
      const { deltas } = decode([bytes.subarray(0, cut)]);
      const ends = deltas.filter((delta) => delta.type === "error" || delta.type === "done");
      assert.deepEqual(
        ends.map((delta) => delta.type),
        ["error"],
        `cut at ${cut}`,
      );
      assert.equal(deltas.at(-1)?.type, "error");
    }
  });

  describe("ends", () => {
    it("takes the end of the bytes for [DONE] once a finish reason was seen", () => {
      const { transcript, quirks } = decode(event('{"content":"a"}') + stop);
      assert.equal(transcript.done?.finish, "stop");
      assert.equal(quirks.done_missing, 1);
    });

    it("takes [DONE] with blanks around it", () => {
      assert.equal(decode(`${stop}data:  [DONE] \n\n`).transcript.done?.finish, "stop");
    });

    it("does not accept [DONE] alone as an end", () => {
      assert.equal(codeOf(event('{"content":"a"}') + done), "stream_error");
      assert.equal(codeOf(done), "stream_error");
      assert.equal(codeOf(""), "stream_error");
    });

    it("is cut off when another choice began and never finished", () => {
      const other = 'data: {"choices":[{"index":1,"delta":{"content":"x"}}]}\n\n';
      assert.equal(codeOf(event('{"content":"a"}') + other + stop + done), "stream_error");
    });

    it("ignores finish reasons that are empty, and lets the one that tells of a cut win", () => {
      const { transcript, quirks } = decode(event('{"content":"a"}', '""') + stop + event("{}", '"length"') + done);
      assert.equal(transcript.done?.finish, "length");
      assert.deepInclude(quirks, { finish_empty: 1, finish_repeated: 1 });
    });

    it("takes what comes with and after the finish reason", () => {
      const decoded = decode(event('{"content":"a"}', '"stop"') + event('{"content":"b"}') + usage + done);
      assert.equal(decoded.transcript.text, "ab");
      assert.equal(decoded.transcript.usage?.outputTokens, 4);
    });

    it("calls it tool_calls when there are calls, whatever the server says", () => {
      const { transcript, quirks } = decode(
        fragment('"index":0,"id":"a","function":{"name":"weather","arguments":"{}"}') + stop + done,
      );
      assert.deepInclude(transcript.done, { finish: "tool_calls", raw: "stop" });
      assert.equal(quirks.stop_with_tool_calls, 1);
    });

    it("normalises reasons and keeps the raw one", () => {
      for (const [raw, finish] of [
        ["eos", "stop"],
        ["model_length", "length"],
        ["content_filter", "content_filter"],
        ["function_call", "tool_calls"],
        ["mystery", "other"],
      ] as const) {
        assert.deepInclude(decode(event("{}", `"${raw}"`) + done).transcript.done, { finish, raw });
      }
    });

    it("calls a refusal one", () => {
      const { transcript } = decode(event('{"refusal":"I can’t."}') + stop + done);
      assert.deepInclude(transcript, { refusal: "I can’t.", text: "" });
      assert.equal(transcript.done?.finish, "refusal");
    });
  });

  describe("tool calls", () => {
    const args = '"arguments":"{\\"city\\":\\"Oslo\\"}"';

    it("opens a call without an index by its id or its name, and continues the last one otherwise", () => {
      const decoded = decode(
        fragment(`"id":"a","function":{"name":"weather",${args}}`) +
          fragment('"id":"b","function":{"name":"time","arguments":"{\\"zone\\""}') +
          fragment('"function":{"arguments":":1}"}') +
          stop +
          done,
      );
      assert.deepEqual(callsOf(decoded), [...whole, ["time", { zone: 1 }]]);
      assert.equal(decoded.quirks.index_missing, 3);
    });

    it("takes several calls without index or id in one array as several", () => {
      const decoded = decode(
        fragment('"function":{"name":"now","arguments":""}', '"function":{"name":"now","arguments":""}') + calls + done,
      );
      assert.deepEqual(callsOf(decoded), [
        ["now", {}],
        ["now", {}],
      ]);
    });

    it("takes a second whole call under an index that is in use as another call", () => {
      const decoded = decode(
        fragment(`"index":0,"id":"a","function":{"name":"weather",${args}}`) +
          fragment('"index":0,"id":"b","function":{"name":"weather","arguments":"{\\"city\\":\\"Rome\\"}"}') +
          calls +
          done,
      );
      assert.deepEqual(callsOf(decoded), [...whole, ["weather", { city: "Rome" }]]);
      assert.equal(decoded.quirks.index_reused, 1);
    });

    it("continues the call at its index when only the id changes", () => {
      const decoded = decode(
        fragment('"index":0,"id":"a","function":{"name":"weather","arguments":""}') +
          fragment('"index":0,"id":"b","function":{"name":"","arguments":"{\\"city\\":"}') +
          fragment('"index":0,"id":"c","function":{"name":"","arguments":"\\"Oslo\\"}"}') +
          fragment('"index":0,"id":"d","function":{"name":"","arguments":""}') +
          calls +
          done,
      );
      assert.deepEqual(callsOf(decoded), whole);
      assert.equal(decoded.transcript.calls[0]?.id, "a");
    });

    it("takes an id that is the word null, null or empty as none, and a name that is repeated once", () => {
      const decoded = decode(
        fragment('"index":0,"id":"a","function":{"name":"weather","arguments":""}') +
          fragment('"index":0,"id":"null","function":{"name":"weather","arguments":"{\\"city\\":"}') +
          fragment('"index":0,"id":null,"type":null,"function":{"name":null,"arguments":"\\"Oslo\\""}') +
          fragment('"index":0,"id":"","function":{"name":"weather","arguments":"}"}') +
          fragment('"index":0,"id":"","function":{"name":"weather","arguments":null}') +
          calls +
          done,
      );
      assert.deepEqual(callsOf(decoded), whole);
      assert.deepInclude(decoded.quirks, { id_null: 1, name_repeated: 3 });
    });

    it("does not double arguments that are sent again whole", () => {
      const decoded = decode(
        fragment('"index":0,"id":"a","function":{"name":"weather","arguments":"{\\"city\\":"}') +
          fragment('"index":0,"function":{"arguments":"\\"Oslo\\"}"}') +
          fragment(`"index":0,"id":"a","function":{"name":"weather",${args}}`) +
          calls +
          done,
      );
      assert.deepEqual(callsOf(decoded), whole);
      assert.equal(decoded.quirks.arguments_resent, 1);
    });

    it("drops an empty object that stands for arguments to come", () => {
      const decoded = decode(
        fragment('"index":0,"id":"a","function":{"name":"weather","arguments":"{}"}') +
          fragment('"index":0,"function":{"arguments":"{\\"city\\":"}') +
          fragment('"index":0,"function":{"arguments":"\\"Oslo\\"}"}') +
          calls +
          done,
      );
      assert.deepEqual(callsOf(decoded), whole);
    });

    it("takes arguments as an object, calls without `function`, and the old function_call", () => {
      assert.deepEqual(
        callsOf(decode(fragment('"index":0,"function":{"name":"weather","arguments":{"city":"Oslo"}}') + calls + done)),
        whole,
      );
      assert.deepEqual(callsOf(decode(fragment(`"id":"a","name":"weather",${args}`) + calls + done)), whole);
      const old = decode(
        event('{"function_call":{"name":"weather","arguments":""}}') +
          event(`{"function_call":{${args}}}`) +
          event("{}", '"function_call"') +
          done,
      );
      assert.deepEqual(callsOf(old), whole);
    });

    it("wraps the free text of a custom tool into an object", () => {
      const decoded = decode(
        fragment('"index":0,"id":"a","type":"custom","custom":{"name":"sql","input":"select \\""}') +
          fragment('"index":0,"custom":{"input":"x\\"\\n"}') +
          calls +
          done,
      );
      assert.deepEqual(callsOf(decoded), [["sql", { input: 'select "x"\n' }]]);
    });

    it("keeps the signature that a call carries", () => {
      const decoded = decode(
        fragment(
          `"extra_content":{"google":{"thought_signature":"c2ln"}},"id":"a","function":{"name":"weather",${args}}`,
        ) +
          stop +
          done,
      );
      assert.equal(decoded.transcript.calls[0]?.signature, "c2ln");
    });

    it("never repairs arguments that are short or go on after their end", () => {
      const short = fragment('"index":0,"id":"a","function":{"name":"weather","arguments":"{\\"city"}');
      assert.deepEqual(callsOf(decode(short + calls + done)), [["weather", '{"city']]);
      assert.deepEqual(callsOf(decode(short + event("{}", '"length"') + done)), [["weather", '{"city']]);
      const long =
        fragment(`"index":0,"id":"a","function":{"name":"weather",${args}}`) +
        fragment('"index":0,"function":{"arguments":", \\"limit\\": 1}"}');
      assert.deepEqual(callsOf(decode(long + calls + done)), [["weather", '{"city":"Oslo"}, "limit": 1}']]);
    });

    it("is not affected by hostile indexes and names", () => {
      const decoded = decode(
        fragment(
          '"index":1000000000,"id":"a","function":{"name":"__proto__","arguments":"{\\"__proto__\\":{\\"x\\":1}}"}',
        ) +
          fragment('"index":-1,"id":"b","function":{"name":"constructor","arguments":"{\\"a\\":1}"}') +
          calls +
          done,
      );
      assert.deepEqual(
        decoded.transcript.calls.map((call) => call.name),
        ["__proto__", "constructor"],
      );
      assert.isUndefined(({} as { x?: number }).x);
    });
  });

  describe("what vendors add and leave out", () => {
    it("reads content that is a list of parts", () => {
      const { transcript, quirks } = decode(
        event(
          '{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"ok"}]}',
        ) +
          stop +
          done,
      );
      assert.deepInclude(transcript, { text: "ok", reasoning: "hm" });
      assert.equal(quirks.content_array, 1);
    });

    it("takes the delta and not the growing message beside it", () => {
      const grown = (delta: string, message: string, finish = "null") =>
        `data: {"object":"chat.completion","choices":[{"index":0,"message":{"content":"${message}"},"delta":{"content":"${delta}"},"finish_reason":${finish}}]}\r\n\r\n`;
      assert.equal(decode(grown("a", "a") + grown("b", "ab", '"stop"')).transcript.text, "ab");
    });

    it("reads messages in place of deltas, also when they grow", () => {
      const grown = (content: string, finish = "null") =>
        `data: {"choices":[{"message":{"content":"${content}"},"finish_reason":${finish}}]}\n\n`;
      assert.equal(decode(grown("a") + grown("ab", '"stop"') + done).transcript.text, "ab");
    });

    it("takes choices without a delta and with a delta of null", () => {
      const bare = 'data: {"choices":[{"index":0,"finish_reason":"stop"}]}\n\n';
      assert.equal(decode(event('{"content":"a"}') + event("null") + bare + done).transcript.text, "a");
    });

    it("takes usage from the choice or from x_groq, and never replaces a zero", () => {
      const inChoice =
        'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":0}}]}\n\n';
      assert.deepEqual(decode(inChoice + done).transcript.usage, { inputTokens: 1, outputTokens: 0 });
      const groq = event("{}", '"stop"', ',"x_groq":{"usage":{"prompt_tokens":2,"completion_tokens":3}}');
      assert.deepEqual(decode(groq + done).transcript.usage, { inputTokens: 2, outputTokens: 3 });
    });

    it("lets the last of several usages win, field by field, without null", () => {
      const body =
        event('{"content":"a"}', "null", ',"usage":{"prompt_tokens":5,"completion_tokens":null}') +
        event("{}", '"stop"', ',"usage":{"prompt_tokens":5,"completion_tokens":2}') +
        done;
      assert.deepEqual(decode(body).transcript.usage, { inputTokens: 5, outputTokens: 2 });
    });

    it("joins reasoning details to be sent back, and does not count their text twice", () => {
      const piece = (part: string) =>
        event(
          `{"reasoning":"${part}","reasoning_details":[{"type":"reasoning.text","text":"${part}","index":0,"format":"f"}]}`,
        );
      const secret = event('{"reasoning_details":[{"type":"reasoning.encrypted","data":"QUJD","index":1}]}');
      const { deltas, transcript } = decode(piece("a") + piece("b") + secret + event('{"content":"x"}') + stop + done);
      assert.equal(transcript.reasoning, "ab");
      assert.deepInclude(deltas, {
        type: "activity",
        kind: "part",
        wire: "openai-chat",
        keep: true,
        data: {
          reasoning_details: [
            { type: "reasoning.text", text: "ab", index: 0, format: "f" },
            { type: "reasoning.encrypted", data: "QUJD", index: 1 },
          ],
        },
      });
    });

    it("tells where an answer was found, once", () => {
      const body =
        event('{"content":"a"}', "null", ',"citations":["u"]') + event("{}", '"stop"', ',"citations":["u","v"]') + done;
      const cited = decode(body).deltas.filter((delta) => delta.type === "activity");
      assert.deepEqual(cited, [
        { type: "activity", kind: "citation", wire: "openai-chat", data: { citations: ["u", "v"] } },
      ]);
    });

    it("skips comments wrapped as data and empty data, and counts events it does not know", () => {
      const { transcript, quirks } = decode(
        `data: : PROCESSING\n\ndata:\n\ndata: {"hello":1}\n\ndata: 7\n\n${event('{"content":"a"}')}${stop}${done}`,
      );
      assert.equal(transcript.text, "a");
      assert.deepInclude(quirks, { comment_as_data: 1, unknown_event: 2 });
    });

    it("accepts events without blank lines between them", () => {
      const { transcript, quirks } = decode(text.replaceAll("\n\n", "\n"));
      assert.equal(transcript.text, "Grüße aus 東京 🌊");
      assert.equal(transcript.done?.finish, "stop");
      assert.equal(quirks.events_not_separated, 1);
    });

    it("takes a signature that comes without its call", () => {
      const decoded = decode(
        fragment('"index":0,"id":"a","function":{"name":"t","arguments":"{}"}') +
          fragment('"index":0,"extra_content":{"google":{"thought_signature":"c2ln"}}') +
          stop +
          done,
      );
      assert.equal(decoded.transcript.calls[0]?.signature, "c2ln");
    });

    it("starts with a chunk without choices, id and model", () => {
      const first = 'data: {"id":"","model":"","choices":[],"prompt_filter_results":[]}\n\n';
      const [fields, named] = decode(first + text).deltas;
      assert.deepEqual(fields, {
        type: "response",
        native: { wire: "openai-chat", fields: { prompt_filter_results: [] } },
      });
      assert.deepEqual(named, { type: "response", id: "cc-1", model: "m-1" });
    });
  });

  describe("errors in the stream", () => {
    const before = event('{"content":"Par"}');
    for (const [what, frame, code] of [
      ["an error object", 'data: {"error":{"message":"boom","type":"x"}}\n\n', "llm_error"],
      ["an error text", 'data: {"code":"Client specified an invalid argument","error":"bad"}\n\n', "llm_error"],
      ["an event named error", 'event: error\ndata: {"message":"boom"}\n\n', "llm_error"],
      [
        "an error body of its own",
        'data: {"object":"error","message":"boom","type":"x","code":40001}\n\n',
        "llm_error",
      ],
      [
        "a failed tool use",
        'data: {"error":{"message":"m","code":"tool_use_failed","status_code":400}}\n\n',
        "llm_error",
      ],
      ["a rate limit by number", 'data: {"error":{"message":"slow down","code":429}}\n\n', "rate_limited"],
      ["a rate limit by word", 'data: {"error":{"message":"m","code":"rate_limit_exceeded"}}\n\n', "rate_limited"],
      ["an overloaded upstream", 'data: {"error":{"message":"m","code":502},"choices":[]}\n\n', "unavailable"],
      ["a server error", 'data: {"error":{"message":"m","type":"server_error"}}\n\n', "unavailable"],
      [
        "an error in the choice",
        'data: {"choices":[{"index":0,"delta":{},"error":{"code":503,"message":"m"}}]}\n\n',
        "unavailable",
      ],
      ["a finish reason that says so", event("{}", '"error"'), "llm_error"],
      ["no JSON", "data: {oops\n\n", "stream_error"],
    ] as const) {
      it(`${what} is ${code}, after what came before it, and the end`, () => {
        const { deltas, transcript } = decode(before + frame + stop + done);
        assert.equal(transcript.text, "Par");
        assert.equal(transcript.error?.code, code);
        assert.equal(deltas.at(-1)?.type, "error");
        assert.isUndefined(transcript.done);
      });
    }

    it("marks usage that came before an error as partial", () => {
      const used = event("{}", "null", ',"usage":{"prompt_tokens":5}');
      assert.deepEqual(decode(`${used}data: {"error":{}}\n\n`).transcript.usage, { inputTokens: 5, source: "partial" });
    });

    it("is not retryable when the credit is exhausted", () => {
      const { transcript } = decode('data: {"error":{"message":"m","code":"insufficient_quota"}}\n\n');
      assert.deepInclude(transcript.error?.details, { retry: false });
    });
  });
});
