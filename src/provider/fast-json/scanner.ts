const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Follows a JSON object that arrives in pieces and knows the moment it closes, looking at each character once. It does not
 * check the grammar in between: whoever needs the value parses the whole text once, when it is closed.
 */
export class JsonScanner {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #state: "before" | "inside" | "closed" | "broken" = "before";
  #empty = true;

  /** The outermost object has closed and nothing but blanks came after it. */
  get closed(): boolean {
    return this.#state === "closed";
  }

  /** There was nothing in the object so far. */
  get empty(): boolean {
    return this.#empty;
  }

  /** It does not start with an object, or something follows the object: it never becomes a JSON object. */
  get broken(): boolean {
    return this.#state === "broken";
  }

  push(text: string): void {
    if (this.#state === "broken") return;
    const end = text.length;
    let i = 0;
    while (i < end) {
      if (this.#inString) {
        i = this.#string(text, i);
        continue;
      }
      const unit = text.charCodeAt(i++);
      if (unit <= 32) continue;
      if (this.#state !== "inside") {
        if (this.#state === "before" && unit === 123) {
          this.#state = "inside";
          this.#depth = 1;
          continue;
        }
        this.#state = "broken";
        return;
      }
      this.#inside(unit);
    }
  }

  #inside(unit: number): void {
    if (unit === 125 || unit === 93) {
      if (--this.#depth === 0) this.#state = "closed";
      return;
    }
    this.#empty = false;
    if (unit === QUOTE) this.#inString = true;
    else if (unit === 123 || unit === 91) this.#depth++;
  }

  /** Goes on inside a string; returns where to go on after it, or the end of the piece. */
  #string(text: string, from: number): number {
    const end = text.length;
    let i = from;
    if (this.#escaped) {
      this.#escaped = false;
      i++;
    }
    while (i < end) {
      const unit = text.charCodeAt(i++);
      if (unit === QUOTE) {
        this.#inString = false;
        return i;
      }
      if (unit !== BACKSLASH) continue;
      if (i === end) this.#escaped = true;
      i++;
    }
    return end;
  }
}
