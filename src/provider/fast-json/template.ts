import { parseJson } from "./wire-json.ts";

/** Path to a value in a JSON text: keys and indexes from the root. */
type JsonPath = readonly (string | number)[];

/** A value that varies from text to text. */
export interface Varying {
  readonly path: JsonPath;
  readonly skipped: boolean;
  /** Matches the text before the value if it is a string, or a number. */
  readonly beforeText: RegExp;
  readonly beforeNumber: RegExp;
}

/**
 * The strings and integers that vary from text to text: `read` ones, and `skipped` ones that have no reader (padding, counters)
 * and may keep a stale value.
 */
export function varying(read: readonly JsonPath[], skipped: readonly JsonPath[] = []): readonly Varying[] {
  return [
    ...read.map((path) => varyingAt({ path, skipped: false })),
    ...skipped.map((path) => varyingAt({ path, skipped: true })),
  ];
}

function varyingAt({ path, skipped }: Pick<Varying, "path" | "skipped">): Varying {
  const before = `"${path.findLast((step) => typeof step === "string")}"\\s*:\\s*`;
  return { path, skipped, beforeText: new RegExp(`${before}"`), beforeNumber: new RegExp(`${before}(?=\\d)`) };
}

interface Place {
  readonly path: JsonPath;
  readonly skipped: boolean;
  readonly isText: boolean;
  readonly start: number;
  readonly end: number;
}

/** A value that is read, and where it belongs. */
interface Hole {
  readonly holder: Record<string | number, unknown>;
  readonly key: string | number;
  readonly isText: boolean;
}

/** What stands between two values that are read: constant texts around the skipped values; one more than there are. */
interface Run {
  readonly literals: string[];
  readonly skipped: boolean[]; // Whether each is a string.
}

/** A template as one stream uses it. */
export class Form {
  readonly template: Template;
  readonly #last: (string | undefined)[];
  /** Copying a run takes longer than a few texts save: one that changes with each text is soon left alone. */
  #credit = 2;

  constructor(template: Template) {
    this.template = template;
    this.#last = new Array(template.runs).fill(undefined);
  }

  /** The position after the run if it is the same as last time, as one with the stream's id is; otherwise -1. */
  pass(text: string, at: number, run: number): number {
    const end = after(text, at, this.#last[run]);
    if (end >= 0 && this.#credit < 8) this.#credit++;
    return end;
  }

  remember(text: string, from: number, { run, end }: { run: number; end: number }): void {
    if (this.#credit === 0) return;
    this.#credit--;
    this.#last[run] = flat(text.slice(from, end));
  }
}

export class Template {
  readonly value: object;
  readonly #holes: readonly Hole[];
  /** Around the holes; one more than there are. */
  readonly #runs: readonly Run[];
  readonly #found: unknown[] = [];

  constructor(value: object, holes: readonly Hole[], runs: readonly Run[]) {
    this.value = value;
    this.#holes = holes;
    this.#runs = runs;
  }

  get runs(): number {
    return this.#runs.length;
  }

  /** Whether the text matches this template; if so, `value` holds the result. */
  read(text: string, form: Form | undefined): boolean {
    const holes = this.#holes;
    let at = this.#pass(text, 0, 0, form);
    for (let i = 0; i < holes.length && at >= 0; i++) {
      const { isText } = holes[i] as Hole; // `i` is below the length.
      const end = isText ? endOfString(text, at) : endOfDigits(text, at);
      if (end < 0) return false;
      const found = isText ? stringIn(text, at, end) : Number(text.slice(at, end));
      if (found === undefined) return false;
      this.#found[i] = found;
      at = this.#pass(text, end, i + 1, form);
    }
    if (at !== text.length) return false;
    for (let i = 0; i < holes.length; i++) {
      const { holder, key } = holes[i] as Hole; // `i` is below the length.
      holder[key] = this.#found[i];
    }
    return true;
  }

  /** Position after the run, or -1. */
  #pass(text: string, from: number, run: number, form: Form | undefined): number {
    const { literals, skipped } = this.#runs[run] as Run; // One more than there are holes.
    if (skipped.length === 0) return after(text, from, literals[0]);
    const known = form === undefined ? -1 : form.pass(text, from, run);
    if (known >= 0) return known;
    let at = after(text, from, literals[0]);
    for (let i = 0; i < skipped.length && at >= 0; i++) {
      const end = skipped[i] ? endOfString(text, at) : endOfDigits(text, at);
      if (end < 0) return -1;
      // Not parsed: every chunk has a long id that nobody reads.
      if (skipped[i] && !isPlain(text.slice(at, end)) && quoted(text, at, end) === undefined) return -1;
      at = after(text, end, literals[i + 1]);
    }
    if (at >= 0) form?.remember(text, from, { run, end: at });
    return at;
  }
}

/** Position after the literal, or -1. Comparing slices is many times faster than `startsWith`. */
function after(text: string, at: number, literal: string | undefined): number {
  if (literal === undefined) return -1;
  const end = at + literal.length;
  return text.slice(at, end) === literal ? end : -1;
}

/** Closing quote of the string that starts at `at`, or -1. */
function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at);
  while (end > at && text.charCodeAt(end - 1) === backslash) {
    let first = end - 1;
    while (first > at && text.charCodeAt(first - 1) === backslash) first--;
    if ((end - first) % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return end;
}

/** Position after the digits of a safe integer, or -1. */
function endOfDigits(text: string, at: number): number {
  let end = at;
  for (let code = text.charCodeAt(end); code >= zero && code <= nine; code = text.charCodeAt(end)) end++;
  const length = end - at;
  if (length === 0 || length > 15) return -1;
  return length > 1 && text.charCodeAt(at) === zero ? -1 : end;
}

/** The string between the quotes; undefined when invalid. */
function stringIn(text: string, start: number, end: number): string | undefined {
  // V8 copies a slice of up to 12 characters; a longer one would keep the whole text alive.
  const found = text.slice(start, end);
  return found.length < 13 && isPlain(found) ? found : quoted(text, start, end);
}

/** Nothing escaped, and no control character. In a slice of a long text a loop takes 8 ns a character. */
const isPlain = (found: string): boolean => !/[^ -[\]-\uffff]/.test(found);

function quoted(text: string, start: number, end: number): string | undefined {
  const value = parseJson(text.slice(start - 1, end + 1));
  return typeof value === "string" ? value : undefined;
}

function placeOf(text: string, value: object, varying: Varying): Place[] {
  const { path, skipped } = varying;
  const found = valueAt(value, path);
  const isText = typeof found === "string";
  if (!isText && !Number.isSafeInteger(found)) return [];
  const match = (isText ? varying.beforeText : varying.beforeNumber).exec(text);
  if (match === null) return [];
  const start = match.index + match[0].length;
  const end = isText ? endOfString(text, start) : endOfDigits(text, start);
  return end < 0 ? [] : [{ path, skipped, isText, start, end }];
}

/** Builds a template from a text and its value; undefined if none of the values to read can be located. */
export function templateFor(text: string, value: object, varying: readonly Varying[]): Template | undefined {
  const places = varying.flatMap((one) => placeOf(text, value, one));
  if (!places.some((place) => !place.skipped)) return undefined;
  places.sort((left, right) => left.start - right.start);
  return templateOf(text, value, places);
}

/** Undefined unless other values in the located places parse to exactly the expected result. */
function templateOf(text: string, value: object, places: readonly Place[]): Template | undefined {
  const runs: Run[] = [];
  let run: Run = { literals: [], skipped: [] };
  let at = 0;
  let marked = "";
  for (const [index, place] of places.entries()) {
    if (place.start < at) return undefined;
    const literal = text.slice(at, place.start);
    run.literals.push(flat(literal));
    if (place.skipped) run.skipped.push(place.isText);
    else {
      runs.push(run);
      run = { literals: [], skipped: [] };
    }
    marked += literal + markOf(place, index);
    at = place.end;
  }
  run.literals.push(flat(text.slice(at)));
  runs.push(run);
  const copy = parseJson(marked + text.slice(at));
  if (typeof copy !== "object" || copy === null || !isShareable(copy, places)) return undefined;
  const holes: Hole[] = [];
  for (const [index, place] of places.entries()) {
    const { path, skipped, isText } = place;
    const key = path.at(-1);
    const holder = valueAt(copy, path.slice(0, -1));
    if (key === undefined || !isHolder(holder) || holder[key] !== markOf(place, index)) return undefined;
    holder[key] = valueAt(value, path);
    if (!skipped) holes.push({ holder, key, isText });
  }
  return JSON.stringify(copy) === JSON.stringify(value) ? new Template(copy, holes, runs) : undefined;
}

/** A marker of the value's type that no server sends. */
const markOf = (place: Place, index: number): string | number =>
  place.isText ? `venturi ${index}` : 730_127_000_000 + index;

/** Callers may keep objects from the value, so only primitives may stand beside the path to a varying value. */
function isShareable(value: object, places: readonly Place[], depth = 0): boolean {
  return Object.entries(value).every(([key, inner]) => {
    if (typeof inner !== "object" || inner === null) return true;
    const onWay = places.filter(({ path }) => String(path[depth]) === key && path.length > depth + 1);
    if (onWay.length > 0) return isShareable(inner, onWay, depth + 1);
    return Object.keys(inner).length === 0;
  });
}

export function valueAt(value: unknown, path: JsonPath): unknown {
  let inner = value;
  for (const step of path) {
    if (!isHolder(inner) || !Object.hasOwn(inner, step)) return undefined;
    inner = inner[step];
  }
  return inner;
}

const isHolder = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === "object" && value !== null;

/** A copy, so that it does not keep a larger string alive. */
const flat = (text: string): string => Buffer.from(text).toString();

const backslash = 0x5c;
const zero = 0x30;
const nine = 0x39;
