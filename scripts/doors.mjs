// Writes src/doors: each entry point of the package with every function and class behind a door that checks the kinds of its
// arguments. The kinds are read off the types by the compiler, so nobody keeps a second list.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { API, SignatureKind, SymbolFlags, TypeFlags } from "typescript/unstable/sync";

/** Entry points whose errors are a ClientError: they run in browsers and import nothing of the runtime. */
const ofClient = new Set(["client", "react"]);
/**
 * What the entry points return to be called upon: their methods have doors too. Everything else they return is a value, or the
 * caller's own.
 */
const handled = new Set(["Venturi", "TestVenturi", "Session", "Run", "Runs", "NamedAgent", "Mounted", "Agent"]);

export async function doors(root) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const api = new API({ cwd: root });
  try {
    const config = join(root, "tsconfig.json");
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    const files = {};
    /** Method tables of what the runtime's functions return, by the type's name. */
    const handles = new Map();
    for (const [face, { types }] of Object.entries(exports)) {
      if (types === undefined) continue;
      const name = face === "." ? "venturi" : face.slice(2).replaceAll("/", "-");
      const source = types.replace("./dist/", "").replace(/\.d\.ts$/, ".ts");
      // A class may be exported as a type alone.
      const values = new Set(
        Object.keys(await import(pathToFileURL(join(root, "dist", source.replace(/ts$/, "js"))).href)),
      );
      const path = `src/doors/${name}.ts`;
      files[path] = formatted(
        root,
        path,
        new Face(project, { name, handles }, join(root, source), values).text(relative("src", source)),
      );
    }
    const path = "src/doors/handles.ts";
    files[path] = formatted(
      root,
      path,
      `// Written by npm run generate.\nexport const handles = {${tablesOf(handles)}};\n`,
    );
    return files;
  } finally {
    api.close();
  }
}

const tablesOf = (handles) => [...handles].map(([name, table]) => `${name}: ${JSON.stringify(table)},`).join("\n");

function formatted(root, path, text) {
  const words = ["node_modules/@biomejs/biome/bin/biome", "check", "--write", `--stdin-file-path=${path}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: root, input: text, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

class Face {
  #checker;
  #name;
  #source;
  #values;
  #handles;
  #hasHandles = false;

  /** A page gets its own handles and no others. */
  constructor({ checker, program }, { name, handles }, source, values) {
    this.#handles = ofClient.has(name) ? new Map() : handles;
    this.#checker = checker;
    this.#name = name;
    this.#source = program.getSourceFile(source);
    this.#values = values;
  }

  text(path) {
    const lines = [];
    for (const exported of this.#checker.getExportsOfModule(this.#checker.getSymbolAtLocation(this.#source))) {
      if (!this.#values.has(exported.name)) continue;
      const symbol = exported.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(exported) : exported;
      const line = this.#door(exported.name, this.#checker.getTypeOfSymbol(symbol));
      if (line !== undefined) lines.push(line);
    }
    return this.#file(path.replaceAll("\\", "/"), lines.sort());
  }

  #file(face, lines) {
    // Who calls the plugins' face wrongly is a plugin, not the client whose request it works on.
    const code = this.#name.startsWith("plugin") ? "plugin_failed" : "invalid_input";
    const error = ofClient.has(this.#name)
      ? [
          'import { ClientError } from "../client/client-error.ts";',
          '(op, err, cause) => new ClientError({ op, code: "invalid_input", err }, { cause })',
        ]
      : [
          'import { VenturiError } from "../core/errors/errors.ts";',
          `(op, message, cause) => new VenturiError(op, "${code}", message, { cause })`,
        ];
    const isShared = this.#hasHandles && !ofClient.has(this.#name);
    const tables = this.#hasHandles ? `{${tablesOf(this.#handles)}}` : "{}";
    if (lines.length === 0) return `// Written by npm run generate.\nexport * from "../${face}";\n`;
    return `// Written by npm run generate.
${error[0]}
import * as face from "../${face}";
import { makeDoors } from "./door.ts";${isShared ? '\nimport { handles } from "./handles.ts";' : ""}

export * from "../${face}";

const { ${lines.some((line) => line.includes("doorOfClass(")) ? "door, doorOfClass" : "door"} } = makeDoors(${error[1]}, ${isShared ? "handles" : tables});
${lines.join("\n")}
`;
  }

  #door(name, type) {
    const op = JSON.stringify(`${this.#name.split("-")[0]}.${name}`);
    const [construct] = this.#signatures(type, SignatureKind.Construct);
    if (construct !== undefined) {
      const made = this.#checker.getReturnTypeOfSignature(construct);
      if (this.#checker.getPropertyOfType(made, "stack") !== undefined) return undefined; // errors report failures
      const table = JSON.stringify(this.#table(made));
      return `export const ${name} = doorOfClass(${op}, face.${name}, ${JSON.stringify(this.#parameters([construct]))}, ${table});`;
    }
    const calls = this.#signatures(type, SignatureKind.Call);
    if (calls.length === 0) return undefined;
    return `export const ${name} = door(${op}, face.${name}, ${JSON.stringify(this.#signature(calls))});`;
  }

  #signatures(type, kind) {
    return this.#checker.getSignaturesOfType(type, kind);
  }

  /** `text: string, options?: object => promise Run` */
  #signature(overloads) {
    return `${this.#parameters(overloads)}${this.#returned(overloads[0])}`;
  }

  #parameters(overloads) {
    const most = Math.max(...overloads.map((one) => one.getParameters().length));
    return Array.from({ length: most }, (_, at) => this.#parameter(overloads, at)).join(", ");
  }

  #parameter(overloads, at) {
    const kinds = new Set();
    let name = "";
    let more = "";
    for (const overload of overloads) {
      const symbol = overload.getParameters()[at];
      if (symbol === undefined) {
        kinds.add("undefined");
        continue;
      }
      const declaration = symbol.valueDeclaration?.resolve();
      if (declaration?.dotDotDotToken !== undefined) return this.#rest(symbol);
      name ||= /^\w+$/.test(symbol.name) && !symbol.name.startsWith("__") ? symbol.name : `argument ${at + 1}`;
      if (declaration?.questionToken !== undefined || declaration?.initializer !== undefined) kinds.add("undefined");
      const type = this.#checker.getTypeOfSymbol(symbol);
      for (const kind of this.#kinds(type)) kinds.add(kind);
      if (this.#hasSignal(type) && !kinds.has("array")) more = " with signal"; // options, not a stream of Node's
    }
    return `${name}: ${kinds.has("any") ? "any" : [...kinds].sort().join("|")}${more}`;
  }

  /** `...options: [options?: X]` is one parameter; `...codes: T[]` may be anything. */
  #rest(symbol) {
    const isOne = /^\[|^OptionsOf/.test(this.#checker.typeToString(this.#checker.getTypeOfSymbol(symbol)));
    return isOne ? `${symbol.name}: object|undefined with signal` : `...${symbol.name}: any`;
  }

  /** Whether it may hold an AbortSignal, which is first used when something is under way already. */
  #hasSignal(type) {
    if (type === undefined) return false;
    const parts = type.flags & TypeFlags.Union ? type.getTypes() : [type];
    return parts.some((part) => {
      if (!(part.flags & (TypeFlags.Object | TypeFlags.Intersection))) return false;
      const signal = this.#checker.getPropertyOfType(part, "signal");
      return (
        signal !== undefined &&
        /\bAbortSignal\b/.test(this.#checker.typeToString(this.#checker.getTypeOfSymbol(signal)))
      );
    });
  }

  #kinds(type) {
    if (type === undefined) return ["any"];
    const { flags } = type;
    if (flags & (TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Never)) return ["any"];
    if (flags & TypeFlags.Union) return type.getTypes().flatMap((part) => this.#kinds(part));
    if (flags & TypeFlags.StringLike) return ["string"];
    if (flags & TypeFlags.NumberLike) return ["number"];
    if (flags & TypeFlags.BooleanLike) return ["boolean"];
    if (flags & TypeFlags.BigIntLike) return ["bigint"];
    if (flags & TypeFlags.ESSymbolLike) return ["symbol"];
    if (flags & (TypeFlags.Undefined | TypeFlags.Void)) return ["undefined"];
    if (flags & TypeFlags.Null) return ["null"];
    if (flags & TypeFlags.Intersection) return this.#joined(type.getTypes().map((part) => this.#kinds(part)));
    if (flags & TypeFlags.Object) return this.#objectKinds(type);
    if (flags & TypeFlags.NonPrimitive) return ["object", "array", "function"];
    const constraint = this.#checker.getBaseConstraintOfType(type);
    return constraint === undefined || constraint.id === type.id ? ["any"] : this.#kinds(constraint);
  }

  /** Of an intersection: what each part allows; a branded string stays a string. */
  #joined(parts) {
    const primitive = parts.find((kinds) => kinds.some((kind) => /^(?:string|number|symbol|boolean)$/.test(kind)));
    return (
      primitive ??
      [...new Set(parts.flat())].filter((kind) => parts.every((kinds) => kinds.includes(kind) || kinds.includes("any")))
    );
  }

  #objectKinds(type) {
    if (this.#checker.isArrayLikeType(type)) return ["array"];
    const properties = this.#checker.getPropertiesOfType(type);
    const isCalled = [SignatureKind.Call, SignatureKind.Construct].some(
      (kind) => this.#signatures(type, kind).length > 0,
    );
    if (isCalled) return properties.length > 0 ? ["function", "object"] : ["function"];
    if (properties.length === 0 && this.#checker.getIndexInfosOfType(type).length === 0) return ["any"]; // {}
    const kinds = ["object"];
    // A decoder passes on what a vendor sent as an object; whether it is one is for the function to see.
    if (this.#name.startsWith("plugin") && this.#checker.getIndexInfosOfType(type).length > 0) kinds.push("array");
    if (properties.some(({ name }) => name === "~standard")) kinds.push("function"); // arktype's schemas are functions
    if (properties.some(({ name }) => name.includes("iterator"))) kinds.push("array");
    if (this.#checker.isTypeAssignableTo(this.#checker.getStringType(), type)) kinds.push("string");
    return kinds;
  }

  #returned(signature) {
    const type = this.#checker.getReturnTypeOfSignature(signature);
    const [how, value] = this.#unwrapped(type);
    const handle = this.#handle(value);
    return how === "" && handle === "" ? "" : ` => ${[how, handle].filter(Boolean).join(" ")}`;
  }

  #unwrapped(type) {
    const name = type?.getSymbol?.()?.name ?? "";
    if (name === "Promise") return ["promise", this.#checker.getTypeArguments(type)[0]];
    if (/^Async(?:Iterable|Generator|IterableIterator|Iterator)/.test(name)) return ["stream", undefined];
    return ["", type];
  }

  /** The name under which the methods of a returned object are known; empty for plain values. */
  #handle(type) {
    const { name } = type?.getSymbol?.() ?? {};
    if (!handled.has(name)) return "";
    this.#hasHandles = true;
    if (!this.#handles.has(name)) {
      this.#handles.set(name, {}); // before its methods, which may return one of the same
      this.#handles.set(name, this.#table(type));
    }
    return name;
  }

  #table(type) {
    const table = {};
    for (const member of this.#checker.getPropertiesOfType(type)) {
      if (!/^[a-z]\w*$/i.test(member.name)) continue;
      const its = this.#checker.getTypeOfSymbol(member);
      const calls = this.#signatures(its, SignatureKind.Call);
      const handle = this.#handle(its);
      if (calls.length > 0) table[member.name] = this.#signature(calls);
      else if (handle !== "") table[member.name] = `@${handle}`;
    }
    return table;
  }
}
