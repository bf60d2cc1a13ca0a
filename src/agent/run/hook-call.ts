import { VenturiError } from "../../core/errors/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { CallLimit } from "./call-limit.ts";
import type { PluginScope } from "./plugin-scope.ts";
import type { Waits } from "./waits.ts";

interface HookCallOwner {
  readonly clock: Clock;
  readonly waits?: Waits;
  fail(error: VenturiError): void;
}

/** The hook took longer than it may. */
export class TooSlow extends Error {}

/** One call of a hook: its time, and apart from that the time it waits for the journal. */
export class HookCall implements PluginScope {
  readonly what: string;
  readonly run: string;
  readonly #owner: HookCallOwner;
  readonly #ms: number;
  #limit: CallLimit | undefined;
  #waiting = 0;
  #over = false;
  #endWait: (() => void) | undefined;

  constructor(what: string, run: string, owner: HookCallOwner, ms: number) {
    this.what = what;
    this.run = run;
    this.#owner = owner;
    this.#ms = ms;
    this.#endWait = owner.waits?.begin("hook", what);
  }

  fail(error: VenturiError): void {
    this.#owner.fail(error);
  }

  waitForJournal(): () => void {
    if (this.#over) return () => {};
    this.#limit?.beginWait();
    if (this.#waiting++ === 0) this.#chargeTo("journal");
    return () => {
      if (this.#over) return;
      this.#limit?.endWait();
      if (--this.#waiting === 0) this.#chargeTo("hook");
    };
  }

  #chargeTo(part: "hook" | "journal"): void {
    this.#endWait?.();
    this.#endWait = this.#owner.waits?.begin(part, part === "hook" ? this.what : "");
  }

  /** Rejects when the hook or its waits for the journal take too long. `isAsking`: a person is asked, whose time does not count. */
  late(isAsking: () => boolean): Promise<never> {
    const { clock } = this.#owner;
    const ms = this.#ms;
    return new Promise((_, reject) => {
      const journalTooSlow = () =>
        reject(new VenturiError("journal.read", "journal_failed", `${this.what} waited ${ms} ms for the journal`));
      const limited = (): void => {
        const tooSlow = () => (isAsking() ? limited() : reject(new TooSlow()));
        this.#limit?.stop();
        this.#limit = new CallLimit(clock, { ms, tooSlow, journalTooSlow });
        // Those that began before it returned.
        for (let waits = this.#waiting; waits > 0; waits--) this.#limit.beginWait();
      };
      limited();
    });
  }

  end(): void {
    this.#over = true;
    this.#limit?.stop();
    this.#endWait?.();
  }
}
