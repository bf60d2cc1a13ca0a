import { messageOf } from "../../core/errors/errors.ts";
import type { Journal } from "../../core/journal/journal.ts";
import {
  type GenerationContext,
  type Provider,
  type StreamObserver,
  withoutGenerations,
} from "../../core/model/provider.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";

/** Bytes recorded per stream; the rest is dropped. */
const mostBytes = 16 * 1024 * 1024;

/** How long bytes are buffered, ms: the most a killed process can lose. */
const patience = 250;

export interface WireKeeper {
  readonly journal: Journal;
  /** Name of the wire format, as in `venturi decode`. */
  readonly wire: string;
  /** `asked`: only for runs whose metadata has `keepWire: true`. */
  readonly which: true | "asked";
  readonly log: Log;
  readonly clock: Clock;
}

/** Wraps a provider to store the raw bytes of every stream in the journal as they arrive, however it ends. */
export function keepWire(provider: Provider, keeper: WireKeeper): Provider {
  const stream = provider.stream?.bind(provider);
  if (stream === undefined || keeper.journal.keepWire === undefined) return provider;
  return {
    ...withoutGenerations(provider),
    ...(provider.generate === undefined ? {} : { generate: provider.generate.bind(provider) }),
    async *stream(request, context) {
      if (!(await isWanted(keeper, context.run))) return yield* stream(request, context);
      const recording = new Recording(context, keeper);
      context.observer = recording;
      try {
        yield* stream(request, context);
      } finally {
        await recording.close();
      }
    },
  };
}

async function isWanted({ which, journal }: WireKeeper, run: string): Promise<boolean> {
  if (which === true) return true;
  const row = await journal.get(run).catch(() => undefined); // Continues without a recording.
  return row?.request.metadata?.keepWire === true;
}

/** A failing recording does not fail the run; the log reports what is missing. */
class Recording implements StreamObserver {
  readonly #next: StreamObserver | undefined;
  readonly #context: GenerationContext;
  readonly #keeper: WireKeeper;
  #reads: Uint8Array[] = [];
  #bytes = 0;
  #stopTimer: (() => void) | undefined;
  #keeping: Promise<void> = Promise.resolve();

  constructor(context: GenerationContext, keeper: WireKeeper) {
    this.#next = context.observer;
    this.#context = context;
    this.#keeper = keeper;
  }

  bytes(read: Uint8Array): void {
    this.#next?.bytes?.(read);
    const before = this.#bytes;
    this.#bytes += read.byteLength;
    if (this.#bytes > mostBytes) {
      if (before <= mostBytes) this.#warn(`what comes after ${mostBytes} bytes is not kept`);
      return;
    }
    // Copied, as `slice` of a Buffer would not: its memory is used again after this call.
    this.#reads.push(Buffer.from(read));
    this.#stopTimer ??= this.#keeper.clock.after(patience, () => this.#keep());
  }

  chunk(...facts: Parameters<StreamObserver["chunk"]>): void {
    this.#next?.chunk(...facts);
  }

  accumulated(...facts: Parameters<StreamObserver["accumulated"]>): void {
    this.#next?.accumulated(...facts);
  }

  quirk(name: string): void {
    this.#next?.quirk(name);
  }

  /** Resolves when everything is stored. An empty stream is recorded too. */
  async close(): Promise<void> {
    if (this.#reads.length > 0 || this.#bytes === 0) this.#keep();
    await this.#keeping;
  }

  #keep(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const { run, round, attempt } = this.#context;
    const { journal, wire } = this.#keeper;
    const bytes = Buffer.concat(this.#reads);
    this.#reads = [];
    this.#keeping = this.#keeping
      .then(() => journal.keepWire?.(run, { round, attempt, wire, bytes }))
      .catch((thrown: unknown) => this.#warn(messageOf(thrown)));
  }

  #warn(error: string): void {
    const { run, round, attempt } = this.#context;
    this.#keeper.log.warn("journal.keepWire", { run, round, attempt, error });
  }
}
