const QUOTE = 34;
const BACKSLASH = 92;

/**
 * Tracks a JSON object that arrives in pieces and detects when it closes, looking at each character once. Does not validate:
 * the text is parsed once, after it has closed.
 */
export class JsonScanner {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #state: "before" | "inside" | "closed" | "broken" = "before";
  #empty = true;

  /** The outermost object has closed and only whitespace follows. */
  get closed(): boolean {
    return this.#state === "closed";
  }

  /** The object has no content so far. */
  get empty(): boolean {
    return this.#empty;
  }

  /** Does not start with an object, or something follows it: can never become a JSON object. */
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

  /** Skips the rest of a string; returns the position after it, or the end of the piece. */
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
