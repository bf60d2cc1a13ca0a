import type { RunEvent } from "../state/api-types.ts";

/** The kind of delta an event was made from; undefined for events of the loop itself. */
function kindOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case "text.delta":
      return "text";
    case "reasoning.delta":
      return "reasoning";
    case "refusal.delta":
      return "refusal";
    case "tool_call.started":
    case "tool_call.delta":
      return "tool_call";
    default:
      return undefined;
  }
}

export const isFromWire = (event: RunEvent): boolean => kindOf(event) !== undefined;

interface Delta {
  readonly type?: string;
  readonly index?: number;
  readonly text?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly signature?: string;
}

/**
 * Maps the deltas of an attempt to events: `CHUNK.DELTA` → seq. The loop writes one event per piece of text, and for a call one when its
 * name is known and one per fragment, in wire order.
 */
export function eventsOfDeltas(
  chunks: readonly { readonly deltas: readonly unknown[] }[],
  events: readonly RunEvent[],
): ReadonlyMap<string, number> {
  const queues = new Map<string, RunEvent[]>();
  for (const event of events) {
    const kind = kindOf(event);
    if (kind === undefined) continue;
    const queue = queues.get(kind) ?? [];
    queue.push(event);
    queues.set(kind, queue);
  }
  const found = new Map<string, number>();
  const next = (kind: string, fits: (event: RunEvent) => boolean): number | undefined => {
    const queue = queues.get(kind) ?? [];
    const at = queue.findIndex(fits);
    return at < 0 ? undefined : queue.splice(0, at + 1).at(-1)?.seq;
  };
  for (const [chunk, { deltas }] of chunks.entries()) {
    for (const [index, delta] of deltas.entries()) {
      const { type = "", text, name, arguments: written, signature } = (delta ?? {}) as Delta; // As decoded by the service.
      // An empty piece makes no event, but it would match the one that carries the signature.
      if (text === "" && signature === undefined) continue;
      const seq =
        type === "tool_call"
          ? next(type, (event) =>
              name === undefined
                ? event.type === "tool_call.delta" && event.arguments === written
                : event.type === "tool_call.started" && event.name === name,
            )
          : next(type, (event) => "text" in event && event.text === text);
      if (seq !== undefined) found.set(`${chunk}.${index}`, seq);
    }
  }
  return found;
}
