import type { Engine } from "./engine.ts";
import { isReliable, isShort, type Profile } from "./profile.ts";
import { calmAt, epoch } from "./world.ts";

/** What clients say to runs has its effect in time. */
export class Answers {
  readonly #engine: Engine;
  /** When a call's question got its answer, by run and call. */
  readonly #answered = new Map<string, number>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Where nothing goes wrong but hints, a cancel ends a run within seconds. */
  signalled(run: string, { kind, body }: { readonly kind: string; readonly body: { readonly call?: string } }): void {
    const { world, profile } = this.#engine;
    if (kind === "approve") this.#answered.set(`${run} ${body.call ?? ""}`, world.now);
    // On SQLite the power may be lost, and a lease of the dead lasts longer than this.
    if (kind !== "cancel" || !isPlain(profile) || this.#engine.sqlite !== undefined) return;
    const cancelledAt = world.now;
    const grace = 5_000 + 20 * profile.delay;
    const look = () => {
      const owner = this.#engine.ownerOf(run);
      // One that waited in the queue, or with memory for one run was parked, waits for its turn.
      if (owner === undefined || this.#engine.isEnded(run) || (isShort(profile) && owner.at < cancelledAt)) return;
      const left = owner.at + grace - world.now;
      if (left > 0) world.later(undefined, "a cancel has had its time", left, look);
      else world.violated(`${run}: a cancel has no effect`);
    };
    world.later(undefined, "a cancel has had its time", grace, look);
  }

  /** An answer is taken within the time of a takeover once nothing goes wrong any more, and long before its question times out. */
  resolved(run: string, call: string): void {
    const { world, profile } = this.#engine;
    const answered = this.#answered.get(`${run} ${call}`) ?? world.now;
    // After a crash the same call is asked about again, and that question may get no answer.
    this.#answered.delete(`${run} ${call}`);
    // With fewer places than runs, or memory for one of them only, a run that lost its process waits for its turn first.
    const waitsForTurn = profile.activeRuns < profile.runs || isShort(profile);
    const placed = waitsForTurn ? (this.#engine.ownerOf(run)?.at ?? 0) : 0;
    const late = world.now - Math.max(answered, placed, epoch + calmAt);
    if (late > 40_000)
      world.violated(`${run}: an answer about ${call} was not taken for ${Math.round(late / 1_000)} s`);
  }
}

const isPlain = (profile: Profile): boolean => isReliable(profile) && profile.crashes + profile.drains === 0;
