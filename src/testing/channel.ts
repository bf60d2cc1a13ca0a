import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { AddressInfo, Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { VenturiError } from "../core/errors/errors.ts";
import type { Channel, ChannelHost } from "../core/ports/channel.ts";
import { systemClock } from "../core/ports/clock.ts";
import { unlimited } from "../core/ports/held.ts";
import { silentLog } from "../core/ports/log.ts";
import type { AnyPlugin } from "../core/ports/plugin.ts";
import type { Runs } from "../core/ports/runs.ts";
import { scopes } from "../core/ports/scopes.ts";
import { ScriptedRuns } from "./scripted-runs.ts";

/** What the channel's client received: all of the text, or the error. */
export interface ChannelAnswer {
  readonly text: string;
  readonly error?: string;
}

export interface ChannelCase {
  readonly plugin: unknown;
  readonly options?: Readonly<Record<string, unknown>>;
  /**
   * Sends "hello" to the agent as a client of this channel would, and resolves with what it received. When `signal` aborts it
   * disconnects midway, and may reject. `onText` is called with each piece of text.
   */
  ask(url: string, agent: string, watch: { signal: AbortSignal; onText(text: string): void }): Promise<ChannelAnswer>;
}

/** The contract of every channel, as mocha cases over a real socket. */
export function channelContract(name: string, { plugin, options = {}, ask }: ChannelCase): void {
  describe(`channel contract: ${name}`, () => {
    let host: TestHost;
    before(async () => {
      host = await openTestHost(plugin as AnyPlugin, options);
    });
    after(() => host.close());
    const quietly = (agent: string) => ask(host.url, agent, { signal: new AbortController().signal, onText: () => {} });

    it("says what the agent said, all of it and once, in order", async () => {
      deepEqual(await quietly("talking"), { text: pieces.join("") });
    });

    it("gives text as it comes, not at the end", async () => {
      const abort = new AbortController();
      let seen = "";
      const first = new Promise<void>((resolve) => {
        const onText = (text: string) => {
          seen += text;
          resolve();
        };
        ask(host.url, "waiting", { signal: abort.signal, onText }).catch(() => {});
      });
      await first;
      match(seen, /^one moment/);
      abort.abort();
    });

    it("tells of a run that failed, after what it said", async () => {
      const answer = await quietly("failing");
      equal(answer.text, "so far");
      match(answer.error ?? "", /the model broke/);
    });

    it("refuses an agent that does not exist, and one that the caller may not use", async () => {
      for (const agent of ["nobody", "secret"]) {
        const { error } = await quietly(agent).catch((thrown: unknown) => ({ error: String(thrown) }));
        ok(error, `${agent} was not refused`);
      }
      equal(host.runs.startedFor("secret"), 0);
    });

    it("stops following when the client goes away", async () => {
      const abort = new AbortController();
      const asked = ask(host.url, "waiting", { signal: abort.signal, onText: () => abort.abort() }).catch(() => {});
      await asked;
      while (host.runs.following > 0) await new Promise((resolve) => setImmediate(resolve));
    });

    it("a client takes the heartbeats of a run that pauses, and hears all that it says", async () => {
      const quick = await openTestHost(plugin as AnyPlugin, options, 100);
      try {
        const heard = Promise.withResolvers<void>();
        const answer = ask(quick.url, "pausing", {
          signal: new AbortController().signal,
          onText: () => heard.resolve(),
        });
        await heard.promise;
        for (let beats = 0, sent = quick.sent(); beats < 2; beats++, sent = quick.sent()) {
          while (quick.sent() === sent) await new Promise((resolve) => setTimeout(resolve, 1));
        }
        quick.runs.goOn();
        deepEqual(await answer, { text: "before and after" });
      } finally {
        await quick.close();
      }
    });

    it("keeps clients at the same time apart", async () => {
      const answer = await Promise.all(Array.from({ length: 20 }, () => quietly("talking")));
      deepEqual(new Set(answer.map(({ text }) => text)), new Set([pieces.join("")]));
    });
  });
}

const pieces = ["Hello", ", ", "wörld", " 👋", "\n", '"quoted" \\ data: x', "\r\n", "\u2028", " end."];

class CountedRuns extends ScriptedRuns {
  readonly #started: string[] = [];
  readonly #pause = Promise.withResolvers<void>();
  readonly paused = this.#pause.promise;
  readonly goOn = this.#pause.resolve;

  override start(...[request, options]: Parameters<Runs["start"]>): ReturnType<Runs["start"]> {
    this.#started.push(request.agent);
    return super.start(request, options);
  }

  startedFor(agent: string): number {
    return this.#started.filter((started) => started === agent).length;
  }
}

interface TestHost {
  readonly url: string;
  readonly runs: CountedRuns;
  /** Total bytes sent to clients. */
  sent(): number;
  close(): Promise<void>;
}

/** A bare server with one channel. Its caller may use every agent but "secret". */
async function openTestHost(
  plugin: AnyPlugin,
  options: Readonly<Record<string, unknown>>,
  keepAlive = 15_000,
): Promise<TestHost> {
  const { fastify } = await import("fastify");
  const { default: websocket } = await import("@fastify/websocket");
  const server: FastifyInstance = fastify({ forceCloseConnections: true });
  server.setValidatorCompiler(({ schema }) => (data: unknown) => {
    const parsed = (schema as z.ZodType).safeParse(data); // A channel's routes have zod schemas.
    return parsed.success
      ? { value: parsed.data }
      : { error: new VenturiError("request.parse", "invalid_input", z.prettifyError(parsed.error)) };
  });
  server.setSerializerCompiler(() => (data) => JSON.stringify(data));
  server.setErrorHandler((thrown, _request, reply) => {
    const error = VenturiError.isInstance(thrown)
      ? thrown
      : new VenturiError("server.handle", "internal", String(thrown));
    return reply.code(error.status).send({ error });
  });
  await server.register(websocket);
  const runs = openScripts();
  const permit = (_caller: unknown, agent: string) => {
    if (agent === "secret") throw new VenturiError("auth.check", "forbidden", "this key may not use it");
  };
  const caller = { id: "test", tenant: "test", agents: undefined };
  const context = {
    name: plugin.name,
    log: silentLog,
    clock: systemClock,
    folder: ".",
    runs: () => runs,
    resolve: () => {
      throw new Error("there is no container here");
    },
    plugin: () => Promise.reject(new Error("a channel builds on no other plugin")),
  };
  const channel = (await plugin.create(plugin.options.parse(options), context)) as Channel<FastifyInstance>; // Its kind is channel.
  const host: ChannelHost<FastifyInstance> = {
    server,
    log: silentLog,
    limits: { slowReader: 1024 * 1024, keepAlive, firstOutput: keepAlive, stalled: 60_000, body: 32 * 1024 * 1024 },
    caller: () => caller,
    permit,
    demand: () => {},
    scopes: () => scopes,
    account: () => unlimited,
    inspect: {
      ...{ service: nothing, series: nothing, decode: nothing, mask: nothing, fixture: nothing },
      ...{ datasets: nothing, addToDataset: nothing },
    },
    runsFor: () => guarded(runs, (agent) => permit(caller, agent)),
    trace: async () => undefined,
  };
  await channel.mount(host);
  const sockets: Socket[] = [];
  server.server.on("connection", (socket) => sockets.push(socket));
  const sent = () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  await server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = server.server.address() as AddressInfo; // It listens on TCP.
  return { url: `http://127.0.0.1:${port}`, runs, sent, close: () => server.close() };
}

const nothing = () => {
  throw new VenturiError("service.inspect", "not_found", "there is no service here");
};

const guarded = (runs: Runs, permit: (agent: string) => void): Runs => ({
  start: async (request, options) => {
    permit(request.agent);
    return await runs.start(request, options);
  },
  fork: (run, request, options) => runs.fork(run, request, options),
  follow: (run, options) => runs.follow(run, options),
  events: (run, query) => runs.events(run, query),
  feed: (query) => runs.feed(query),
  get: (run) => runs.get(run),
  list: (query) => runs.list(query),
  totals: (query, by) => runs.totals(query, by),
  usage: (query) => runs.usage(query),
  cancel: (run, reason) => runs.cancel(run, reason),
  signal: (run, kind, body, id) => runs.signal(run, kind, body, id),
  pending: (run) => runs.pending(run),
  agents: () => runs.agents(),
  giveFeedback: (run, given, options) => runs.giveFeedback(run, given, options),
  feedback: (run) => runs.feedback(run),
  wires: (run) => runs.wires(run),
  content: (run, hash) => runs.content(run, hash),
  contentPieces: (run, hash) => runs.contentPieces(run, hash),
  countInput: (request, options) => runs.countInput(request, options),
  embed: (request, signal) => runs.embed(request, signal),
  remove: (run) => runs.remove(run),
});

function openScripts(): CountedRuns {
  const runs: CountedRuns = new CountedRuns({
    pausing: async ({ emit }) => {
      emit({ type: "round.started", round: 1, model: "test/model", attempt: 1 });
      emit({ type: "text.delta", round: 1, text: "before" });
      await runs.paused;
      emit({ type: "text.delta", round: 1, text: " and after" });
      emit({ type: "round.finished", round: 1, finish: "stop", usage: {} });
      return undefined;
    },
    talking: async ({ emit }) => {
      emit({ type: "round.started", round: 1, model: "test/model", attempt: 1 });
      for (const text of pieces) {
        emit({ type: "text.delta", round: 1, text });
        await new Promise((resolve) => setImmediate(resolve));
      }
      emit({ type: "round.finished", round: 1, finish: "stop", usage: {} });
      return undefined;
    },
    waiting: async ({ emit }) => {
      emit({ type: "text.delta", round: 1, text: "one moment" });
      return await new Promise(() => {});
    },
    failing: async ({ emit }) => {
      emit({ type: "text.delta", round: 1, text: "so far" });
      throw new VenturiError("provider.stream", "llm_error", "the model broke");
    },
    secret: async () => undefined,
  });
  return runs;
}
