import { cut } from "./fragments.ts";
import type { Known } from "./known.ts";
import type { Names } from "./names.ts";
import { fence } from "./standing.ts";
import { batchLimit, type Store } from "./store.ts";
import { bytesOf, type Stored } from "./stored.ts";

/** The shard's unfinished runs after message `seq`. A starting process reads on from there. */
export interface Checkpoint {
  readonly seq: number;
  /** When that message was stored; detects a stream that was replaced. */
  readonly time: number;
  /** When the stream was created; absent in checkpoints of earlier versions. */
  readonly created?: string | undefined;
  readonly runs: readonly Known[];
}

/** `STREAM.INFO`, in part. */
export interface StreamInfo {
  readonly created: string;
  readonly state: { readonly last_seq: number };
}

/** The last checkpoint, if there is one that matches the stream. */
export async function readCheckpoint(
  op: string,
  { store, names }: { store: Store; names: Names },
  shard: number,
): Promise<Checkpoint | undefined> {
  const first = await store.last(op, names.index, names.checkpoint(shard, 0));
  if (!first) return undefined;
  const count = Number(first.header("P")?.split("/")[1] ?? 1);
  const subjects = Array.from({ length: count }, (_, fragment) => names.checkpoint(shard, fragment));
  const fragments = count === 1 ? [first] : await store.lastOfEach(op, names.index, { subjects, atLeast: first.seq });
  const checkpoint = parse(fragments, count);
  return checkpoint && (await fits(op, { store, stream: names.stream(shard), checkpoint })) ? checkpoint : undefined;
}

function parse(fragments: readonly Stored[], count: number): Checkpoint | undefined {
  // Another checkpoint may have been written in between: its fragments have another sequence.
  const [one] = fragments;
  if (!one || fragments.length !== count || fragments.some((fragment) => fragment.header("S") !== one.header("S")))
    return undefined;
  const ordered = fragments.toSorted((left, right) => placeOf(left) - placeOf(right));
  const text = Buffer.concat(ordered.map(({ data }) => data)).toString();
  const [seq = 0, time = 0] = (one.header("S") ?? "").split(" ").map(Number);
  return { seq, time, created: one.header("C"), runs: JSON.parse(text) as Known[] }; // Written from one.
}

const placeOf = (stored: Stored): number => Number(stored.header("P")?.split("/")[0] ?? 1);

async function fits(
  op: string,
  { store, stream, checkpoint }: { store: Store; stream: string; checkpoint: Checkpoint },
): Promise<boolean> {
  const [there, { created, state }] = await Promise.all([
    store.at(op, stream, checkpoint.seq),
    store.api<StreamInfo>(op, `STREAM.INFO.${stream}`, {}),
  ]);
  if (checkpoint.created !== undefined && checkpoint.created !== created) return false;
  if (there) return there.time === Math.floor(checkpoint.time);
  // Pruned since, or not reached: a stream restored from a backup may end before it.
  return state.last_seq >= checkpoint.seq;
}

/** If several replicas write one at the same time the first wins, which is fine. */
export async function writeCheckpoint(
  op: string,
  { store, names }: { store: Store; names: Names },
  { shard, checkpoint }: { shard: number; checkpoint: Checkpoint },
): Promise<void> {
  const before = await store.last(op, names.index, names.checkpoint(shard, 0));
  // A replaced stream's checkpoint may have any sequence.
  const isSame = before !== undefined && before.header("C") === checkpoint.created;
  if (isSame && Number(before.header("S")?.split(" ")[0]) >= checkpoint.seq) return;
  const subject = names.checkpoint(shard, 0);
  const write = {
    subject,
    fence: fence(before?.seq ?? 0, subject),
    headers: `S: ${checkpoint.seq} ${checkpoint.time}\r\nC: ${checkpoint.created}\r\n`,
    data: bytesOf(JSON.stringify(checkpoint.runs)),
  };
  const messages = cut(write, store.link.maxPayload).map((message, fragment) => ({
    ...message,
    subject: names.checkpoint(shard, fragment),
  }));
  if (messages.length <= batchLimit) await store.send(op, messages);
}
