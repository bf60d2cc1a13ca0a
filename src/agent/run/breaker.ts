import type { VenturiError } from "../../core/errors/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { type Log, silentLog } from "../../core/ports/log.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import { blameFor, type FailureFacts, isUnreachable } from "./blame.ts";
import { type Caller, Circuit, type CircuitListener, type CircuitState } from "./circuit.ts";

/** Maximum share of one tenant's failures among those that open the breaker for everyone: three of five. */
const ofOneTenant = 0.6;
/** How many tenants with failures are remembered per breaker. */
const mostTenants = 1_000;

/** Below this many tenants, circuits without failures are kept too. */
const fewTenants = 16;

/** The circuits of one model, or of one provider's connections: a shared one, and one per tenant with failures. */
class Breaker {
  readonly #clock: Clock;
  readonly #changed: CircuitListener;
  readonly #tenants = new Map<string, Circuit>();
  readonly shared: Circuit;

  constructor(clock: Clock, changed: CircuitListener) {
    this.#clock = clock;
    this.#changed = changed;
    this.shared = new Circuit(clock, { ofOneTenant, changed });
  }

  /** Circuits of tenants that are not closed. */
  get tenants(): Circuit[] {
    return [...this.#tenants.values()].filter(({ state }) => state !== "closed");
  }

  admit(caller: Caller): boolean {
    const own = this.#tenants.get(caller.tenant);
    if (own !== undefined && !own.admit(caller)) return false;
    if (this.shared.admit(caller)) return true;
    own?.abandoned(caller);
    return false;
  }

  /** The circuits a tenant's calls must pass. */
  of(tenant: string): Circuit[] {
    const own = this.#tenants.get(tenant);
    return own === undefined ? [this.shared] : [this.shared, own];
  }

  answers(tenant: string, change: 1 | -1): void {
    this.shared.answering += change;
    this.#kept(tenant).answering += change;
    this.#forget(tenant);
  }

  succeeded({ tenant }: Caller): void {
    this.shared.succeeded();
    this.#tenants.get(tenant)?.succeeded();
    this.#forget(tenant);
  }

  failed(caller: Caller, error: VenturiError, weight: number): void {
    this.#kept(caller.tenant).failed(caller, error, weight);
    this.shared.failed(caller, error, weight);
  }

  abandoned(caller: Caller): void {
    this.#tenants.get(caller.tenant)?.abandoned(caller);
    this.shared.abandoned(caller);
  }

  #kept(tenant: string): Circuit {
    let circuit = this.#tenants.get(tenant);
    if (circuit === undefined) {
      if (this.#tenants.size >= mostTenants) this.#forgetOldest();
      const changed: CircuitListener = (change, facts) => this.#changed(change, { tenant, ...facts });
      circuit = new Circuit(this.#clock, { ofOneTenant: 1, changed });
      this.#tenants.set(tenant, circuit);
    }
    return circuit;
  }

  /** A few stay: otherwise every call of the only tenant would create its circuit again. */
  #forget(tenant: string): void {
    if (this.#tenants.size > fewTenants && this.#tenants.get(tenant)?.idle) this.#tenants.delete(tenant);
  }

  /** Skips circuits with calls in progress, whose count would be lost. */
  #forgetOldest(): void {
    for (const [tenant, { answering }] of this.#tenants) {
      if (answering === 0) return void this.#tenants.delete(tenant);
    }
  }
}

/** One call's view of the breakers of its provider and model. */
export class Guard {
  readonly #caller: Caller;
  readonly #breakers: { readonly provider: Breaker; readonly model: Breaker };
  readonly #noted: (error: VenturiError) => void;

  constructor(
    caller: Caller,
    breakers: { readonly provider: Breaker; readonly model: Breaker },
    noted: (error: VenturiError) => void,
  ) {
    this.#caller = caller;
    this.#breakers = breakers;
    this.#noted = noted;
    keepOne(this);
  }

  /** Time until a call of this tenant may be made, ms. */
  get leftMs(): number {
    return Math.max(...this.#circuits.map(({ leftMs }) => leftMs));
  }

  get state(): CircuitState {
    return worst(this.#circuits.map(({ state }) => state));
  }

  admit(): boolean {
    const { provider, model } = this.#breakers;
    if (!model.admit(this.#caller)) return false;
    if (provider.admit(this.#caller)) return true;
    model.abandoned(this.#caller);
    return false;
  }

  answering(change: 1 | -1): void {
    this.#breakers.provider.answers(this.#caller.tenant, change);
    this.#breakers.model.answers(this.#caller.tenant, change);
  }

  succeeded(): void {
    this.#breakers.provider.succeeded(this.#caller);
    this.#breakers.model.succeeded(this.#caller);
  }

  /** Counts the failure if it is the provider's. */
  failed(error: VenturiError, facts: FailureFacts): void {
    const weight = blameFor(error, facts);
    if (weight === 0) return this.abandoned();
    const { provider, model } = this.#breakers;
    const [counts, other] = isUnreachable(error) ? [provider, model] : [model, provider];
    this.#noted(error);
    other.abandoned(this.#caller);
    counts.failed(this.#caller, error, weight);
  }

  /** The call ended without telling anything about the provider's health (cancelled). */
  abandoned(): void {
    this.#breakers.provider.abandoned(this.#caller);
    this.#breakers.model.abandoned(this.#caller);
  }

  get #circuits(): Circuit[] {
    const { provider, model } = this.#breakers;
    return [provider, model].flatMap((breaker) => breaker.of(this.#caller.tenant));
  }
}

const severity: Readonly<Record<CircuitState, number>> = { closed: 0, "half-open": 1, open: 2 };
const worst = (states: readonly CircuitState[]): CircuitState =>
  states.reduce<CircuitState>((left, right) => (severity[right] > severity[left] ? right : left), "closed");

/** A circuit that is not closed. */
export interface OpenCircuit {
  /** Absent when the provider itself cannot be reached. */
  readonly model?: string;
  readonly state: CircuitState;
  readonly leftMs: number;
  /** Number of tenants it is open for; absent: for all. */
  readonly tenants?: number;
}

export interface BreakerView {
  readonly state: CircuitState;
  readonly leftMs: number;
  readonly open: readonly OpenCircuit[];
  /** The last failure that counted. */
  readonly lastError?: LastError;
}

interface LastError {
  readonly at: number;
  readonly code: string;
  readonly err: string;
}

interface OfProvider {
  readonly connections: Breaker;
  readonly models: Map<string, Breaker>;
  lastError?: LastError;
}

/** Breakers of all providers and models, shared by all runs. */
export class Breakers {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #providers = new Map<string, OfProvider>();

  constructor(clock: Clock, log: Log = silentLog) {
    this.#clock = clock;
    this.#log = log;
  }

  of(target: { readonly provider: string; readonly model: string }, caller: Caller): Guard {
    const known = this.#of(target.provider);
    let model = known.models.get(target.model);
    if (model === undefined) {
      model = new Breaker(this.#clock, this.#logger({ provider: target.provider, model: target.model }));
      known.models.set(target.model, model);
    }
    return new Guard(caller, { provider: known.connections, model }, (error) => {
      known.lastError = { at: this.#clock.now(), code: error.code, err: error.message };
    });
  }

  /** The breakers of one provider, as shown to operators. */
  view(provider: string): BreakerView {
    const { connections, models, lastError } = this.#of(provider);
    const open = [...viewOf(connections, {}), ...[...models].flatMap(([model, each]) => viewOf(each, { model }))];
    const state = worst(open.map((circuit) => circuit.state));
    const leftMs = Math.max(0, ...open.map((circuit) => circuit.leftMs));
    return { state, leftMs, open, ...(lastError === undefined ? {} : { lastError }) };
  }

  #of(provider: string): OfProvider {
    let known = this.#providers.get(provider);
    if (known === undefined) {
      known = { connections: new Breaker(this.#clock, this.#logger({ provider })), models: new Map() };
      this.#providers.set(provider, known);
    }
    return known;
  }

  #logger(of: Readonly<Record<string, string>>): CircuitListener {
    return (change, facts) => {
      this.#log[change === "opened" ? "warn" : "info"](`breaker ${change}`, { ...of, ...facts });
    };
  }
}

function viewOf(breaker: Breaker, about: { readonly model?: string }): OpenCircuit[] {
  const { shared, tenants } = breaker;
  if (shared.state !== "closed") return [{ ...about, state: shared.state, leftMs: shared.leftMs }];
  if (tenants.length === 0) return [];
  const leftMs = Math.max(...tenants.map((circuit) => circuit.leftMs));
  return [{ ...about, state: worst(tenants.map(({ state }) => state)), leftMs, tenants: tenants.length }];
}
