/** What `/readyz` says over time. */
export class Readiness {
  readonly #url: string;
  readonly #stopped = new AbortController();
  readonly #watching: Promise<void>;
  readonly answers: { at: number; took: number; status: number; reason: string }[] = [];

  constructor(url: string) {
    this.#url = url;
    this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const start = performance.now();
      const answer = await this.#ask();
      this.answers.push({ at: performance.now(), took: performance.now() - start, ...answer });
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  async #ask(): Promise<{ status: number; reason: string }> {
    try {
      const answer = await fetch(`${this.#url}/readyz`, { signal: AbortSignal.timeout(20_000) });
      const body = (await answer.json()) as { status?: string; error?: { code: string; err: string } }; // what it answers
      return { status: answer.status, reason: body.error ? `${body.error.code}: ${body.error.err}` : "" };
    } catch (thrown) {
      return { status: 0, reason: String(thrown) };
    }
  }
}
