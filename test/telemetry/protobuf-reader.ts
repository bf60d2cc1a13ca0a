/** Reads OTLP's protobuf by hand, so that what is sent is judged by the wire format and not by the code that wrote it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly traceState: string;
  /** Numbers of attributes, events and links. */
  readonly dropped: readonly bigint[];
  readonly events: readonly ReceivedEvent[];
  readonly links: readonly ReceivedLink[];
  readonly status: { code: number; message: string };
  readonly flags: number;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface ReceivedEvent {
  readonly at: bigint;
  readonly dropped: bigint;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface ReceivedLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly dropped: bigint;
  readonly flags: bigint;
}

/** Everything in a request, with what the SDK's serializer leaves out or writes as a default treated alike. */
export const readRequest = (bytes: Uint8Array) =>
  messages(bytes, 1).map((resourceSpans) => ({
    resource: attributesIn(one(resourceSpans, 1), 1),
    schemaUrl: text(one(resourceSpans, 3)),
    scopes: messages(resourceSpans, 2).map((scopeSpans) => {
      const header = one(scopeSpans, 1);
      return {
        name: text(one(header, 1)),
        version: text(one(header, 2)),
        attributes: attributesIn(header, 3),
        schemaUrl: text(one(scopeSpans, 3)),
        spans: messages(scopeSpans, 2).map(readSpan),
      };
    }),
  }));

export function readSpans(bytes: Uint8Array): ReceivedSpan[] {
  const spans: ReceivedSpan[] = [];
  for (const resourceSpans of messages(bytes, 1)) {
    const resource = attributesIn(one(resourceSpans, 1), 1);
    for (const scopeSpans of messages(resourceSpans, 2)) {
      for (const span of messages(scopeSpans, 2)) spans.push({ ...readSpan(span), resource });
    }
  }
  return spans;
}

export function readLogs(bytes: Uint8Array) {
  return messages(bytes, 1).flatMap((resource) =>
    messages(resource, 2).flatMap((scope) =>
      messages(scope, 2).map((record) => ({
        body: anyValue(one(record, 5)),
        severity: text(one(record, 3)),
        traceId: hex(one(record, 9)),
        spanId: hex(one(record, 10)),
        attributes: attributesIn(record, 6),
      })),
    ),
  );
}

/** Names of the metrics in a request. */
export const readMetricNames = (bytes: Uint8Array): string[] =>
  messages(bytes, 1).flatMap((resource) =>
    messages(resource, 2).flatMap((scope) => messages(scope, 2).map((metric) => text(one(metric, 1)))),
  );

function readSpan(bytes: Uint8Array): Omit<ReceivedSpan, "resource"> {
  const status = one(bytes, 15);
  return {
    traceId: hex(one(bytes, 1)),
    spanId: hex(one(bytes, 2)),
    parentSpanId: hex(one(bytes, 4)),
    name: text(one(bytes, 5)),
    kind: Number(number(bytes, 6)),
    start: number(bytes, 7),
    end: number(bytes, 8),
    attributes: attributesIn(bytes, 9),
    traceState: text(one(bytes, 3)),
    dropped: [10, 12, 14].map((count) => number(bytes, count)),
    events: messages(bytes, 11).map((event) => ({
      at: number(event, 1),
      name: text(one(event, 2)),
      attributes: attributesIn(event, 3),
      dropped: number(event, 4),
    })),
    links: messages(bytes, 13).map((link) => ({
      traceId: hex(one(link, 1)),
      spanId: hex(one(link, 2)),
      traceState: text(one(link, 3)),
      attributes: attributesIn(link, 4),
      dropped: number(link, 5),
      flags: number(link, 6),
    })),
    status: { code: Number(number(status, 3)), message: text(one(status, 2)) },
    flags: Number(number(bytes, 16)),
  };
}

const attributesIn = (bytes: Uint8Array, field: number): Record<string, unknown> =>
  Object.fromEntries(messages(bytes, field).map((pair) => [text(one(pair, 1)), anyValue(one(pair, 2))]));

function anyValue(bytes: Uint8Array): unknown {
  for (const { field, value } of fields(bytes)) {
    if (field === 1) return text(bytesOf(value));
    if (field === 2) return value === 1n;
    if (field === 3) return Number(BigInt.asIntN(64, value as bigint));
    if (field === 4) return doubleOf(value as bigint);
    if (field === 5) return messages(bytesOf(value), 1).map(anyValue);
    if (field === 6) return { map: attributesIn(bytesOf(value), 1) };
    if (field === 7) return { bytes: hex(bytesOf(value)) };
  }
  return undefined;
}

interface Field {
  readonly field: number;
  readonly value: bigint | Uint8Array;
}

const empty = new Uint8Array(0);
const bytesOf = (value: bigint | Uint8Array): Uint8Array => (typeof value === "bigint" ? empty : value);
const messages = (bytes: Uint8Array, field: number): Uint8Array[] =>
  fields(bytes)
    .filter((entry) => entry.field === field)
    .map((entry) => bytesOf(entry.value));
const one = (bytes: Uint8Array, field: number): Uint8Array => messages(bytes, field)[0] ?? empty;
const number = (bytes: Uint8Array, field: number): bigint => {
  const value = fields(bytes).find((entry) => entry.field === field)?.value;
  return typeof value === "bigint" ? value : 0n;
};
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function doubleOf(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

function fields(bytes: Uint8Array): Field[] {
  const found: Field[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("the message ends within a varint");
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const field = tag >> 3;
    const wireType = tag & 7;
    if (wireType === 0) found.push({ field, value: varint() });
    else if (wireType === 1) {
      found.push({ field, value: view.getBigUint64(at, true) });
      at += 8;
    } else if (wireType === 5) {
      found.push({ field, value: BigInt(view.getUint32(at, true)) });
      at += 4;
    } else if (wireType === 2) {
      const length = Number(varint());
      if (at + length > bytes.length) throw new Error(`field ${field} is longer than its message`);
      found.push({ field, value: bytes.subarray(at, at + length) });
      at += length;
    } else throw new Error(`wire type ${wireType} does not exist`);
  }
  return found;
}
