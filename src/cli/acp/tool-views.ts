import { resolve } from "node:path";
import type { Diff, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import type { Config } from "../../host/config/load.ts";
import { isJsonObject, type JsonObject } from "../../serve/json-rpc.ts";
import { patchedPassages } from "./patched-passages.ts";

/** How an editor shows a call. */
export interface ToolView {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
  /** Its changes: a passage of the file each, or the whole file. */
  readonly diffs: Diff[];
  /** Set for file tools. */
  readonly file?: { readonly path: string; readonly verb: string };
}

const kinds: Readonly<Record<string, ToolKind>> = {
  shell: "execute",
  http: "fetch",
  calculator: "think",
  remember: "think",
};
const fileKinds: Readonly<Record<string, ToolKind>> = {
  read: "read",
  list: "search",
  search: "search",
  write: "edit",
  edit: "edit",
  patch: "edit",
};

const longestTitle = 200;

export function toolView(
  { tools, folder }: Pick<Config, "tools" | "folder">,
  name: string,
  input: JsonObject,
): ToolView {
  const [key = name, entry] =
    Object.entries(tools)
      .filter(([each]) => name === each || name.startsWith(`${each}_`))
      .sort(([one], [other]) => other.length - one.length)[0] ?? [];
  if (entry?.type === "files" && isJsonObject(entry.options)) {
    const root = resolve(folder, String(entry.options.root));
    return fileView({ root, verb: name.slice(key.length + 1), title: name }, input);
  }
  const command = entry?.type === "shell" ? commandLine(input) : undefined;
  return {
    title: (command ?? name).slice(0, longestTitle),
    kind: kinds[entry?.type ?? ""] ?? "other",
    locations: [],
    diffs: [],
  };
}

interface FileCall {
  readonly root: string;
  readonly verb: string;
  readonly title: string;
}

function fileView({ root, verb, title }: FileCall, input: JsonObject): ToolView {
  const operation = isJsonObject(input.operation) ? input.operation : {};
  const given = verb === "patch" ? operation.path : input.path;
  const kind = operation.type === "delete_file" ? "delete" : (fileKinds[verb] ?? "other");
  if (typeof given !== "string") return { title, kind, locations: [], diffs: [] };
  const path = resolve(root, given);
  const line = verb === "read" && Number.isSafeInteger(input.from) ? { line: Number(input.from) } : {};
  return {
    title: `${title} ${given}`.slice(0, longestTitle),
    kind,
    locations: [{ path, ...line }],
    file: { path, verb },
    diffs: diffsOf(verb, { ...input, ...operation }).map((diff) => ({ path, ...diff })),
  };
}

type Change = Pick<Diff, "oldText" | "newText">;

/** Derived from the arguments only, so that a session loaded later shows the same. */
function diffsOf(verb: string, { content, find, replace, type, diff }: JsonObject): Change[] {
  if (verb === "write" && typeof content === "string") return [{ oldText: null, newText: content }];
  if (verb === "edit" && typeof find === "string" && typeof replace === "string") {
    return [{ oldText: find, newText: replace }];
  }
  if (verb !== "patch" || typeof diff !== "string") return [];
  return type === "create_file" || type === "update_file" ? patchedPassages(diff, type) : [];
}

function commandLine({ command, arguments: words, next }: JsonObject): string | undefined {
  if (typeof command !== "string") return undefined;
  const rest = Array.isArray(next) ? next.filter(isJsonObject).map(commandLine) : [];
  return [[command, ...(Array.isArray(words) ? words.map(String) : [])].join(" "), ...rest].join("; ");
}
