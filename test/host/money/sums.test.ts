import { expect } from "chai";
import fc from "fast-check";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import type { Append, Claim, Journal, Ownership } from "../../../src/core/journal/journal.ts";
import {
  Billing,
  sumUsage,
  type UsageEntry,
  type UsageKey,
  usageEntries,
  usageKeys,
} from "../../../src/core/journal/money.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import { type EventBody, isTerminal, type RunEvent } from "../../../src/core/run/events.ts";
import type { RunRequest } from "../../../src/core/run/run-request.ts";
import { noTiming } from "../../../src/core/run/timing.ts";
import { freshFile, openFile, temporaryFolder } from "../../plugins/sqlite/folder.ts";

/** What happens to runs, in any order; a number picks the run. */
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("start" as const), who: fc.nat(7) }),
    fc.record({
      kind: fc.constant("generate" as const),
      at: fc.nat(),
      tokens: fc.nat(10_000),
      nanos: fc.option(fc.nat(1e9)),
    }),
    fc.record({ kind: fc.constant("failed" as const), at: fc.nat(), tokens: fc.option(fc.nat(500)) }),
    fc.record({ kind: fc.constant("retracted" as const), at: fc.nat() }),
    fc.record({ kind: fc.constant("repeat" as const), at: fc.nat() }),
    fc.record({ kind: fc.constant("takenOver" as const), at: fc.nat() }),
    fc.record({ kind: fc.constant("fork" as const), at: fc.nat() }),
    fc.record({ kind: fc.constant("end" as const), at: fc.nat() }),
    fc.record({ kind: fc.constant("prune" as const), at: fc.nat() }),
  ),
  { minLength: 5, maxLength: 40 },
);
type Step = typeof steps extends fc.Arbitrary<infer T> ? (T extends (infer One)[] ? One : never) : never;

let names = 0;
const day = 86_400_000;

interface Owner {
  readonly ownership: Ownership;
  readonly billing: Billing;
  readonly tenant: string;
  readonly request: RunRequest;
  last?: Append;
}

class World {
  readonly #journal: Journal;
  readonly #owners: Owner[] = [];
  /** Of runs that are gone: as the journal had them. */
  readonly #gone: UsageEntry[] = [];
  readonly #runs = new Set<string>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  async take(step: Step): Promise<void> {
    if (step.kind === "start") return await this.#start(step.who);
    const owner = this.#owners[step.at % Math.max(1, this.#owners.length)];
    if (owner === undefined) return;
    const { run } = owner.ownership;
    const round: EventBody = { type: "round.started", round: 1, model: `m/${step.at % 2}`, attempt: 1 };
    switch (step.kind) {
      case "generate": {
        const usage = { inputTokens: step.tokens, outputTokens: 3 };
        const cost = step.nanos === null ? {} : { cost: step.nanos / 1e9 };
        const end: EventBody = { type: "generation.finished", round: 1, attempt: 1, finish: "stop", usage, ...cost };
        return await this.#append(owner, [round, end]);
      }
      case "failed": {
        const usage =
          step.tokens === null ? {} : { usage: { inputTokens: step.tokens, outputTokens: 0 }, cost: 0.000_001 };
        const error = { op: "provider.stream", code: "llm_error" as const, err: "broke" };
        return await this.#append(owner, [
          round,
          { type: "generation.failed", round: 1, attempt: 1, model: "m/0", error, ...usage },
        ]);
      }
      case "retracted":
        return await this.#append(owner, [{ type: "round.retracted", round: 1, attempt: 1, reason: "llm_error" }]);
      case "repeat":
        if (owner.last !== undefined) await this.#journal.append([owner.last]);
        return;
      case "takenOver":
        await this.#journal.release(owner.ownership);
        for (const claim of await this.#journal.claim(`worker-${names++}`, 100)) this.#own(claim);
        return; // the old owner stays, and tries to write on
      case "fork": {
        const events = await this.#journal.read(run, 0, 10_000);
        const prefix = events.filter((event) => !isTerminal(event));
        const forked = `run_${names++}`;
        const fork = { run, after: prefix.length };
        const request = { ...owner.request, fork: { ...fork, tools: "run" as const } };
        const copies = prefix.map(
          (event, index) => ({ ...event, run: forked, ...(index === 0 ? { fork } : {}) }) as RunEvent,
        );
        const { tenant } = owner;
        if (prefix.length === 0) return;
        await this.#journal.restore({
          run: forked,
          tenant,
          session: undefined,
          request,
          signals: [],
          wires: [],
          events: copies,
          state: "ready",
        });
        this.#runs.add(forked);
        for (const claim of await this.#journal.claim(`worker-${names++}`, 100)) this.#own(claim);
        return;
      }
      case "end":
        return await this.#append(
          owner,
          [{ type: "run.finished", finish: "stop", output: "", usage: {}, rounds: 1, timing: noTiming }],
          "done",
        );
      case "prune": {
        const row = await this.#journal.get(run);
        if (row?.state !== "done") return;
        this.#gone.push(...(await this.#entriesOf(run)));
        await this.#journal.prune({ runs: [run] });
        this.#runs.delete(run);
      }
    }
  }

  /** The sum over what the journal holds, and held of runs that are gone, for every partition. */
  async check(): Promise<void> {
    const entries = [...this.#gone];
    for (const run of this.#runs) entries.push(...(await this.#entriesOf(run)));
    for (let chosen = 0; chosen < 2 ** usageKeys.length; chosen++) {
      const by = usageKeys.filter((_, index) => chosen & (1 << index)) as UsageKey[];
      expect(await this.#journal.usage?.({ by })).to.deep.equal(sumUsage(entries, { by }));
    }
  }

  async #start(who: number): Promise<void> {
    const run = `run_${names++}`;
    const tenant = `t${who & 1}`;
    const request = {
      agent: `a${(who >> 1) & 1}`,
      input: {},
      ...(who & 4 ? { user: "ada", caller: { id: "k" } } : {}),
    };
    const claimFor = `worker-${names++}`;
    await this.#journal.heartbeat(claimFor);
    const { claim } = await this.#journal.enqueue({ run, tenant, session: undefined, request, claimFor });
    this.#runs.add(run);
    if (claim) await this.#append(this.#own(claim), [{ type: "run.started", agent: "a", input: {} }]);
  }

  #own(claim: Claim): Owner {
    const owner: Owner = {
      ownership: claim.ownership,
      billing: new Billing(claim),
      tenant: claim.tenant,
      request: claim.request,
    };
    this.#owners.push(owner);
    return owner;
  }

  async #append(owner: Owner, bodies: EventBody[], state?: "done"): Promise<void> {
    const { ownership, billing } = owner;
    const at = Date.UTC(2026, 10, 17) + (names++ % 3) * day;
    const events = bodies.map(
      (body, index) => ({ ...body, run: ownership.run, seq: ownership.head + 1 + index, at }) as RunEvent,
    );
    for (const event of events) billing.add(event);
    const billed = billing.take();
    const item: Append = {
      ownership: { ...ownership },
      events,
      ...(billed === undefined ? {} : { billed }),
      ...(state === undefined ? {} : { state }),
    };
    const fenced = await this.#journal.append([item]);
    if (fenced.size > 0) return;
    owner.last = item;
    ownership.head += events.length;
  }

  async #entriesOf(run: string): Promise<UsageEntry[]> {
    const row = await this.#journal.get(run);
    const events = await this.#journal.read(run, 0, 10_000);
    const [first] = events;
    const own = first?.type === "run.started" ? (first.fork?.after ?? 0) : 0;
    let model = "";
    const entries: UsageEntry[] = [];
    for (const event of events) {
      if (event.type === "round.started") model = event.model;
      if (event.type !== "generation.finished" && event.type !== "generation.failed") continue;
      if (event.seq <= own || row === undefined) continue;
      entries.push(...usageEntries(event, event.type === "generation.failed" ? event.model : model, row));
    }
    return entries;
  }
}

describe("sums of usage", () => {
  const folder = temporaryFolder();
  const holds = (open: () => Promise<Journal>, numRuns: number) =>
    fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const journal = await open();
        try {
          const world = new World(journal);
          for (const step of taken) await world.take(step);
          await world.check();
        } finally {
          await journal.close();
        }
      }),
      { numRuns },
    );

  it("equal the sum over the journal for every partition, whatever becomes of the runs: in memory", () =>
    holds(async () => new MemoryJournal({ clock: systemClock, keep: 10_000, lease: 10_000 }), 150));

  it("the same in SQLite", () => holds(async () => openFile(freshFile(folder), { lease: 10_000 }), 8));
});
