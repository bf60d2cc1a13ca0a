import type { FeedItem } from "./events.ts";
import { LiveSocket, type SocketClass } from "./live-socket.ts";
import { type Call, type Settings, sendJson } from "./requests.ts";
import { type FollowOptions, reconnect } from "./resume.ts";
import { type CallOptions, Run } from "./run.ts";
import { readStream } from "./sse.ts";
import type {
  AgentView,
  Approval,
  ApprovalsQuery,
  MeView,
  RunsQuery,
  RunView,
  SessionsQuery,
  SessionView,
  StartRequest,
  TurnsQuery,
  TurnView,
} from "./venturi.api.d.ts";

export { ClientError } from "./client-error.ts";
export type * from "./events.ts";
export type { ConnectionState, FollowOptions } from "./resume.ts";
export { isTerminal } from "./resume.ts";
export type { CallOptions, Run } from "./run.ts";
export type * from "./venturi.api.d.ts";
export type * from "./views.ts";

export interface ClientOptions {
  /** Base URL of the service; default: the page's origin. */
  readonly url?: string;
  /** An API key of the service's `auth.keys`, or a function called before each request. */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /** @deprecated Use `apiKey`. */
  readonly key?: string | (() => string | Promise<string>);
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  /**
   * `websocket`: all followed runs share one socket. A browser opens at most six HTTP/1.1 connections to an origin, over all its
   * tabs, and each event stream is one of them. The service needs a channel of type websocket.
   */
  readonly transport?: "sse" | "websocket";
  /** Path of that channel; default `/ws`. */
  readonly socketPath?: string;
  readonly WebSocket?: SocketClass;
  /** Attempts per request (4), and the waits between them in ms: the first (250) doubles up to the longest (10 000). */
  readonly retry?: { readonly attempts?: number; readonly first?: number; readonly longest?: number };
  /** A connection on which nothing arrives for this long, not even a heartbeat, is replaced; default 45 000 ms. */
  readonly idle?: number;
}

export type FeedOptions = Omit<FollowOptions, "after"> & { readonly agent?: string };

/** Starts, follows and steers runs of a Venturi service. Needs only `fetch`. */
export interface StartOptions extends CallOptions {
  /** A second start with the same key returns the first run. */
  readonly idempotencyKey?: string;
  /** @deprecated Use `idempotencyKey`. */
  readonly key?: string;
}

export class VenturiClient {
  readonly #settings: Settings;
  readonly #socket: LiveSocket | undefined;

  constructor(options: ClientOptions = {}) {
    const {
      url = "",
      apiKey = options.key,
      headers = {},
      transport,
      socketPath = "/ws",
      retry,
      idle = 45_000,
    } = options;
    this.#settings = {
      url: url.replace(/\/+$/, ""),
      apiKey: apiKey,
      headers,
      fetch: options.fetch ?? ((...words) => fetch(...words)),
      retry: { attempts: 4, first: 250, longest: 10_000, ...retry },
      idle,
    };
    if (transport === "websocket") {
      this.#socket = new LiveSocket(this.#settings, options.WebSocket ?? WebSocket, socketPath);
    }
  }

  /** Starts a run exactly once, however often the request is repeated: each call has an idempotency key, yours or a random one. */
  async start(request: StartRequest, options: StartOptions = {}): Promise<Run> {
    const { idempotencyKey = options.key ?? randomKey(), signal } = options;
    const { run } = await this.request<{ run: string }>({
      op: "run.start",
      method: "POST",
      path: "/v1/runs",
      body: request,
      headers: { prefer: "respond-async", "idempotency-key": idempotencyKey },
      signal,
      repeatable: true,
    });
    return this.run(run);
  }

  /** A handle on an existing run. */
  run(id: string): Run {
    return new Run(id, this.#settings, this.#socket);
  }

  /** Newest first. */
  runs({ signal, ...query }: RunsQuery & CallOptions = {}): Promise<{ runs: RunView[]; cursor?: string }> {
    return this.request({ op: "run.list", path: "/v1/runs", query, signal });
  }

  /** Most recently used first. */
  sessions({
    signal,
    ...query
  }: SessionsQuery & CallOptions = {}): Promise<{ sessions: SessionView[]; cursor?: string }> {
    return this.request({ op: "session.list", path: "/v1/sessions", query, signal });
  }

  /** The session's runs, oldest first, each with input and answer. */
  session(
    id: string,
    { signal, ...query }: TurnsQuery & CallOptions = {},
  ): Promise<{ runs: TurnView[]; cursor?: string }> {
    return this.request({ op: "session.get", path: sessionPath(id), query, signal });
  }

  /** Erases an ended conversation; returns the ids of its runs. */
  async removeSession(id: string, { signal }: CallOptions = {}): Promise<string[]> {
    const call = { op: "session.remove", method: "DELETE", path: sessionPath(id), signal } as const;
    return (await this.request<{ removed: string[] }>(call)).removed;
  }

  /** All questions waiting for a person, oldest run first: approvals, and questions of tools. */
  questions({
    signal,
    ...query
  }: ApprovalsQuery & CallOptions = {}): Promise<{ questions: Approval[]; cursor?: string }> {
    return this.request({ op: "question.list", path: "/v1/questions", query, signal });
  }

  /** Calls waiting for approval, oldest run first. */
  approvals({
    signal,
    ...query
  }: ApprovalsQuery & CallOptions = {}): Promise<{ approvals: Approval[]; cursor?: string }> {
    return this.request({ op: "approval.list", path: "/v1/approvals", query, signal });
  }

  /** The identity and permissions of this key. */
  me({ signal }: CallOptions = {}): Promise<MeView> {
    return this.request({ op: "key.get", path: "/v1/me", signal });
  }

  async agents({ signal }: CallOptions = {}): Promise<AgentView[]> {
    return (await this.request<{ agents: AgentView[] }>({ op: "agent.list", path: "/v1/agents", signal })).agents;
  }

  /** Pauses the agent: all its runs, including later ones, finish their round and wait. False if it is already paused. */
  pauseAgent(agent: string, options: { reason?: string } & CallOptions = {}): Promise<boolean> {
    return this.#ofAgent(agent, "pause", options);
  }

  /** False if it is not paused. */
  resumeAgent(agent: string, options: CallOptions = {}): Promise<boolean> {
    return this.#ofAgent(agent, "resume", options);
  }

  async #ofAgent(agent: string, action: string, { signal, ...body }: CallOptions): Promise<boolean> {
    const path = `/v1/agents/${encodeURIComponent(agent)}/${action}`;
    const call = { op: `agent.${action}`, method: "POST", path, body, signal } as const;
    return (await this.request<{ changed: boolean }>(call)).changed;
  }

  /** Live feed of all runs. Nothing is repeated after a disconnect: list the runs again on `feed.opened` and `feed.gap`. */
  async *feed(options: FeedOptions = {}): AsyncGenerator<FeedItem, void, undefined> {
    const { agent, signal } = options;
    const socket = this.#socket;
    const connect = (opened: () => void): AsyncIterable<readonly FeedItem[]> => {
      const call = { op: "run.feed", path: "/v1/feed", query: { agent }, signal };
      if (socket === undefined || socket.has("feed")) return readStream(this.#settings, call, opened);
      const open = { type: "feed", ...(agent === undefined ? {} : { agent }) };
      return socket.read({ name: "feed", open, close: { type: "unfeed" }, signal, opened });
    };
    for await (const items of reconnect(connect, { ...options, retry: this.#settings.retry })) yield* items;
  }

  /** Calls any other JSON endpoint, with this client's key, retries and errors. */
  request<Answer>(call: Call): Promise<Answer> {
    return sendJson<Answer>(this.#settings, call);
  }

  /** Closes the socket; readers that continue open it again. */
  close(): void {
    this.#socket?.close();
  }
}

const sessionPath = (id: string): string => `/v1/sessions/${encodeURIComponent(id)}`;

/** `crypto.randomUUID` exists only on pages served over HTTPS or from localhost. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (each) => each.toString(36)).join("-");
