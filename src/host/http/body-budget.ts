import { VenturiError } from "../../core/errors.ts";

/** What one body holds of the budget. */
export interface HeldBody {
  readonly bytes: number;
  /** Throws `unavailable` if that many bytes more do not fit now. */
  mustFit(bytes: number): void;
  /** Bytes have arrived. Throws `unavailable` when the budget is used up. */
  add(bytes: number): void;
  release(): void;
}

/**
 * Limits the total size of the request bodies in memory. Only what has arrived counts, so that a client that announces much and
 * sends nothing takes no room from others.
 */
export class BodyBudget {
  readonly #total: number;
  #held = 0;

  constructor(total: number) {
    this.#total = total;
  }

  hold(): HeldBody {
    let own = 0;
    const mustFit = (bytes: number): void => {
      // A single body always fits, however small the budget.
      if (this.#held === own || this.#held + bytes <= this.#total) return;
      const message = "too much is being received at the moment; try again";
      throw new VenturiError("request.read", "unavailable", message, { details: { retryAfterMs: 1_000 } });
    };
    return {
      get bytes() {
        return own;
      },
      mustFit,
      add: (bytes) => {
        mustFit(bytes);
        own += bytes;
        this.#held += bytes;
      },
      release: () => {
        this.#held -= own;
        own = 0;
      },
    };
  }
}
