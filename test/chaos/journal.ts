import { appendFileSync } from "node:fs";
import { type Append, type ClaimFilter, definePlugin, type Journal, type Ownership } from "venturi/plugin";
import { z } from "zod";
import { Random } from "./random.ts";

/**
 * Another journal with two bad habits. A claim that takes a run over is answered late, so that its zombie wakes up before the
 * new owner has written anything. And a writer that is fenced reads the head again and tries once more from there. Neither
 * may get an event in: where the head is the right one, nothing but the epoch stops it.
 */
export default definePlugin({
  name: "chaos-journal",
  kind: "journal",
  options: z.strictObject({
    inner: z.looseObject({ type: z.string() }),
    seed: z.number(),
    /** Where it leaves a line for each time. */
    file: z.string(),
  }),
  async create({ inner: { type, ...options }, seed, file }, context): Promise<Journal> {
    const plugin = await context.plugin(type);
    const parsed = plugin.options.parse(options);
    const journal = (await plugin.create(parsed, context)) as Journal; // the config names a journal
    const random = new Random(seed);
    const note = (what: Window) => appendFileSync(file, `${what}\n`);
    return new Proxy(journal, {
      get(target, name) {
        if (name === "claim")
          return (worker: string, limit: number, filter?: ClaimFilter) =>
            claimLate(target, { worker, limit, filter, random, note });
        if (name === "append") return (batch: readonly Append[]) => appendStubbornly(target, batch, note);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  },
});

/**
 * `claimsHeldBack`: takeovers answered late. `atUnchangedHead`: zombies refused though the head was theirs still. `headReadAgain`:
 * those who tried with a head read anew. `steppedPast`: those of them who got in.
 */
export type Window = "claimsHeldBack" | "atUnchangedHead" | "headReadAgain" | "steppedPast";

interface LateClaim {
  readonly worker: string;
  readonly limit: number;
  readonly filter: ClaimFilter | undefined;
  readonly random: Random;
  readonly note: (what: Window) => void;
}

async function claimLate(journal: Journal, { worker, limit, filter, random, note }: LateClaim) {
  const claims = await journal.claim(worker, limit, filter);
  if (!claims.some(({ ownership }) => ownership.epoch > 1)) return claims;
  note("claimsHeldBack");
  await new Promise((resolve) => setTimeout(resolve, random.between(100, 1_200)));
  return claims;
}

async function appendStubbornly(
  journal: Journal,
  batch: readonly Append[],
  note: (what: Window) => void,
): Promise<ReadonlySet<Ownership>> {
  const fenced = await journal.append(batch);
  for (const item of batch) if (fenced.has(item.ownership)) await tryAgain(journal, item, note);
  return fenced;
}

async function tryAgain(journal: Journal, item: Append, note: (what: Window) => void): Promise<void> {
  const { ownership, events } = item;
  const row = await journal.get(ownership.run);
  if (row === undefined || row.epoch === ownership.epoch || row.state !== "running" || events.length === 0) return;
  if (row.head === (events[0]?.seq ?? 0) - 1) note("atUnchangedHead");
  note("headReadAgain");
  const moved = events.map((event, index) => ({ ...event, seq: row.head + index + 1 }));
  const again = await journal.append([{ ...item, ownership: { ...ownership, head: row.head }, events: moved }]);
  if (again.size === 0) note("steppedPast");
}
