import { basename, dirname, extname, resolve } from "node:path";
import { isMap, isNode, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { z } from "zod";
import { complaintsOf } from "../../core/errors/complaints.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import { didYouMean } from "../../core/values/suggest.ts";
import { type Expected, type Item, type ItemKind, itemKinds, type Scorer, Settings } from "./schema.ts";

const op = "dataset.read";
const mostBytes = 16 * 1024 * 1024;

/** `file:line:column`. */
export type Place = string;

export interface Dataset extends Settings {
  readonly scorers: Scorer[];
  readonly name: string;
  readonly file: string;
  /** Base of relative paths. */
  readonly folder: string;
  readonly items: readonly { readonly item: Item; readonly place: Place }[];
}

/** Reads a set from YAML or JSON lines. Rejects with all mistakes, each with line and column; looks nothing up yet. */
export function readDataset(file: string, text: string): Dataset {
  if (Buffer.byteLength(text) > mostBytes) throw new VenturiError(op, "too_large", `${file} has more than 16 MiB`);
  const reading = new Reading(file);
  const isLines = [".jsonl", ".ndjson"].includes(extname(file));
  const { head, items } = isLines ? reading.lines(text) : reading.yaml(text);
  const settings = reading.settings(head);
  const read = items.map((entry) => reading.item(entry));
  if (items.length === 0 && reading.problems.length === 0) reading.problems.push(`${file}:1:1: the set has no items`);
  const expected = read.flatMap((entry) => Object.keys(entry?.item.expect ?? {}) as (keyof Expected)[]);
  const scorers = settings?.scorers ?? defaultScorers(expected);
  const names = scorers.map(({ name, type }) => name ?? type);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) reading.problems.push(`${head.place}: two scorers are called ${twice}; give one a name`);
  for (const wanted of Object.keys(settings?.thresholds ?? {}))
    if (!names.includes(wanted))
      reading.problems.push(`${head.place}: thresholds: there is no scorer ${wanted}${didYouMean(wanted, names)}`);
  refuse(reading.problems);
  const given = settings ?? Settings.parse({});
  return {
    ...given,
    scorers,
    name: given.name ?? basename(file, extname(file)),
    file,
    folder: dirname(resolve(file)),
    items: read.flatMap((entry) => (entry === undefined ? [] : [entry])),
  };
}

/** `exact`, and one for each kind of expectation: what is expected is never left unchecked. */
function defaultScorers(expected: readonly (keyof Expected)[]): Scorer[] {
  const kinds = (["json", "schema", "regex", "calls"] as const).filter((kind) => expected.includes(kind));
  return [{ type: "exact" }, ...kinds.map((type) => ({ type }))];
}

/** Throws one error with all mistakes, one line each. */
export function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new VenturiError(op, "invalid_input", problems.join("\n"), { details: { problems: problems.slice(0, 100) } });
}

interface Entry {
  readonly value: unknown;
  readonly place: Place;
  /** Location of a value inside. */
  at(path: readonly PropertyKey[]): Place;
}

class Reading {
  readonly problems: string[] = [];
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  yaml(text: string): { head: Entry; items: Entry[] } {
    const { entry } = this.#document(text, 0);
    const value = isRecord(entry.value) ? entry.value : { items: entry.value };
    const { items, ...head } = value;
    const path = isRecord(entry.value) ? ["items"] : [];
    if (!Array.isArray(items)) {
      this.problems.push(`${entry.place}: items: expected a list`);
      return { head: { ...entry, value: head }, items: [] };
    }
    const each = items.map((item: unknown, index): Entry => {
      const at = (inner: readonly PropertyKey[]) => entry.at([...path, index, ...inner]);
      return { value: item, place: at([]), at };
    });
    return { head: { ...entry, value: head }, items: each };
  }

  lines(text: string): { head: Entry; items: Entry[] } {
    const entries = text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [this.#line(line, index)]));
    const isHead = ({ value }: Entry) => isRecord(value) && value.venturi === "dataset";
    const place = `${this.#file}:1:1`;
    const head = entries.find(isHead) ?? { value: {}, place, at: () => place };
    return { head, items: entries.filter((entry) => !isHead(entry)) };
  }

  settings(entry: Entry): Settings | undefined {
    return this.#check(Settings, entry);
  }

  item(entry: Entry): Dataset["items"][number] | undefined {
    const { value, place } = entry;
    const kinds = Object.keys(itemKinds) as ItemKind[];
    const found = isRecord(value) ? kinds.filter((kind) => Object.hasOwn(value, kind)) : [];
    const [kind] = found;
    if (kind === undefined || found.length > 1) {
      this.problems.push(`${place}: an item has exactly one of ${kinds.join(", ")}`);
      return undefined;
    }
    const item = this.#check<z.ZodType<Item>>(itemKinds[kind], entry);
    return item && { item, place };
  }

  #check<T extends z.ZodType>(schema: T, { value, at }: Entry): z.output<T> | undefined {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const { path, message } of complaintsOf(schema, value, parsed.error))
      this.problems.push(`${at(pathOf(path))}: ${path === "" ? "" : `${path}: `}${message}`);
    return undefined;
  }

  #line(line: string, index: number): Entry {
    try {
      JSON.parse(line);
    } catch {
      // The YAML reader reports the position, and can still read the valid part.
      const { entry, failed } = this.#document(line, index);
      if (!failed) this.problems.push(`${entry.place}: is no JSON`);
      return entry;
    }
    return this.#document(line, index).entry;
  }

  #document(text: string, line: number): { entry: Entry; failed: boolean } {
    const counter = new LineCounter();
    const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true, prettyErrors: false });
    const placeAt = (offset: number): Place => {
      const { line: at, col } = counter.linePos(offset);
      return `${this.#file}:${Math.max(1, at) + line}:${Math.max(1, col)}`;
    };
    for (const { pos, message } of document.errors) this.problems.push(`${placeAt(pos[0])}: ${message}`);
    const at = (path: readonly PropertyKey[]): Place => placeAt(offsetOf(document.contents, path));
    const failed = document.errors.length > 0;
    const value: unknown = failed ? undefined : document.toJS({ maxAliasCount: 100 });
    return { entry: { value, place: at([]), at }, failed };
  }
}

/** Where the value begins; for a missing one, where its parent begins. */
function offsetOf(root: unknown, path: readonly PropertyKey[]): number {
  let node: Node | undefined = isNode(root) ? root : undefined;
  for (const segment of path) {
    const next: unknown = isMap(node) || isSeq(node) ? node.get(segment, true) : undefined;
    if (!isNode(next)) break;
    node = next;
  }
  return node?.range?.[0] ?? 0;
}

/** Splits `expect.calls[0].name` into its segments. */
const pathOf = (path: string): PropertyKey[] =>
  path
    .replaceAll("[", ".")
    .replaceAll("]", "")
    .split(".")
    .filter((segment) => segment !== "")
    .map((segment) => (Number.isInteger(Number(segment)) ? Number(segment) : segment));

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
