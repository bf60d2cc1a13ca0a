import type { RunEvent } from "../core/run/events.ts";

/** Separates the texts of rounds where a wire has one text for all of them. */
export class Paragraphs {
  /** The round of the last text. */
  round = 0;
  #goesOn = false;

  /** What precedes the first text of another round. */
  begin(round: number): string {
    const gap = this.round === 0 || this.#goesOn ? "" : "\n\n";
    this.round = round;
    return gap;
  }

  /** A vendor's pause is in the middle of an answer. */
  note(event: RunEvent): void {
    if (event.type === "round.finished") this.#goesOn = event.finish === "pause";
  }
}

/** The text of a run that was not retracted, its rounds as paragraphs: what a stream of it says. */
export class RoundTexts {
  readonly #paragraphs = new Paragraphs();
  #settled = "";
  #gap = "";
  #pieces: string[] = [];

  get text(): string {
    return this.#pieces.length === 0 ? this.#settled : this.#settled + this.#gap + this.#pieces.join("");
  }

  readonly add = (event: RunEvent): void => {
    if (event.type === "text.delta") {
      if (event.round !== this.#paragraphs.round) this.#gap = this.#paragraphs.begin(event.round);
      this.#pieces.push(event.text);
    } else if (event.type === "round.retracted") this.#pieces = [];
    else if (event.type === "round.finished") {
      this.#settled = this.text;
      this.#pieces = [];
      this.#paragraphs.note(event);
    }
  };
}
