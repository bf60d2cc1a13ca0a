interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** One request in flight: items that arrive meanwhile are grouped into the next. Answers are per item, in order. */
export class Grouped<Item, Answer> {
  readonly #ask: (items: Item[]) => Promise<Answer[]>;
  #waiting: Waiting<Item, Answer>[] = [];
  #asking = false;

  constructor(ask: (items: Item[]) => Promise<Answer[]>) {
    this.#ask = ask;
  }

  ask(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#asking) this.#next();
    });
  }

  async #next(): Promise<void> {
    this.#asking = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, mostTogether);
      try {
        const answers = await this.#ask(group.map(({ item }) => item));
        for (const [index, answer] of answers.entries()) group[index]?.resolve(answer);
      } catch (thrown) {
        for (const { reject } of group) reject(thrown);
      }
    }
    this.#asking = false;
  }
}

const mostTogether = 100;
