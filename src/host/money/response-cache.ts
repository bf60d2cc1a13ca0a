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
import type { ModelSettings } from "../config/agents.ts";

interface CacheParts {
  /** The model's, as `provider/model`. */
  readonly name: string;
  readonly settings: ModelSettings["responses"];
  readonly journal: Pick<Journal, "keyValues">;
  readonly clock: Clock;
  readonly log: Log;
}

const space = "responses";
/** Answers that are longer, as JSON, are not kept: a value of the journal has 256 KiB. */
const mostBytes = 200_000;

interface Kept {
  /** When it was written, ms since the epoch. */
  readonly at: number;
  /** Each with the time since the one before, ms. */
  readonly batches: readonly (readonly [number, readonly Delta[]])[];
}

/** A model that gives a stored answer to exactly the same request of the same tenant. The port itself where nobody wants it. */
export function withResponses(port: Provider, { settings, ...parts }: CacheParts): Provider {
  const values = parts.journal.keyValues;
  const stream = port.stream?.bind(port);
  if (settings === undefined || values === undefined || stream === undefined) return port;
  const { ttl, tenants, replay } = settings;
  const cache = new Responses({ ...parts, values, ttl });
  return {
    ...withoutGenerations(port),
    ...(port.generate === undefined ? {} : { generate: port.generate.bind(port) }),
    async *stream(request, context) {
      const { tenant = defaultTenant } = context;
      if (tenants !== "all" && !tenants.includes(tenant)) return yield* stream(request, context);
      const key = keyOf(parts.name, tenant, request);
      const known = await cache.find(key);
      if (known === undefined) return yield* cache.recording(key, stream(request, context));
      context.cached = true;
      yield* replayed(known, { context, clock: parts.clock, rhythm: replay === "rhythm" });
    },
  };
}

/** Of all that the model would read, and who asks. The vendor's cache has a key per session, which changes no answer. */
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

interface ResponsesParts extends Omit<CacheParts, "settings" | "journal"> {
  readonly values: KeyValues;
  readonly ttl: number;
}

class Responses {
  readonly #parts: ResponsesParts;

  constructor(parts: ResponsesParts) {
    this.#parts = parts;
  }

  async find(key: string): Promise<Kept | undefined> {
    const { values, clock, ttl } = this.#parts;
    try {
      const entry = await values.get(space, key);
      const kept = entry && (JSON.parse(entry.value) as Kept); // as this class wrote it
      return kept === undefined || clock.now() - kept.at >= ttl ? undefined : kept;
    } catch (thrown) {
      this.#failed(thrown);
      return undefined;
    }
  }

  /** Passes the stream on and keeps it if it ends as it should. */
  async *recording(key: string, stream: AsyncIterable<readonly Delta[]>): AsyncIterable<readonly Delta[]> {
    const { clock } = this.#parts;
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
    if (ended) await this.#keep(key, batches).catch((thrown: unknown) => this.#failed(thrown));
  }

  async #keep(key: string, batches: Kept["batches"]): Promise<void> {
    const { values, clock } = this.#parts;
    const value = JSON.stringify({ at: clock.now(), batches } satisfies Kept);
    if (Buffer.byteLength(value) > mostBytes) return;
    const before = await values.get(space, key);
    await values.put(space, { key, value, version: before?.version ?? 0 });
    await this.#sweep();
  }

  /** Each answer that is kept has a few looked at, anywhere, so that no expired one stays for ever. */
  async #sweep(): Promise<void> {
    const { values, clock, ttl } = this.#parts;
    for (const entry of await values.list(space, { after: randomBytes(8).toString("hex"), limit: 4 })) {
      const { at } = JSON.parse(entry.value) as Kept; // as this class wrote it
      if (clock.now() - at >= ttl) await values.remove(space, entry.key, entry.version);
    }
  }

  /** A run does not fail because of the cache. */
  #failed(thrown: unknown): void {
    this.#parts.log.warn("the response cache could not be used", { model: this.#parts.name, error: messageOf(thrown) });
  }
}
