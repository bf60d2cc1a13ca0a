import { assert } from "chai";
import fc from "fast-check";
import { parseUntrusted } from "../../../src/core/errors/untrusted-json.ts";
import { LongStrings } from "../../../src/host/http/long-strings.ts";
import { cpuTime } from "../../cpu-time.ts";

const limits = { depth: 64, size: 32 * 1024 * 1024 };

/** Parsed in pieces of these sizes, over and over. */
function parse(json: string | Buffer, sizes: readonly number[]): unknown {
  const bytes = Buffer.from(json as string);
  const strings = new LongStrings();
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const size = sizes[piece % sizes.length] ?? 1;
    strings.push(bytes.subarray(at, at + size));
    at += size;
  }
  return strings.restore(parseUntrusted(strings.end(), limits));
}

const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1_000, max: 70_000 })), {
  minLength: 1,
  maxLength: 5,
});
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom('"', "\\", '\\"', "é", "\ud83d\ude00", "\n", "a".repeat(65_535), "é".repeat(40_000)),
);
const filling = fc.constantFrom("x", "\n", '"', "\\", "\u0001", "x\ud83d\ude00", "\ud83d", "lorem ipsum\n");
const long = fc
  .tuple(filling, text, fc.integer({ min: 4_000, max: 60_000 }))
  .map(([unit, end, length]) => unit.repeat(length / unit.length) + end);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(long, text, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom("a", "data", "é"), text), tie("value"), { maxKeys: 4 }),
  ),
}));

describe("JSON whose long strings are taken out while it arrives", () => {
  it("equals the result of JSON.parse, however it is split", () => {
    fc.assert(
      fc.property(value, sizes, fc.constantFrom(undefined, 1), (root, cut, indent) => {
        const json = JSON.stringify(root, null, indent);
        fc.pre(!/__proto__|constructor/.test(json));
        assert.deepEqual(parse(json, cut), JSON.parse(json));
      }),
      { numRuns: 60 },
    );
  });

  for (const [what, escaped] of [
    ["a line break", "\\n"],
    ["a quote", '\\"'],
    ["a backslash", "\\\\"],
    ["a character by its number", "\\u00e9"],
    ["two halves of one", "\\ud83d\\ude00"],
    ["bytes of one", "é\ud83d\ude00"],
  ] as const) {
    it(`keeps ${what} that two pieces share, in long texts and in short ones`, () => {
      for (const length of [0, 4_090, 4_096, 5_000]) {
        const json = `{"k${escaped}":"${"x".repeat(length)}${escaped}","after${escaped}":["${escaped}",1]}`;
        const bytes = Buffer.from(json);
        const wanted = JSON.parse(json);
        for (let at = 1; at < bytes.length; at++) {
          if (at > 20 && at < bytes.length - 60) continue;
          assert.deepEqual(parse(bytes, [at, bytes.length]), wanted, `${length} cut at ${at}`);
        }
        assert.deepEqual(parse(bytes, [1]), wanted, `${length} byte by byte`);
      }
    });
  }

  it("may have a key of exactly 1 MiB, and as much other text as fits into one turn", () => {
    const key = "k".repeat(1024 ** 2);
    assert.deepEqual(parse(JSON.stringify({ [key]: 1 }), [65_536]), { [key]: 1 });
    const error = (() => {
      try {
        return parse(JSON.stringify({ [`${key}k`]: 1 }), [65_536]);
      } catch (thrown) {
        return thrown;
      }
    })();
    assert.include(error as object, { op: "request.parse", code: "invalid_input" });
    const strings = new LongStrings();
    strings.push(Buffer.alloc(4 * 1024 ** 2, " "));
    assert.throws(() => strings.push(Buffer.from(" ")), /besides its texts/);
  });

  it("finds a long text behind a short one that two pieces share", () => {
    const long = "x".repeat(5 * 1024 ** 2);
    for (const short of ["ke", "k\\", "k\\u00"]) {
      const json = `{"${short}${short.endsWith("00") ? "e9" : short.endsWith("\\") ? "\\" : "y"}":"${long}"}`;
      assert.deepEqual(parse(json, [2 + short.length, json.length]), JSON.parse(json));
    }
  });

  it("puts long texts back into a piece of the text, as they were sent", () => {
    const strings = new LongStrings();
    const long = "y".repeat(5_000);
    strings.push(Buffer.from(`{"a":"${long}","b":"short"}`));
    const text = strings.end();
    assert.isBelow(text.length, 200);
    assert.equal(strings.restoreText(text), `{"a":"${long}","b":"short"}`);
    assert.equal(strings.restoreText('{"b":"short"}'), '{"b":"short"}');
    const escaped = new LongStrings();
    const json = `{"a":"${'\\n\\"\\\\'.repeat(2_000)}"}`;
    escaped.push(Buffer.from(json));
    assert.equal(escaped.restoreText(escaped.end()), json, "with what has to be escaped");
  });

  it("keeps a long string as a key", () => {
    const key = "k".repeat(100_000);
    assert.deepEqual(parse(JSON.stringify({ [key]: 1 }), [7_000]), { [key]: 1 });
  });

  it("is refused with a key of more than 1 MiB", () => {
    assert.throws(() => parse(JSON.stringify({ ["k".repeat(1_100_000)]: 1 }), [65_536]), /a key of the body is longer/);
  });

  it("is refused where JSON.parse refuses it", () => {
    const big = "x".repeat(100_000);
    for (const json of [
      `{"a":"${big}`,
      `{"a":"${big}\n"}`,
      `{"a":"${big}\\`,
      `{"a":"${big}\\q"}`,
      `{"a":"${big}""}`,
      `["${big}" "${big}"]`,
      `"${big}`,
      "{",
    ]) {
      for (const cut of [[1_000], [65_536], [200_000]])
        assert.throws(() => parse(json, cut), /not valid JSON/, json.slice(-20));
    }
  });

  it("is refused early when there is more other text than can be processed in one turn", () => {
    const short = JSON.stringify("x".repeat(3_000));
    const texts = Buffer.from(`[${`${short},`.repeat(1_000)}`);
    for (const bytes of [texts, Buffer.alloc(3_000_000, " "), Buffer.alloc(3_000_000, "1")]) {
      const strings = new LongStrings();
      strings.push(bytes);
      assert.throws(() => strings.push(bytes), /besides its texts of 4 KiB/);
    }
  });

  it("takes time in proportion to its length, whatever it consists of", () => {
    for (const piece of ["\\n", '\\"', "\\\\", "é", "[", '"",']) {
      const json = `["${piece.repeat(piece === '"",' ? 1_000_000 : 2_000_000)}`;
      const took = cpuTime(() => {
        const strings = new LongStrings();
        const bytes = Buffer.from(json);
        for (let at = 0; at < bytes.length; at += 65_536) strings.push(bytes.subarray(at, at + 65_536));
      });
      assert.isBelow(took, 10_000, piece);
    }
  });
});
