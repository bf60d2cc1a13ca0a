import { VenturiError } from "../../core/errors/errors.ts";
import { type Clock, systemClock } from "../../core/ports/clock.ts";

const op = "run.admit";

export interface AdmissionOptions {
  readonly activeRuns: number;
  readonly queue: number;
  /** Longest wait for a slot, ms. */
  readonly queueWait: number;
  readonly clock?: Clock;
  /** Reports how long a start waited for its slot, ms. */
  readonly waited?: (ms: number) => void;
}

/** Caller requesting a slot, and how many it may hold. */
export interface Applicant {
  readonly id: string;
  readonly concurrentRuns?: number | undefined;
}

/** A slot for one run, freed by `release` or by the end of the run it is bound to. */
export interface Place {
  /** How long the caller waited for it, ms. */
  readonly waitedMs: number;
  bind(run: string): void;
  release(): void;
}

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (error: VenturiError) => void;
}

/**
 * Limits the runs executing in this process. Past `activeRuns`, starts queue: at most `queue` of them, each for at most `queueWait`. Any
 * further start is refused with `unavailable`, so that no wait is unbounded.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #clock: Clock;
  readonly #executing = new Set<string>();
  readonly #bound = new Map<string, () => void>();
  readonly #held = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();
  #reserved = 0;
  #closed = false;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Executing runs, plus slots assigned to runs about to start. */
  get active(): number {
    return this.#executing.size + this.#reserved - this.#bound.size;
  }

  get most(): number {
    return this.#options.activeRuns;
  }

  get free(): number {
    return this.#closed ? 0 : Math.max(0, this.#options.activeRuns - this.active);
  }

  /** Number of starts waiting for a slot. */
  get waiting(): number {
    return this.#waiting.size;
  }

  get executing(): ReadonlySet<string> {
    return this.#executing;
  }

  async reserve(applicant: Applicant): Promise<Place> {
    if (this.#closed) throw closing();
    const held = this.#held.get(applicant.id) ?? 0;
    if (applicant.concurrentRuns !== undefined && held >= applicant.concurrentRuns) {
      const most = applicant.concurrentRuns;
      const message = `this key has ${held} active or queued runs; its limit, concurrentRuns, is ${most}`;
      const details = { limit: "concurrentRuns", value: held, most, retryAfterMs: 1000 };
      throw new VenturiError(op, "rate_limited", message, { details });
    }
    // Queued starts count too, or a key could queue past its limit.
    this.#held.set(applicant.id, held + 1);
    if (this.free > 0) {
      this.#options.waited?.(0);
      return this.#place(applicant.id, 0);
    }
    try {
      const place = await this.#wait(applicant.id);
      this.#options.waited?.(place.waitedMs);
      return place;
    } catch (thrown) {
      this.#drop(applicant.id);
      throw thrown;
    }
  }

  /** The host calls this when a run starts executing here, however it was started. */
  begin(run: string): void {
    this.#executing.add(run);
  }

  end(run: string): void {
    this.#executing.delete(run);
    this.#bound.get(run)?.();
    this.#bound.delete(run);
    this.#next();
  }

  /** Refuses new and queued starts. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiting) waiter.refuse(closing());
  }

  #place(id: string, waitedMs: number): Place {
    this.#reserved++;
    let open = true;
    const release = () => {
      if (!open) return;
      open = false;
      this.#reserved--;
      this.#drop(id);
    };
    return {
      waitedMs,
      release: () => {
        release();
        this.#next();
      },
      // A run not executing here has ended by now, or waits in the journal to be claimed.
      bind: (run) => {
        if (this.#executing.has(run) && !this.#bound.has(run)) this.#bound.set(run, release);
        else release();
        this.#next();
      },
    };
  }

  #drop(id: string): void {
    const left = (this.#held.get(id) ?? 1) - 1;
    if (left === 0) this.#held.delete(id);
    else this.#held.set(id, left);
  }

  async #wait(id: string): Promise<Place> {
    if (this.#waiting.size >= this.#options.queue) throw this.#full();
    const since = this.#clock.monotonic();
    return await new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiter);
        stop();
      };
      const waiter: Waiter = {
        admit: () => {
          leave();
          resolve(this.#place(id, this.#clock.monotonic() - since));
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      const stop = this.#clock.after(this.#options.queueWait, () => waiter.refuse(this.#late()));
      this.#waiting.add(waiter);
    });
  }

  #full(): VenturiError {
    const { activeRuns, queue } = this.#options;
    const value = this.#waiting.size;
    const message = `${this.active} runs are active (limits.activeRuns is ${activeRuns}) and ${value} wait (limits.queue is ${queue}); try again later`;
    return new VenturiError(op, "unavailable", message, {
      details: { limit: "queue", value, most: queue, retryAfterMs: 1000 },
    });
  }

  #late(): VenturiError {
    const { activeRuns, queueWait } = this.#options;
    const message = `${this.active} runs are active (limits.activeRuns is ${activeRuns}) and none ended within ${queueWait} ms; try again later`;
    return new VenturiError(op, "unavailable", message, {
      details: { limit: "activeRuns", value: this.active, most: activeRuns, retryAfterMs: 1000 },
    });
  }

  #next(): void {
    for (const waiter of this.#waiting) {
      if (this.free === 0) break;
      waiter.admit();
    }
  }
}

const closing = () =>
  new VenturiError(op, "shutting_down", "the service is shutting down; ask another replica or try again", {
    details: { retryAfterMs: 1000 },
  });
