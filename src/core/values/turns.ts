interface Line {
  under: number;
  readonly waiting: (() => void)[];
}

/** Lets each tenant do so many things at once; further ones wait in order. */
export class Turns {
  readonly #most: number;
  readonly #lines = new Map<string, Line>();

  constructor(most: number) {
    this.#most = most;
  }

  async take<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lineOf(tenant);
    if (line.under >= this.#most) await new Promise<void>((resolve) => line.waiting.push(resolve));
    else line.under += 1;
    try {
      return await work();
    } finally {
      const next = line.waiting.shift();
      if (next !== undefined) next();
      else if (--line.under === 0) this.#lines.delete(tenant);
    }
  }

  get size(): number {
    return this.#lines.size;
  }

  #lineOf(tenant: string): Line {
    const known = this.#lines.get(tenant);
    if (known !== undefined) return known;
    const line = { under: 0, waiting: [] };
    this.#lines.set(tenant, line);
    return line;
  }
}
