import { asList, asRecord } from "venturi/plugin/provider";

type Segment = string | number;

/**
 * Vertex streams arguments as values at JSON paths. This serialises them incrementally as one JSON text, so that they
 * accumulate like any other wire's: a call that is never closed remains incomplete and is not run.
 */
export class PartialArguments {
  /** Open containers, outermost (the arguments object) first. */
  readonly #open: { readonly key: Segment; readonly array: boolean; count: number }[] = [];
  readonly #written = new Set<string>();
  #string: string | undefined;
  #broken = false;

  /** The text added by these pieces. `number`: a number's original text. */
  write(pieces: unknown, number: (at: number) => string | undefined = () => undefined): string {
    let text = this.#begin();
    for (const [at, piece] of asList(pieces).entries()) text += this.#piece(asRecord(piece), () => number(at));
    return text;
  }

  /** The text that closes the arguments; empty when the paths did not form one document, so that it stays incomplete. */
  close(): string {
    if (this.#broken) return "";
    return this.#begin() + this.#endString() + this.#closeTo(0);
  }

  get broken(): boolean {
    return this.#broken;
  }

  #begin(): string {
    if (this.#open.length > 0) return "";
    this.#open.push({ key: "$", array: false, count: 0 });
    return "{";
  }

  #piece(piece: Readonly<Record<string, unknown>>, number: () => string | undefined): string {
    const path = typeof piece.jsonPath === "string" ? piece.jsonPath : "";
    if (this.#broken) return "";
    if (this.#string === path && typeof piece.stringValue === "string") return this.#more(piece);
    const segments = segmentsOf(path);
    const value = jsonOf(piece, number);
    if (segments === undefined || value === undefined || this.#written.has(path)) {
      this.#broken = true;
      return "";
    }
    const text = this.#endString() + this.#reach(segments);
    if (this.#broken) return "";
    this.#written.add(path);
    if (typeof piece.stringValue !== "string" || piece.willContinue !== true) return text + value;
    this.#string = path;
    return text + value.slice(0, -1);
  }

  /** Continues the open string. Escaping piece by piece is safe: a split surrogate pair is rejoined by the parser. */
  #more(piece: Readonly<Record<string, unknown>>): string {
    const inner = JSON.stringify(piece.stringValue).slice(1, -1);
    if (piece.willContinue === true) return inner;
    this.#string = undefined;
    return `${inner}"`;
  }

  #endString(): string {
    if (this.#string === undefined) return "";
    this.#string = undefined;
    return '"';
  }

  /** Closes and opens containers to get to the path. */
  #reach(segments: readonly Segment[]): string {
    let shared = 1;
    while (shared < segments.length && this.#open[shared]?.key === segments[shared - 1]) shared++;
    let text = this.#closeTo(shared);
    for (let depth = shared; depth <= segments.length; depth++) {
      const key = segments[depth - 1];
      text += key === undefined ? "" : this.#key(key);
      if (depth === segments.length || key === undefined) break;
      const container = segments.slice(0, depth).join("\u0000");
      if (this.#written.has(container)) this.#broken = true;
      this.#written.add(container);
      const array = typeof segments[depth] === "number";
      this.#open.push({ key, array, count: 0 });
      text += array ? "[" : "{";
    }
    return text;
  }

  #key(key: Segment): string {
    const parent = this.#open.at(-1);
    if (parent === undefined || parent.array !== (typeof key === "number")) this.#broken = true;
    else if (parent.array && key !== parent.count) this.#broken = true;
    if (parent === undefined) return "";
    const comma = parent.count++ > 0 ? "," : "";
    return typeof key === "number" ? comma : `${comma}${JSON.stringify(key)}:`;
  }

  #closeTo(depth: number): string {
    let text = "";
    while (this.#open.length > depth) text += this.#open.pop()?.array ? "]" : "}";
    return text;
  }
}

/** The value as JSON text; undefined when there is none. */
function jsonOf(piece: Readonly<Record<string, unknown>>, number: () => string | undefined): string | undefined {
  if (typeof piece.stringValue === "string") return JSON.stringify(piece.stringValue);
  if (typeof piece.numberValue === "number") return number() ?? JSON.stringify(piece.numberValue);
  if (typeof piece.boolValue === "boolean") return String(piece.boolValue);
  return "nullValue" in piece ? "null" : undefined;
}

/** Deeper than any real schema; bounds the work a path can cause. */
const deepest = 64;

const step = /\.([^.[\]]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y;

/** Parses `$.a.b[0]['c']` to keys and indexes; undefined when it is invalid or empty. */
function segmentsOf(path: string): readonly Segment[] | undefined {
  if (!path.startsWith("$")) return undefined;
  const segments: Segment[] = [];
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (match === null) return undefined;
    if (match[2] !== undefined) segments.push(Number(match[2]));
    else segments.push(match[1] ?? (match[3] ?? match[4] ?? "").replace(/\\(.)/g, "$1"));
  }
  return segments.length === 0 || segments.length > deepest ? undefined : segments;
}
