import type { RunEvent } from "./events.ts";

/** Length of the event's JSON if it has been encoded, else of the text it carries. */
export function encodedSize(event: RunEvent): number {
  const json = Encoded.of(event);
  if (json !== undefined) return json.length;
  return "text" in event ? event.text.length : 0;
}

/** Returning an existing object from the constructor lets a subclass attach a private field to it. */
const Given = class {
  constructor(event: RunEvent) {
    // biome-ignore lint/correctness/noConstructorReturn: see above
    return event;
  }
} as new (
  event: RunEvent,
) => object;

/** Caches an event's JSON in a private field, invisible to copies and comparisons. A WeakMap would cost twice the encoding. */
class Encoded extends Given {
  readonly #json: string;

  constructor(event: RunEvent, json: string) {
    super(event);
    this.#json = json;
  }

  static of(event: RunEvent): string | undefined {
    return #json in event ? event.#json : undefined;
  }

  static encode(event: RunEvent): string {
    if (#json in event) return event.#json;
    const json = JSON.stringify(event);
    new Encoded(event, json);
    return json;
  }
}

/** The event's JSON, encoded once for all journals and clients. */
export const encodeEvent: (event: RunEvent) => string = Encoded.encode;
