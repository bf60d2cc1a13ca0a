import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import { excessOf, type ValueLimits } from "../../core/values/value-limits.ts";
import { type Check, Checking, every, type Problem, TooCostly } from "./check.ts";
import { checksOf, malformed } from "./keywords.ts";
import { References } from "./references.ts";
import { isRecord } from "./scalars.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Schemas of large MCP servers take a few hundred kilobytes. */
export const schemaLimits: ValueLimits = { depth: 64, nodes: 20_000, size: 512 * 1024 };

/**
 * Compiles and applies an untrusted JSON Schema. Compiling is linear in its size, and a check ends after a fixed number of
 * steps, whatever the schema and value. `format` is an annotation for the model and is not checked.
 */
export class JsonSchema {
  readonly #check: Check;

  /** Throws `invalid_input` for an invalid schema, one past the limits, or unsupported features. */
  constructor(schema: Schema) {
    mustFitLimits(schema);
    this.#check = new Reading(schema).check;
  }

  /** The validation problems; empty if the value is valid. */
  problems(value: unknown): readonly Problem[] {
    const checking = new Checking();
    try {
      return this.#check(value, checking, "") ? [] : checking.problems;
    } catch (thrown) {
      if (!(thrown instanceof TooCostly) && !(thrown instanceof RangeError)) throw thrown; // RangeError: deep recursion through references.
      return [{ path: "", message: "would take too long to check against its schema" }];
    }
  }
}

function mustFitLimits(schema: Schema): void {
  const excess = excessOf(schema, schemaLimits);
  if (excess !== undefined) throw new VenturiError("schema.read", "invalid_input", `the JSON Schema ${excess}`);
}

/** Why a schema cannot be used, and where in it. */
export function faultOf(schema: Schema): { path: (string | number)[]; message: string } | undefined {
  let faulty: object | undefined;
  try {
    mustFitLimits(schema);
    new Reading(schema, (failed) => {
      faulty ??= failed; // The innermost failure is thrown first.
    });
    return undefined;
  } catch (thrown) {
    return { path: pathTo(schema, faulty ?? schema) ?? [], message: messageOf(thrown) };
  }
}

/** Recursion is bounded by the depth limit above. */
function pathTo(from: unknown, wanted: object): (string | number)[] | undefined {
  if (from === wanted) return [];
  if (typeof from !== "object" || from === null) return undefined;
  for (const [key, value] of Object.entries(from)) {
    const rest = pathTo(value, wanted);
    if (rest !== undefined) return [Array.isArray(from) ? Number(key) : key, ...rest];
  }
  return undefined;
}

/** Compiles a schema into checks: each subschema once, referenced schemas after those that refer to them. */
class Reading {
  readonly check: Check;
  readonly #references: References;
  readonly #checks = new Map<object, Check | undefined>();
  readonly #waiting: Schema[] = [];
  /** Subschemas applied to the same value, by schema. */
  readonly #sameValue = new Map<object, object[]>();

  readonly #onFault: ((failed: Schema) => void) | undefined;

  constructor(root: Schema, onFault?: (failed: Schema) => void) {
    this.#onFault = onFault;
    this.#references = new References(root);
    this.check = this.#read(root);
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) this.#read(next);
    this.#refuseEndless();
  }

  #read(schema: unknown): Check {
    if (schema === true) return () => true;
    if (schema === false) return (_value, checking, path) => checking.misfit(path, "must not be there");
    if (!isRecord(schema)) throw malformed("a schema", "an object or a boolean");
    const known = this.#checks.get(schema);
    if (known !== undefined) return known;
    this.#checks.set(schema, undefined);
    const checks = this.#checksOf(schema);
    const all = every(checks);
    const check: Check = (value, checking, path) => {
      checking.spend(1 + checks.length);
      return checks.length === 0 || all(value, checking, path);
    };
    this.#checks.set(schema, check);
    return check;
  }

  #checksOf(schema: Schema): Check[] {
    try {
      const checks = checksOf(schema, {
        subschema: (inner) => this.#read(inner),
        whole: (inner) => {
          this.#note(schema, inner);
          return this.#read(inner);
        },
      });
      if (schema.$ref !== undefined) checks.unshift(this.#follow(schema));
      return checks;
    } catch (thrown) {
      this.#onFault?.(schema);
      throw thrown;
    }
  }

  /** Resolved lazily: references may be cyclic. */
  #follow(schema: Schema): Check {
    if (typeof schema.$ref !== "string") throw malformed("$ref", "a string");
    const target = this.#references.resolve(schema.$ref, schema);
    if (!isRecord(target)) return this.#read(target);
    this.#note(schema, target);
    if (!this.#checks.has(target)) this.#waiting.push(target);
    return (value, checking, path) => this.#checks.get(target)?.(value, checking, path) ?? true;
  }

  #note(outer: object, inner: unknown): void {
    if (!isRecord(inner)) return;
    const known = this.#sameValue.get(outer);
    if (known) known.push(inner);
    else this.#sameValue.set(outer, [inner]);
  }

  /** A schema that refers to itself without descending into the value would never terminate. */
  #refuseEndless(): void {
    const state = new Map<object, "open" | "done">();
    for (const start of this.#sameValue.keys()) {
      const path: { schema: object; next: number }[] = [{ schema: start, next: 0 }];
      while (path.length > 0) {
        const top = path.at(-1);
        if (top === undefined || state.get(top.schema) === "done") {
          path.pop();
          continue;
        }
        state.set(top.schema, "open");
        const inner = this.#sameValue.get(top.schema)?.[top.next++];
        if (inner === undefined) {
          state.set(top.schema, "done");
          path.pop();
        } else if (state.get(inner) === "open") throw endless();
        else path.push({ schema: inner, next: 0 });
      }
    }
  }
}

const endless = (): VenturiError =>
  new VenturiError("schema.read", "invalid_input", "the JSON Schema has a $ref that leads back to itself");

const known = new WeakMap<object, JsonSchema>();

/** Compiled once per schema object. */
export function readSchema(schema: Schema): JsonSchema {
  let read = known.get(schema);
  if (read === undefined) {
    read = new JsonSchema(schema);
    known.set(schema, read);
  }
  return read;
}
