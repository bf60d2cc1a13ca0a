import { createHash, randomBytes } from "node:crypto";
import { messageOf } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import type { KeyValues } from "../../core/journal/key-values.ts";
import type { Delta } from "../../core/model/deltas.ts";
import {
  type GenerationContext,
  type GenerationRequest,
  type Provider,
  withoutGenerations,
} from "../../core/model/provider.ts";
import { type Clock, sleep } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import { findResponse, type KeptResponse, keepResponse, sweepResponses } from "../../journal/kept-responses.ts";
import type { ModelSettings } from "../config/agents.ts";

interface CacheDeps {
  /** The model as `provider/model`. */
  readonly name: string;
  readonly settings: ModelSettings["responses"];
  readonly journal: Pick<Journal, "keyValues">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Longer answers, as JSON, are not cached: a journal value is limited to 256 KiB. */
const mostBytes = 200_000;

interface Kept {
  /** When it was written, ms since the epoch. */
  readonly at: number;
  /** Each with the time since the previous one, ms. */
  readonly batches: readonly (readonly [number, readonly Delta[]])[];
}

/** A model that replays stored answers for identical requests of the same tenant. Returns the port itself when caching is off. */
export function withResponses(port: Provider, { settings, ...deps }: CacheDeps): Provider {
  const values = deps.journal.keyValues;
  const stream = port.stream?.bind(port);
  if (settings === undefined || values === undefined || stream === undefined) return port;
  const { ttl, tenants, replay } = settings;
  const cache = new Responses({ ...deps, values, ttl });
  return {
    ...withoutGenerations(port),
    ...(port.generate === undefined ? {} : { generate: port.generate.bind(port) }),
    async *stream(request, context) {
      const { tenant = defaultTenant } = context;
      if (tenants !== "all" && !tenants.includes(tenant)) return yield* stream(request, context);
      const key = keyOf(deps.name, tenant, request);
      const known = await cache.find(key);
      if (known === undefined) return yield* cache.recording({ key, run: context.run }, stream(request, context));
      context.cached = true;
      yield* replayed(known, { context, clock: deps.clock, rhythm: replay === "rhythm" });
    },
  };
}

/**
 * Hash of everything the model would read, and the tenant. Excludes the vendor's cache key, which is per session and does not affect the
 * answer.
 */
function keyOf(name: string, tenant: string, { cache: _, ...request }: GenerationRequest): string {
  return createHash("sha256")
    .update(JSON.stringify([name, tenant, request]))
    .digest("hex");
}

async function* replayed(
  { batches }: Kept,
  { context, clock, rhythm }: { context: GenerationContext; clock: Clock; rhythm: boolean },
): AsyncIterable<readonly Delta[]> {
  for (const [ms, deltas] of batches) {
    if (rhythm && ms > 0) await sleep(clock, ms, context.signal);
    yield deltas.map((delta) => (delta.type === "usage" ? unused : delta));
  }
  yield [unused];
}

const unused: Delta = { type: "usage", usage: { inputTokens: 0, outputTokens: 0 } };

interface ResponsesDeps extends Omit<CacheDeps, "settings" | "journal"> {
  readonly values: KeyValues;
  readonly ttl: number;
}

class Responses {
  readonly #deps: ResponsesDeps;

  constructor(deps: ResponsesDeps) {
    this.#deps = deps;
  }

  async find(key: string): Promise<Kept | undefined> {
    const { values, clock, ttl } = this.#deps;
    try {
      const value = await findResponse(values, key);
      const kept = value === undefined ? undefined : (JSON.parse(value) as Kept); // As this class wrote it.
      return kept === undefined || clock.now() - kept.at >= ttl ? undefined : kept;
    } catch (thrown) {
      this.#failed(thrown);
      return undefined;
    }
  }

  /** Passes the stream through, and stores it if it completes. */
  async *recording(of: KeptResponse, stream: AsyncIterable<readonly Delta[]>): AsyncIterable<readonly Delta[]> {
    const { clock } = this.#deps;
    const batches: [number, readonly Delta[]][] = [];
    let last = clock.monotonic();
    let ended = false;
    for await (const deltas of stream) {
      const now = clock.monotonic();
      batches.push([Math.round(now - last), [...deltas]]);
      last = now;
      ended ||= deltas.some(({ type }) => type === "done");
      if (deltas.some(({ type }) => type === "error")) ended = false;
      yield deltas;
    }
    if (ended) await this.#keep(of, batches).catch((thrown: unknown) => this.#failed(thrown));
  }

  /** Each stored answer triggers a check of a few others, so that no expired one stays forever. */
  async #keep(of: KeptResponse, batches: Kept["batches"]): Promise<void> {
    const { values, clock, ttl } = this.#deps;
    const value = JSON.stringify({ at: clock.now(), batches } satisfies Kept);
    if (Buffer.byteLength(value) > mostBytes) return;
    await keepResponse(values, of, value);
    const isOver = (one: string) => clock.now() - (JSON.parse(one) as Kept).at >= ttl; // As this class wrote it.
    await sweepResponses(values, randomBytes(8).toString("hex"), isOver);
  }

  /** Logs the failure: the cache must not fail a run. */
  #failed(thrown: unknown): void {
    this.#deps.log.warn("the response cache could not be used", { model: this.#deps.name, error: messageOf(thrown) });
  }
}
