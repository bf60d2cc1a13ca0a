// Small changes of what reads providers that no other test noticed: each was found by `npm run mutate`.
import { expect } from "chai";
import type { Message } from "../../src/core/model/messages.ts";
import type { Frame, Wire } from "../../src/core/ports/plugin.ts";
import { Accumulator } from "../../src/provider/accumulate.ts";
import { ToldFields } from "../../src/provider/answer-fields.ts";
import { RepeatedJson, varying } from "../../src/provider/fast-json/repeated-json.ts";
import { framesOf } from "../../src/provider/frames/framing.ts";
import { retryHints } from "../../src/provider/http/response-error.ts";
import { isStrictSchema } from "../../src/provider/strict-schema.ts";
import { hasLateSystem, prefaced } from "../../src/provider/system-place.ts";

function read(framing: Wire["framing"], pieces: readonly string[], limit?: number): string[] {
  const frames = framesOf(framing, limit);
  const out: Frame[] = [];
  for (const piece of pieces) frames.push(Buffer.from(piece), out);
  frames.end(out);
  return out.map(({ data }) => data);
}

describe("frames", () => {
  it("are the same when an empty read comes between CR and LF", () => {
    expect(read("sse", ["data: a\r", "", "\ndata: b\r\n\r", "", "\ndata: c\n\n"])).to.deep.equal(["a\nb", "c"]);
    expect(read("ndjson", ["1\r", "", "\n2\n"])).to.deep.equal(["1", "2"]);
  });

  it("of lines may be as long as the limit, and no longer", () => {
    expect(read("ndjson", ['"12345678"\n'], 10)).to.deep.equal(['"12345678"']);
    expect(() => read("ndjson", ['"123456789"\n'], 10)).to.throw();
  });
});

describe("a template of JSON", () => {
  it("finds the end of a string behind any number of backslashes, at any length", () => {
    const json = new RepeatedJson(varying([["a"]]));
    for (let length = 0; length < 4; length++)
      for (let slashes = 0; slashes < 5; slashes++)
        for (const end of ["", '"', '"b'] as const) {
          const text = JSON.stringify({ a: `${"x".repeat(length)}${"\\".repeat(slashes)}${end}`, b: 1 });
          expect(json.parse(text), text).to.deep.equal(JSON.parse(text));
        }
  });
});

describe("the arguments of a call", () => {
  it("that are blank are none, once the call is whole", () => {
    const accumulator = new Accumulator();
    accumulator.push({ type: "tool_call", index: 0, id: "c", name: "look", arguments: " \n ", sealed: true });
    expect(accumulator.finish("tool_calls")[0]?.result()).to.deep.equal({ ok: true, arguments: {} });
  });
});

describe("fields that a vendor repeats", () => {
  it("are news when they are new or changed, also inside", () => {
    const told = new ToldFields();
    expect(told.news({ a: 1, b: { c: [1] } })).to.deep.equal({ a: 1, b: { c: [1] } });
    expect(told.news({ a: 1, b: { c: [1] } })).to.equal(undefined);
    expect(told.news({ a: 2, b: { c: [2] } })).to.deep.equal({ a: 2, b: { c: [2] } });
    expect(told.news({ a: "2", b: { c: [2] } })).to.deep.equal({ a: "2" });
  });
});

describe("a wait that an error asks for", () => {
  it("is in no body that has no error, whatever the body is", () => {
    for (const body of [undefined, null, "text", 7, [], [null], {}, { error: "text" }, { error: null }, [{ error: 1 }]])
      expect(retryHints(503, {}, body), JSON.stringify(body)).not.to.have.property("retryAfterMs");
    const details = [null, { retryDelay: 5 }, { retryDelay: "1.5s" }];
    for (const body of [{ error: { details } }, [{ error: { details } }]])
      expect(retryHints(429, {}, body)).to.include({ retryAfterMs: 1_500 });
  });
});

describe("OpenAI's strict mode", () => {
  const closed = (properties: object, required: string[]) => ({
    type: "object",
    properties,
    required,
    additionalProperties: false,
  });

  it("takes objects that are closed and whose properties are all required, at any depth", () => {
    const text = { type: "string" };
    expect(isStrictSchema(closed({ a: text }, ["a"]))).to.equal(true);
    expect(isStrictSchema(closed({}, []))).to.equal(true);
    expect(isStrictSchema(closed({ a: text, b: text }, ["a"]))).to.equal(false);
    expect(isStrictSchema({ ...closed({ a: text }, ["a"]), additionalProperties: true })).to.equal(false);
    expect(isStrictSchema({ type: "object" })).to.equal(false);
    expect(isStrictSchema({ type: "array", items: closed({ a: text }, []) })).to.equal(false);
    expect(isStrictSchema({ anyOf: [closed({ a: text }, ["a"]), { type: "null" }] })).to.equal(true);
    expect(isStrictSchema(closed({ a: closed({ b: text }, []) }, ["a"]))).to.equal(false);
  });
});

describe("a system message inside a conversation", () => {
  const says = (role: "system" | "user" | "assistant", text: string): Message => ({
    role,
    parts: [{ type: "text", text }],
  });
  const calls = (...ids: string[]): Message => ({
    role: "assistant",
    parts: ids.map((call) => ({ type: "tool_call", call, name: "look", arguments: {} })),
  });
  const result = (call: string): Message => ({
    role: "tool",
    parts: [{ type: "tool_result", call, name: "look", ok: true, output: "seen" }],
  });
  const order = (messages: readonly Message[]) =>
    prefaced(messages).turns.map(({ role, parts: [part] }) => {
      if (part?.type === "tool_result" || part?.type === "tool_call") return `${role} ${part.call}`;
      return `${role} ${part?.type === "text" ? part.text.replaceAll("\n", "") : ""}`;
    });

  it("stays where it is, as a user's turn, but never between a call and its result", () => {
    const late = says("system", "late");
    expect(order([says("system", "first"), says("user", "hi"), late, says("assistant", "ho")])).to.deep.equal([
      "user hi",
      "user <system>late</system>",
      "assistant ho",
    ]);
    expect(
      order([says("user", "hi"), calls("a", "b"), late, result("a"), result("b"), says("user", "so")]),
    ).to.deep.equal(["user hi", "assistant a", "tool a", "tool b", "user <system>late</system>", "user so"]);
    expect(order([says("user", "hi"), calls("a"), late])).to.deep.equal([
      "user hi",
      "assistant a",
      "user <system>late</system>",
    ]);
    expect(order([says("user", "hi"), calls("a"), late, says("user", "never mind")])).to.deep.equal([
      "user hi",
      "assistant a",
      "user <system>late</system>",
      "user never mind",
    ]);
    expect(prefaced([says("system", "one"), says("system", "two")])).to.deep.include({ turns: [] });
    expect([
      hasLateSystem([says("system", "a"), says("user", "b")]),
      hasLateSystem([says("user", "b"), late]),
    ]).to.deep.equal([false, true]);
  });
});
