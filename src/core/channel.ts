import type { z } from "zod";
import type { Log } from "./log.ts";
import type { Runs } from "./runs.ts";
import type { Scope } from "./scopes.ts";

/** Who is asking, once authenticated. `agents` undefined = all of them. */
export interface Caller {
  readonly id: string;
  /** Owner of what it starts; it sees nothing of other tenants. */
  readonly tenant: string;
  readonly agents: readonly string[] | undefined;
}

/** What a channel mounts on. `Server` is the HTTP server's type; `venturi/plugin` names it. */
export interface ChannelHost<Server = unknown> {
  readonly server: Server;
  readonly log: Log;
  readonly limits: {
    /** Most bytes that may wait in memory for one slow reader. */
    readonly slowReader: number;
    /** Silence after which a heartbeat is sent, ms. */
    readonly keepAlive: number;
    /** A reader that takes nothing for this long is ended; it can resume. */
    readonly stalled: number;
  };
  /** The caller of a request, or a thrown `unauthorized`, `forbidden`, `rate_limited`. */
  caller(request: unknown): Caller;
  /** Throws `forbidden` unless the caller may use the agent. */
  permit(caller: Caller, agent: string): void;
  /** Throws `forbidden` unless the request's caller may do this. What goes through `runsFor` is checked there. */
  demand(request: unknown, scope: Scope): void;
  /**
   * The runs as the request's caller may see and start them: agents permitted, rates and numbers kept, idempotency keys its
   * own, new runs admitted or refused with `unavailable`.
   */
  runsFor(request: unknown): Runs;
  /** The run's spans as OTLP JSON, while they are remembered. */
  trace(run: string): unknown | undefined;
}

export interface Channel<Server = unknown> {
  mount(host: ChannelHost<Server>): void | Promise<void>;
}

/** Fastify's type provider for routes whose schemas are zod's: `host.server.withTypeProvider<ZodRoutes>()`. */
export interface ZodRoutes {
  readonly schema: unknown;
  readonly validator: this["schema"] extends z.ZodType ? z.output<this["schema"]> : unknown;
  readonly serializer: unknown;
}
