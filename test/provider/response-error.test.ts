import { expect } from "chai";
import {
  codeInBody,
  codeOfStatus,
  errorCode,
  errorText,
  header,
  httpFailure,
  retryHints,
  statusInBody,
  vendorWords,
} from "../../src/provider/http/response-error.ts";

describe("an error response of a provider", () => {
  it("has the code of its status", () => {
    const rows: readonly (readonly [number, string])[] = [
      [401, "unauthorized"],
      [402, "forbidden"],
      [403, "forbidden"],
      [404, "not_found"],
      [400, "invalid_input"],
      [422, "invalid_input"],
      [408, "timeout"],
      [409, "conflict"],
      [413, "too_large"],
      [429, "rate_limited"],
      [500, "unavailable"],
      [501, "llm_error"],
      [503, "unavailable"],
      [529, "unavailable"],
      [301, "llm_error"],
      [418, "llm_error"],
      [499, "llm_error"],
    ];
    for (const [status, code] of rows) expect(codeOfStatus(status), String(status)).to.equal(code);
  });

  it("within a stream has the code of the status in its body, or of its words for overload", () => {
    const rows: readonly (readonly [unknown, string | undefined])[] = [
      [{ error: { code: 429 } }, "rate_limited"],
      [{ error: { code: "503" } }, "unavailable"],
      [{ status_code: 401 }, "unauthorized"],
      [{ status: 408 }, "unavailable"],
      [{ code: 409 }, undefined],
      [{ code: 418, message: "overloaded" }, "unavailable"],
      [{ error: { type: "overloaded_error" } }, "unavailable"],
      [{ message: "HTTP 529" }, "unavailable"],
      [{ message: "15290" }, undefined],
      [{ error: { code: "tool_use_failed" } }, undefined],
      ["Overloaded", "unavailable"],
      [undefined, undefined],
    ];
    for (const [body, code] of rows) expect(codeInBody(body), JSON.stringify(body)).to.equal(code);
  });

  it("has a status in its body only from 400 to 599, inside first, as a number or three digits", () => {
    const rows: readonly (readonly [unknown, number | undefined])[] = [
      [{ error: { code: 400 }, code: 500 }, 400],
      [{ error: { status_code: 401, code: 402 } }, 401],
      [{ error: { code: "x", status: 403 } }, 403],
      [{ error: {}, code: 599 }, 599],
      [{ code: 399 }, undefined],
      [{ code: 600 }, undefined],
      [{ code: "4000" }, undefined],
      [{ code: "a400" }, undefined],
      [{ error: "x", code: "404" }, 404],
      [[], undefined],
      [null, undefined],
    ];
    for (const [body, status] of rows) expect(statusInBody(body), JSON.stringify(body)).to.equal(status);
  });

  it("says what the vendor said, wherever it put it, at most 500 characters", () => {
    const rows: readonly (readonly [unknown, string])[] = [
      [" text \n", "text"],
      [{ error: { message: "m" } }, "m"],
      [{ error: "e", message: "m" }, "e"],
      [{ error: "", message: "m", detail: "d" }, "m"],
      [{ detail: "d" }, "d"],
      [{ detail: [{ loc: 1 }] }, '[{"loc":1}]'],
      [{ detail: { message: "m" } }, "m"],
      [[{ error: { message: "m" } }], "m"],
      [{ message: 1 }, ""],
      [{}, ""],
      [undefined, ""],
      ["x".repeat(501), `${"x".repeat(500)} …`],
      ["x".repeat(500), "x".repeat(500)],
    ];
    for (const [body, text] of rows) expect(errorText(body), JSON.stringify(body)?.slice(0, 60)).to.equal(text);
  });

  it("has the vendor's own code, type, parameter and reason", () => {
    const codes: readonly (readonly [unknown, string | undefined])[] = [
      [{ error: { code: "c", type: "t" } }, "c"],
      [{ error: { code: "", type: "t" } }, "t"],
      [{ error: { status: "S" } }, "S"],
      [{ code: 7 }, "7"],
      [[{ error: { code: "c" } }], "c"],
      [{ error: "x" }, undefined],
      ["x", undefined],
    ];
    for (const [body, code] of codes) expect(errorCode(body), JSON.stringify(body)).to.equal(code);
    expect(vendorWords({ error: { code: "c", type: "t", message: "m", param: "p" } })).to.deep.equal({
      vendorCode: "c",
      vendorType: "t",
      vendorMessage: "m",
      param: "p",
    });
    expect(vendorWords([{ error: { type: "t" } }])).to.deep.equal({ vendorCode: "t", vendorType: "t" });
    expect(vendorWords({ type: 1, param: 2 })).to.deep.equal({ vendorCode: "1" });
    expect(vendorWords(undefined)).to.deep.equal({});
    for (const words of [
      "context_length_exceeded",
      "the context window is full",
      "maximum context length",
      "prompt is too long",
      "Input is too long",
      "too many tokens",
      "too many input tokens",
      "exceeds the available context",
      "exceed the context",
      "input token count 9 exceeds 8",
    ])
      expect(vendorWords({ message: words }).reason, words).to.equal("context_length_exceeded");
    expect(vendorWords({ error: { code: "context_length_exceeded" } }).reason).to.equal("context_length_exceeded");
    expect(vendorWords({ message: "a long text" })).not.to.have.property("reason");
  });

  it("says when to try again, and when not to", () => {
    const hints = (headers: Record<string, string>, body: unknown = {}, status = 429) =>
      retryHints(status, headers, body);
    expect(hints({})).to.deep.equal({});
    expect(hints({ "retry-after-ms": "12.5" })).to.deep.equal({ retryAfterMs: 13 });
    expect(hints({ "retry-after-ms": "0", "retry-after": "1" })).to.deep.equal({ retryAfterMs: 1_000 });
    expect(hints({ "retry-after": "0.0001" })).to.deep.equal({ retryAfterMs: 1 });
    expect(hints({ "retry-after": "0" })).to.deep.equal({ retryAfterMs: 0 });
    expect(hints({ "retry-after": "soon" })).to.deep.equal({});
    expect(hints({ "retry-after": new Date(Date.now() + 60_000).toUTCString() }).retryAfterMs).to.be.within(
      55_000,
      60_000,
    );
    for (const passed of ["-5", "", "1, 2", new Date(0).toUTCString()])
      expect(hints({ "retry-after": passed }), passed).to.deep.equal({});
    const ahead = new Date(Date.now() - 3_600_000).toUTCString();
    const then = new Date(Date.parse(ahead) + 2_000).toUTCString();
    expect(hints({ date: ahead, "retry-after": then }), "our clock is ahead").to.deep.equal({ retryAfterMs: 2_000 });
    expect(hints({ "x-should-retry": "true" })).to.deep.equal({ retry: true });
    expect(hints({ "x-should-retry": "false" }, {}, 409)).to.deep.equal({ retry: false });
    expect(hints({ "x-should-retry": "maybe" }, {}, 409)).to.deep.equal({ retry: true });
    for (const word of ["insufficient_quota", "Billing", "spend_limit", "credit balance", "quota_exceeded"]) {
      expect(hints({}, { error: { code: word } }), word).to.deep.equal({ retry: false, exhausted: true });
      expect(hints({}, { error: { code: word } }, 503), word).to.deep.equal({});
      expect(hints({ "retry-after": "1" }, { error: { code: word } }), word).to.deep.equal({ retryAfterMs: 1_000 });
    }
    const google = (retryDelay: unknown) => ({ error: { details: [{ other: 1 }, "x", { retryDelay }] } });
    expect(hints({}, google("20s"))).to.deep.equal({ retryAfterMs: 20_000 });
    expect(hints({}, [google("1.5s")])).to.deep.equal({ retryAfterMs: 1_500 });
    for (const none of ["20", "20s.", "x20s", 20]) expect(hints({}, google(none)), String(none)).to.deep.equal({});
    const reset = { error: { metadata: { headers: { "X-RateLimit-Reset": String(Date.now() + 60_000) } } } };
    expect(hints({}, reset).retryAfterMs).to.be.within(55_000, 60_000);
    expect(hints({}, { error: { metadata: { headers: { "X-RateLimit-Reset": "1" } } } })).to.deep.equal({});
    expect(hints({}, { error: { metadata: 1 } })).to.deep.equal({});
  });

  it("becomes one error with all of that", () => {
    const failure = httpFailure("provider.stream", {
      status: 429,
      headers: { "x-request-id": "r", "retry-after": "1" },
      body: { error: { message: "slow down", code: "limit" } },
    });
    expect(failure).to.deep.include({
      op: "provider.stream",
      code: "rate_limited",
      message: "the provider answered 429: slow down",
      details: { status: 429, vendorCode: "limit", vendorMessage: "slow down", requestId: "r", retryAfterMs: 1_000 },
    });
    const plain = httpFailure("o", { status: 500, headers: { "request-id": ["a", "b"] }, body: "" });
    expect(plain).to.deep.include({ message: "the provider answered 500", details: { status: 500, requestId: "a" } });
    for (const [status, redirects] of [
      [299, false],
      [300, true],
      [399, true],
      [400, false],
    ] as const) {
      const { message } = httpFailure("o", { status, headers: {}, body: "" });
      expect(/redirects elsewhere/.test(message), String(status)).to.equal(redirects);
    }
    expect(header({}, "x")).to.equal(undefined);
  });
});
