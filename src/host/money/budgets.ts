import type { Meter, MeterAnswer, Metered, RateLimit } from "../../agent/run/metering.ts";
import type { Claim, Journal } from "../../core/journal/journal.ts";
import type { Amount, Billing, Hold, Reached, Reserved } from "../../core/journal/money.ts";
import { costOf, type PriceOf, toDollars, toNanos } from "../../core/model/prices.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { RateState } from "../../core/ports/rate.ts";
import type { Telemetry } from "../../core/ports/telemetry.ts";
import type { EventBody } from "../../core/run/events.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import type { BudgetSettings } from "../config/budgets.ts";
import type { Config } from "../config/load.ts";
import { OutputSizes } from "./output-sizes.ts";

interface BudgetDeps {
  readonly budgets: Readonly<Record<string, BudgetSettings>>;
  readonly models?: Config["models"];
  readonly priceOf: PriceOf;
  readonly telemetry: Pick<Telemetry, "count">;
  readonly log: Log;
}

/** A budget that applies to a run. */
interface Applied {
  readonly name: string;
  readonly budget: BudgetSettings;
  readonly whose: string;
}

/** The run and its owner, by which accounts are chosen. */
interface Payer {
  readonly run: string;
  readonly tenant: string;
  readonly request: Pick<RunRequest, "agent" | "caller" | "user" | "session" | "shadow">;
}

/** Kept across the revisions of a host, which has one journal: the length of a model's answers does not depend on the config. */
const sizes = new WeakMap<Journal, OutputSizes>();
function sizesOf(journal: Journal): OutputSizes {
  const known = sizes.get(journal) ?? new OutputSizes();
  sizes.set(journal, known);
  return known;
}
const day = 86_400_000;
const minute = 60_000;

/** The budgets of the configuration. */
export class Budgets {
  readonly #deps: BudgetDeps;

  constructor(deps: BudgetDeps) {
    this.#deps = deps;
  }

  /** Undefined when no budget applies to the run. */
  meter(claim: Claim, billing: Billing | undefined, host: { journal: Journal; clock: Clock }): Meter | undefined {
    const payer: Payer = { run: claim.ownership.run, tenant: claim.tenant, request: claim.request };
    const applied = this.#applied(payer);
    if (applied.length === 0) return undefined;
    billing?.useAccounts();
    return {
      get unsettled() {
        return billing?.unsettled ?? false;
      },
      reserve: (asked) => this.#reserve({ asked, applied, payer, billing, ...host }),
      used: (model, { outputTokens }) => sizesOf(host.journal).add(model, outputTokens),
    };
  }

  get limitTokensPerMinute(): boolean {
    return Object.values(this.#deps.budgets).some(isTokenRate);
  }

  /** The per-minute token limit with the least room left. */
  async tokenRate(
    payer: Payer,
    { journal, clock }: { journal: Journal; clock: Clock },
  ): Promise<RateState | undefined> {
    const now = clock.now();
    const limits = new Map(
      this.#applied(payer).flatMap((each) =>
        isTokenRate(each.budget) ? [[accountOf(each, payer, now), each.budget.tokens] as const] : [],
      ),
    );
    const found = new Map((await journal.balances?.([...limits.keys()]))?.map((each) => [each.account, each]));
    const states = [...limits].map(([account, most]): RateState => {
      const { spent, held } = found.get(account) ?? { spent: { tokens: 0 }, held: { tokens: 0 } };
      const left = Math.max(0, most - spent.tokens - held.tokens);
      return { of: "tokens", most, left, resetMs: minute - (now % minute) };
    });
    return states.sort((left, right) => left.left - right.left)[0];
  }

  #applied(payer: Payer): Applied[] {
    return Object.entries(this.#of(payer)).flatMap(([name, budget]) => {
      const whose = whoseIs(budget, payer);
      return whose === undefined || (budget.only !== undefined && budget.only !== whose)
        ? []
        : [{ name, budget, whose }];
    });
  }

  /** Shadow runs do not use the budgets of live runs. */
  #of({ request: { shadow } }: Payer): BudgetDeps["budgets"] {
    if (shadow === undefined) return this.#deps.budgets;
    const { budget } = this.#deps.models?.[shadow]?.shadow ?? {};
    return budget === undefined ? {} : { [`shadow of ${shadow}`]: { ...budget, of: "service", onExceed: "refuse" } };
  }

  async #reserve(given: {
    asked: Metered;
    applied: readonly Applied[];
    payer: Payer;
    billing: Billing | undefined;
    journal: Journal;
    clock: Clock;
  }): Promise<MeterAnswer> {
    const { asked, applied, payer, billing, journal, clock } = given;
    const calls = asked.beside === undefined ? [asked] : [asked, asked.beside];
    const unknown = calls.find(({ model }) => this.#deps.priceOf(model) === undefined);
    const unpriced = unknown && applied.find(({ budget }) => budget.usd !== undefined);
    if (unpriced !== undefined) {
      const message = `the budget "${unpriced.name}" is in USD, and the price of ${unknown?.model} is not known; add it to prices`;
      return { decision: "refuse", notices: [], budget: unpriced.name, message };
    }
    const likely = calls.map((call): Amount => this.#likely(call, sizesOf(journal)));
    const tokens = likely.reduce((sum, each) => sum + each.tokens, 0);
    const nanos = likely.reduce((sum, each) => sum + each.nanos, 0);
    const now = clock.now();
    const byAccount = new Map(applied.map((each) => [accountOf(each, payer, now), each]));
    const holds: Hold[] = [...byAccount].map(([account, { budget }]) => ({
      account,
      nanos,
      tokens,
      // A run that already uses the cheaper model may exceed the limit; its usage is still counted.
      ...(asked.saving && budget.onExceed === "cheaper"
        ? {}
        : {
            ...(budget.usd === undefined ? {} : { maxNanos: toNanos(budget.usd) }),
            ...(budget.tokens === undefined ? {} : { maxTokens: budget.tokens }),
          }),
      until: now + keptFor(budget),
    }));
    const answer: Reserved = (await journal.reserve?.({ ownership: asked.ownership, holds })) ?? {
      kind: "held",
      reached: [],
    };
    if (answer.kind === "fenced") return { decision: "go", notices: [] }; // Its writes are fenced too.
    const notices = answer.reached.flatMap((reached) => this.#notice(reached, byAccount, payer.run));
    if (answer.kind === "held") {
      billing?.held(holds);
      return { decision: "go", notices };
    }
    const over = answer.over.flatMap((each) => {
      const found = byAccount.get(each.account);
      return found === undefined ? [] : [{ ...found, ...each }];
    });
    // The cheaper model first: it may fit where this one does not.
    const order = ["cheaper", "refuse", "finish"] as const;
    const hardest = order.flatMap((decision) => over.filter(({ budget }) => budget.onExceed === decision))[0];
    if (hardest === undefined) return { decision: "go", notices };
    const { name, budget, whose, spent, held } = hardest;
    const message =
      `the budget "${name}" ${whoseText(budget, whose)} allows ${amount(toNanos(budget.usd ?? 0), budget.tokens, budget.usd)} per ${budget.per}: ` +
      `${amount(spent.nanos, spent.tokens, budget.usd)} is spent, ${amount(held.nanos, held.tokens, budget.usd)} set aside for running generations, ` +
      `and this one may take ${amount(nanos, tokens, budget.usd)}`;
    return { decision: budget.onExceed, notices, budget: name, message, ...rateOf(budget, { now, spent, held }) };
  }

  #likely({ model, input, output }: Pick<Metered, "model" | "input" | "output">, answers: OutputSizes): Amount {
    const written = output ?? answers.likely(model);
    const cost = costOf({ inputTokens: input, outputTokens: written }, this.#deps.priceOf(model));
    return { tokens: input + written, nanos: toNanos(cost ?? 0) };
  }

  #notice({ account, spent, level }: Reached, byAccount: ReadonlyMap<string, Applied>, run: string): EventBody[] {
    const found = byAccount.get(account);
    if (found === undefined) return [];
    const { name, budget, whose } = found;
    const facts = {
      budget: name,
      of: budget.of,
      whose,
      per: budget.per,
      onExceed: budget.onExceed,
      limit: {
        ...(budget.usd === undefined ? {} : { usd: budget.usd }),
        ...(budget.tokens === undefined ? {} : { tokens: budget.tokens }),
      },
      spent: { usd: toDollars(spent.nanos), tokens: spent.tokens },
    };
    this.#deps.telemetry.count("venturi.budget.reached", { budget: name, percent: String(level) });
    if (budget.per === "minute") return []; // Rate limits are reached all the time; no notice.
    this.#deps.log.warn(level === 100 ? "budget used up" : "budget nearly used up", { run, percent: level, ...facts });
    return [{ type: level === 100 ? "budget.exceeded" : "budget.warned", ...facts }];
  }
}

const isTokenRate = (budget: BudgetSettings): budget is BudgetSettings & { tokens: number } =>
  budget.per === "minute" && budget.tokens !== undefined;

/** How long an account is kept after its last reservation, ms. */
const keptFor = ({ per }: BudgetSettings): number =>
  per === "minute" ? 10 * minute : (per === "month" ? 32 : per === "session" ? 90 : 2) * day;

/** For a per-minute limit: when there is room again, and the figures for vendor headers. */
function rateOf(
  { per, tokens }: BudgetSettings,
  { now, spent, held }: { readonly now: number; readonly spent: Amount; readonly held: Amount },
): { rate?: RateLimit } {
  if (per !== "minute") return {};
  const retryAfterMs = minute - (now % minute);
  if (tokens === undefined) return { rate: { retryAfterMs } };
  return { rate: { retryAfterMs, most: tokens, left: Math.max(0, tokens - spent.tokens - held.tokens) } };
}

const amount = (nanos: number, tokens: number | undefined, usd: number | undefined): string =>
  usd === undefined ? `${tokens ?? 0} tokens` : `$${toDollars(nanos)}`;

const whoseText = ({ of }: BudgetSettings, whose: string): string =>
  of === "service" ? "" : `of the ${of} "${whose}"`;

function whoseIs({ of }: BudgetSettings, { run, tenant, request }: Payer): string | undefined {
  switch (of) {
    case "service":
      return "";
    case "tenant":
      return tenant;
    case "key":
      return request.caller?.id;
    case "user":
      return request.user === undefined ? undefined : `${tenant}/${request.user}`;
    case "agent":
      return request.agent;
    case "session":
      return request.session === undefined ? undefined : `${tenant}/${request.session}`;
    case "run":
      return run;
  }
}

/** One account per budget, owner and period; equal user or session names in two tenants are separate. */
function accountOf({ name, budget, whose }: Applied, { run, tenant, request }: Payer, now: number): string {
  const time = new Date(now).toISOString();
  const period = {
    run,
    session: request.session === undefined ? run : `${tenant}/${request.session}`,
    minute: time.slice(0, 16),
    hour: time.slice(0, 13),
    day: time.slice(0, 10),
    month: time.slice(0, 7),
  }[budget.per];
  // Otherwise the user "b/c" of the tenant "a" would be "c" of "a/b".
  const isOfTenant = budget.of === "user" || budget.of === "session" || budget.per === "session";
  return JSON.stringify([name, whose, period, ...(isOfTenant && tenant.includes("/") ? [tenant] : [])]);
}
