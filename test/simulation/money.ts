import type { Reservation, Reserved } from "../../src/core/journal/money.ts";
import type { Usage } from "../../src/core/model/usage.ts";
import type { Log } from "../../src/core/ports/log.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import { isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import { Budgets } from "../../src/host/money/budgets.ts";
import type { Engine } from "./engine.ts";

/** What a generation says that it used: little less than is set aside for it, so that a budget can be nearly used up. */
export const used = { inputTokens: 120, outputTokens: 5 };
/** … one that has no tools to describe. */
export const usedAlone = { inputTokens: 3, outputTokens: 5 };

/** One for all runs of a history. */
export const budgetsOf = (tokens: number, log: Log): Budgets =>
  new Budgets({
    budgets: { all: { of: "service", tokens, per: "day", onExceed: "refuse" } },
    priceOf: () => undefined,
    telemetry: noTelemetry,
    log,
  });

/** Of generations, of the one that lost a race, and of summaries. */
function tokensOf(event: RunEvent): number {
  if (event.type === "context.compacted") return sumOf(event.usage);
  if (event.type !== "generation.finished" && event.type !== "generation.failed") return 0;
  return sumOf(event.usage) + sumOf(event.hedged?.usage);
}

const sumOf = (usage: Usage | undefined): number => (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);

/** What the events say that was spent, beside what the journal has summed. */
export class Spending {
  readonly #engine: Engine;
  readonly #open = new Set<string>();
  readonly #accounts = new Set<string>();
  #tokens = 0;
  /** Of one event: the estimate of a request that was given up is larger than what a model says. */
  #most = used.inputTokens + used.outputTokens;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Of an event that was stored by an append: copies of another run's cost nothing. */
  stored(event: RunEvent): void {
    const { world, profile } = this.#engine;
    if (isTerminal(event)) this.#open.delete(event.run);
    else this.#open.add(event.run);
    const tokens = tokensOf(event);
    this.#tokens += tokens;
    this.#most = Math.max(this.#most, tokens);
    if (profile.budget === 0) return;
    if (this.#tokens > profile.budget + this.#most * (this.#open.size + 1))
      world.violated(`${this.#tokens} tokens are spent of a budget of ${profile.budget}`);
  }

  /** What a refusal counts as set aside is held by somebody else. */
  reserved({ ownership: { run }, holds }: Reservation, answer: Reserved): void {
    for (const { account } of holds) this.#accounts.add(account);
    if (answer.kind !== "over") return;
    this.#engine.coverage.count("refused by a budget");
    const held = answer.over.reduce((sum, over) => sum + over.held.tokens, 0);
    if (held > 0 && !this.#engine.hasOpen(run))
      this.#engine.world.violated(`${held} tokens are set aside, and nobody runs but ${run}`);
  }

  /** At the end. */
  async check(): Promise<void> {
    await this.#checkHeld();
    const [row] = (await this.#engine.inner.usage?.({ by: [] })) ?? [];
    const summed = (row?.inputTokens ?? 0) + (row?.outputTokens ?? 0);
    if (summed !== this.#tokens)
      this.#engine.world.violated(`${summed} tokens are summed, and the events say ${this.#tokens}`);
  }

  /** A run of a schedule may still be under way, with what it has set aside. */
  async #checkHeld(): Promise<void> {
    if (this.#engine.hasOpen("")) return;
    for (const { account, held } of (await this.#engine.inner.balances?.([...this.#accounts])) ?? [])
      if (held.tokens > 0) this.#engine.world.violated(`${held.tokens} tokens of ${account} stay set aside for nobody`);
  }
}
