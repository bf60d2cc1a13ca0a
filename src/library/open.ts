import { VenturiError } from "../core/errors/errors.ts";
import type { RunInput } from "../core/run/event-fields.ts";
import type { RunRequest } from "../core/run/run-request.ts";
import type { RunRow } from "../core/run/run-row.ts";
import { MountedService } from "../host/mount.ts";
import { type Host, openHost } from "../host/open.ts";
import type { AgentLike, AgentSpec } from "./agent.ts";
import { type Translated, translate } from "./config.ts";
import { type HandleDeps, RunHandle } from "./handle.ts";
import type { Calls } from "./hooks.ts";
import { NamedAgent } from "./named-agent.ts";
import type { Input, Result, Run, RunOptions } from "./run.ts";
import { loadCheck } from "./schema.ts";
import type { App, Mounted, Session, Venturi } from "./venturi.ts";
import { watch } from "./watch.ts";

/** The implementation that `openVenturi` loads and calls. */
export async function open(app: App): Promise<Venturi> {
  if (app.shared !== undefined) return await openShared(app.shared, app);
  return faceOf(new OpenVenturi(await openApp(app), app));
}

/** A plain object of functions, so that programs can destructure it: `export const { fetch } = venturi`. */
function faceOf(venturi: OpenVenturi): Venturi {
  const close = () => venturi.close();
  const face = {
    runs: venturi.runs,
    reload: () => venturi.reload(),
    agent: (name: string) => venturi.agent(name),
    run: (agent: AgentLike, input: Input, options?: Untyped) => venturi.run(agent, input, options),
    start: (agent: AgentLike, input: Input, options?: Untyped) => venturi.start(agent, input, options),
    get: (run: string, agent?: AgentLike) => venturi.get(run, agent),
    session: (agent: AgentLike, id: string, options?: { readonly tenant?: string }) =>
      venturi.session(agent, id, options),
    ...venturi.at(""),
    at: (prefix: string) => venturi.at(prefix),
    config: () => venturi.config(),
    close,
    [Symbol.asyncDispose]: close,
  };
  return face as unknown as Venturi; // The untyped side of the interface.
}

async function openApp(app: App): Promise<Host> {
  await loadCheck();
  const {
    agents: _,
    tools: __,
    providers: ___,
    hooks: ____,
    settings: _____,
    caller,
    shared,
    journal,
    ...options
  } = app;
  const code = translate(app);
  const host = await openHost({ ...options, code });
  warn(host, code);
  return host;
}

const warn = ({ log }: Host, { warnings }: Translated): void => {
  for (const warning of warnings) log.warn(warning);
};

type Untyped = RunOptions<AgentSpec & { inputs: Record<string, unknown>; context: unknown; tools: Calls }>;

class OpenVenturi {
  readonly #host: Host;
  readonly #service: MountedService;
  readonly #deps: HandleDeps;

  constructor(host: Host, { caller }: Pick<App, "caller">) {
    this.#host = host;
    this.#service = new MountedService(host, caller);
    const { runs, config } = host;
    this.#deps = {
      runs,
      outputOf: (agent) => host.revision().agents.get(agent)?.outputSchema,
      handsOver: (agent) => (host.revision().config.agents[agent]?.handoffs.length ?? 0) > 0,
      served: {
        runs,
        keepAlive: config.limits.keepAlive,
        projection: async (name, run) => {
          const { plugin } = await config.loader.get(name);
          if (plugin.projection !== undefined) return plugin.projection(run);
          throw new VenturiError("run.response", "internal", `the plugin ${name} shows no runs`);
        },
      },
    };
  }

  get runs(): Host["runs"] {
    return this.#host.runs;
  }

  reload(): ReturnType<Host["reload"]> {
    return this.#host.reload();
  }

  /** Replaces the program's definitions; running runs keep theirs. */
  async redefine(app: App): Promise<void> {
    const code = translate(app);
    const outcome = await this.#host.reload(code);
    if (!outcome.ok) throw outcome.error;
    warn(this.#host, code);
  }

  agent(name: string): NamedAgent {
    const { agents } = this.#host.revision();
    const known = agents.has(name) || [...agents.values()].some(({ aliases }) => aliases.includes(name));
    if (known) return new NamedAgent(name, this.#host.runs);
    const message = `there is no agent "${name}"; the agents are: ${[...agents.keys()].join(", ") || "none"}`;
    throw new VenturiError("agent.get", "not_found", message);
  }

  async run(agent: AgentLike, input: Input, options: Untyped = {}): Promise<Result<unknown>> {
    const run = await this.start(agent, input, options);
    return await run.result();
  }

  async start(agent: AgentLike, input: Input, options: Untyped = {}): Promise<Run<unknown, Calls>> {
    const { signal, idempotencyKey: key = options.key, pace, tenant, onApproval, onQuestion } = options;
    if (signal?.aborted) {
      const message = "the run was cancelled before it began";
      throw new VenturiError("run.start", "stream_interrupted", message, { cause: signal.reason });
    }
    const request = requestOf(agent, input, options);
    const { run } = await this.#host.runs.start(request, {
      ...(key === undefined ? {} : { key }),
      ...(pace === undefined ? {} : { paced: pace }),
      ...(tenant === undefined ? {} : { tenant }),
    });
    const handle = this.#handle({ run, agent: agent.name, session: request.session, request });
    watch(handle, { runs: this.#host.runs, log: this.#host.log, signal, onApproval, onQuestion });
    return handle;
  }

  async get(run: string, agent?: AgentLike): Promise<Run<unknown, Calls>> {
    const row = await this.#host.runs.get(run);
    if (agent !== undefined && row.agent !== agent.name) {
      throw new VenturiError("run.get", "not_found", `${agent.name} has no run "${run}"; it is one of ${row.agent}`);
    }
    return this.#handle(row);
  }

  session(agent: AgentLike, id: string, { tenant = "default" }: { readonly tenant?: string } = {}): Session<AgentSpec> {
    const { runs, messages } = this.#host;
    const within = (options: Untyped = {}): Untyped => ({ ...options, session: id, tenant });
    const handle = (row: RunRow) => this.#handle(row);
    return {
      id,
      run: (input, options) => this.run(agent, input, within(options as Untyped)), // Typed by the agent at the caller.
      start: (input, options) => this.start(agent, input, within(options as Untyped)),
      messages: () => messages({ tenant, session: id }),
      async *runs() {
        let cursor: string | undefined;
        do {
          const page = await runs.list({ tenant, session: id, ...(cursor === undefined ? {} : { cursor }) });
          for (const row of page.runs) yield handle(row);
          cursor = page.cursor;
        } while (cursor !== undefined);
      },
    };
  }

  async config(): Promise<string> {
    const { showYaml } = await import("../host/config/show.ts");
    return showYaml(this.#host.revision().config);
  }

  at(prefix: string): Mounted {
    const path = prefix.replace(/\/+$/, "");
    return {
      fetch: (request) => this.#service.fetch(request, path),
      node: (request, response) => this.#service.node(request, response, path),
    };
  }

  async close(): Promise<void> {
    await this.#service.close();
    await this.#host.close();
  }

  #handle(row: Pick<RunRow, "run" | "agent" | "session" | "request">): Run<unknown, Calls> {
    return new RunHandle(row, this.#deps) as unknown as Run<unknown, Calls>; // The untyped side of the interface.
  }
}

function requestOf(agent: AgentLike, input: Input, options: Untyped): RunRequest {
  const { inputs, context, session, metadata, limits, model, options: generation, debug } = options;
  return {
    agent: agent.name,
    // An inputs schema always describes an object.
    input: { ...inputOf(input), ...(inputs === undefined ? {} : { variables: inputs as Record<string, unknown> }) },
    ...(context === undefined ? {} : { context }),
    ...(session === undefined ? {} : { session }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(limits === undefined ? {} : { limits: { ...limits } }),
    ...(model === undefined ? {} : { model }),
    ...(generation === undefined ? {} : { options: generation }),
    ...(debug === true ? { debug } : {}),
  };
}

function inputOf(input: Input): RunInput {
  if (typeof input === "string") return { text: input };
  return Array.isArray(input) ? { messages: [...input] } : (input as RunInput); // The two other forms.
}

interface Shared {
  readonly opened: Promise<OpenVenturi>;
}

/** In the global symbol registry: a hot reload loads this module again and must find the old instance. */
const registry = Symbol.for("venturi.shared");

async function openShared(name: string, app: App): Promise<Venturi> {
  const holder = globalThis as { [registry]?: Map<string, Shared> };
  holder[registry] ??= new Map();
  const all = holder[registry];
  const known = all.get(name);
  if (known !== undefined) {
    const venturi = await known.opened;
    await venturi.redefine(app);
    return faceOf(venturi);
  }
  const opened = openApp(app).then((host) => new OpenVenturi(host, app));
  all.set(name, { opened });
  try {
    const venturi = await opened;
    const close = venturi.close.bind(venturi);
    venturi.close = async () => {
      all.delete(name);
      await close();
    };
    return faceOf(venturi);
  } catch (thrown) {
    all.delete(name);
    throw thrown;
  }
}
