import { randomUUID } from "node:crypto";
import type { RunEvent } from "../../src/core/run/events.ts";
import type { Random } from "../chaos/random.ts";
import { agents, keyOf, type Tenant, tenants, users } from "./service.ts";

/** What the client knows of its run, and what it was told. */
export interface Spent {
  readonly run: string;
  readonly tenant: Tenant;
  readonly agent: string;
  readonly user: string;
  readonly events: readonly RunEvent[];
  /** Its sums outlive it. */
  readonly removed?: boolean;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Starts runs of all kinds, forks some and removes some, until `more` says no. */
export async function spend(urls: readonly string[], random: Random, more: () => boolean): Promise<Spent[]> {
  const all: Spent[] = [];
  while (more()) {
    const spent = await one(urls, random, {
      tenant: random.pick(tenants),
      agent: random.pick(agents),
      user: random.pick(users),
    });
    all.push(spent);
    const last = all.length - 1;
    if (random.next() < 0.2) {
      const forked = await fork(urls, random, spent);
      if (forked !== undefined) all.push(forked);
    }
    if (random.next() < 0.2) {
      await asking(urls, random, spent.tenant, `/v1/runs/${spent.run}`, { method: "DELETE" });
      all[last] = { ...spent, removed: true };
    }
  }
  return all;
}

type Who = Pick<Spent, "tenant" | "agent" | "user">;

async function one(urls: readonly string[], random: Random, who: Who): Promise<Spent> {
  const text = random.pick(["plain", "tools"]);
  const body = { agent: who.agent, input: { text }, metadata: { user: who.user } };
  const started = await asking(urls, random, who.tenant, "/v1/runs", { method: "POST", body, key: randomUUID() });
  const run = started.run as string; // as the service answers
  // Somewhere in its answer, or before it: what was written by then is paid for.
  if (random.next() < 0.15) {
    await pause(random.between(0, 600));
    await asking(urls, random, who.tenant, `/v1/runs/${run}/cancel`, { method: "POST", body: {} });
  }
  return await ended(urls, random, { ...who, run });
}

/** From after its first round, if it had one. The user and the agent stay those of the original. */
async function fork(urls: readonly string[], random: Random, spent: Spent): Promise<Spent | undefined> {
  const round = spent.events.find(({ type }) => type === "round.finished");
  if (round === undefined || round.seq === spent.events.length - 1) return undefined;
  const options = { method: "POST", body: { after: round.seq, tools: "run" } };
  const forked = await asking(urls, random, spent.tenant, `/v1/runs/${spent.run}/fork`, options);
  if (typeof forked.run !== "string") return undefined;
  return await ended(urls, random, { ...spent, run: forked.run });
}

/** Forks that were made by a try whose answer was lost: nobody has waited for them. */
export async function strays(urls: readonly string[], random: Random, known: readonly Spent[]): Promise<Spent[]> {
  const byRun = new Map(known.map((spent) => [spent.run, spent]));
  const found: Spent[] = [];
  for (const tenant of tenants) {
    let cursor = "";
    do {
      const path = `/v1/runs?limit=100${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
      const page = await asking(urls, random, tenant, path, { method: "GET" });
      for (const { run } of page.runs as { run: string }[]) {
        if (byRun.has(run)) continue;
        const stray = await ended(urls, random, { run, tenant, agent: "", user: "" });
        const [first] = stray.events;
        const original = first?.type === "run.started" ? byRun.get(first.fork?.run ?? "") : undefined;
        if (original === undefined) throw new Error(`nobody started ${run}`);
        found.push({ ...stray, agent: original.agent, user: original.user });
      }
      cursor = (page.cursor as string | undefined) ?? "";
    } while (cursor !== "");
  }
  return found;
}

async function ended(urls: readonly string[], random: Random, spent: Omit<Spent, "events">): Promise<Spent> {
  const events: RunEvent[] = [];
  const deadline = Date.now() + 60_000;
  while (!isOver(events.at(-1))) {
    if (Date.now() > deadline)
      throw new Error(`${spent.run} has not ended in a minute; its last event is ${JSON.stringify(events.at(-1))}`);
    const path = `/v1/runs/${spent.run}/events?after=${events.length}&limit=500`;
    const page = await asking(urls, random, spent.tenant, path, { method: "GET" });
    const found = page.events as RunEvent[]; // as the service answers
    events.push(...found);
    if (found.length === 0) await pause(100);
  }
  return { ...spent, events };
}

const isOver = (event: RunEvent | undefined): boolean => event?.type === "run.finished" || event?.type === "run.failed";

interface Asked {
  readonly method: string;
  readonly body?: unknown;
  /** Makes all tries one. */
  readonly key?: string;
}

/** Tries until some replica answers with what is no trouble of its own. */
export async function asking(
  urls: readonly string[],
  random: Random,
  who: string,
  path: string,
  { method, body, key }: Asked,
): Promise<Record<string, unknown>> {
  for (let tries = 0; tries < 300; tries++) {
    try {
      const answer = await fetch(`${random.pick(urls)}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${keyOf(who)}`,
          accept: "application/json",
          prefer: "respond-async",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(key === undefined ? {} : { "idempotency-key": key }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(4_000),
      });
      const text = await answer.text();
      if (answer.ok) return text === "" ? {} : JSON.parse(text);
      // A fork may have been made by a try whose answer was lost; that it is refused now is no trouble.
      if (method === "DELETE" || path.endsWith("/fork") || path.endsWith("/cancel")) return {};
      if (answer.status < 500 && answer.status !== 429 && answer.status !== 404)
        throw new Refused(`${method} ${path}: ${answer.status} ${text}`);
    } catch (thrown) {
      if (thrown instanceof Refused) throw thrown;
      if (path.endsWith("/fork")) return {}; // it has no key, so it is tried once
    }
    await pause(100);
  }
  throw new Error(`${method} ${path} was not answered in 30 s`);
}

class Refused extends Error {}
