import { EventStreamCodec } from "@smithy/eventstream-codec";

/** AWS's own encoder. */
export const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString("utf8"),
  (text) => Buffer.from(text, "utf8"),
);

const text = (value: string) => ({ type: "string" as const, value });

/** A message as Bedrock sends it. */
export const message = (event: string, payload: object): Buffer =>
  Buffer.from(
    codec.encode({
      headers: {
        ":event-type": text(event),
        ":content-type": text("application/json"),
        ":message-type": text("event"),
      },
      body: Buffer.from(JSON.stringify(payload)),
    }),
  );

export const exception = (type: string, payload: object): Buffer =>
  Buffer.from(
    codec.encode({
      headers: {
        ":exception-type": text(type),
        ":content-type": text("application/json"),
        ":message-type": text("exception"),
      },
      body: Buffer.from(JSON.stringify(payload)),
    }),
  );

/** An error of the transport: no payload, everything in its headers. */
export const transportError = (code: string, said: string): Buffer =>
  Buffer.from(
    codec.encode({
      headers: { ":message-type": text("error"), ":error-code": text(code), ":error-message": text(said) },
      body: new Uint8Array(),
    }),
  );

export const delta = (contentBlockIndex: number, piece: object): Buffer =>
  message("contentBlockDelta", { contentBlockIndex, delta: piece, p: "abcdefghij" });
export const begin = message("messageStart", { role: "assistant", p: "abc" });
export const stop = (stopReason: string): Buffer => message("messageStop", { stopReason, p: "abcd" });
export const figures = message("metadata", {
  metrics: { latencyMs: 12 },
  p: "a",
  usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12 },
});
export const blockStop = (contentBlockIndex: number): Buffer => message("contentBlockStop", { contentBlockIndex });
export const callStart = (contentBlockIndex: number, toolUseId: string, name: string): Buffer =>
  message("contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId, name } } });
