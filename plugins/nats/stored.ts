import type { Msg, MsgHdrs } from "@nats-io/transport-node";

/** A message of a stream. */
export interface Stored {
  readonly subject: string;
  readonly seq: number;
  /** By the stream leader's clock, ms. */
  readonly time: number;
  readonly header: (name: string) => string | undefined;
  readonly data: Uint8Array;
}

/** Outcome of a publish. `stale`: the expected sequence is not the last one. `lost`: unknown. */
export type Ack =
  | { readonly kind: "stored"; readonly seq: number }
  | { readonly kind: "stale" }
  | { readonly kind: "lost"; readonly why: string };

export const empty = new Uint8Array();
const encoder = new TextEncoder();
const decoder = new TextDecoder();
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes);

/** Response of `STREAM.MSG.GET`. */
export interface LeaderMessage {
  readonly subject: string;
  readonly seq: number;
  readonly hdrs?: string;
  readonly data?: string;
  readonly time: string;
}

export function storedByLeader({ subject, seq, hdrs, data, time }: LeaderMessage): Stored {
  const lines = hdrs ? Buffer.from(hdrs, "base64").toString().split("\r\n") : [];
  const header = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  return { subject, seq, time: Date.parse(time), header, data: data ? Buffer.from(data, "base64") : empty };
}

export const storedByReplica = (message: Msg, headers: MsgHdrs): Stored => ({
  subject: headers.get("Nats-Subject"),
  seq: Number(headers.get("Nats-Sequence")),
  time: Date.parse(headers.get("Nats-Time-Stamp")),
  header: (name) => headers.get(name) || undefined,
  data: message.data,
});

const wrongLastSequence = 10071;
/** Another message for the subject is being replicated. */
const sequenceInFlight = 10164;

export function ackOf(message: Msg): Ack {
  if (message.headers?.code === 503) return { kind: "lost", why: "the stream has no leader" };
  const { error, seq } = message.json<{ error?: { err_code: number; description: string }; seq?: number }>();
  if (!error) return seq === undefined ? { kind: "lost", why: "empty acknowledgement" } : { kind: "stored", seq };
  if (error.err_code === wrongLastSequence || error.err_code === sequenceInFlight) return { kind: "stale" };
  return { kind: "lost", why: `${error.description} (${error.err_code})` };
}
