import { ClientError } from "./client-error.ts";
import { type Call, once, type Settings } from "./requests.ts";

/** The JSON of each frame of an event stream; frames that arrive together form one batch. */
export async function* readStream<Item>(
  settings: Settings,
  call: Call,
  opened: () => void,
): AsyncGenerator<readonly Item[], void, undefined> {
  const abort = new AbortController();
  const stop = (): void => abort.abort(call.signal?.reason);
  call.signal?.addEventListener("abort", stop, { once: true });
  let quiet: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(quiet);
    quiet = setTimeout(() => abort.abort(), settings.idle);
  };
  heard();
  try {
    const headers = { accept: "text/event-stream", ...call.headers };
    const response = await once(settings, { ...call, headers, signal: abort.signal });
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    opened();
    const frames = new Frames();
    for (;;) {
      heard();
      const { done, value } = await reader.read();
      if (done) return;
      // Nothing is read while the caller handles a batch, so silence then says nothing about the connection.
      clearTimeout(quiet);
      const batch = frames.add(value).flatMap((frame) => itemOf<Item>(frame));
      if (batch.length > 0) yield batch;
    }
  } catch (cause) {
    if (call.signal?.aborted) throw call.signal.reason;
    if (cause instanceof ClientError) throw cause;
    const [code, err] = abort.signal.aborted
      ? ["idle_timeout", `nothing arrived for ${settings.idle} ms`]
      : ["stream_error", "the connection broke"];
    throw new ClientError({ op: call.op, code, err }, { cause });
  } finally {
    clearTimeout(quiet);
    call.signal?.removeEventListener("abort", stop);
    abort.abort();
  }
}

/** Splits a stream into frames. Pieces of an unfinished frame are joined at its end, so that a large one takes linear time. */
class Frames {
  readonly #decoder = new TextDecoder();
  #pieces: string[] = [];
  #last = "";

  add(bytes: Uint8Array): string[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#pieces.push(text);
    const isEnd = (this.#last + text).includes("\n\n");
    this.#last = text.at(-1) ?? this.#last;
    if (!isEnd) return [];
    const frames = this.#pieces.join("").split("\n\n");
    const rest = frames.pop() ?? "";
    this.#pieces = [rest];
    this.#last = rest.at(-1) ?? "";
    return frames;
  }
}

function itemOf<Item>(frame: string): Item[] {
  let data = "";
  for (const line of frame.split("\n")) {
    if (line === "event: heartbeat") return [];
    if (line.startsWith("data:")) data += line.slice(5);
  }
  return data !== "" ? [JSON.parse(data) as Item] : []; // Typed by the service's schema.
}
