/**
 * Splits streaming Markdown into blocks that can be lexed on their own. All but the last block are final: appending text never
 * changes them, so that each is lexed once. A block ends at a blank line outside a fence, unless what follows continues it (an
 * indented line, a list item after a list).
 */
export class Blocks {
  /** Completed blocks. */
  readonly closed: string[] = [];
  /** Text of the open block. */
  #open = "";
  /** Index in `#open` at which the current line begins. */
  #lineAt = 0;
  #fence: string | undefined;
  #isList = false;
  /** The open block has a non-blank line. */
  #hasContent = false;
  /** Position of a blank line after which the next line decides whether the block ends; -1: none. */
  #blankAt = -1;

  get open(): string {
    return this.#open;
  }

  push(text: string): void {
    this.#open += text;
    for (;;) {
      const end = this.#open.indexOf("\n", this.#lineAt);
      if (end < 0) return;
      this.#line(this.#open.slice(this.#lineAt, end), end + 1);
    }
  }

  #line(line: string, next: number): void {
    if (this.#fence !== undefined) {
      if (closesFence(line, this.#fence)) this.#fence = undefined;
      this.#lineAt = next;
      return;
    }
    if (line.trim() === "") {
      if (this.#hasContent && this.#blankAt < 0) this.#blankAt = this.#lineAt;
      this.#lineAt = next;
      return;
    }
    const cut = this.#blankAt >= 0 && this.#endsBefore(line) ? this.#close() : 0;
    if (!this.#hasContent) this.#isList = item.test(line);
    this.#hasContent = true;
    this.#blankAt = -1;
    this.#fence = fence.exec(line)?.[1];
    this.#lineAt = next - cut;
  }

  #endsBefore(line: string): boolean {
    if (/^[ \t]/.test(line)) return false;
    return !(this.#isList && item.test(line));
  }

  /** Closes the block before the current line; returns its length. */
  #close(): number {
    this.closed.push(this.#open.slice(0, this.#blankAt));
    const cut = this.#lineAt;
    this.#open = this.#open.slice(cut);
    this.#hasContent = false;
    return cut;
  }
}

const item = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;

function closesFence(line: string, open: string): boolean {
  const trimmed = line.trim();
  const mark = open[0] ?? "`";
  return trimmed.length >= open.length && trimmed === mark.repeat(trimmed.length);
}
