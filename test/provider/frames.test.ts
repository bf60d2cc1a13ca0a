import { spawnSync } from "node:child_process";
import { assert } from "chai";
import fc from "fast-check";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Frame, Wire } from "../../src/core/ports/plugin.ts";
import { framesOf } from "../../src/provider/frames/framing.ts";
import { lend } from "./decoding.ts";

function read(framing: Wire["framing"], pieces: readonly Uint8Array[], limit?: number): Frame[] {
  const frames = framesOf(framing, limit);
  const out: Frame[] = [];
  for (const piece of pieces) lend(piece, (lent) => frames.push(lent, out));
  frames.end(out);
  return out;
}

const whole = (text: string): Uint8Array[] => [Buffer.from(text)];
const bytewise = (text: string): Uint8Array[] => [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));
const sse = (text: string): string[] => read("sse", whole(text)).map((frame) => frame.data);

/** Every way of cutting gives the same frames; checked for whole, bytes, and each single cut. */
function cutsAgree(framing: Wire["framing"], text: string): void {
  const expected = read(framing, whole(text));
  assert.deepEqual(read(framing, bytewise(text)), expected);
  const bytes = Buffer.from(text);
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(read(framing, [bytes.subarray(0, cut), bytes.subarray(cut)]), expected, `cut at ${cut}`);
  }
}

describe("a framing that has held one huge event", () => {
  const module = new URL("../../src/provider/frames/framing.js", import.meta.url).href;
  /** How much memory ten of them hold, in bytes, in a process that does nothing else. */
  const held = (framing: Wire["framing"]): number => {
    const script = `
      import { framesOf } from ${JSON.stringify(module)};
      const [open, close] = { sse: ["data: ", "\\n\\n"], ndjson: ["", "\\n"], "json-array": ["[", "]"] }[${JSON.stringify(framing)}];
      const text = '"' + "x".repeat(4 << 20);
      globalThis.gc();
      const before = process.memoryUsage().arrayBuffers;
      const framings = Array.from({ length: 10 }, () => {
        const frames = framesOf(${JSON.stringify(framing)});
        frames.push(Buffer.from(open + text), []);
        frames.push(Buffer.from('"' + close), []);
        return frames;
      });
      const grown = () => process.memoryUsage().arrayBuffers - before;
      // Buffers are freed some time after the collection that found them.
      for (let look = 0; look < 50 && grown() > 1 << 20; look++) {
        globalThis.gc();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      console.log(grown(), framings.length);`;
    const { stdout } = spawnSync(process.execPath, ["--expose-gc", "--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    return Number(stdout.split(" ")[0]);
  };

  for (const framing of ["sse", "ndjson", "json-array"] as const) {
    it(`lets its memory go when the next event comes (${framing})`, () => {
      assert.isBelow(held(framing), 8 << 20);
    });
  }
});

describe("SSE framing", () => {
  const expected = ["a", "b"];
  for (const [name, end] of [
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["a lone CR", "\r"],
  ] as const) {
    it(`takes ${name} as the end of a line`, () => {
      const text = `data: a${end}${end}data: b${end}${end}`;
      assert.deepEqual(sse(text), expected);
      cutsAgree("sse", text);
    });
  }

  it("counts CR at the end of one read and LF at the start of the next as one line end", () => {
    const pieces = ["data: a\r", "\ndata: b\r", "\n\r", "\n"].map((text) => Buffer.from(text));
    assert.deepEqual(
      read("sse", pieces).map((frame) => frame.data),
      ["a\nb"],
    );
  });

  it("drops one byte order mark, also when it is cut", () => {
    assert.deepEqual(sse("\ufeffdata: a\n\n"), ["a"]);
    cutsAgree("sse", "\ufeffdata: a\n\n");
  });

  it("ignores comments, ids, retries, unknown fields and events without data", () => {
    assert.deepEqual(sse(": hello\n\nid: 3\nretry: 10\nnonsense\ndatabase: x\n\nevent: ping\n\ndata: a\n\n"), ["a"]);
  });

  it("strips one space after the colon and no more", () => {
    assert.deepEqual(sse("data:a\n\ndata:  b \n\n"), ["a", " b "]);
  });

  it("joins several data lines with LF", () => {
    assert.deepEqual(sse("data:\ndata: {\ndata: }\n\n"), ["\n{\n}"]);
  });

  it("hands on the event's name and forgets it with the event", () => {
    const frames = read("sse", whole("event: error\ndata: a\n\ndata: b\n\n"));
    assert.deepEqual(frames, [
      { data: "a", event: "error" },
      { data: "b", event: "" },
    ]);
  });

  it("dispatches a last event that has no blank line or no line end", () => {
    assert.deepEqual(sse("data: a\n\ndata: b\n"), expected);
    assert.deepEqual(sse("data: a\n\ndata: b"), expected);
  });

  it("keeps characters whole that a read cuts", () => {
    cutsAgree("sse", "event: é\ndata: żółć 漢字 🌊\r\n\r\ndata: 🚀\n\n");
  });

  it("is the same for any cutting of any lines", () => {
    const line = fc.constantFrom("data: ü", "data:🌊", ": c", "event: e", "", "\ufeff", "data", "data: x\r", "id: 1");
    const end = fc.constantFrom("\n", "\r\n", "\r");
    const text = fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat(9), { minLength: 1 }), (body, sizes) => {
        const bytes = Buffer.from(body);
        const pieces: Uint8Array[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = (sizes[i % sizes.length] ?? 0) + 1;
          pieces.push(bytes.subarray(at, at + size));
          at += size;
        }
        assert.deepEqual(read("sse", pieces), read("sse", [bytes]));
      }),
    );
  });

  it("refuses an event past the limit with too_large and keeps what came before", () => {
    for (const tail of ["data: 0123456789012345", "data: 01234567\ndata: 01234567\n", "data: 0123456789012345\n\n"]) {
      const frames = framesOf("sse", 15);
      const out: Frame[] = [];
      const error = thrownBy(() => {
        frames.push(Buffer.from("data: a\n\n"), out);
        frames.push(Buffer.from(tail), out);
      });
      assert.equal(error.code, "too_large");
      assert.deepEqual(out, [{ data: "a", event: "" }]);
    }
  });

  it("does not count many small events in one read against the limit", () => {
    const frames = framesOf("sse", 15);
    const out: Frame[] = [];
    frames.push(Buffer.from("dat"), out);
    frames.push(Buffer.from(`a: abc\n\n${"data: def\n\n".repeat(50)}`), out);
    assert.lengthOf(out, 51);
  });
});

describe("NDJSON framing", () => {
  it("gives one frame a line, skips blank ones and needs no last line end", () => {
    const text = '{"a":"ü"}\n\n  \r\n{"b":2}\n{"c":3}';
    assert.deepEqual(
      read("ndjson", whole(text)).map((frame) => frame.data),
      ['{"a":"ü"}', '{"b":2}', '{"c":3}'],
    );
    cutsAgree("ndjson", text);
  });

  it("refuses a line past the limit with too_large", () => {
    assert.equal(thrownBy(() => read("ndjson", whole('{"a":"0123456789"}'), 10)).code, "too_large");
    assert.equal(thrownBy(() => read("ndjson", whole('{"a":"0123456789"}\n'), 10)).code, "too_large");
  });
});

describe("framings of several streams", () => {
  const cases = {
    sse: { mine: "data: b\n\n", refused: "data: 0123456789012345\n\ndata: secret\n\n", data: "b" },
    ndjson: { mine: '{"b":1}\n', refused: '{"a":"0123456789"}\n{"secret":1}\n', data: '{"b":1}' },
  } as const;
  for (const [framing, { mine, refused, data }] of Object.entries(cases)) {
    it(`of ${framing}: nothing of one that was refused, or has only begun a line, comes out of another, wherever that is cut`, () => {
      for (let cut = 0; cut <= mine.length; cut++) {
        const other = framesOf(framing as Wire["framing"], 15);
        const frames = framesOf(framing as Wire["framing"], 15);
        const out: Frame[] = [];
        const interrupt = () => {
          thrownBy(() => framesOf(framing as Wire["framing"], 15).push(Buffer.from(refused), []));
          other.push(Buffer.from("da"), []);
        };
        interrupt();
        frames.push(Buffer.from(mine.slice(0, cut)), out);
        interrupt();
        frames.push(Buffer.from(mine.slice(cut)), out);
        interrupt();
        frames.end(out);
        assert.deepEqual(
          out.map((frame) => frame.data),
          [data],
          `cut at ${cut}`,
        );
        thrownBy(() => framesOf(framing as Wire["framing"], 15).push(Buffer.from(refused), []));
        const rest: Frame[] = [];
        framesOf(framing as Wire["framing"], 15).end(rest);
        assert.deepEqual(rest, []);
      }
    });
  }
});

describe("JSON array framing", () => {
  it("gives each object of the array the moment it closes", () => {
    const text = '[{"a":{"b":"}]\\"{"}},\r\n{"c":["🌊"]}\n]';
    const data = ['{"a":{"b":"}]\\"{"}}', '{"c":["🌊"]}'];
    assert.deepEqual(
      read("json-array", whole(text)).map((frame) => frame.data),
      data,
    );
    cutsAgree("json-array", text);
    const out: Frame[] = [];
    framesOf("json-array").push(Buffer.from('[{"a":1}'), out);
    assert.lengthOf(out, 1);
  });

  it("takes an object on its own, and hands on one that was cut", () => {
    assert.deepEqual(read("json-array", whole('{"error":{}}')), [{ data: '{"error":{}}', event: "" }]);
    assert.deepEqual(read("json-array", whole('[{"a":1},{"b"')), [
      { data: '{"a":1}', event: "" },
      { data: '{"b"', event: "" },
    ]);
  });

  it("refuses an object past the limit with too_large", () => {
    assert.equal(thrownBy(() => read("json-array", whole('[{"a":"0123456789"}]'), 10)).code, "too_large");
    assert.equal(thrownBy(() => read("json-array", whole('[{"a":"0123456789'), 10)).code, "too_large");
  });
});

function thrownBy(action: () => unknown): VenturiError {
  try {
    action();
  } catch (thrown) {
    assert.instanceOf(thrown, VenturiError);
    return thrown;
  }
  return assert.fail("nothing was thrown");
}

describe("an event stream that turns out to be JSON", () => {
  it("is read as the array it is, however it is cut", () => {
    const text = '\ufeff\r\n[{"a": 1}\n,\r\n{"b": "]}"}\n]';
    assert.deepEqual(sse(text), ['{"a": 1}', '{"b": "]}"}']);
    cutsAgree("sse", text);
  });

  it("is one frame when it is a bare object", () => {
    assert.deepEqual(sse('{"error": "no"}'), ['{"error": "no"}']);
  });

  it("stays an event stream behind any number of blank lines", () => {
    const text = `${"\n".repeat(1_000)}data: a\n\n`;
    assert.deepEqual(sse(text), ["a"]);
    assert.deepEqual(
      read("sse", bytewise(text)).map((frame) => frame.data),
      ["a"],
    );
  });
});
