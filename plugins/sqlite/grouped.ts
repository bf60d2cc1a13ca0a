interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

const mostTogether = 100;
/** Larger items are sent one at a time, alternating with the small ones. */
const large = 64 * 1024;

/** One request in flight: items that arrive meanwhile are grouped into the next. Answers are per item, in order. */
export class Grouped<Item, Answer> {
  readonly #ask: (items: Item[]) => Promise<Answer[]>;
  readonly #sizeOf: (item: Item) => number;
  readonly #small: Waiting<Item, Answer>[] = [];
  readonly #large: Waiting<Item, Answer>[] = [];
  #asking = false;
  #turn: "small" | "large" = "small";

  constructor(ask: (items: Item[]) => Promise<Answer[]>, sizeOf: (item: Item) => number) {
    this.#ask = ask;
    this.#sizeOf = sizeOf;
  }

  ask(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const line = this.#sizeOf(item) > large ? this.#large : this.#small;
      line.push({ item, resolve, reject });
      if (!this.#asking) this.#next();
    });
  }

  async #next(): Promise<void> {
    this.#asking = true;
    for (let group = this.#take(); group.length > 0; group = this.#take()) {
      try {
        const answers = await this.#ask(group.map(({ item }) => item));
        for (const [index, answer] of answers.entries()) group[index]?.resolve(answer);
      } catch (thrown) {
        for (const { reject } of group) reject(thrown);
      }
    }
    this.#asking = false;
  }

  #take(): Waiting<Item, Answer>[] {
    const isLarge = this.#large.length > 0 && (this.#turn === "large" || this.#small.length === 0);
    this.#turn = isLarge ? "small" : "large";
    return isLarge ? this.#large.splice(0, 1) : this.#small.splice(0, mostTogether);
  }
}
