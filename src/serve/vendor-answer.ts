import type { Usage } from "../core/model/usage.ts";
import type { RunEvent } from "../core/run/events.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The vendor's fields about its answer as a whole, for a channel of the same wire. The last generation wins. */
export class VendorAnswer {
  readonly #wire: string;
  #fields: Record<string, unknown> = {};
  #usages: Fields[] = [];
  #generations = 0;
  #spent: Usage | undefined;

  constructor(wire: string) {
    this.#wire = wire;
  }

  /** Returns true when fields of the answer were added or removed. */
  add(event: RunEvent): boolean {
    switch (event.type) {
      case "round.started":
        return this.#clear();
      case "provider.activity":
        if (event.kind !== "response" || event.wire !== this.#wire) return false;
        this.#fields = { ...this.#fields, ...(event.data as Fields) }; // Written as an object.
        return true;
      case "generation.finished":
        this.#generations += 1;
        this.#spent = event.usage;
        if (event.native?.wire === this.#wire) this.#usages.push(event.native.fields);
        return false;
      default:
        return false;
    }
  }

  get fields(): Fields {
    return this.#fields;
  }

  /** The run's usage in the vendor's own form; for several generations, or costs beyond the model's, with the run's totals in `own`. */
  usage(own: Fields, total: Usage): Fields {
    const [first] = this.#usages;
    if (first === undefined || this.#usages.length !== this.#generations) return own;
    const isAll = this.#usages.length === 1 && sameCounts(total, this.#spent);
    return isAll
      ? first
      : {
          ...joined(
            this.#usages.reduce((sum, each) => joined(sum, each, "sum")),
            own,
            "last",
          ),
        };
  }

  #clear(): boolean {
    const had = Object.keys(this.#fields).length > 0;
    this.#fields = {};
    return had;
  }
}

const sameCounts = (total: Usage, spent: Usage | undefined): boolean =>
  spent !== undefined && total.inputTokens === spent.inputTokens && total.outputTokens === spent.outputTokens;

/** Fields whose text is not continued by the next piece. */
const repeated: ReadonlySet<string> = new Set(["id", "type", "index", "format"]);

/**
 * Merges two objects: lists are concatenated, objects merged field by field. Numbers are added with `sum`, texts joined with `text`;
 * otherwise the later value wins.
 */
export function joined(one: Fields, other: Fields, how: "sum" | "text" | "last"): Record<string, unknown> {
  const all: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = all[name];
    if (Array.isArray(before) && Array.isArray(value)) all[name] = [...before, ...value];
    else if (isObject(before) && isObject(value)) all[name] = joined(before, value, how);
    else if (how === "sum" && typeof before === "number" && typeof value === "number") all[name] = before + value;
    else if (how === "text" && typeof before === "string" && typeof value === "string" && !repeated.has(name)) {
      all[name] = before + value;
    } else if (value !== undefined && value !== null) all[name] = value;
  }
  return all;
}

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
