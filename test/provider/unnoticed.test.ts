// Small changes of what reads providers that no other test noticed: each was found by `npm run mutate`.
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Delta, ToolCallDelta } from "../../src/core/model/deltas.ts";
import type { Message } from "../../src/core/model/messages.ts";
import type { Frame, Wire } from "../../src/core/ports/plugin.ts";
import { Accumulator } from "../../src/provider/accumulate.ts";
import { ToldFields } from "../../src/provider/answer-fields.ts";
import { Pipeline } from "../../src/provider/decode.ts";
import { deltasOf } from "../../src/provider/deltas-of.ts";
import { placeOf } from "../../src/provider/egress/addresses.ts";
import { RepeatedJson } from "../../src/provider/fast-json/repeated-json.ts";
import { varying } from "../../src/provider/fast-json/template.ts";
import { framesOf } from "../../src/provider/frames/framing.ts";
import { Deadlines } from "../../src/provider/http/deadlines.ts";
import { retryHints } from "../../src/provider/http/response-error.ts";
import { explained } from "../../src/provider/http/strange-answer.ts";
import { isStrictSchema } from "../../src/provider/strict-schema.ts";
import { hasLateSystem, prefaced } from "../../src/provider/system-place.ts";
import { lend } from "./decoding.ts";

function read(framing: Wire["framing"], pieces: readonly string[], limit?: number): string[] {
  const frames = framesOf(framing, limit);
  const out: Frame[] = [];
  for (const piece of pieces) lend(piece, (lent) => frames.push(lent, out));
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

  it("shares no object that stands beside what varies: whoever keeps one keeps his own", () => {
    for (const beside of [{ list: [1] }, { n: 1, list: [1] }, { n: 1, list: { deep: [1] } }]) {
      const json = new RepeatedJson(varying([["a"]]));
      const lists = Array.from(
        "mnopqrstuvwxyz",
        (a) => (json.parse(JSON.stringify({ ...beside, a })) as { list: object }).list,
      );
      for (const list of lists) expect(list).to.deep.equal(beside.list);
      expect(new Set(lists).size, JSON.stringify(beside)).to.equal(lists.length);
    }
  });
});

describe("a decoder that throws at the end of its input", () => {
  it("is an error of the stream", () => {
    const decoder = {
      quirks: new Map<string, number>(),
      push: () => {},
      end: () => {
        throw new TypeError("bug");
      },
    };
    const pipeline = new Pipeline("provider.stream", { framing: "ndjson", decoder: () => decoder } as never);
    const out: Delta[] = [];
    pipeline.end(out);
    expect(out.map(({ type }) => type)).to.deep.equal(["error"]);
    expect(out[0]).to.have.nested.property("error.op", "provider.stream");
    expect(pipeline.finished).to.equal(true);
    pipeline.end(out);
    expect(out).to.have.length(1);
  });
});

describe("a decoder that throws in the middle of a read, and one that uses another while it decodes", () => {
  const pipelineOf = (push: (data: string, out: Delta[]) => void): Pipeline => {
    const decoder = {
      quirks: new Map(),
      push: ({ data }: { data: string }, out: Delta[]) => push(data, out),
      end() {},
    };
    return new Pipeline("provider.stream", { framing: "ndjson", decoder: () => decoder } as never);
  };
  const say = (data: string, out: Delta[]): void => void out.push({ type: "text", text: data });
  const texts = (out: readonly Delta[]): string[] =>
    out.map((delta) => (delta.type === "text" ? delta.text : delta.type));

  it("leave no frame to another stream", () => {
    const failing = pipelineOf((data, out) => {
      if (data === "2") throw new TypeError("bug");
      say(data, out);
    });
    const failed: Delta[] = [];
    failing.push(Buffer.from("1\n2\n3\n"), failed);
    expect(texts(failed)).to.deep.equal(["1", "error"]);
    const inner: Delta[] = [];
    const outer = pipelineOf((data, out) => {
      pipelineOf(say).push(Buffer.from(`${data}0\n${data}1\n`), inner);
      say(data, out);
    });
    const out: Delta[] = [];
    outer.push(Buffer.from("4\n5\n"), out);
    expect(texts(out)).to.deep.equal(["4", "5"]);
    expect(texts(inner)).to.deep.equal(["40", "41", "50", "51"]);
  });
});

describe("the arguments of a call", () => {
  it("that are blank are none, once the call is whole", () => {
    const accumulator = new Accumulator();
    accumulator.push({ type: "tool_call", index: 0, id: "c", name: "look", arguments: " \n ", sealed: true });
    expect(accumulator.finish("tool_calls")[0]?.result()).to.deep.equal({ ok: true, arguments: {} });
  });

  it("may be repeated once they are final, and nothing may follow them but blanks", () => {
    const again = (piece: Partial<ToolCallDelta>) => {
      const accumulator = new Accumulator();
      accumulator.push({ type: "tool_call", index: 0, id: "c", name: "look", arguments: '{"a":1}', sealed: true });
      return accumulator.push({ type: "tool_call", index: 0, ...piece }).contradicted;
    };
    for (const text of ["", " ", "\n"]) expect(again({ arguments: text }), JSON.stringify(text)).to.equal(false);
    expect([again({}), again({ arguments: '{"a":1}' }), again({ arguments: "x" })]).to.deep.equal([false, false, true]);
    expect(again({ arguments: '{ "a": 1 }', replace: true })).to.equal(false);
    expect(again({ arguments: '{"a":2}', replace: true })).to.equal(true);
    const open = new Accumulator();
    open.push({ type: "tool_call", index: 0, id: "c", name: "look", arguments: '{"a":' });
    expect(open.push({ type: "tool_call", index: 0, arguments: "1}" }).contradicted).to.equal(false);
  });

  it("of several calls stay apart when a whole answer becomes deltas", () => {
    const call = (name: string) => ({ type: "tool_call" as const, call: name, name, arguments: { of: name } });
    const parts = [{ type: "reasoning" as const, text: "hm" }, call("a"), call("b")];
    const deltas = deltasOf({ parts, usage: {}, finish: "tool_calls" } as never);
    const indexes = deltas.flatMap((delta) => (delta.type === "tool_call" ? [[delta.index, delta.id]] : []));
    expect(indexes).to.deep.equal([
      [0, "a"],
      [1, "b"],
    ]);
  });
});

describe("the timeouts of an exchange", () => {
  const timeouts = { connect: 5, firstChunk: 5, idle: 5, total: 20 };
  const told: string[] = [];
  const deadlines = (more: object = {}, quietSince = () => 0) =>
    new Deadlines(
      "provider.stream",
      { ...timeouts, ...more },
      {
        get quietSince() {
          return quietSince();
        },
        expired: ({ code, details }) => void told.push(`${code} ${details?.timeout}`),
      },
    );
  beforeEach(() => {
    told.length = 0;
  });

  it("are over once it has stopped, that of its phase and that of all", async () => {
    const stopped = deadlines();
    stopped.enter("idle");
    stopped.stop();
    deadlines({ connect: 60_000, total: 40 }); // runs out after both
    while (told.length === 0) await setTimeout(5);
    expect(told).to.deep.equal(["timeout total"]);
  });

  it("count from when the server was last heard from", async () => {
    const heard = performance.now() + 60_000;
    const quiet = deadlines({ total: 60 }, () => heard);
    quiet.enter("idle", true);
    const alone = deadlines({ total: 10_000 }, () => performance.now() - 10_000);
    alone.enter("idle", true);
    while (told.length < 2) await setTimeout(5);
    quiet.stop();
    alone.stop();
    expect(told.sort()).to.deep.equal(["idle_timeout idle", "timeout total"]);
  });
});

describe("an answer that cannot be read", () => {
  const error = new VenturiError("provider.stream", "stream_error", "no event", { details: { a: 1 } });
  const explain = (headers: Record<string, string>, body: string, of = error) =>
    explained(of, { status: 200, headers } as never, Buffer.from(body));

  it("says what came instead: a page, nothing, something compressed, or how it begins", () => {
    const details = (headers: Record<string, string>, body: string) => explain(headers, body).details;
    const type = "application/json";
    expect(details({ "content-type": type }, "{}")).to.deep.equal({
      a: 1,
      status: 200,
      contentType: type,
      began: "{}",
    });
    expect(details({ "content-type": type, "content-encoding": "identity" }, "{}")).to.include({ began: "{}" });
    expect(details({ "content-encoding": "gzip" }, "x")).to.include({ malformed: true });
    expect(details({}, "x")).not.to.have.property("malformed");
    expect(details({ "content-type": type }, "")).to.include({ empty: true });
    expect(details({ "content-type": "text/html" }, "<p>")).to.include({ page: true, retry: false });
    const other = new VenturiError("provider.stream", "rate_limited", "later");
    expect(explain({}, "", other)).to.equal(other);
  });
});

describe("an address of version 4 within one of version 6", () => {
  it("is judged as itself, however it is written", () => {
    for (const prefix of ["::ffff:", "::FFFF:", "::ffff:0:"]) {
      expect(["8.8.8.8", "10.0.0.1", "0.0.0.0"].map((address) => placeOf(prefix + address))).to.deep.equal([
        "public",
        "private",
        placeOf("0.0.0.0"),
      ]);
    }
    expect([placeOf("2606:4700::1111"), placeOf("FE80::1%eth0")]).to.deep.equal(["public", placeOf("fe80::1")]);
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
    for (const schema of [null, true, undefined, "x", { default: null }]) expect(isStrictSchema(schema)).to.equal(true);
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
