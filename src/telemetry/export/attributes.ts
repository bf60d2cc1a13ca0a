import { field, type ProtobufWriter } from "./protobuf.ts";

/** Width of a length. Four bytes hold 256 MB. */
const width = 4;

/** Writes KeyValues { key = 1, value = 2 } (opentelemetry/proto/common/v1/common.proto), each in a field with this tag. */
export function writeAttributes(
  writer: ProtobufWriter,
  tag: number,
  attributes: Readonly<Record<string, unknown>>,
): void {
  for (const key in attributes) {
    if (!Object.hasOwn(attributes, key)) continue;
    const pair = writer.open(tag, width);
    writer.text(field(1), key);
    const any = writer.open(field(2), width);
    writeValue(writer, attributes[key]);
    writer.close(any, width);
    writer.close(pair, width);
  }
}

/** The content of an AnyValue; nothing for a value that cannot be expressed, as in the SDK. */
function writeValue(writer: ProtobufWriter, value: unknown): void {
  if (typeof value === "string") writer.text(field(1), value);
  else if (typeof value === "boolean") {
    writer.byte(field(2, 0));
    writer.byte(value ? 1 : 0);
  } else if (typeof value === "number") writeNumber(writer, value);
  else if (value instanceof Uint8Array) {
    writer.byte(field(7));
    writer.bytes(value);
  } else if (Array.isArray(value)) {
    const list = writer.open(field(5), width);
    for (const item of value) {
      const entry = writer.open(field(1), width);
      writeValue(writer, item);
      writer.close(entry, width);
    }
    writer.close(list, width);
  } else if (typeof value === "object" && value !== null) {
    const map = writer.open(field(6), width);
    writeAttributes(writer, field(1), value as Record<string, unknown>);
    writer.close(map, width);
  }
}

const int64 = 2 ** 63;

function writeNumber(writer: ProtobufWriter, value: number): void {
  if (!Number.isInteger(value) || value < -int64 || value >= int64) {
    writer.byte(field(4, 1));
    writer.double(value);
    return;
  }
  writer.byte(field(3, 0));
  if (value >= 0) writer.varint(value);
  else writer.negative(value);
}
