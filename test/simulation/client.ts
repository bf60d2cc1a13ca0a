import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Runs } from "../../src/core/ports/runs.ts";
import { type EventOf, isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import type { SignalBody } from "../../src/core/run/signals.ts";
import type { Engine } from "./engine.ts";
import type { Ledger } from "./ledger.ts";
import type { Server } from "./process.ts";
import { isShort } from "./profile.ts";
import { saidBy } from "./requests.ts";

export interface ClientParts {
  readonly engine: Engine;
  readonly ledger: Ledger;
  /** Those that are up. */
  readonly servers: () => readonly Server[];
  /** Resolves when another one is. */
  readonly booted: () => Promise<void>;
}

type Outcome<T> = { readonly value: T } | { readonly error: VenturiError } | "dead";

/** Failures that a client answers with another try, perhaps elsewhere. */
export const passing = new Set(["journal_failed", "unavailable", "shutting_down"]);

/** Starts a run, follows it to its end over whatever happens, answers questions, changes its mind, forks and removes. */
export class Client {
  readonly #parts: ClientParts;
  readonly #name: string;
  readonly #session: string;
  readonly #tenant: string;
  /** `newcomer` is in the next configuration only. */
  #agent = "tester";
  done = false;
  /** What is expected of the store when everything is over. */
  readonly runs: string[] = [];

  constructor(parts: ClientParts, name: string, { session, tenant }: { session: string; tenant: string }) {
    this.#parts = parts;
    this.#name = name;
    this.#session = session;
    this.#tenant = tenant;
  }

  async live(): Promise<void> {
    const { engine } = this.#parts;
    const { decisions } = engine.world;
    const { profile, coverage } = engine;
    if (profile.reloads && decisions.chance(0.3)) this.#agent = "newcomer";
    const run = await this.#start();
    this.runs.push(run);
    this.#meddle(run);
    const events = await this.#follow(run);
    const isCancelled = engine.cancelled.has(run) && profile.forks > 0;
    if (decisions.chance(isCancelled ? 0.5 : profile.forks)) {
      const steps = events.filter(({ type }) => forkable.has(type));
      const last = steps.findLast(({ type }) => type === "generation.finished");
      const forked = await this.#fork(run, (isCancelled ? last : undefined)?.seq ?? decisions.pick(steps).seq);
      this.runs.push(forked);
      coverage.count("fork");
      await this.#follow(forked);
    }
    if (decisions.chance(profile.removes)) {
      await this.#insist("removes", (runs) => runs.remove(run), "not_found");
      coverage.count("removed");
      if (decisions.chance(0.5)) await this.#startAgain(run);
    }
    this.done = true;
  }

  async #start(): Promise<string> {
    const { engine } = this.#parts;
    let tries = 0;
    const { run } = await this.#insist("starts", (_, server) => {
      if (tries++ > 0) engine.coverage.count("started again by key");
      return this.#startAt(server);
    });
    if (engine.world.decisions.chance(0.3)) await this.#startAgain(run);
    return run;
  }

  async #startAgain(run: string): Promise<void> {
    const { world } = this.#parts.engine;
    const again = await this.#insist("starts once more", (_, server) => this.#startAt(server));
    if (again.run !== run) world.violated(`${this.#name} has started ${run} and ${again.run} with one key`);
  }

  async #startAt({ runs, memory }: Server): ReturnType<Runs["start"]> {
    const { profile, world } = this.#parts.engine;
    const session = profile.session ? { session: this.#session } : {};
    const request = { agent: this.#agent, input: { text: saidBy(this.#tenant) }, ...session };
    const named = { key: this.#name, tenant: this.#tenant };
    if (!isShort(profile)) return runs.start(request, named);
    // As a body is, from when its size is known until it is answered.
    const held = memory.of(this.#tenant).charge(world.decisions.between(10, 100), "body");
    try {
      return await runs.start(request, { ...named, held });
    } finally {
      held.release();
    }
  }

  async #fork(run: string, after: number): Promise<string> {
    const { run: forked } = await this.#insist("forks", (runs) => runs.fork(run, { after, tools: "recorded" }));
    return forked;
  }

  /** Cancels or steers at some time, if at all. */
  #meddle(run: string): void {
    const { engine } = this.#parts;
    const { decisions } = engine.world;
    const at = () => decisions.below(20_000);
    if (decisions.chance(engine.profile.cancels)) this.#cancel(run, at());
    if (decisions.chance(engine.profile.pauses)) void this.#pause(run, at());
    if (decisions.chance(engine.profile.steers))
      void this.#soon("steers", at(), "steer", (runs) => runs.signal(run, "message", { text: "also this" }, "m"));
  }

  #cancel(run: string, ms: number): void {
    this.#parts.engine.cancelled.add(run);
    void this.#soon("cancels", ms, "cancel", (runs) => runs.signal(run, "cancel", { reason: "enough" }, "x"));
  }

  async #pause(run: string, ms: number): Promise<void> {
    const { decisions } = this.#parts.engine.world;
    await this.#soon("pauses", ms, "pause", (runs) => runs.signal(run, "pause", {}, "p"));
    await this.#soon("resumes", decisions.below(20_000), "resume", (runs) => runs.signal(run, "resume", {}, "r"));
  }

  async #soon(what: string, ms: number, counted: string, work: (runs: Runs) => Promise<unknown>): Promise<void> {
    const { engine } = this.#parts;
    await engine.world.io(undefined, `${this.#name} ${what}`, ms);
    engine.coverage.count(counted);
    await this.#insist(what, work, "not_found");
  }

  async #follow(run: string): Promise<RunEvent[]> {
    const { engine } = this.#parts;
    const { world, profile, coverage } = engine;
    const seen: RunEvent[] = [];
    for (;;) {
      const server = await serverOf(this.#parts);
      const stream = server.runs.follow(run, { after: seen.length, ...this.#leaving() })[Symbol.asyncIterator]();
      for (;;) {
        const step = await servedBy(server, () => stream.next());
        if (step === "dead") break;
        if ("error" in step) {
          if (!passing.has(step.error.code)) world.violated(`${this.#name} follows ${run}: ${step.error.message}`);
          break;
        }
        if (step.value.done) break;
        for (const event of step.value.value) this.#see(run, event, seen);
        const last = seen.at(-1);
        if (last !== undefined && isTerminal(last)) return seen;
        if (!engine.calm && world.decisions.chance(profile.drops)) {
          void stream.return?.();
          break;
        }
      }
      coverage.count("reconnect");
      await world.io(undefined, `${this.#name} comes back`, world.decisions.below(1_000));
    }
  }

  /** Aborts at some time, perhaps in the middle of a read; the stream has to end then. */
  #leaving(): { signal?: AbortSignal } {
    const { world, profile, calm, coverage } = this.#parts.engine;
    if (calm || !world.decisions.chance(profile.drops)) return {};
    const leaving = new AbortController();
    void world.io(undefined, `${this.#name} leaves`, world.decisions.below(200)).then(() => {
      coverage.count("left");
      leaving.abort();
    });
    return { signal: leaving.signal };
  }

  /** Each event once, in order, after it was stored and as it was stored. */
  #see(run: string, event: RunEvent, seen: RunEvent[]): void {
    const { engine } = this.#parts;
    const say = (what: string) => engine.world.violated(`${run}: ${this.#name} ${what}`);
    if (event.seq !== seen.length + 1) say(`has ${seen.length} events and got ${event.seq}`);
    if (engine.head(run) < event.seq) say(`saw ${event.seq} before it was stored`);
    if (!engine.isStored(event)) say(`saw another event ${event.seq} than is stored`);
    seen.push(event);
    if (event.type === "round.retracted") engine.coverage.count("retracted");
    if (event.type === "approval.requested") this.#answer(run, event);
    if (event.type === "question.asked") this.#reply(run, event);
    // In the middle of an effect: whether it happened is not known then.
    if (
      event.type === "tool.started" &&
      effects.has(event.name) &&
      engine.world.decisions.chance(engine.profile.cancels)
    )
      this.#cancel(run, 0);
  }

  #answer(run: string, { call, name, reason, seq }: EventOf<"approval.requested">): void {
    const { engine, ledger } = this.#parts;
    const { decisions } = engine.world;
    if (reason?.includes("may have run")) engine.coverage.count("uncertain question");
    if (decisions.chance(engine.profile.ignores)) return engine.coverage.count("ignored");
    const denied = decisions.chance(engine.profile.denies);
    const edited = !denied && decisions.chance(engine.profile.edits);
    const changed = edited ? { arguments: JSON.parse(ledger.newArguments(name)) as Record<string, unknown> } : {};
    if (denied || edited) engine.coverage.count(denied ? "denied" : "edited");
    this.#say(run, { call, approved: !denied, ...changed }, seq);
  }

  /** To a question of a tool. */
  #reply(run: string, { call, seq }: EventOf<"question.asked">): void {
    const { engine, ledger } = this.#parts;
    const { decisions } = engine.world;
    if (decisions.chance(engine.profile.ignores)) return engine.coverage.count("ignored");
    const declined = decisions.chance(engine.profile.denies);
    this.#say(run, declined ? { call, approved: false } : { call, approved: true, answer: ledger.newAnswer() }, seq);
  }

  #say(run: string, answer: SignalBody<"approve">, seq: number): void {
    const { engine } = this.#parts;
    const { decisions } = engine.world;
    // At once, before the process that asks knows that its question is stored; or after others.
    const { hurried, answer: longest } = engine.profile;
    const ms = decisions.chance(hurried ? 0.5 : 0.3) ? 0 : decisions.between(0, engine.calm ? 1_000 : longest);
    const what = `answers ${answer.call}`;
    void this.#soon(what, ms, "answer", (runs) => runs.signal(run, "approve", answer, `a${seq}`));
  }

  /** Tries until it works. `or`: a failure that is as good. */
  async #insist<T>(what: string, work: (runs: Runs, server: Server) => Promise<T>, or?: string): Promise<T> {
    const { world } = this.#parts.engine;
    for (;;) {
      const server = await serverOf(this.#parts);
      const outcome = await servedBy(server, () => work(server.runs, server));
      if (outcome !== "dead" && "value" in outcome) return outcome.value;
      if (outcome !== "dead" && outcome.error.code === or) return undefined as T; // nobody reads it then
      const isNew = this.#agent === "newcomer" && outcome !== "dead" && outcome.error.code === "not_found";
      if (isNew) this.#parts.engine.coverage.count("asked a process that lags");
      if (outcome !== "dead" && !passing.has(outcome.error.code) && !isNew) {
        world.violated(`${this.#name} ${what}: ${outcome.error.code}: ${outcome.error.message}`);
      }
      await world.io(undefined, `${this.#name} ${what} again`, isNew ? 2_000 : 200);
    }
  }
}

/** One that is up, as soon as there is one. */
export async function serverOf({ engine, servers, booted }: ClientParts): Promise<Server> {
  for (;;) {
    const up = servers();
    if (up.length > 0) return engine.world.decisions.pick(up);
    await booted();
  }
}

/** A promise of a process is never awaited past its death. */
export function servedBy<T>({ life }: Server, work: () => Promise<T>): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const died = () => resolve("dead");
    life.onDeath.add(died);
    work().then(
      (value) => {
        life.onDeath.delete(died);
        resolve({ value });
      },
      (thrown: unknown) => {
        life.onDeath.delete(died);
        resolve({ error: errorOf(thrown) });
      },
    );
  });
}

const errorOf = (thrown: unknown): VenturiError =>
  VenturiError.isInstance(thrown) ? thrown : new VenturiError("simulation", "internal", `${thrown}`, { cause: thrown });

const forkable = new Set(["run.started", "generation.finished", "round.finished"]);
const effects = new Set(["pay", "refund"]);
