import type { IncomingHttpHeaders } from "node:http";
import { VenturiError } from "../../core/errors.ts";

/** Bounds what all request bodies together may hold in memory while they are being received. */
export class BodyBudget {
  readonly #total: number;
  /** Counted for a body that does not say how long it is. */
  readonly #largest: number;
  #held = 0;

  constructor({ total, largest }: { total: number; largest: number }) {
    this.#total = total;
    this.#largest = largest;
  }

  /** Makes room for a body; call what is returned once it has been read. Throws `unavailable` when there is none. */
  take(headers: IncomingHttpHeaders): () => void {
    const said = Number(headers["content-length"]);
    const size = headers["transfer-encoding"] === undefined ? said || 0 : this.#largest;
    // One body alone always fits, however small the budget.
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
