import type { IncomingHttpHeaders } from "node:http";
import { VenturiError } from "../../core/errors.ts";

/** Limits the total memory held by request bodies while they are received. */
export class BodyBudget {
  readonly #total: number;
  /** Assumed size of a body without a Content-Length. */
  readonly #largest: number;
  #held = 0;

  constructor({ total, largest }: { total: number; largest: number }) {
    this.#total = total;
    this.#largest = largest;
  }

  /**
   * Reserves room for a body; call the returned function once it has been read. Throws `unavailable` when the budget is used
   * up.
   */
  take(headers: IncomingHttpHeaders): () => void {
    const said = Number(headers["content-length"]);
    const size = headers["transfer-encoding"] === undefined ? said || 0 : this.#largest;
    // A single body always fits, however small the budget.
    if (this.#held > 0 && this.#held + size > this.#total) {
      const message = "too much is being received at the moment; try again";
      throw new VenturiError("request.read", "unavailable", message, { details: { retryAfterMs: 1_000 } });
    }
    this.#held += size;
    let taken = true;
    return () => {
      if (taken) this.#held -= size;
      taken = false;
    };
  }
}
