import { definePlugin, type ScanSink, type TextScanner } from "venturi/plugin";
import { z } from "zod";

export default definePlugin({
  name: "my-plugin",
  kind: "guard",
  description: "Finds a word",
  options: z.strictObject({ word: z.string().min(1).describe("The word that must not pass.") }),
  create: ({ word }) => ({ scanner: (sink) => new WordScanner(word, sink) }),
});

/** Gives each character on as soon as it is certain, however the text was cut. */
class WordScanner implements TextScanner {
  readonly #word: string;
  readonly #sink: ScanSink;
  #held = "";

  constructor(word: string, sink: ScanSink) {
    this.#word = word;
    this.#sink = sink;
  }

  push(text: string): void {
    this.#held += text;
    this.#give(Math.max(0, this.#held.length - this.#word.length + 1));
  }

  end(): void {
    this.#give(this.#held.length);
  }

  /** Decides the first `certain` characters. */
  #give(certain: number): void {
    let from = 0;
    for (let at = this.#held.indexOf(this.#word); at >= 0; at = this.#held.indexOf(this.#word, from)) {
      if (at > from) this.#sink.plain(this.#held.slice(from, at));
      this.#sink.found(this.#word, "word", false);
      from = at + this.#word.length;
    }
    if (certain > from) this.#sink.plain(this.#held.slice(from, certain));
    this.#held = this.#held.slice(Math.max(from, certain));
  }
}
