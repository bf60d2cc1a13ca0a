import { z } from "zod";
import { didYouMean } from "../values/suggest.ts";

export type Issue = z.core.$ZodIssue;
type Path = readonly (string | number)[];

/** A validation error for the person who wrote the value: where, what was expected, and what they may have meant. */
export interface Complaint {
  readonly path: string;
  readonly message: string;
}

/** Nobody reads more, and each takes a millisecond to word: a body may have 90,000 unknown keys. */
const mostComplaints = 20;
/** Maximum length of a key when shown or compared. */
const longestKey = 200;

/** Words a zod error in plain English, up to a maximum number. `value` is the value that was validated. */
export function complaintsOf(schema: z.ZodType, value: unknown, error: z.ZodError): Complaint[] {
  const issues = error.issues.slice(0, mostComplaints).flatMap(flatten).slice(0, mostComplaints);
  const all = issues.flatMap((issue) => complain(schema, value, issue)).slice(0, mostComplaints);
  // Misspelt keys first: they often explain why another key is missing.
  return [...all.filter(isMisspelt), ...all.filter((complaint) => !isMisspelt(complaint))];
}

const isMisspelt = ({ message }: Complaint): boolean => message.startsWith("unknown key (did you mean");

function complain(schema: z.ZodType, value: unknown, issue: Issue): Complaint[] {
  const here = issue.path as Path;
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(schema, here);
    const list = known.length === 0 ? "" : `; the keys are: ${known.join(", ")}`;
    return issue.keys.slice(0, mostComplaints).map((key) => ({
      path: dotted([...here, key]),
      message: saysMore(issue) ? issue.message : `unknown key${didYouMean(key, known) || list}`,
    }));
  }
  const found = at(value, here);
  const missing = found === undefined && (issue.code === "invalid_type" || issue.code === "invalid_union");
  return [{ path: dotted(here), message: missing ? "this key is required" : readable(issue, found) }];
}

/** The schema has its own message for unknown keys, such as where they moved. */
export const saysMore = ({ message }: Issue): boolean => !message.startsWith("Unrecognized key");

function readable(issue: Issue, found: unknown): string {
  if (issue.code === "invalid_union" && "options" in issue && Array.isArray(issue.options)) {
    const values = issue.options.map(String);
    return `expected one of ${values.join(", ")}${guessed(found, values)}`;
  }
  const own = !issue.message.startsWith("Invalid");
  if (issue.code === "invalid_value" && !own) {
    const values = issue.values.map(String);
    return `expected one of ${values.join(", ")}${guessed(found, values)}`;
  }
  if (!own && (issue.code === "invalid_type" || issue.code === "invalid_union")) {
    return `expected ${expectedBy(issue)}, found ${kindOf(found)}`;
  }
  return issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
}

/** Only a value that has a text can be misspelt. An object's own `toString` is the sender's, and may be no function. */
const guessed = (found: unknown, values: readonly string[]): string =>
  typeof found === "object" ? "" : didYouMean(String(found), values);

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value === null || value === undefined) return "nothing";
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return "one that is too large";
  return kinds[typeof value] ?? "a value";
}

const kinds: Readonly<Record<string, string>> = {
  object: "keys and values",
  string: "a text",
  number: "a number",
  boolean: "true or false",
};

function at(value: unknown, path: Path): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

const dotted = (path: Path): string => path.map((segment) => String(segment).slice(0, longestKey)).join(".");

/** All issues, including those of every union branch. */
export const everyBranch = (issue: Issue): Issue[] =>
  issue.code === "invalid_union"
    ? issue.errors.flat().flatMap((inner) => everyBranch({ ...inner, path: [...issue.path, ...inner.path] }))
    : [issue];

/** Fields that commonly discriminate between forms of an object. */
const tags: ReadonlySet<PropertyKey> = new Set(["type", "role", "kind"]);

const isTag = ({ path }: Issue): boolean => path.length === 1 && tags.has(path[0] ?? "");

/** No branch accepts the given tag: one complaint listing all known tags. */
function unknownTag(issue: Issue, branches: readonly (readonly Issue[])[]): Issue | undefined {
  const wrong = branches.map((branch) => branch.find(isTag));
  const [first] = wrong;
  if (first === undefined || wrong.includes(undefined)) return undefined;
  const values = wrong.flatMap((each) => (each?.code === "invalid_value" ? each.values : []));
  if (values.length < 2) return undefined;
  return {
    code: "invalid_value",
    values,
    path: [...issue.path, ...first.path],
    message: "Invalid input",
    input: undefined,
  };
}

/** For a union, the issues of the branch that was probably meant: first by matching tag and type, then by fewest issues. */
export function flatten(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const branches = issue.errors.filter((branch) => !branch.some(refusesWhole));
  const unknown = unknownTag(issue, branches);
  if (unknown !== undefined) return [unknown];
  const tagged = branches.filter((branch) => !branch.some(isTag));
  const chosen = (tagged.length > 0 ? tagged : branches).sort((left, right) => left.length - right.length)[0];
  if (chosen === undefined) return [issue];
  return chosen.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })).flatMap(flatten);
}

const refusesWhole = (issue: Issue): boolean =>
  issue.path.length === 0 && (issue.code === "invalid_type" || issue.code === "invalid_value");

export function expectedBy(issue: Issue): string {
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

/** The keys a schema accepts at a path, through unions, records and lists. */
export function knownKeys(schema: z.ZodType, path: Path): string[] {
  // Called for every plugin at startup, where building a JSON Schema takes a millisecond.
  if (path.length === 0 && schema instanceof z.ZodObject) return Object.keys(schema.shape);
  let level: JsonSchema[] = [inputSchema(schema)];
  for (const segment of path) {
    level = level.flatMap(alternatives).flatMap((each) => {
      const next = typeof segment === "number" ? each.items : (each.properties?.[segment] ?? each.additionalProperties);
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

/** JSON Schema of the input side, before defaults and transforms. */
export const inputSchema = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema; // zod's type has the same fields.

const alternatives = (schema: JsonSchema): JsonSchema[] => {
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...inner.flatMap(alternatives)];
};
