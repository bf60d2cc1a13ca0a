import { randomUUID } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import type { Store } from "./store.ts";

/** Messages requested at once. */
const batch = 5_000;
/** The server removes a consumer that is not used for this long, ns. */
const inactive = 60e9;

export interface Range {
  readonly stream: string;
  /** A single filter: with several, a server searches all subjects of a block for each message. */
  readonly filter: string;
  /** 0: only the last message under each subject, which is far less. */
  readonly after: number;
  readonly upTo: number;
}

/** A message without its body. */
export interface Headers {
  readonly subject: string;
  readonly seq: number;
  readonly time: number;
  readonly header: (name: string) => string | undefined;
}

/**
 * Reads a stream's messages under a filter, in order, several times as fast as `consume` of nats.js, which is made for live messages.
 * Rejects with a plain `Error` when interrupted; the caller starts again.
 */
export async function readBulk(
  op: string,
  store: Store,
  { stream, filter, after, upTo }: Range,
  take: (message: Headers) => void,
): Promise<void> {
  if (after >= upTo) return;
  const name = `b${randomUUID().replaceAll("-", "")}`;
  const config = {
    name,
    filter_subject: filter,
    ack_policy: "none",
    headers_only: true,
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: inactive,
    ...(after === 0
      ? { deliver_policy: "last_per_subject" }
      : { deliver_policy: "by_start_sequence", opt_start_seq: after + 1 }),
  };
  const create = `CONSUMER.CREATE.${stream}.${name}.${filter}`;
  const { num_pending: pending } = await store.api<{ num_pending: number }>(op, create, {
    stream_name: stream,
    config,
  });
  let expected = 1;
  const takeOne = (message: Msg): boolean => {
    const { seq, order, time, pending } = placeOf(message.reply ?? "");
    if (order !== expected) throw new Error("messages were lost on the way");
    expected += 1;
    const header = (key: string) => message.headers?.get(key) || undefined;
    if (seq <= upTo) take({ subject: message.subject, seq, time, header });
    return seq >= upTo || pending === 0;
  };
  try {
    if (pending > 0) await store.pull(op, { consumer: `${stream}.${name}`, batch }, takeOne);
  } finally {
    store.tryApi(op, `CONSUMER.DELETE.${stream}.${name}`, {}).catch(() => {}); // The server removes it later.
  }
}

/** Parses the reply subject: `$JS.ACK.[domain.account.]stream.consumer.delivered.seq.order.time.pending[.random]`. */
function placeOf(reply: string): { seq: number; order: number; time: number; pending: number } {
  const tokens = reply.split(".");
  const at = tokens.length === 9 ? 5 : 7;
  const time = Number((tokens[at + 2] ?? "").slice(0, -3)) / 1_000; // Nanoseconds, more than a number can hold.
  return { seq: Number(tokens[at]), order: Number(tokens[at + 1]), time, pending: Number(tokens[at + 3]) };
}
