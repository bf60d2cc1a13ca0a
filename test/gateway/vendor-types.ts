import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import fc from "fast-check";

/** What the declarations of a vendor's library say, as far as its generator uses the language. */
type Type =
  | { kind: "name"; name: string; scope: string }
  | { kind: "value"; value: unknown }
  | { kind: "plain"; of: "string" | "number" | "boolean" | "unknown" }
  | { kind: "union"; of: Type[] }
  | { kind: "list"; of: Type }
  | { kind: "map"; of: Type }
  | { kind: "object"; fields: Map<string, { type: Type; optional: boolean }>; bases: Type[] };

export interface Generator {
  /** Replaces a type or a field: by `Type`, `Type.field`, or the field's name alone. `undefined` leaves the field out. */
  readonly instead: Readonly<Record<string, fc.Arbitrary<unknown> | undefined>>;
  /** Optional fields that are always there, as `Type.field` or by name. */
  readonly required?: readonly string[];
}

/** The types that a vendor's own library declares. */
export class VendorTypes {
  readonly #types = new Map<string, Type>();

  constructor(library: string, files: readonly string[]) {
    const root = dirname(createRequire(import.meta.url).resolve(library));
    for (const file of files) new Declarations(readFileSync(join(root, file), "utf8"), this.#types).read();
  }

  /** The fields of an object type. */
  fields(name: string): string[] {
    return [...this.#fieldsOf(this.#find({ name, scope: "" })).keys()];
  }

  /** Values of a type. */
  arbitrary(name: string, generator: Generator): fc.Arbitrary<unknown> {
    return this.#made({ kind: "name", name, scope: "" }, { generator, depth: 0, known: new Map() });
  }

  #made(type: Type, making: Making): fc.Arbitrary<unknown> {
    switch (type.kind) {
      case "value":
        return fc.constant(type.value);
      case "plain":
        return plain[type.of];
      case "list":
        return fc.array(this.#made(type.of, making), { minLength: 1, maxLength: 2 });
      case "map":
        return fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), this.#made(type.of, making), { maxKeys: 2 });
      case "union":
        return fc.oneof(...type.of.map((each) => this.#made(each, making)));
      case "object":
        return this.#object(type, "", making);
      case "name":
        return this.#named(type, making);
    }
  }

  #named(type: Type & { kind: "name" }, making: Making): fc.Arbitrary<unknown> {
    const { instead } = making.generator;
    const own = instead[type.name];
    if (own !== undefined) return own;
    const found = this.#find(type);
    const key = `${type.name} ${making.depth}`;
    const before = making.known.get(key);
    if (before !== undefined) return before;
    // Types that hold themselves end here.
    if (making.depth > 6) return fc.constant(null);
    const deeper = { ...making, depth: making.depth + 1 };
    const made = found.kind === "object" ? this.#object(found, type.name, deeper) : this.#made(found, deeper);
    making.known.set(key, made);
    return made;
  }

  #object(type: Type, name: string, making: Making): fc.Arbitrary<unknown> {
    const { instead } = making.generator;
    const shape: Record<string, fc.Arbitrary<unknown>> = {};
    const required: string[] = [];
    for (const [field, { type: of, optional }] of this.#fieldsOf(type)) {
      const keys = [`${name}.${field}`, field].filter((key) => key in instead);
      const [key] = keys;
      const own = key === undefined ? this.#made(of, making) : instead[key];
      if (own === undefined) continue;
      shape[field] = own;
      const always = making.generator.required?.some((key) => key === field || key === `${name}.${field}`);
      if (!optional || always) required.push(field);
    }
    return fc.record(shape, { requiredKeys: required });
  }

  #fieldsOf(type: Type): Map<string, { type: Type; optional: boolean }> {
    if (type.kind === "name") return this.#fieldsOf(this.#find(type));
    if (type.kind !== "object") throw new Error(`a ${type.kind} has no fields`);
    const inherited = type.bases.flatMap((base) => [...this.#fieldsOf(base)]);
    return new Map([...inherited, ...type.fields]);
  }

  /** A name is looked for in its namespace, then outwards; the first part may be another file's. */
  #find({ name, scope }: { name: string; scope: string }): Type {
    for (let within = scope; ; within = within.slice(0, Math.max(0, within.lastIndexOf(".")))) {
      const found = this.#types.get(within === "" ? name : `${within}.${name}`);
      if (found !== undefined) return found;
      if (within === "") break;
    }
    const dot = name.indexOf(".");
    if (dot < 0) throw new Error(`the type ${name} is in none of the files`);
    return this.#find({ name: name.slice(dot + 1), scope: "" });
  }
}

interface Making {
  readonly generator: Generator;
  readonly depth: number;
  readonly known: Map<string, fc.Arbitrary<unknown>>;
}

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const plain = {
  string: fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
  number: fc.integer({ min: 1, max: 9 }),
  boolean: fc.boolean(),
  unknown: fc.dictionary(word, fc.oneof(word, fc.integer(), fc.boolean()), { minKeys: 1, maxKeys: 2 }),
};

/** Reads `interface`, `type` and `namespace` of one file. */
class Declarations {
  readonly #tokens: string[];
  readonly #types: Map<string, Type>;
  #at = 0;

  constructor(text: string, types: Map<string, Type>) {
    const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
    this.#tokens = code.match(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\w$.]+|=>|\S/g) ?? [];
    this.#types = types;
  }

  read(scope = ""): void {
    while (this.#at < this.#tokens.length && this.#peek() !== "}") {
      const token = this.#next();
      if (token === "export" || token === "declare") continue;
      if (token === "interface") this.#interface(scope);
      else if (token === "namespace") {
        const name = this.#next();
        this.#expect("{");
        this.read(scope === "" ? name : `${scope}.${name}`);
        this.#expect("}");
      } else if (token === "type" && /^[A-Z]/.test(this.#peek())) this.#alias(scope);
      else this.#skip(token);
    }
  }

  #interface(scope: string): void {
    const name = this.#next();
    this.#parameters();
    const bases: Type[] = [];
    if (this.#peek() === "extends") {
      do {
        this.#next();
        bases.push(this.#type(within(scope, name)));
      } while (this.#peek() === ",");
    }
    const type = this.#body(within(scope, name), bases);
    this.#declare(within(scope, name), type);
  }

  #alias(scope: string): void {
    const name = this.#next();
    this.#parameters();
    if (this.#peek() !== "=") return;
    this.#next();
    const type = this.#type(within(scope, name));
    this.#declare(within(scope, name), type);
    if (this.#peek() === ";") this.#next();
  }

  #declare(name: string, type: Type): void {
    if (!this.#types.has(name)) this.#types.set(name, type);
  }

  #body(scope: string, bases: Type[]): Type {
    const fields = new Map<string, { type: Type; optional: boolean }>();
    let values: Type | undefined;
    this.#expect("{");
    while (this.#peek() !== "}") {
      let name = this.#next();
      if (name === "readonly") name = this.#next();
      if (name === "[") {
        while (this.#next() !== "]");
        this.#expect(":");
        values = this.#type(scope);
      } else {
        const optional = this.#peek() === "?";
        if (optional) this.#next();
        this.#expect(":");
        fields.set(name.replace(/^['"]|['"]$/g, ""), { type: this.#type(scope), optional });
      }
      if (this.#peek() === ";") this.#next();
    }
    this.#next();
    if (values !== undefined && fields.size === 0) return { kind: "map", of: values };
    return { kind: "object", fields, bases };
  }

  #type(scope: string): Type {
    if (this.#peek() === "|") this.#next();
    const of = [this.#member(scope)];
    while (this.#peek() === "|") {
      this.#next();
      of.push(this.#member(scope));
    }
    const [only] = of;
    return of.length === 1 && only !== undefined ? only : { kind: "union", of };
  }

  #member(scope: string): Type {
    let type = this.#simple(scope);
    while (this.#peek() === "[" && this.#tokens[this.#at + 1] === "]") {
      this.#at += 2;
      type = { kind: "list", of: type };
    }
    // `string & {}` is a string; nothing else is met in requests.
    while (this.#peek() === "&") {
      this.#next();
      this.#simple(scope);
    }
    return type;
  }

  #simple(scope: string): Type {
    const token = this.#peek();
    if (token === "{") return this.#body(scope, []);
    this.#next();
    if (token === "(") {
      const type = this.#type(scope);
      this.#expect(")");
      return type;
    }
    if (/^['"]/.test(token)) return { kind: "value", value: token.slice(1, -1) };
    if (/^-?\d/.test(token)) return { kind: "value", value: Number(token) };
    if (token === "null" || token === "undefined") return { kind: "value", value: null };
    if (token === "true" || token === "false") return { kind: "value", value: token === "true" };
    if (token === "string" || token === "number" || token === "boolean") return { kind: "plain", of: token };
    if (token === "unknown" || token === "any" || token === "object") return { kind: "plain", of: "unknown" };
    const given = this.#given(scope);
    if (token === "Array") return { kind: "list", of: given[0] ?? { kind: "plain", of: "unknown" } };
    if (token === "Record") return { kind: "map", of: given[1] ?? { kind: "plain", of: "unknown" } };
    return { kind: "name", name: token, scope };
  }

  #given(scope: string): Type[] {
    if (this.#peek() !== "<") return [];
    const given: Type[] = [];
    do {
      this.#next();
      given.push(this.#type(scope));
    } while (this.#peek() === ",");
    this.#expect(">");
    return given;
  }

  #parameters(): void {
    if (this.#peek() !== "<") return;
    for (let open = 0; ; ) {
      const token = this.#next();
      if (token === "<") open += 1;
      if (token === ">" && --open === 0) return;
    }
  }

  /** A class, a constant or an import: to its end. */
  #skip(first: string): void {
    let open = first === "{" ? 1 : 0;
    while (this.#at < this.#tokens.length) {
      const token = this.#peek();
      if (open === 0 && (token === "export" || token === "import" || token === "}")) return;
      this.#next();
      if (token === "{") open += 1;
      if (token === "}" && --open === 0) return;
      if (token === ";" && open === 0) return;
    }
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? "";
  }

  #next(): string {
    return this.#tokens[this.#at++] ?? "";
  }

  #expect(token: string): void {
    const found = this.#next();
    if (found !== token) {
      const around = this.#tokens.slice(this.#at - 8, this.#at + 4).join(" ");
      throw new Error(`expected ${token}, found ${found} in: ${around}`);
    }
  }
}

const within = (scope: string, name: string): string => (scope === "" ? name : `${scope}.${name}`);
