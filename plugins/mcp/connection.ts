import type { Client, OAuthClientProvider, Tool as RemoteTool } from "@modelcontextprotocol/client";
import { messageOf, type PluginContext, VenturiError } from "venturi/plugin";
import { keepListening } from "./listening.ts";
import { Negotiation } from "./negotiation.ts";
import type { McpOptions } from "./options.ts";

/** A client of the server, reconnected with backoff whenever the server goes away. */
export class Connection {
  onTools: (tools: readonly RemoteTool[]) => void = () => {};
  readonly #options: McpOptions;
  readonly #context: PluginContext;
  readonly #redact: (text: string) => string;
  readonly #negotiation: Negotiation;
  readonly #credentials: OAuthClientProvider | undefined;
  #client: Client | undefined;
  #closed = false;
  #failures = 0;
  #checking = false;
  #underWay = 0;
  /** The server announced changed tools since the last listing. */
  #stale = false;
  /** Set during the minimum interval between listings. */
  #stopRefresh: (() => void) | undefined;
  #stopTimer = () => {};
  #stopListening = () => {};
  #words = "";
  #waiting: ((client: Client) => void)[] = [];

  constructor(
    options: McpOptions,
    context: PluginContext,
    { redact, credentials }: { redact(text: string): string; credentials?: OAuthClientProvider | undefined },
  ) {
    this.#options = options;
    this.#context = context;
    this.#redact = redact;
    this.#credentials = credentials;
    this.#negotiation = new Negotiation(options, context.folder, () => this.#refreshSoon());
  }

  async start(): Promise<void> {
    try {
      await this.#connect();
    } catch (thrown) {
      if (VenturiError.isInstance(thrown) && thrown.code === "config_invalid") throw thrown;
      const error = new VenturiError(
        "tool.create",
        "unavailable",
        `the MCP server "${this.#context.name}" cannot be used: ${this.#redact(messageOf(thrown))}${await this.lastWords()}`,
        { cause: thrown },
      );
      if (!this.#options.optional) throw error;
      this.#restartLater(error.message);
    }
  }

  /** The client, once connected: calls made while the server restarts wait for it. */
  async client(signal: AbortSignal): Promise<Client> {
    signal.throwIfAborted();
    if (this.#client !== undefined) return this.#client;
    if (this.#closed) throw unavailable("the MCP server is closed");
    return await new Promise((resolve, reject) => {
      const done = () => {
        stopTimer();
        signal.removeEventListener("abort", onAbort);
        this.#waiting = this.#waiting.filter((other) => other !== onClient);
      };
      const onClient = (client: Client) => {
        done();
        resolve(client);
      };
      const onAbort = () => {
        done();
        reject(signal.reason);
      };
      const stopTimer = this.#context.clock.after(this.#options.connectTimeout, () => {
        done();
        reject(unavailable(`the MCP server is not running; it is being restarted, try again later${this.#words}`));
      });
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(onClient);
    });
  }

  /** Runs `work` with the client. After a failure the server is asked whether it is still there. */
  async use<T>({ signal }: { readonly signal: AbortSignal }, work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.client(signal);
    try {
      return await this.#counted(() => work(client));
    } catch (thrown) {
      if (!signal.aborted && !VenturiError.isInstance(thrown)) await this.suspect(client);
      throw thrown;
    }
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
    }
  }

  /** What a trace says about a call, by OpenTelemetry's conventions for MCP. */
  get spanAttributes(): Readonly<Record<string, string | number>> {
    const session = this.#client?.transport?.sessionId;
    const protocol = this.#client?.getNegotiatedProtocolVersion();
    return {
      "mcp.method.name": "tools/call",
      ...(protocol === undefined ? {} : { "mcp.protocol.version": protocol }),
      ...(session === undefined ? {} : { "mcp.session.id": session }),
      ...serverAttributes(this.#options.url),
    };
  }

  /** After a failure: checks whether the server is still there, and reconnects if not. */
  async suspect(client: Client): Promise<void> {
    if (this.#client !== client || this.#checking || this.#options.url === undefined) return;
    this.#checking = true;
    try {
      const options = { timeout: 2_000 };
      await (client.getProtocolEra() === "modern" ? client.discover(options) : client.ping(options));
    } catch (thrown) {
      // A server that works on a call may answer nothing else meanwhile; giving it up would fail that call too.
      if (this.#underWay === 0 || !isTimeout(thrown)) this.#lost(client, messageOf(thrown));
    } finally {
      this.#checking = false;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopTimer();
    this.#stopRefresh?.();
    this.#stopListening();
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    const transport = client.transport;
    if (
      transport !== undefined &&
      "terminateSession" in transport &&
      typeof transport.terminateSession === "function"
    ) {
      const stop = this.#context.clock.after(goodbye, () => void client.close().catch(() => {})); // ends the request
      await transport.terminateSession().catch(() => {}); // the server may be gone
      stop();
    }
    await client.close();
  }

  async #connect(): Promise<void> {
    const client = await this.#negotiation.connect(this.#credentials);
    try {
      const tools = await listAll(client, this.#options.connectTimeout);
      if (this.#closed) throw unavailable("closed while connecting");
      this.#client = client;
      this.#failures = 0;
      this.#words = "";
      this.onTools(tools);
    } catch (thrown) {
      await client.close().catch(() => {}); // report the first failure
      throw thrown;
    }
    client.onclose = () => this.#lost(client, "the server closed the connection");
    client.onerror = () => void this.suspect(client);
    for (const waiting of this.#waiting) waiting(client);
    if (this.#stale) this.#refreshSoon();
    const alive = new AbortController();
    this.#stopListening = () => alive.abort();
    void keepListening(client, {
      clock: this.#context.clock,
      backoff: this.#options.backoff,
      signal: alive.signal,
      onClosed: () => this.suspect(client),
      onMissed: () => this.#refreshSoon(),
    });
  }

  /** Lists tools at most once per `refreshEvery`, however often the server announces changes. */
  #refreshSoon(): void {
    this.#stale = true;
    if (this.#stopRefresh === undefined && this.#client !== undefined) void this.#refreshIfStale();
  }

  async #refreshIfStale(): Promise<void> {
    this.#stopRefresh = undefined;
    const client = this.#client;
    if (!this.#stale || client === undefined || this.#closed) return;
    this.#stale = false;
    this.#stopRefresh = this.#context.clock.after(refreshEvery, () => void this.#refreshIfStale());
    await this.#refresh(client);
  }

  async #refresh(client: Client): Promise<void> {
    try {
      this.onTools(await listAll(client, this.#options.connectTimeout));
    } catch (thrown) {
      this.#context.log.warn("the MCP server's tools could not be listed again", this.#fields(messageOf(thrown)));
      await this.suspect(client);
    }
  }

  #lost(client: Client, reason: string): void {
    if (this.#client !== client || this.#closed) return;
    this.#client = undefined;
    this.#stopListening();
    client.onclose = () => {};
    client.onerror = () => {};
    void client.close().catch(() => {}); // gone already; this only frees our side
    this.#restartLater(reason);
  }

  #restartLater(reason: string): void {
    const { first, most } = this.#options.backoff;
    const restartInMs = Math.min(most, first * 2 ** this.#failures++);
    void this.lastWords().then((words) => {
      this.#context.log.warn("MCP server exited; restarting it", { ...this.#fields(`${reason}${words}`), restartInMs });
    });
    this.#stopTimer = this.#context.clock.after(restartInMs, () => void this.#restart());
  }

  /** Its pipe may be read after its end is noticed. They stand in errors of calls that wait for it too. */
  async lastWords(): Promise<string> {
    await new Promise<void>((resolve) => this.#context.clock.after(20, resolve));
    const words = this.#redact(this.#negotiation.lines.said());
    if (words !== "") this.#words = words;
    return this.#words;
  }

  async #restart(): Promise<void> {
    try {
      await this.#connect();
      this.#context.log.info("the MCP server is back", { server: this.#context.name });
    } catch (thrown) {
      if (!this.#closed) this.#restartLater(messageOf(thrown));
    }
  }

  #fields(reason: string) {
    return { server: this.#context.name, reason: this.#redact(reason), failures: this.#failures };
  }
}

export function serverAttributes(url: string | undefined): Readonly<Record<string, string | number>> {
  if (url === undefined) return { "network.transport": "pipe" };
  const { hostname, port, protocol } = new URL(url);
  return {
    "network.transport": "tcp",
    "network.protocol.name": "http",
    "server.address": hostname,
    "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
  };
}

/** How long a server may take to end its session, ms. */
const goodbye = 2_000;

const refreshEvery = 1_000;

const listAll = async (client: Client, timeout: number): Promise<RemoteTool[]> =>
  (await client.listTools(undefined, { timeout, cacheMode: "refresh" })).tools;

/** The library's SdkErrorCode.RequestTimeout, by value because the library is loaded lazily. */
const isTimeout = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === "REQUEST_TIMEOUT";

const unavailable = (message: string) => new VenturiError("tool.call", "unavailable", message);
