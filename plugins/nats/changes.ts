import { randomUUID } from "node:crypto";
import { aboutNow } from "./engine-time.ts";
import { failed } from "./failures.ts";
import type { Names } from "./names.ts";
import { fence, type Standing, standingText, type Tail, tailOf } from "./standing.ts";
import { pause, type Store } from "./store.ts";
import type { Tails } from "./tails.ts";
import type { View } from "./view.ts";

export interface Change {
  readonly kind: "x" | "s";
  readonly standing: Standing;
  readonly data: Uint8Array;
  readonly headers?: string;
}

export interface Changing {
  readonly store: Store;
  readonly names: Names;
  readonly view: View;
  readonly tails: Tails;
}

/** Decides from the run's tail, with a nonce that the change carries; undefined when there is nothing to do. */
export type Decide = (tail: Tail, nonce: string) => Promise<Change | undefined> | Change | undefined;

/** A compare-and-set on a run, decided again whenever another write came first. Returns whether it was done. */
export async function change(
  { store, names, view, tails }: Changing,
  { op, run }: { op: string; run: string },
  decide: Decide,
): Promise<boolean> {
  const deadline = performance.now() + store.timeout;
  const nonce = randomUUID();
  for (;;) {
    const stored = await tails.last(op, run);
    if (!stored) return false;
    if (stored.header("N") === nonce) return true; // Stored; only the response was lost.
    const tail = tailOf(stored);
    const wanted = await decide(tail, nonce);
    if (!wanted) return false;
    const standing = standingText(wanted.standing);
    const ack = await store.write(op, {
      subject: names.run(run, wanted.kind),
      fence: fence(tail.seq, names.run(run, "*")),
      headers: `V: ${standing}\r\nN: ${nonce}\r\n${wanted.headers ?? ""}`,
      data: wanted.data,
    });
    if (ack.kind === "stored") {
      const { seq } = ack;
      view.apply({ run, shard: names.shardOf(run), kind: wanted.kind, seq, time: aboutNow(), standing });
      return true;
    }
    if (performance.now() > deadline)
      throw failed(op, ack.kind === "lost" ? ack.why : "others keep writing to the run");
    await pause(ack.kind === "stale" ? 2 : 50);
  }
}
