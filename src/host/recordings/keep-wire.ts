import { messageOf } from "../../core/errors.ts";
import type { Journal } from "../../core/journal.ts";
import type { Log } from "../../core/log.ts";
import { type GenerationContext, type Provider, type StreamObserver, withoutGenerations } from "../../core/provider.ts";

/** Past this a stream's bytes are let go: better no recording than one that is cut. */
const mostBytes = 16 * 1024 * 1024;

export interface WireKeeper {
  readonly journal: Journal;
  /** Name of the wire format, as `venturi decode` knows it. */
  readonly wire: string;
  readonly log: Log;
}

/** The provider, with the raw bytes of every stream kept in the journal once it has ended, however it ended. */
export function keepWire(provider: Provider, keeper: WireKeeper): Provider {
  const stream = provider.stream?.bind(provider);
  if (stream === undefined || keeper.journal.keepWire === undefined) return provider;
  return {
    ...withoutGenerations(provider),
    ...(provider.generate === undefined ? {} : { generate: provider.generate.bind(provider) }),
    async *stream(request, context) {
      const recording = new Recording(context.observer);
      context.observer = recording;
      try {
        yield* stream(request, context);
      } finally {
        await keep(recording, context, keeper);
      }
    },
  };
}

/** A run does not fail for want of its recording; the log says that there is none. */
async function keep(
  recording: Recording,
  context: GenerationContext,
  { journal, wire, log }: WireKeeper,
): Promise<void> {
  const { run, round, attempt } = context;
  const bytes = recording.take();
  if (bytes === undefined)
    return log.warn("journal.keepWire", { run, round, error: "the stream was too long to keep" });
  try {
    await journal.keepWire?.(run, round, attempt, wire, bytes);
  } catch (thrown) {
    log.warn("journal.keepWire", { run, round, error: messageOf(thrown) });
  }
}

class Recording implements StreamObserver {
  readonly #next: StreamObserver | undefined;
  readonly #reads: Uint8Array[] = [];
  #bytes = 0;

  constructor(next: StreamObserver | undefined) {
    this.#next = next;
  }

  bytes(read: Uint8Array): void {
    this.#next?.bytes?.(read);
    this.#bytes += read.byteLength;
    // The socket's buffer is its own again after this call.
    if (this.#bytes <= mostBytes) this.#reads.push(read.slice());
    else this.#reads.length = 0;
  }

  chunk(...told: Parameters<StreamObserver["chunk"]>): void {
    this.#next?.chunk(...told);
  }

  accumulated(...told: Parameters<StreamObserver["accumulated"]>): void {
    this.#next?.accumulated(...told);
  }

  quirk(name: string): void {
    this.#next?.quirk(name);
  }

  take(): Uint8Array | undefined {
    return this.#bytes > mostBytes ? undefined : Buffer.concat(this.#reads);
  }
}
