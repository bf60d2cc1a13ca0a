import { goesOn } from "./sentence-ends.ts";

/** Text without a sentence end is emitted after this many characters. */
const longest = 2_000;
const longestCode = 64 * 1024;

/** What must follow a sentence end to confirm it: "etc. (and" continues, "etc. (" is still undecided. */
const confirms = /[\p{L}\n]|\p{Sentence_Terminal}/u;
const terminator = /[\p{Sentence_Terminal}…\n]/u;
const fence = /(?:^|\n)(?:```|~~~)/;

/**
 * Text in, complete sentences out as soon as they end, for speech. Concatenated they equal the text. A fenced code block is one
 * piece. Boundaries follow UAX #29 with the exceptions of `goesOn`.
 */
export class Sentences {
  readonly #segmenter: Intl.Segmenter;
  #held = "";
  #code: string | undefined;

  constructor(locale = "en") {
    this.#segmenter = new Intl.Segmenter(locale, { granularity: "sentence" });
  }

  push(text: string): string[] {
    this.#held += text;
    const out: string[] = [];
    while (this.#code === undefined ? this.#prose(out) : this.#block(out));
    return out;
  }

  /** The remainder, at the end of the text. */
  flush(): string[] {
    const out: string[] = [];
    const rest = this.#held;
    this.#held = "";
    if (this.#code === undefined) out.push(...this.#sentences(rest));
    else if (rest !== "") out.push(rest);
    this.#code = undefined;
    return out;
  }

  /** True when a code block has begun. */
  #prose(out: string[]): boolean {
    const opening = fence.exec(this.#held);
    if (opening !== null) {
      const start = opening.index + (opening[0].startsWith("\n") ? 1 : 0);
      out.push(...this.#sentences(this.#held.slice(0, start)));
      this.#held = this.#held.slice(start);
      this.#code = opening[0].slice(-3);
      return true;
    }
    if (!terminator.test(this.#held) && this.#held.length < longest) return false;
    const sentences = this.#sentences(this.#held);
    let rest = this.#held.length;
    let after = "";
    let certain = 0;
    for (let index = sentences.length - 1; index >= 0; index--) {
      if (confirms.test(after)) {
        certain = index + 1;
        break;
      }
      after = (sentences[index] ?? "") + after;
      rest -= sentences[index]?.length ?? 0;
    }
    if (certain > 0) {
      out.push(...sentences.slice(0, certain));
      this.#held = this.#held.slice(rest);
    }
    this.#shorten(out);
    return false;
  }

  #shorten(out: string[]): void {
    while (this.#held.length >= longest) {
      const space = this.#held.lastIndexOf(" ", longest);
      const cut = space > 0 ? space + 1 : wholeCharacters(this.#held, longest);
      out.push(this.#held.slice(0, cut));
      this.#held = this.#held.slice(cut);
    }
  }

  /** True when the block has ended. */
  #block(out: string[]): boolean {
    const end = this.#held.indexOf(`\n${this.#code}`);
    if (end < 0) {
      if (this.#held.length > longestCode) {
        // The last characters may be the start of the closing fence.
        const cut = wholeCharacters(this.#held, this.#held.length - 4);
        out.push(this.#held.slice(0, cut));
        this.#held = this.#held.slice(cut);
      }
      return false;
    }
    const stop = this.#held.indexOf("\n", end + 1) + 1;
    if (stop === 0) return false;
    out.push(this.#held.slice(0, stop));
    this.#held = this.#held.slice(stop);
    this.#code = undefined;
    return true;
  }

  #sentences(text: string): string[] {
    const found: string[] = [];
    let open = "";
    for (const { segment, index } of this.#segmenter.segment(text)) {
      open += segment;
      if (goesOn(open, text.slice(index + segment.length))) continue;
      found.push(open);
      open = "";
    }
    if (open !== "") found.push(open);
    return found;
  }
}

/** Moves a cut so that it does not split a surrogate pair. */
const wholeCharacters = (text: string, cut: number): number => {
  const unit = text.charCodeAt(cut - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? cut - 1 : cut;
};
