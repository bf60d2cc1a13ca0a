import { randomUUID } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import type { Store } from "./store.ts";

/** Messages asked for at once. */
const batch = 5_000;
/** A consumer that nobody asks is removed by its server after this long, ns. */
const inactive = 60e9;

export interface Range {
  readonly stream: string;
  /** One filter only: with several a server searches all subjects of a block again for each message. */
  readonly filter: string;
  /** 0: the last message under each subject, which is much less than all of them. */
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
 * Reads what a stream has under a filter, in order and fast: several times the rate of `consume` in nats.js, which is for what comes live.
 * Rejects with a plain `Error` when it was cut off; the caller starts again.
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
    store.tryApi(op, `CONSUMER.DELETE.${stream}.${name}`, {}).catch(() => {}); // removed by its server later
  }
}

/** From the reply subject: `$JS.ACK.[domain.account.]stream.consumer.delivered.seq.order.time.pending[.random]`. */
function placeOf(reply: string): { seq: number; order: number; time: number; pending: number } {
  const parts = reply.split(".");
  const at = parts.length === 9 ? 5 : 7;
  const time = Number((parts[at + 2] ?? "").slice(0, -3)) / 1_000; // ns, more than a number holds
  return { seq: Number(parts[at]), order: Number(parts[at + 1]), time, pending: Number(parts[at + 3]) };
}
