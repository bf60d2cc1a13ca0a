import { randomUUID } from "node:crypto";
import { Readable, Writable } from "node:stream";
import {
  type AgentContext,
  agent,
  type ClientCapabilities,
  type ListSessionsResponse,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
} from "@agentclientprotocol/sdk";
import { beginning, inputText } from "../../core/run/digest.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import type { Host } from "../../host/open.ts";
import { ownVersion } from "../../host/system/version.ts";
import { isJsonObject } from "../../serve/json-rpc.ts";
import { KnownFiles } from "./known-files.ts";
import { Plans } from "./plans.ts";
import { Session, sessionTags } from "./session.ts";
import { toolView } from "./tool-views.ts";

const mostSessions = 1_000;
const listed = 50;

export interface Serving {
  /** The agent new sessions start with. */
  readonly first: string;
  /** Writes a line to the editor's log. */
  readonly tell: (line: string) => void;
}

/** Serves until the editor closes the pipe. */
export async function serveAcp(host: Host, serving: Serving): Promise<void> {
  const sessions = new Sessions(host, serving);
  const stream = ndJsonStream(
    Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
  );
  const connection = sessions.app().connect(stream);
  const stop = () => connection.close();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
  await connection.closed;
  await sessions.end();
}

class Sessions {
  readonly #host: Host;
  readonly #first: string;
  readonly #tell: Serving["tell"];
  readonly #open = new Map<string, Session>();
  #capabilities: ClientCapabilities = {};

  constructor(host: Host, { first, tell }: Serving) {
    this.#host = host;
    this.#first = first;
    this.#tell = tell;
  }

  app() {
    return agent({ name: "venturi" })
      .onRequest("initialize", ({ params }) => {
        this.#capabilities = params.clientCapabilities ?? {};
        return {
          protocolVersion: PROTOCOL_VERSION,
          agentInfo: { name: "venturi", title: "Venturi", version: ownVersion() },
          authMethods: [],
          agentCapabilities: {
            loadSession: true,
            promptCapabilities: { image: true, audio: true, embeddedContext: true },
            sessionCapabilities: { list: {}, resume: {}, close: {} },
          },
        };
      })
      .onRequest("session/new", ({ params, client }) => {
        const session = this.#add({ id: randomUUID(), cwd: params.cwd, agent: this.#first }, client);
        return { sessionId: session.id, ...this.#settings(session), ...this.#unused(params.mcpServers) };
      })
      .onRequest("session/load", async ({ params, client }) => {
        const { session, rows } = await this.#find(params, client);
        await session.load(rows);
        return { ...this.#settings(session), ...this.#unused(params.mcpServers) };
      })
      .onRequest("session/resume", async ({ params, client }) => {
        const { session } = await this.#find(params, client);
        return { ...this.#settings(session), ...this.#unused(params.mcpServers) };
      })
      .onRequest("session/list", ({ params }) => this.#list(params.cwd ?? undefined, params.cursor ?? undefined))
      .onRequest("session/close", async ({ params }) => {
        const session = this.#get(params.sessionId);
        this.#open.delete(session.id);
        await session.end();
      })
      .onRequest("session/set_mode", async ({ params, client }) => {
        const session = this.#get(params.sessionId);
        this.#set(session, "agent", params.modeId);
        const { configOptions } = this.#settings(session);
        const update = { sessionUpdate: "config_option_update" as const, configOptions };
        await client.notify("session/update", { sessionId: session.id, update });
      })
      .onRequest("session/set_config_option", async ({ params, client }) => {
        const session = this.#get(params.sessionId);
        this.#set(session, params.configId, params.value);
        const update = { sessionUpdate: "current_mode_update" as const, currentModeId: session.agent };
        if (params.configId === "agent") await client.notify("session/update", { sessionId: session.id, update });
        return { configOptions: this.#settings(session).configOptions };
      })
      .onRequest("session/prompt", async ({ params, signal }) => ({
        stopReason: await this.#get(params.sessionId).prompt(params.prompt, signal),
      }))
      .onNotification("session/cancel", ({ params }) => this.#open.get(params.sessionId)?.cancel());
  }

  async end(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map((session) => session.end()));
  }

  #get(id: string): Session {
    const session = this.#open.get(id);
    if (session === undefined) throw RequestError.sessionNotFound(id);
    return session;
  }

  #add(of: { readonly id: string; readonly cwd: string; readonly agent: string }, client: AgentContext): Session {
    if (this.#open.size >= mostSessions) throw RequestError.invalidRequest(undefined, "too many sessions are open");
    const { runs } = this.#host;
    const config = () => this.#host.revision().config;
    const initial = (document: string) => {
      const options = config().tools[document]?.options;
      return (isJsonObject(options) ? options.initial : undefined) ?? {};
    };
    const folds = {
      view: (name: string, input: Readonly<Record<string, unknown>>) => toolView(config(), name, input),
      plans: new Plans(initial),
      files: new KnownFiles(),
    };
    const session = new Session(of, { runs, client, capabilities: this.#capabilities, folds });
    this.#open.set(session.id, session);
    return session;
  }

  /** A session's runs in the journal, oldest first; or a new session of this connection without runs. */
  async #find(
    { sessionId, cwd }: { readonly sessionId: string; readonly cwd: string },
    client: AgentContext,
  ): Promise<{ session: Session; rows: RunRow[] }> {
    const rows: RunRow[] = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const at = cursor === undefined ? {} : { cursor };
      const page = await this.#host.runs.list({ tenant: defaultTenant, session: sessionId, oldestFirst: true, ...at });
      rows.push(...page.runs.filter(({ request }) => request.parent === undefined));
      cursor = page.cursor;
      more = cursor !== undefined;
    }
    const last = rows.at(-1);
    const before = this.#open.get(sessionId);
    if (last === undefined && before === undefined) throw RequestError.sessionNotFound(sessionId);
    await before?.end();
    const known = this.#host.runs.agents().some(({ name }) => name === last?.agent);
    const agent = known && last !== undefined ? last.agent : (before?.agent ?? this.#first);
    const session = this.#add({ id: sessionId, cwd, agent }, client);
    if (known) session.model = last?.request.model;
    return { session, rows };
  }

  /** A session is listed at the position of its newest run, so it appears on one page only. */
  async #list(cwd: string | undefined, cursor: string | undefined): Promise<ListSessionsResponse> {
    const { runs } = this.#host;
    const metadata = { client: sessionTags.client, ...(cwd === undefined ? {} : { [sessionTags.cwd]: cwd }) };
    const page = await runs.list({
      tenant: defaultTenant,
      metadata,
      limit: listed,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const sessions: ListSessionsResponse["sessions"] = [];
    for (const { run, session, request, updatedAt } of page.runs) {
      if (session === undefined || request.parent !== undefined) continue;
      const newest = await runs.list({ tenant: defaultTenant, session, metadata, limit: 1 });
      if (newest.runs[0]?.run !== run) continue;
      sessions.push({
        sessionId: session,
        cwd: String(request.metadata?.[sessionTags.cwd] ?? ""),
        title: beginning(inputText(request.input), 80),
        updatedAt: new Date(updatedAt).toISOString(),
      });
    }
    return { sessions, ...(page.cursor === undefined ? {} : { nextCursor: page.cursor }) };
  }

  #settings(session: Session): { modes: SessionModeState; configOptions: SessionConfigOption[] } {
    const agents = this.#host.runs.agents();
    const current = agents.find(({ name }) => name === session.agent);
    const models = [...new Set([current?.model ?? "", ...(current?.models ?? [])])].filter((name) => name !== "");
    const described = (text: string | undefined) => (text === undefined ? {} : { description: text });
    const chooseAgent: SessionConfigOption = {
      id: "agent",
      name: "Agent",
      category: "mode",
      type: "select",
      currentValue: session.agent,
      options: agents.map(({ name, description }) => ({ value: name, name, ...described(description) })),
    };
    const chooseModel: SessionConfigOption = {
      id: "model",
      name: "Model",
      category: "model",
      type: "select",
      currentValue: session.model ?? current?.model ?? "",
      options: models.map((name) => ({ value: name, name })),
    };
    return {
      modes: {
        currentModeId: session.agent,
        availableModes: agents.map(({ name, description }) => ({ id: name, name, ...described(description) })),
      },
      configOptions: models.length > 1 ? [chooseAgent, chooseModel] : [chooseAgent],
    };
  }

  #set(session: Session, option: string, value: unknown): void {
    const select = this.#settings(session).configOptions.find(({ id }) => id === option);
    const values = select?.type === "select" ? select.options.map((each) => ("value" in each ? each.value : "")) : [];
    if (typeof value !== "string" || !values.includes(value)) {
      throw RequestError.invalidParams({ [option]: value }, `one of ${values.join(", ")}`);
    }
    if (option === "model") session.model = value;
    else if (session.agent !== value) {
      session.agent = value;
      session.model = undefined;
    }
  }

  /** Reports tool servers offered by the editor: tools come only from the configuration. */
  #unused(servers: readonly { readonly name: string }[] = []): { _meta?: Record<string, unknown> } {
    if (servers.length === 0) return {};
    const names = servers.map(({ name }) => name);
    this.#tell(`not used: the editor's MCP servers ${names.join(", ")}; tools are those of the configuration`);
    return { _meta: { "venturi/unused": { mcpServers: names } } };
  }
}
