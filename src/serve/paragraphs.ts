import type { RunEvent } from "../core/run/events.ts";

/** Separates the texts of rounds on wires that have a single text. */
export class Paragraphs {
  /** The round of the last text. */
  round = 0;
  #goesOn = false;

  /** The separator before the first text of a round. */
  begin(round: number): string {
    const gap = this.round === 0 || this.#goesOn ? "" : "\n\n";
    this.round = round;
    return gap;
  }

  /** After a vendor's pause the answer continues, so no separator follows. */
  note(event: RunEvent): void {
    if (event.type === "round.finished") this.#goesOn = event.finish === "pause";
  }
}

/** The run's unretracted text, with rounds as paragraphs: the same text as its stream. */
export class RoundTexts {
  readonly #paragraphs = new Paragraphs();
  #finishedText = "";
  #gap = "";
  #pieces: string[] = [];

  get text(): string {
    return this.#pieces.length === 0 ? this.#finishedText : this.#finishedText + this.#gap + this.#pieces.join("");
  }

  readonly add = (event: RunEvent): void => {
    if (event.type === "text.delta") {
      if (event.round !== this.#paragraphs.round) this.#gap = this.#paragraphs.begin(event.round);
      this.#pieces.push(event.text);
    } else if (event.type === "round.retracted") this.#pieces = [];
    else if (event.type === "round.finished") {
      this.#finishedText = this.text;
      this.#pieces = [];
      this.#paragraphs.note(event);
    }
  };
}
