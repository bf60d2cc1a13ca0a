/** Characters of a server's stderr that are kept. */
const most = 2_000;
const mostLines = 5;

/** The last lines that a server wrote to its stderr: why it is gone stands nowhere else. */
export class LastLines {
  #text = "";

  take(piece: string): void {
    this.#text = `${this.#text}${piece}`.slice(-most);
  }

  /** As the end of a sentence, once: `; it said: …`. Empty if it wrote nothing. */
  said(): string {
    const lines = this.#text.split("\n").filter((line) => line.trim() !== "");
    this.#text = "";
    return lines.length === 0 ? "" : `; its last words: ${lines.slice(-mostLines).join(" / ")}`;
  }
}
