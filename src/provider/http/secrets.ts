import { VenturiError } from "../../core/errors/errors.ts";
import { redactor } from "../../core/values/redact.ts";

type Mask = (text: string) => string;

/** How many per-request secrets are remembered. */
const mostLearned = 64;

/** Redacts the given values from whatever a server echoes. */
export class Secrets {
  readonly #masks: readonly Mask[];
  /** Secrets of requests in progress, newest last. */
  readonly #learned = new Map<string, Mask>();

  constructor(values: readonly (string | undefined)[]) {
    this.#masks = values.map((value) => redactor({ secret: value }));
  }

  /** Also redacts a value sent with one request only, such as a short-lived token. */
  learn(value: string): void {
    const mask = this.#learned.get(value) ?? redactor({ secret: value });
    this.#learned.delete(value);
    this.#learned.set(value, mask);
    const [oldest] = this.#learned.keys();
    if (this.#learned.size > mostLearned && oldest !== undefined) this.#learned.delete(oldest);
  }

  scrub(text: string): string {
    return [...this.#masks, ...this.#learned.values()].reduce((clean, mask) => mask(clean), text);
  }

  scrubError(error: VenturiError): VenturiError {
    const details = error.details === undefined ? undefined : JSON.stringify(error.details);
    const cleanDetails = details === undefined ? undefined : this.scrub(details);
    const message = this.scrub(error.message);
    const causeIsSafe = error.cause === undefined || VenturiError.isInstance(error.cause);
    if (message === error.message && cleanDetails === details && causeIsSafe) return error;
    return new VenturiError(error.op, error.code, message, {
      ...(cleanDetails !== undefined && { details: JSON.parse(cleanDetails) as Record<string, unknown> }), // The details were an object before.
    });
  }
}
