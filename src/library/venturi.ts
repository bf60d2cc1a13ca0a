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

/** A conversation: each run sees the earlier ones. */
export interface Session<S extends AgentSpec> {
  readonly id: string;
  run(input: Input, ...options: OptionsOf<S>): Promise<Result<S["output"]>>;
  start(input: Input, ...options: OptionsOf<S>): Promise<Run<S["output"], S["tools"]>>;
  /** The conversation of all ended runs. */
  messages(): Promise<readonly Message[]>;
  /** Newest first. */
  runs(): AsyncIterable<Run<S["output"], S["tools"]>>;
}

/** The service's channels as handlers for a web framework, below a path. */
export interface Mounted {
  /** For web `Request`s: Next.js route handlers, Hono, Bun, Deno. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For `node:http`, Express and Fastify. The request's body must not have been read. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface Venturi extends AsyncDisposable, Mounted, Pick<Host, "runs" | "reload"> {
  /** Starts a run and waits for its result; rejects with the run's error. */
  run<S extends AgentSpec>(agent: AgentLike<S>, input: Input, ...options: OptionsOf<S>): Promise<Result<S["output"]>>;
  /** Resolves when the run is stored in the journal; rejects when it cannot be started. */
  start<S extends AgentSpec>(
    agent: AgentLike<S>,
    input: Input,
    ...options: OptionsOf<S>
  ): Promise<Run<S["output"], S["tools"]>>;
  session<S extends AgentSpec>(agent: AgentLike<S>, id: string, options?: { readonly tenant?: string }): Session<S>;
  /** A run by its id, whoever started it. With `agent`: typed, and `not_found` if it belongs to another agent. */
  get<S extends AgentSpec = Named>(run: string, agent?: AgentLike<S>): Promise<Run<S["output"], S["tools"]>>;
  /** An agent by name, also from the configuration; the `not_found` error lists the names. */
  agent(name: string): NamedAgent;
  /** The effective configuration as YAML, with the origin of each value; secrets are masked. */
  config(): Promise<string>;
  /** `fetch` and `node` for requests whose path begins with `prefix`, if the framework leaves it in place. */
  at(prefix: string): Mounted;
  /** Releases unfinished runs to the journal, for another process or the next start. */
  close(): Promise<void>;
}

/** The caller of a request to `fetch` or `node`. */
export interface AppCaller {
  readonly id: string;
  /** Owner of the runs it starts, and the only tenant whose runs it sees; default: its id. */
  readonly tenant?: string;
  /** The agents it may use; default: all. */
  readonly agents?: readonly string[];
  /** Its permissions on the tenant's runs; default: `start`, `see`, `steer` and `approve`. */
  readonly may?: readonly ("start" | "see" | "steer" | "inspect" | "approve" | "metrics")[];
  /** Context of the runs it starts. Never taken from the request's body. */
  readonly context?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface App {
  /** A YAML file in addition to the code: each may refer to the other's tools, models and agents. */
  readonly configFile?: string;
  readonly agents?: readonly AnyAgent[];
  /** Tools for agents in the configuration; tools of agents in code need not be listed. */
  readonly tools?: readonly (Tool | ToolEntry)[];
  readonly providers?: readonly (ProviderEntry | { readonly name: string; readonly provider: Provider })[];
  /** Default: in memory, unless the configuration has a journal. */
  readonly journal?: JournalEntry;
  /** Hooks of all agents; called before those of plugins and of the agent itself. */
  readonly hooks?: readonly Hooks[];
  /** Other sections of the configuration, in the same form: `{ server: { cors: … }, channels: { http: {} }, telemetry: … }`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /**
   * Which unfinished runs in the journal to continue here: those of these agents (`any`, the default), only of the same agent revisions
   * (`same`, for rolling deploys), or only runs started here (`none`, for scripts next to a service).
   */
  readonly takeUp?: "any" | "same" | "none";
  /** Authenticates requests to `fetch` and `node`; undefined refuses. Default: `server.auth` of the configuration. */
  readonly caller?: (request: Request) => AppCaller | undefined | Promise<AppCaller | undefined>;
  /** One instance per process under this name: opening it again, as a hot reload does, replaces the agents; running runs keep theirs. */
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
