import { asksDigests, noDigests, shadowTenant } from "venturi/internal";
import type { ListQuery, RunRow } from "venturi/plugin";
import { cursorOf } from "./catalog.ts";
import { isFragment } from "./fragments.ts";
import type { Known } from "./known.ts";
import type { Names } from "./names.ts";
import { askedOf, readRequest, rowOf } from "./requests.ts";
import { lastLimit, type Store } from "./store.ts";
import type { Tails } from "./tails.ts";
import type { View } from "./view.ts";

export interface Listing {
  readonly store: Store;
  readonly names: Names;
  readonly view: View;
  readonly tails: Tails;
}

const op = "journal.list";

/** Called before anything is read. */
export function refuseUnsupported(query: ListQuery): void {
  if (asksDigests(query)) throw noDigests("a journal in NATS keeps no digests");
  if (query.metadata !== undefined || query.by !== undefined)
    throw noDigests("a journal in NATS has no index of metadata or keys");
}

/** The view selects the runs; the streams provide their requests, and the position of running ones. */
export async function list(options: Listing, query: ListQuery): Promise<{ runs: RunRow[]; cursor?: string }> {
  const limit = query.limit ?? 50;
  const page: Known[] = [];
  let more = false;
  const { tenant, agent, session, outcome, cursor, oldestFirst = false } = query;
  const walk = { oldestFirst, cursor, tenant, agent, session, outcome };
  for (const known of asksOpen(query) ? options.view.walkOpen(walk) : options.view.walk(walk)) {
    if (!fits(known, query)) continue;
    if (query.waiting !== undefined && (await isWaiting(options, known)) !== query.waiting) continue;
    if (page.length >= limit) {
      more = true;
      break;
    }
    page.push(known);
  }
  const rows = await rowsOf(options, page);
  const last = page.at(-1);
  const runs = page.map(({ run }) => rows.get(run)).filter((row) => row !== undefined);
  return last && more ? { runs, cursor: cursorOf(last) } : { runs };
}

/** Whether only unfinished runs can match. */
export const asksOpen = ({ state, waiting }: ListQuery): boolean =>
  waiting === true || (state !== undefined && state !== "done");

const fits = (known: Known, { tenant, agent, agents, session, state, outcome, since, until }: ListQuery): boolean =>
  (tenant === undefined ? known.tenant !== shadowTenant : known.tenant === tenant) &&
  (agents === undefined || agents.includes(known.agent)) &&
  (agent === undefined || known.agent === agent) &&
  (session === undefined || known.session === session) &&
  (state === undefined || known.state === state) &&
  (outcome === undefined || known.outcome === outcome) &&
  (since === undefined || known.created >= since) &&
  (until === undefined || known.created < until);

/** The view only knows state changes: whether a running run has open questions is in its last message. */
async function isWaiting({ tails }: Listing, { run, state }: Known): Promise<boolean> {
  if (state === "done" || state === "waiting") return state === "waiting";
  return ((await tails.read(op, run))?.asking ?? 0) > 0;
}

async function rowsOf(options: Listing, page: readonly Known[]): Promise<Map<string, RunRow>> {
  const { store, names, view } = options;
  const rows = new Map<string, RunRow>();
  const ended = page.filter(({ state }) => state === "done");
  const others = page.filter(({ state }) => state !== "done");
  const byShard = [...Map.groupBy(ended, ({ shard }) => shard)];
  const asked = byShard.map(async ([shard, group]) => {
    for (let at = 0; at < group.length; at += lastLimit) {
      const batch = new Map(group.slice(at, at + lastLimit).map((known) => [names.run(known.run, "q"), known]));
      const request = { subjects: [...batch.keys()], atLeast: view.applied(shard) };
      for (const stored of await store.lastOfEach(op, names.stream(shard), request)) {
        const known = batch.get(stored.subject);
        if (!known) continue;
        if (isFragment(stored)) others.push(known);
        else rows.set(known.run, rowOf(known.run, askedOf(stored), known));
        batch.delete(stored.subject);
      }
      for (const { run } of batch.values()) view.forget(run); // Pruned by another process.
    }
  });
  await Promise.all(asked);
  await Promise.all(
    others.map(async ({ run }) => {
      const row = await rowFor(op, options, run);
      if (row) rows.set(run, row);
      else view.forget(run);
    }),
  );
  return rows;
}

export async function rowFor(
  operation: string,
  options: Omit<Listing, "view">,
  run: string,
): Promise<RunRow | undefined> {
  const [tail, asked] = await Promise.all([options.tails.read(operation, run), readRequest(operation, options, run)]);
  return tail && asked && !asked.origin.void ? rowOf(run, asked, tail) : undefined;
}
