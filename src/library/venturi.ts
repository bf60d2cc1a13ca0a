import type { IncomingMessage, ServerResponse } from "node:http";
import type { Message } from "../core/model/messages.ts";
import type { Provider } from "../core/model/provider.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import type { Telemetry } from "../core/ports/telemetry.ts";
import type { Provided } from "../core/values/token.ts";
import type { Host } from "../host/open.ts";
import type { AgentLike, AgentSpec, AnyAgent, Named } from "./agent.ts";
import type { Hooks } from "./hooks.ts";
import type { NamedAgent } from "./named-agent.ts";
import type { JournalEntry, ProviderEntry, ToolEntry } from "./plugins.ts";
import type { Input, OptionsOf, Result, Run } from "./run.ts";
import type { Tool } from "./tool.ts";

/** A conversation: runs that see what was said before. */
export interface Session<S extends AgentSpec> {
  readonly id: string;
  run(input: Input, ...options: OptionsOf<S>): Promise<Result<S["output"]>>;
  start(input: Input, ...options: OptionsOf<S>): Promise<Run<S["output"], S["tools"]>>;
  /** The conversation so far, of all ended runs. */
  messages(): Promise<readonly Message[]>;
  /** Newest first. */
  runs(): AsyncIterable<Run<S["output"], S["tools"]>>;
}

/** The service's channels as handlers for a web framework, below a path. */
export interface Mounted {
  /** For what takes web requests: Next.js route handlers, Hono, Bun, Deno. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For `node:http`, Express and Fastify. The request's body must not have been read. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface Venturi extends AsyncDisposable, Mounted, Pick<Host, "runs" | "reload"> {
  /** Starts, waits, and rejects with the run's error. */
  run<S extends AgentSpec>(agent: AgentLike<S>, input: Input, ...options: OptionsOf<S>): Promise<Result<S["output"]>>;
  /** Resolves when the run is in the journal; rejects when it cannot be started. */
  start<S extends AgentSpec>(
    agent: AgentLike<S>,
    input: Input,
    ...options: OptionsOf<S>
  ): Promise<Run<S["output"], S["tools"]>>;
  session<S extends AgentSpec>(agent: AgentLike<S>, id: string, options?: { readonly tenant?: string }): Session<S>;
  /** A run by its id, whoever started it. With the agent: typed, and `not_found` when it is another agent's. */
  get<S extends AgentSpec = Named>(run: string, agent?: AgentLike<S>): Promise<Run<S["output"], S["tools"]>>;
  /** An agent by its name, also one of the configuration; `not_found` names those there are. */
  agent(name: string): NamedAgent;
  /** The effective configuration as YAML, each value with its place in a file or the program; secrets are masked. */
  config(): Promise<string>;
  /** `fetch` and `node` for requests whose path begins with `prefix`, which the framework has left in place. */
  at(prefix: string): Mounted;
  /** Runs under way are given back to the journal, for another process or the next start. */
  close(): Promise<void>;
}

/** Who asks, through `fetch` and `node`. */
export interface AppCaller {
  readonly id: string;
  /** Owner of the runs it starts and the only runs it sees; its id when absent. */
  readonly tenant?: string;
  /** The agents it may use; all when absent. */
  readonly agents?: readonly string[];
  /** What it may do with its tenant's runs; `start`, `see`, `steer` and `approve` when absent. */
  readonly may?: readonly ("start" | "see" | "steer" | "inspect" | "approve" | "metrics")[];
  /** The context of the runs it starts. Never taken from the request's body. */
  readonly context?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface App {
  /** YAML beside the code: each may name the other's tools, models and agents. */
  readonly configFile?: string;
  readonly agents?: readonly AnyAgent[];
  /** Tools that agents of the configuration may name; those of agents in code need not be listed. */
  readonly tools?: readonly (Tool | ToolEntry)[];
  readonly providers?: readonly (ProviderEntry | { readonly name: string; readonly provider: Provider })[];
  /** In memory when neither this nor the configuration says. */
  readonly journal?: JournalEntry;
  /** For all agents, before those of plugins and of the agent itself. */
  readonly hooks?: readonly Hooks[];
  /** Any other section of the configuration, in its form: `{ server: { cors: … }, channels: { http: {} }, telemetry: … }`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /**
   * Runs of the journal to take up here: those of these agents (`any`, the default), of the same revision of them (`same`, for
   * rolling deploys), or none but those started here (`none`, for scripts beside a service).
   */
  readonly takeUp?: "any" | "same" | "none";
  /** Authenticates requests to `fetch` and `node`; undefined is refused. Without it `server.auth` of the configuration does. */
  readonly caller?: (request: Request) => AppCaller | undefined | Promise<AppCaller | undefined>;
  /** One per process under this name: opening it again, as a hot reload does, swaps the agents; running ones keep theirs. */
  readonly shared?: string;
  /** `a.b=c` overrides of the configuration. */
  readonly set?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Overrides the configuration. */
  readonly telemetry?: Telemetry;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Overrides container bindings: `provide(ToolRegistry, mine)`. */
  readonly replace?: readonly Provided[];
}
