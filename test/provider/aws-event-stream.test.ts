import { crc32 } from "node:zlib";
import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Frame } from "../../src/core/ports/plugin.ts";
import { framesOf } from "../../src/provider/frames/framing.ts";
import { codec, exception, message, transportError } from "../plugins/bedrock/stream.ts";

function frames(pieces: readonly Uint8Array[], limit?: number): { out: Frame[]; error?: VenturiError } {
  const parser = framesOf("aws-event-stream", limit);
  const out: Frame[] = [];
  try {
    for (const piece of pieces) parser.push(piece, out);
    parser.end(out);
  } catch (thrown) {
    if (!VenturiError.isInstance(thrown)) throw thrown;
    return { out, error: thrown };
  }
  return { out };
}

const events = [
  message("contentBlockDelta", { delta: { text: "Grüße 🌊" } }),
  message("empty", {}),
  exception("throttlingException", { message: "slow down" }),
  transportError("500", "broken pipe"),
];
const body = Buffer.concat(events);
const expected: Frame[] = [
  { event: "contentBlockDelta", data: '{"delta":{"text":"Grüße 🌊"}}' },
  { event: "empty", data: "{}" },
  { event: "exception:throttlingException", data: '{"message":"slow down"}' },
  { event: "exception:500", data: '{"message":"broken pipe"}' },
];

describe("the framing of an AWS event stream", () => {
  it("reads what AWS's own encoder writes, cut in two at every byte and byte by byte", () => {
    expect(frames([body])).to.deep.equal({ out: expected });
    expect(frames([...body].map((byte) => Uint8Array.of(byte)))).to.deep.equal({ out: expected });
    for (let cut = 0; cut <= body.length; cut++)
      expect(frames([body.subarray(0, cut), body.subarray(cut)]), `at ${cut}`).to.deep.equal({ out: expected });
  });

  it("tells when bytes that are not UTF-8 were replaced, and not when their replacement was sent", () => {
    for (const [bytes, replaced] of [
      [Buffer.from('{"a":"\uFFFD"}'), false],
      [Buffer.from([0x22, 0xff, 0x22]), true],
    ] as const) {
      const parser = framesOf("aws-event-stream");
      parser.push(codec.encode({ headers: { ":event-type": { type: "string", value: "x" } }, body: bytes }), []);
      expect(parser.replaced).to.equal(replaced);
    }
  });

  it("knows every type of header, and skips those it needs nothing from", () => {
    const headers = {
      yes: { type: "boolean", value: true },
      no: { type: "boolean", value: false },
      byte: { type: "byte", value: 1 },
      short: { type: "short", value: 2 },
      integer: { type: "integer", value: 3 },
      bytes: { type: "binary", value: Uint8Array.of(1, 2, 3) },
      time: { type: "timestamp", value: new Date(0) },
      id: { type: "uuid", value: "00000000-0000-4000-8000-000000000000" },
      ":event-type": { type: "string", value: "last" },
    } as const;
    const encoded = Buffer.from(codec.encode({ headers, body: Buffer.from("{}") }));
    expect(frames([encoded])).to.deep.equal({ out: [{ event: "last", data: "{}" }] });
  });

  it("never passes a frame on with a flipped bit, whichever it is", () => {
    const first = events[0] ?? Buffer.alloc(0);
    for (let bit = 0; bit < first.length * 8; bit++) {
      const hurt = Buffer.from(body);
      hurt[bit >> 3] = (hurt[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const { out, error } = frames([hurt]);
      expect(out, `bit ${bit}`).to.deep.equal([]);
      expect(error?.code, `bit ${bit}`).to.equal("stream_error");
    }
  });

  it("passes on what came before the damage", () => {
    const hurt = Buffer.from(body);
    hurt[(events[0]?.length ?? 0) + 20] = 0xff;
    const { out, error } = frames([hurt]);
    expect(out).to.deep.equal(expected.slice(0, 1));
    expect(error?.code).to.equal("stream_error");
  });

  it("refuses a message past the limit by its first twelve bytes, and a length that cannot be", () => {
    const large = message("x", { text: "y".repeat(2_000) });
    expect(frames([large.subarray(0, 12)], 1_000).error?.code).to.equal("too_large");
    for (const [total, headers] of [
      [15, 0],
      [0, 0],
      [16, 1],
      [400_000, 300_000],
    ] as const)
      expect(frames([prelude(total, headers)]).error?.code, `${total}, ${headers}`).to.equal("stream_error");
  });

  it("refuses headers that reach beyond their end, though every checksum is right", () => {
    for (const bytes of [[3, 65], [1, 65, 7, 0], [1, 65, 7, 0, 9], [1, 65, 5, 0], [1, 65, 77], [0]]) {
      expect(frames([checked(Buffer.from(bytes))]).error?.code, String(bytes)).to.equal("stream_error");
    }
  });
});

/** The lengths with the CRC that belongs to them. */
function prelude(total: number, headers: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(total, 0);
  bytes.writeUInt32BE(headers, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  return bytes;
}

function checked(headers: Buffer): Buffer {
  const most = Buffer.concat([prelude(16 + headers.length, headers.length), headers]);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(crc32(most));
  return Buffer.concat([most, end]);
}
