const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const values = new Uint8Array(128);
for (let value = 0; value < digits.length; value++) values[digits.charCodeAt(value)] = value;
const comma = 0x2c;
const semicolon = 0x3b;

/** Where a source map's text is read, and the fields to which its next differences are added. Lines and columns count from 0. */
interface Reading {
  at: number;
  generated: number;
  source: number;
  line: number;
  column: number;
  isMapped: boolean;
}

export interface Place {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

/** Reads entries when they are asked for: as objects, like Node's, those of the whole program need more memory than the watchdog's thread has. */
export class SourceMap {
  readonly #sources: readonly string[];
  readonly #mappings: string;
  /** Where each line of the generated code begins. */
  readonly #lines: Readonly<Reading>[] = [];

  constructor({ sources, mappings }: { readonly sources: readonly string[]; readonly mappings: string }) {
    this.#sources = sources;
    this.#mappings = mappings;
    const reading: Reading = { at: 0, generated: 0, source: 0, line: 0, column: 0, isMapped: false };
    while (reading.at <= mappings.length) {
      this.#lines.push({ ...reading });
      while (this.#next(reading)) {}
      reading.at += 1;
      reading.generated = 0;
      reading.isMapped = false;
    }
  }

  /** Of the last entry at or before this place of the generated code. */
  find(line: number, column: number): Place | undefined {
    const start = this.#lines[line];
    if (start === undefined) return undefined;
    const reading = { ...start };
    let last = start;
    while (this.#next(reading) && reading.generated <= column) last = { ...reading };
    const source = last.isMapped ? this.#sources[last.source] : undefined;
    return source === undefined ? undefined : { source, line: last.line, column: last.column };
  }

  /** Reads an entry; false at the end of the line. */
  #next(reading: Reading): boolean {
    if (this.#mappings.charCodeAt(reading.at) === comma) reading.at += 1;
    if (this.#isOver(reading)) return false;
    reading.generated += this.#number(reading);
    reading.isMapped = !this.#isOver(reading);
    if (!reading.isMapped) return true;
    reading.source += this.#number(reading);
    reading.line += this.#number(reading);
    reading.column += this.#number(reading);
    if (!this.#isOver(reading)) this.#number(reading); // A name.
    return true;
  }

  #isOver({ at }: Reading): boolean {
    const code = this.#mappings.charCodeAt(at);
    return at >= this.#mappings.length || code === comma || code === semicolon;
  }

  /** Base64 digits of five bits, the lowest first; a sixth bit says that another follows, the lowest of all is the sign. */
  #number(reading: Reading): number {
    let number = 0;
    for (let shift = 0; ; shift += 5) {
      const digit = values[this.#mappings.charCodeAt(reading.at++)] ?? 0;
      number |= (digit & 31) << shift;
      if ((digit & 32) === 0) return (number & 1) === 1 ? -(number >> 1) : number >> 1;
    }
  }
}
