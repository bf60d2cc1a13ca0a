/**
 * What a value means, and so how it is checked. `text` stays within the program; `number` and `word` are plain; `format` is
 * expanded by git; the rest are paths, checked against the workspace (see paths.ts).
 */
export type Kind = "text" | "number" | "word" | "format" | "date" | PathKind;
export type PathKind = "path" | "file" | "write" | "newFile" | "prefix" | "revision";

interface Option {
  readonly value: "none" | "required" | "optional";
  readonly kind: Kind;
}

/** The options and operands allowed for a program. Anything else is refused: an allowlist, not a denylist. */
export interface Grammar {
  readonly options: ReadonlyMap<string, Option>;
  readonly operands: Operands;
  /** Inserted before the given arguments; required to make the program safe. */
  readonly always: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Options such as `-5`. */
  readonly digits: boolean;
  /** Long options with one dash, as in `find`; they do not cluster. */
  readonly words: boolean;
  /** Identical on every system, so it is certain which options take a value. */
  readonly portable: boolean;
}

export interface Operands {
  readonly first: readonly Kind[];
  /** Kind of the operands after `first`; absent when there may be none. */
  readonly rest?: Kind;
  readonly min: number;
  /** The options that replace the first operand, such as grep's `-e`. */
  readonly replacedBy?: readonly string[];
}

/** One value of a command line and its position. */
export interface Value {
  readonly kind: Kind;
  readonly text: string;
  readonly index: number;
  /** On another system the program may take the value for an operand, so it must be safe as one too. */
  readonly ambiguous?: boolean;
}

export class Refusal extends Error {}

/**
 * Parses a command line like getopt, but strictly: options must be spelled as in the grammar, so abbreviations never reach the
 * program. A separate value must not begin with a dash: a program that parses the option differently would take it for another
 * option.
 */
export function readArguments(grammar: Grammar, argv: readonly string[]): Value[] {
  const values: Value[] = [];
  const operands: Value[] = [];
  const used = new Set<string>();
  let index = 0;
  let optionsEnded = false;

  const separate = (name: string, kind: Kind): void => {
    const text = argv[++index];
    if (text === undefined) throw new Refusal(`${name} needs a value`);
    if (text.startsWith("-") && !(kind === "number" && /^-\d/.test(text))) {
      throw new Refusal(`write the value of ${name} into the same argument`);
    }
    values.push({ kind, text, index, ambiguous: !grammar.portable });
  };
  const long = (argument: string): void => {
    const equals = argument.indexOf("=");
    const name = equals < 0 ? argument : argument.slice(0, equals);
    const option = grammar.options.get(name);
    if (option === undefined) throw new Refusal(`${name} is not among the options that may be given`);
    used.add(name);
    if (equals >= 0) {
      if (option.value === "none") throw new Refusal(`${name} takes no value`);
      values.push({ kind: option.kind, text: argument.slice(equals + 1), index });
    } else if (option.value === "required") separate(name, option.kind);
  };
  const cluster = (argument: string): void => {
    for (let at = 1; at < argument.length; at++) {
      const name = `-${argument[at]}`;
      const option = grammar.options.get(name);
      if (option === undefined) throw new Refusal(`${name} is not among the options that may be given`);
      used.add(name);
      if (option.value === "none") continue;
      const attached = argument.slice(at + 1);
      if (attached !== "") values.push({ kind: option.kind, text: attached, index });
      else if (option.value === "required") separate(name, option.kind);
      return;
    }
  };

  for (; index < argv.length; index++) {
    const argument = argv[index] ?? "";
    if (optionsEnded || argument === "-" || !argument.startsWith("-"))
      operands.push({ kind: "text", text: argument, index });
    else if (argument === "--") optionsEnded = true;
    else if (grammar.digits && /^-\d+$/.test(argument)) continue;
    else if (argument.startsWith("--") || grammar.words) long(argument);
    else cluster(argument);
  }
  return [...values, ...kindsOf(grammar.operands, operands, used)];
}

function kindsOf(expected: Operands, operands: readonly Value[], used: ReadonlySet<string>): Value[] {
  const replaced = expected.replacedBy?.some((name) => used.has(name)) ?? false;
  const first = replaced ? expected.first.slice(1) : expected.first;
  const least = replaced ? 0 : expected.min;
  if (operands.length < least && !used.has("--help") && !used.has("--version")) {
    throw new Refusal(`at least ${least} operand${least === 1 ? "" : "s"} must be given`);
  }
  return operands.map((operand, at) => {
    const kind = first[at] ?? expected.rest;
    if (kind === undefined) throw new Refusal(`"${operand.text}" is one operand too many`);
    return { ...operand, kind };
  });
}

/**
 * Grammar notation: `-a` is a flag, `-n:number` takes a value, `--color?:word` may take one; `-#` stands for options such as
 * `-5`.
 */
export function grammar(options: string, operands: Partial<Operands>, more: Partial<Grammar> = {}): Grammar {
  const map = new Map<string, Option>();
  let digits = false;
  for (const word of options.trim().split(/\s+/)) {
    const [, name = "", optional, kind] = /^([^:?]+)(\?)?(?::(\w+))?$/.exec(word) ?? [];
    if (name === "-#") digits = true;
    else if (kind === undefined) map.set(name, { value: "none", kind: "text" });
    else map.set(name, { value: optional === undefined ? "required" : "optional", kind: kind as Kind }); // literals in this folder
  }
  return {
    options: map,
    operands: { first: [], min: 0, ...operands },
    always: [],
    environment: {},
    digits,
    words: false,
    portable: false,
    ...more,
  };
}
