import type { Operation, Operations } from "./protocol.ts";
import type { Asked } from "./store-thread.ts";

/**
 * The thread for reads, started by the first that may take long: a start takes 50 to 100 ms, which every command would wait for at its
 * first look at a key-value. Until then the writing thread answers those; they take microseconds.
 */
export class LateReads implements Asked {
  readonly #own: Asked;
  readonly #writes: Asked;
  #started = false;

  constructor(own: Asked, writes: Asked) {
    this.#own = own;
    this.#writes = writes;
  }

  ask<O extends Operation>(operation: O, ...args: Parameters<Operations[O]>): Promise<ReturnType<Operations[O]>> {
    this.#started ||= operation !== "getValue";
    return (this.#started ? this.#own : this.#writes).ask(operation, ...args);
  }

  close(): Promise<void> {
    return this.#own.close();
  }
}
