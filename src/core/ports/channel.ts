import type { z } from "zod";
import type { VenturiError } from "../errors/errors.ts";
import type { Account } from "./held.ts";
import type { Inspect } from "./inspect.ts";
import type { Log } from "./log.ts";
import type { RateState } from "./rate.ts";
import type { Runs } from "./runs.ts";
import type { Scope } from "./scopes.ts";

/** The authenticated caller. `agents` undefined means all agents. */
export interface Caller {
  readonly id: string;
  /** Owner of the runs it starts. Other tenants' data is invisible to it, unless `tenants` says otherwise. */
  readonly tenant: string;
  readonly agents: readonly string[] | undefined;
  /** `all`: it may read the runs of all tenants. */
  readonly tenants?: "all";
  /** `all`: it may also change, answer, fork and remove them, as its scopes allow; otherwise only those of its own tenant. */
  readonly act?: "all";
  /** The service has no keys, and this caller is everyone. A key may have the same id. */
  readonly keyless?: true;
}

/** What channels are mounted on. `Server` is the HTTP server's type; `venturi/plugin` names it. */
export interface ChannelHost<Server = unknown> {
  readonly server: Server;
  readonly log: Log;
  readonly limits: {
    /** High-water mark of bytes buffered for one slow reader. */
    readonly slowReader: number;
    /** Idle time after which a heartbeat is sent, ms. */
    readonly keepAlive: number;
    /** How long a stream's status waits for the run's first output, ms. */
    readonly firstOutput: number;
    /** Largest request body, and all stored files that a request refers to together, bytes. */
    readonly body: number;
    /** A reader that consumes nothing for this long is disconnected; it can resume. */
    readonly stalled: number;
    /** The memory account charged for a single piece beyond `slowReader`, by Node's request object. */
    account?(request: unknown): Account;
  };
  /** Authenticates a request. Throws `unauthorized`, `forbidden` or `rate_limited`. */
  caller(request: unknown): Caller;
  /** Throws `forbidden` unless the caller may use the agent. */
  permit(caller: Caller, agent: string): void;
  /** Throws `forbidden` unless the request's caller has the scope. Not needed for calls through `runsFor`. */
  demand(request: unknown, scope: Scope): void;
  /** The request's caller's scopes. */
  scopes(request: unknown): readonly Scope[];
  /**
   * Runs scoped to the request's caller: enforces permitted agents, rate and concurrency limits, and per-caller idempotency
   * keys, and refuses new runs with `unavailable` when the service is full.
   */
  runsFor(request: unknown): Runs;
  /**
   * For a route without a key: counts a request that failed the route's own check, in the log and the audit. Returns the error to throw,
   * `rate_limited` for an address with too many failures. The cause is told to the operator only.
   */
  refused?(request: unknown, error: VenturiError): VenturiError;
  /** State of the request rate limit when this request was counted. Reads are not counted. */
  requestRate?(request: unknown): RateState | undefined;
  /** The memory account of the request's caller: charge what is received or buffered outside the request body. */
  account(request: unknown): Account;
  /** The state of the service itself, for callers with the scope `inspect`. */
  readonly inspect: Inspect;
  /** The run's spans as OTLP JSON, while they are in the ring buffer. */
  trace(run: string): Promise<unknown | undefined>;
}

export interface Channel<Server = unknown> {
  mount(host: ChannelHost<Server>): void | Promise<void>;
}

/** Fastify's type provider for routes with zod schemas: `host.server.withTypeProvider<ZodRoutes>()`. */
export interface ZodRoutes {
  readonly schema: unknown;
  readonly validator: this["schema"] extends z.ZodType ? z.output<this["schema"]> : unknown;
  readonly serializer: unknown;
}
