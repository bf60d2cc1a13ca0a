import { z } from "zod";
import { type Problem, pathText } from "./problem.ts";
import { didYouMean } from "./suggest.ts";
import { find, keyPlaceOf, type Node, type Path, placeOf, plain } from "./tree.ts";

type Issue = z.core.$ZodIssue;

export interface Check<Output> {
  readonly schema: z.ZodType<Output>;
  readonly root: Node;
  /** Where in `root` the checked part stands. */
  readonly path: Path;
  readonly problems: Problem[];
  /** What is checked, when it is not simply what stands at `path`. */
  readonly value?: (node: Node) => unknown;
  /** Keys that are known beside the schema's own, for suggestions. */
  readonly also?: readonly string[];
}

/** Checks a part of the tree; what is wrong goes to `problems` with its place. */
export function check<Output>(request: Check<Output>): Output | undefined {
  const { schema, root, path, problems } = request;
  const node = find(root, path);
  if (node === undefined) return undefined;
  const value = request.value ?? plain;
  let result = schema.safeParse(value(node));
  // Each turn settles at least one text from outside, so there are no more turns than such texts.
  while (!result.success && settleLoose(node, result.error.issues.flatMap(everyBranch)))
    result = schema.safeParse(value(node));
  if (result.success) return result.data;
  for (const issue of result.error.issues.flatMap(flatten)) problems.push(...asProblems(issue, request));
  return undefined;
}

/** A variable is text; where a number or a boolean is expected, text that spells one is taken for it. */
function settleLoose(node: Node, issues: readonly Issue[]): boolean {
  let settled = false;
  for (const issue of issues) {
    const found = issue.code === "invalid_type" ? find(node, issue.path as Path) : undefined;
    if (found?.kind !== "scalar" || found.loose !== true || typeof found.value !== "string") continue;
    const value = issue.code === "invalid_type" ? spelled(found.value, issue.expected) : undefined;
    if (value === undefined) continue;
    found.value = value;
    settled = true;
  }
  return settled;
}

function spelled(text: string, expected: string): number | boolean | undefined {
  if (expected === "boolean") return { true: true, false: false }[text];
  const isNumber = (expected === "number" || expected === "int") && /^-?\d+(?:\.\d+)?$/.test(text);
  return isNumber ? Number(text) : undefined;
}

/** All complaints, of all branches of unions. */
const everyBranch = (issue: Issue): Issue[] =>
  issue.code === "invalid_union"
    ? issue.errors.flat().flatMap((inner) => everyBranch({ ...inner, path: [...issue.path, ...inner.path] }))
    : [issue];

/** Of a union's branches, the complaints of the one that was probably meant: whose own type fits, then the fewest. */
function flatten(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const branches = issue.errors.filter((branch) => !branch.some(refusesWhole));
  const chosen = branches.sort((left, right) => left.length - right.length)[0];
  if (chosen === undefined) return [issue];
  return chosen.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })).flatMap(flatten);
}

const refusesWhole = (issue: Issue): boolean =>
  issue.path.length === 0 && (issue.code === "invalid_type" || issue.code === "invalid_value");

function asProblems(issue: Issue, { root, path, schema, also = [] }: Check<unknown>): Problem[] {
  const here = [...path, ...(issue.path as Path)];
  if (issue.code === "unrecognized_keys") {
    const known = [...knownKeys(schema, issue.path as Path), ...(issue.path.length === 0 ? also : [])];
    return issue.keys.map((key) => ({
      place: keyPlaceOf(root, [...here, key]),
      path: pathText([...here, key]),
      message: `unknown key${didYouMean(key, known)}`,
    }));
  }
  if (issue.code === "invalid_key") {
    const message = issue.issues[0]?.message ?? issue.message;
    return [{ place: keyPlaceOf(root, here), path: pathText(here), message }];
  }
  const missing = find(root, here) === undefined;
  const message = missing && issue.code === "invalid_type" ? "this key is required" : readable(issue, find(root, here));
  return [{ place: placeOf(root, here), path: pathText(here), message }];
}

function readable(issue: Issue, node: Node | undefined): string {
  if (issue.code === "invalid_value") {
    const values = issue.values.map(String);
    const given = node?.kind === "scalar" ? String(node.value) : "";
    if (issue.message.startsWith("Invalid")) return `expected one of ${values.join(", ")}${didYouMean(given, values)}`;
  }
  if (issue.message.startsWith("Invalid") && (issue.code === "invalid_type" || issue.code === "invalid_union")) {
    return `expected ${expectedBy(issue)}, found ${node === undefined ? "nothing" : kindOf(node)}`;
  }
  return issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
}

function expectedBy(issue: Issue): string {
  const names = everyBranch(issue)
    .filter(({ path }) => path.length === issue.path.length)
    .map(wordFor);
  return [...new Set(names)].join(" or ") || "something else";
}

function wordFor(issue: Issue): string {
  if (issue.code === "invalid_value") return issue.values.map(String).join(" or ");
  return issue.code === "invalid_type" ? (words[issue.expected] ?? issue.expected) : "something else";
}

const words: Readonly<Record<string, string>> = {
  object: "keys and values",
  record: "keys and values",
  array: "a list",
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
};

function kindOf(node: Node): string {
  if (node.kind === "list") return "a list";
  if (node.kind === "map") return "keys and values";
  if (node.value === null) return "nothing";
  return { string: "a text", number: "a number", boolean: "true or false" }[typeof node.value as "string"] ?? "a value";
}

/** The keys that a schema knows at a path, through unions, records and lists. */
export function knownKeys(schema: z.ZodType, path: Path): string[] {
  let level: JsonSchema[] = [inputSchema(schema)];
  for (const part of path) {
    level = level.flatMap(alternatives).flatMap((each) => {
      const next = typeof part === "number" ? each.items : (each.properties?.[part] ?? each.additionalProperties);
      return next === undefined || typeof next === "boolean" ? [] : [next];
    });
  }
  return level.flatMap(alternatives).flatMap((each) => Object.keys(each.properties ?? {}));
}

export interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  [key: string]: unknown;
}

/** What people write, as JSON Schema. */
export const inputSchema = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema; // zod's own type has the same fields

const alternatives = (schema: JsonSchema): JsonSchema[] => {
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...inner.flatMap(alternatives)];
};
