import { pruneInSteps } from "venturi/internal";
import type { PruneOptions } from "venturi/plugin";
import type { Blobs } from "./blobs.ts";
import type { Callers } from "./callers.ts";
import type { Known } from "./known.ts";
import type { Names } from "./names.ts";
import { forgetKeys, rememberKey } from "./removed-keys.ts";
import type { Sessions } from "./sessions.ts";
import type { Store } from "./store.ts";
import { empty } from "./stored.ts";
import type { View } from "./view.ts";

export interface Pruning {
  readonly store: Store;
  readonly names: Names;
  readonly view: View;
  readonly sessions: Sessions;
  readonly callers: Callers;
  readonly blobs: Blobs;
  readonly pruned: (run: string) => void;
}

const op = "journal.prune";
/** Concurrent purges: each is an entry in a Raft log, and appends must get their turn. */
const atOnce = 16;

/** Removes ended runs, one by one. One whose removal was cut off is still there, for the next prune. */
export async function prune(options: Pruning, limits: PruneOptions): Promise<number> {
  const { olderThan, keep, runs } = limits;
  const { store, names, view } = options;
  await store.put(op, { subject: names.clock, headers: "", data: empty });
  const now = (await store.last(op, names.index, names.clock))?.time ?? 0;
  const oldest = olderThan === undefined ? Number.NEGATIVE_INFINITY : now - olderThan;
  const gone: Known[] = [];
  const named = new Set(runs);
  let kept = 0;
  for (const known of view.walk({ oldestFirst: false })) {
    if (known.state !== "done") continue;
    if (known.time < oldest || named.has(known.run) || (keep !== undefined && kept >= keep)) gone.push(known);
    else kept += 1;
  }
  const { state } = await store.api<{ state: { messages: number } }>(op, `STREAM.INFO.${names.wires}`, {});
  const left = gone.values();
  const step = async () => {
    const { value: known } = left.next();
    if (known === undefined) return 0;
    await remove(options, known, state.messages);
    return 1;
  };
  const counts = await Promise.all(Array.from({ length: atOnce }, () => pruneInSteps(limits, step)));
  await forgetKeys(op, options, now);
  await options.blobs.sweep();
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Removed from its lists first, where a missing run would look like one still to be created, and the run last: nobody would find what is
 * left without it. `wires`: number of messages in the stream of wires and blobs.
 */
async function remove(options: Pruning, known: Known, wires: number): Promise<void> {
  const { store, names, view, sessions, callers, blobs, pruned } = options;
  const { run, tenant, key, session, caller, shard } = known;
  const purge = (stream: string, filter: string) => store.api(op, `STREAM.PURGE.${stream}`, { filter });
  if (session !== undefined) await sessions.leave(op, { tenant, session }, run);
  if (caller !== undefined) await callers.leave(op, { tenant, id: caller }, run);
  if (key !== undefined) await rememberKey(op, options, { run, tenant, key });
  if (wires > 0) {
    await purge(names.wires, names.wire(run));
    await blobs.release(run);
  }
  await purge(names.stream(shard), names.run(run, "*"));
  view.forget(run);
  pruned(run);
}
