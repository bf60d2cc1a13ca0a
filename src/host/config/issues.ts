import type { z } from "zod";
import { everyBranch, expectedBy, flatten, type Issue, knownKeys, saysMore } from "../../core/errors/complaints.ts";
import { didYouMean } from "../../core/values/suggest.ts";
import { type Problem, pathText } from "../yaml/problem.ts";
import { find, keyPlaceOf, type Node, type Path, placeOf, plain } from "../yaml/tree.ts";

export interface Check<Output> {
  readonly schema: z.ZodType<Output>;
  readonly root: Node;
  /** Path of the checked node within `root`. */
  readonly path: Path;
  readonly problems: Problem[];
  /** Overrides the value to check, by default the one at `path`. */
  readonly value?: (node: Node) => unknown;
  /** Additional known keys, for suggestions. */
  readonly also?: readonly string[];
}

/** A config is checked once, so generating validation code does not pay off. */
const once = { jitless: true };

/** Validates a node of the tree; adds problems with their locations. */
export function check<Output>(request: Check<Output>): Output | undefined {
  const { schema, root, path, problems } = request;
  const node = find(root, path);
  if (node === undefined) return undefined;
  const value = request.value ?? plain;
  let result = schema.safeParse(value(node), once);
  // Each pass converts at least one external text, so the loop terminates.
  while (!result.success && convertLoose(node, result.error.issues.flatMap(everyBranch)))
    result = schema.safeParse(value(node), once);
  if (result.success) return result.data;
  for (const issue of result.error.issues.flatMap(flatten)) problems.push(...asProblems(issue, request));
  return undefined;
}

/** Environment values are text; where a number or boolean is expected, convert text that spells one. */
function convertLoose(node: Node, issues: readonly Issue[]): boolean {
  let converted = false;
  for (const issue of issues) {
    const found = issue.code === "invalid_type" ? find(node, issue.path as Path) : undefined;
    if (found?.kind !== "scalar" || found.loose !== true || typeof found.value !== "string") continue;
    const value = issue.code === "invalid_type" ? spelled(found.value, issue.expected) : undefined;
    if (value === undefined) continue;
    found.value = value;
    converted = true;
  }
  return converted;
}

function spelled(text: string, expected: string): number | boolean | undefined {
  if (expected === "boolean") return { true: true, false: false }[text];
  const isNumber = (expected === "number" || expected === "int") && /^-?\d+(?:\.\d+)?$/.test(text);
  return isNumber ? Number(text) : undefined;
}

function asProblems(issue: Issue, { root, path, schema, also = [] }: Check<unknown>): Problem[] {
  const here = [...path, ...(issue.path as Path)];
  if (issue.code === "unrecognized_keys") {
    const known = [...knownKeys(schema, issue.path as Path), ...(issue.path.length === 0 ? also : [])];
    return issue.keys.map((key) => ({
      place: keyPlaceOf(root, [...here, key]),
      path: pathText([...here, key]),
      message: saysMore(issue) ? issue.message : `unknown key${didYouMean(key, known)}`,
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

function kindOf(node: Node): string {
  if (node.kind === "list") return "a list";
  if (node.kind === "map") return "keys and values";
  if (node.value === null) return "nothing";
  return { string: "a text", number: "a number", boolean: "true or false" }[typeof node.value as "string"] ?? "a value";
}
