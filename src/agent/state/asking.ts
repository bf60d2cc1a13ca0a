/** How long at least one question was open, by event times. */
export class Asking {
  #open = 0;
  #since = 0;
  #ms = 0;

  begin(at: number): void {
    if (this.#open++ === 0) this.#since = at;
  }

  end(at: number): void {
    if (--this.#open === 0) this.#ms += Math.max(0, at - this.#since);
  }

  total(now: number): number {
    return this.#ms + (this.#open > 0 ? Math.max(0, now - this.#since) : 0);
  }
}
