import { field, type ProtobufWriter } from "./protobuf.ts";

/** Writes KeyValues { key = 1, value = 2 } (opentelemetry/proto/common/v1/common.proto), each in a field with this tag. */
export function writeAttributes(
  writer: ProtobufWriter,
  tag: number,
  attributes: Readonly<Record<string, unknown>>,
): void {
  for (const key in attributes) {
    if (!Object.hasOwn(attributes, key)) continue;
    const pair = writer.open(tag);
    writer.text(field(1), key);
    const any = writer.open(field(2));
    writeValue(writer, attributes[key]);
    writer.close(any);
    writer.close(pair);
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
    const list = writer.open(field(5));
    for (const item of value) {
      const entry = writer.open(field(1));
      writeValue(writer, item);
      writer.close(entry);
    }
    writer.close(list);
  } else if (typeof value === "object" && value !== null) {
    const map = writer.open(field(6));
    writeAttributes(writer, field(1), value as Record<string, unknown>);
    writer.close(map);
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
