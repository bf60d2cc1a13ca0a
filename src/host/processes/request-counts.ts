interface Window {
  current: number;
  readonly end: number;
}

const mostKeys = 10_000;

/** Requests per key in fixed windows, counted in one place for all processes. */
export class RequestCounts {
  readonly #windows = new Map<string, Window>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  count(key: string, window: number): { current: number; ttl: number } {
    const now = this.#now();
    const known = this.#windows.get(key);
    const open = known !== undefined && known.end > now ? known : { current: 0, end: now + window };
    open.current += 1;
    if (open !== known) this.#keep(key, open, now);
    return { current: open.current, ttl: open.end - now };
  }

  #keep(key: string, window: Window, now: number): void {
    if (this.#windows.size >= mostKeys) {
      for (const [old, { end }] of this.#windows) if (end <= now) this.#windows.delete(old);
    }
    this.#windows.set(key, window);
  }
}
