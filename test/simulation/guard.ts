import type { ActiveGuard, ScanSink, TextScanner } from "../../src/core/ports/guard.ts";

/** What a guard looks for, in whatever pieces the model sends it. */
export const forbidden = "secret";

export const guardOf = (ofArguments: "block" | "ask"): ActiveGuard => ({
  name: "words",
  guard: { scanner: (sink) => new Scanner(sink) },
  actions: { output: "redact", arguments: ofArguments },
});

class Scanner implements TextScanner {
  readonly #sink: ScanSink;
  #held = "";

  constructor(sink: ScanSink) {
    this.#sink = sink;
  }

  push(text: string): void {
    for (const character of text) {
      this.#held += character;
      if (this.#held === forbidden) {
        this.#sink.found(this.#held, "word", false);
        this.#held = "";
      }
      while (!forbidden.startsWith(this.#held)) {
        this.#sink.plain(this.#held.slice(0, 1));
        this.#held = this.#held.slice(1);
      }
    }
  }

  end(): void {
    if (this.#held !== "") this.#sink.plain(this.#held);
    this.#held = "";
  }
}
