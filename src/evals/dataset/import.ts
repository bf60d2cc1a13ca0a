import { extname } from "node:path";
import { parse } from "yaml";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";

const op = "dataset.import";

export interface ImportedCases {
  /** Entries of the set. */
  readonly items: readonly Readonly<Record<string, unknown>>[];
  /** What could not be imported, one line each. */
  readonly leftOut: readonly string[];
}

/** Imports cases of promptfoo (a configuration with `prompts` and `tests`) or Inspect (JSON lines of `input` and `target`). */
export function importCases(file: string, text: string): ImportedCases {
  try {
    return [".jsonl", ".ndjson"].includes(extname(file)) ? inspectCases(text) : promptfooCases(parse(text) as unknown);
  } catch (thrown) {
    if (VenturiError.isInstance(thrown)) throw thrown;
    throw new VenturiError(op, "invalid_input", `${file}: ${messageOf(thrown)}`, { cause: thrown });
  }
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The input is the prompt template filled with a test's variables. Assertions with an equivalent become expectations. */
function promptfooCases(value: unknown): ImportedCases {
  const config = fieldsOf(value);
  const leftOut: string[] = [];
  const prompts = listOf(config.prompts).map((prompt) => (typeof prompt === "string" ? prompt : fieldsOf(prompt).raw));
  const templates = prompts.filter((prompt): prompt is string => typeof prompt === "string");
  const tests = listOf(config.tests);
  if (templates.length === 0 || tests.length === 0)
    throw new VenturiError(
      op,
      "invalid_input",
      "neither a promptfoo configuration with prompts and tests in it, nor JSON lines",
    );
  const items = tests.flatMap((test, index) => {
    const { vars, assert, description } = fieldsOf(test);
    const expect: Record<string, unknown> = {};
    for (const each of listOf(assert)) {
      const { type, value: wanted } = fieldsOf(each);
      const found = expectationOf(type, wanted);
      if (found === undefined || Object.keys(found).some((key) => key in expect))
        leftOut.push(`test ${index + 1}: the assertion ${String(type)}`);
      else Object.assign(expect, found);
    }
    return templates.map((template) => ({
      input: filled(template, fieldsOf(vars)),
      ...(typeof description === "string" ? { note: description } : {}),
      ...(Object.keys(expect).length === 0 ? {} : { expect }),
    }));
  });
  return { items, leftOut };
}

function expectationOf(type: unknown, wanted: unknown): Fields | undefined {
  if (type === "equals" && typeof wanted === "string") return { output: wanted };
  if (type === "equals" && typeof wanted === "object" && wanted !== null) return { json: wanted };
  if (type === "regex" && typeof wanted === "string") return { regex: wanted };
  if (type === "contains" && typeof wanted === "string") return { regex: literal(wanted) };
  if (type === "icontains" && typeof wanted === "string") return { regex: `(?i)${literal(wanted)}` };
  if (type === "is-json" && typeof wanted === "object" && wanted !== null) return { schema: wanted };
  return undefined;
}

const special = new Set("\\^$.|?*+()[]{}");
const literal = (text: string): string => [...text].map((each) => (special.has(each) ? `\\${each}` : each)).join("");

/** Replaces `{{name}}`; nothing else of the template language. */
function filled(template: string, vars: Fields): string {
  return template
    .split("{{")
    .map((piece, index) => {
      const end = piece.indexOf("}}");
      if (index === 0 || end < 0) return index === 0 ? piece : `{{${piece}`;
      const name = piece.slice(0, end).trim();
      if (!Object.hasOwn(vars, name)) throw new Error(`the template has {{${name}}}, and a test has no such variable`);
      const given = vars[name];
      return (typeof given === "string" ? given : JSON.stringify(given)) + piece.slice(end + 2);
    })
    .join("");
}

/** One sample per line. A target that is a list means several right answers, of which a set supports only one; it is left out. */
function inspectCases(text: string): ImportedCases {
  const leftOut: string[] = [];
  const items = text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const { input, target, id } = fieldsOf(JSON.parse(line) as unknown);
    if (typeof input !== "string") {
      leftOut.push(`line ${index + 1}: its input is no text`);
      return [];
    }
    if (Array.isArray(target)) leftOut.push(`line ${index + 1}: several targets`);
    return [
      {
        input,
        ...(typeof id === "string" || typeof id === "number" ? { id: String(id) } : {}),
        ...(typeof target === "string" && target !== "" ? { expect: { output: target } } : {}),
      },
    ];
  });
  return { items, leftOut };
}
