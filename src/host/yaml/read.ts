import { readFileSync, statSync } from "node:fs";
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  visit,
} from "yaml";
import { messageOf } from "../../core/errors/errors.ts";
import type { Place, Problem } from "./problem.ts";
import type { MapNode, Node } from "./tree.ts";

const mostBytes = 1024 * 1024;
/** Far above any real config, far below an alias bomb. */
const mostNodes = 100_000;
const mostDepth = 64;
const forbiddenKeys = new Set(["__proto__", "constructor", "prototype"]);

const missing = "does not exist";
const whatNext = "; `venturi init` writes one to begin with, --config FILE names another";
const isMissing = ({ problem }: { problem: string }): boolean => problem === missing;

/** Parses one YAML file. Adds to `problems`; undefined when the file is unusable. */
export function readYaml(file: string, problems: Problem[], named: Place = at(file)): MapNode | undefined {
  const text = readText(file);
  if (typeof text !== "string") {
    const message =
      named.file === file ? `${text.problem}${isMissing(text) ? whatNext : ""}` : `${file} ${text.problem}`;
    problems.push({ place: named, path: "", message });
    return undefined;
  }
  return parseYaml(file, text, problems);
}

export function parseYaml(file: string, text: string, problems: Problem[]): MapNode | undefined {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    uniqueKeys: false, // Quadratic; the walk below finds duplicates by name.
  });
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  for (const error of document.errors) {
    problems.push({ place: place(error.pos[0]), path: "", message: yamlMessage(error.message) });
  }
  if (document.errors.length > 0) return undefined;
  const root = document.contents === null ? undefined : convert(document, place, problems);
  if (root === undefined) return emptyMap(file);
  if (root.kind === "map") return root;
  if (root.kind === "scalar" && root.value === null) return emptyMap(file);
  problems.push({ place: root.place, path: "", message: "expected keys and values, such as `version: 1`" });
  return undefined;
}

/** The text of a file, or what is wrong with it, phrased to follow its name. */
export function readText(file: string): string | { problem: string } {
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) return { problem: "is a folder, not a file" };
    if (!stats.isFile()) return { problem: "is not a regular file" };
    if (stats.size > mostBytes) {
      return { problem: `has ${(stats.size / mostBytes).toFixed(1)} MiB; at most 1 MiB is read` };
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (thrown) {
    return { problem: readFailure(thrown) };
  }
}

function readFailure(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "ENOENT") return missing;
  if (code === "EACCES") return "may not be read by this user";
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return "is not valid UTF-8";
  return `can't be read: ${messageOf(thrown)}`;
}

function yamlMessage(message: string): string {
  return `not valid YAML: ${message.split("\n")[0] ?? message}`;
}

function convert(document: Document.Parsed, place: (offset: number) => Place, problems: Problem[]): Node | undefined {
  let count = 0;
  let overflow = false;
  const targets = aliasTargets(document);
  const root = walk(document.contents, 0, []);
  return overflow ? undefined : root;

  function walk(node: ParsedNode | null, offset: number, path: string[]): Node {
    const here = place(node?.range?.[0] ?? offset);
    if (overflow) return { kind: "scalar", value: null, place: here };
    if (++count > mostNodes || path.length > mostDepth) {
      overflow = true;
      problems.push({ place: here, path: "", message: tooMuch(path.length) });
    }
    if (isAlias(node)) {
      const target = targets.get(node);
      if (target === undefined) {
        problems.push({ place: here, path: path.join("."), message: `the alias *${node.source} stands for nothing` });
      }
      return walk((target ?? null) as ParsedNode | null, offset, [...path]); // Parsed documents contain only parsed nodes.
    }
    if (isMap(node)) return walkMap(node.items as readonly ParsedPair[], here, path);
    if (isSeq(node)) {
      const items = node.items as readonly ParsedNode[];
      return {
        kind: "list",
        place: here,
        items: items.map((item, index) => walk(item, offset, [...path, `${index}`])),
      };
    }
    const value = isScalar(node) ? node.value : null;
    return { kind: "scalar", place: here, value: isPlainScalar(value) ? value : String(value) };
  }

  function walkMap(pairs: readonly ParsedPair[], here: Place, path: string[]): MapNode {
    const map: MapNode = { kind: "map", place: here, entries: new Map() };
    for (const pair of pairs) {
      const name = String(pair.key.value);
      const offset = pair.key.range?.[0] ?? 0;
      const key = place(offset);
      if (forbiddenKeys.has(name)) {
        problems.push({ place: key, path: [...path, name].join("."), message: "this name can't be used as a key" });
      } else if (map.entries.has(name)) {
        problems.push({ place: key, path: "", message: "this key is already set above" });
      } else {
        map.entries.set(name, { key, node: walk(pair.value, offset, [...path, name]) });
      }
    }
    return map;
  }
}

/** Resolves every alias in one pass; the library would scan the whole document for each. */
function aliasTargets(document: Document.Parsed): ReadonlyMap<Alias, ParsedNode> {
  const anchors = new Map<string, ParsedNode>();
  const targets = new Map<Alias, ParsedNode>();
  visit(document, (_key, node) => {
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target !== undefined) targets.set(node, target);
    } else if (isNode(node) && node.anchor !== undefined) anchors.set(node.anchor, node as ParsedNode); // From a parsed document.
  });
  return targets;
}

/** With `stringKeys`, keys are always scalars. */
interface ParsedPair {
  readonly key: { readonly value: unknown; readonly range?: readonly [number, number, number] };
  readonly value: ParsedNode | null;
}

const tooMuch = (depth: number): string =>
  depth > mostDepth
    ? `nested more than ${mostDepth} deep`
    : `more than ${mostNodes} values once its aliases are followed; write fewer aliases`;

const isPlainScalar = (value: unknown): value is string | number | boolean | null =>
  value === null || ["string", "number", "boolean"].includes(typeof value);

const at = (file: string): Place => ({ file, line: 0, column: 0 });
const emptyMap = (file: string): MapNode => ({ kind: "map", place: { file, line: 1, column: 1 }, entries: new Map() });
