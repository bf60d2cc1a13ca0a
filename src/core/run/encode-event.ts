import type { RunEvent } from "./events.ts";

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
  /** Only its length once the JSON was dropped. */
  #json: string | number;

  constructor(event: RunEvent, json: string) {
    super(event);
    this.#json = json;
  }

  static encode(event: RunEvent): string {
    const known = #json in event ? event.#json : undefined;
    if (typeof known === "string") return known;
    const json = JSON.stringify(event);
    if (known !== undefined && #json in event) event.#json = json;
    else new Encoded(event, json);
    return json;
  }

  static size(event: RunEvent): number {
    if (!(#json in event)) return "text" in event ? event.text.length : 0;
    return typeof event.#json === "string" ? event.#json.length : event.#json;
  }

  static forget(event: RunEvent): void {
    if (#json in event && typeof event.#json === "string") event.#json = event.#json.length;
  }
}

/** The event's JSON, encoded once for all journals and clients. */
export const encodeEvent: (event: RunEvent) => string = Encoded.encode;

/** Length of the event's JSON if it has been encoded, else of the text it carries. */
export const encodedSize: (event: RunEvent) => number = Encoded.size;

/** For holders of many events already delivered: the JSON is twice as large as the event. */
export const forgetEncoding: (event: RunEvent) => void = Encoded.forget;
