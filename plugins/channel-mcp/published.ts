import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { PublishedPrompt, PublishedResource } from "./options.ts";
import { isObject, type Json } from "./rpc.ts";

/** What the operator publishes besides agents and runs: texts and files as resources, and prompts. */
export class Published {
  readonly prompts: ReadonlyMap<string, PublishedPrompt>;
  readonly #resources: readonly PublishedResource[];
  readonly #folder: string;

  constructor(
    of: { readonly resources: readonly PublishedResource[]; readonly prompts: Record<string, PublishedPrompt> },
    folder: string,
  ) {
    this.#resources = of.resources;
    this.prompts = new Map(Object.entries(of.prompts));
    this.#folder = folder;
  }

  get resources(): Json[] {
    return this.#resources.filter(({ uri }) => !uri.includes("{")).map(({ text: _, file: __, ...shown }) => shown);
  }

  get templates(): Json[] {
    const templates = this.#resources.filter(({ uri }) => uri.includes("{"));
    return templates.map(({ uri, text: _, file: __, ...shown }) => ({ uriTemplate: uri, ...shown }));
  }

  /** The content at this URI; undefined if it is not published. */
  async read(uri: string): Promise<Json | undefined> {
    for (const { uri: template, mimeType, text, file } of this.#resources) {
      const values = valuesIn(template, uri);
      if (values === undefined) continue;
      if (text !== undefined) return { uri, mimeType, text: String(filled(text, values)) };
      const bytes = await readFile(resolve(this.#folder, file ?? ""));
      return { uri, mimeType, ...(isText(mimeType) ? { text: bytes.toString() } : { blob: bytes.toString("base64") }) };
    }
    return undefined;
  }
}

/** The value of each `{name}` in a template, one path segment each; undefined if the URI does not match. */
export function valuesIn(template: string, uri: string): Record<string, string> | undefined {
  const values: Record<string, string> = {};
  let at = 0;
  let from = 0;
  for (;;) {
    const open = template.indexOf("{", from);
    const literal = template.slice(from, open < 0 ? undefined : open);
    if (!uri.startsWith(literal, at)) return undefined;
    at += literal.length;
    if (open < 0) return at === uri.length ? values : undefined;
    const close = template.indexOf("}", open);
    if (close < 0) return undefined;
    const next = template.at(close + 1);
    const end = next === undefined ? uri.length : uri.indexOf(next, at);
    const value = end < 0 ? "" : uri.slice(at, end);
    if (value === "" || value.includes("/")) return undefined;
    values[template.slice(open + 1, close)] = value;
    at = end;
    from = close + 1;
  }
}

const isText = (mimeType: string): boolean => mimeType.startsWith("text/") || mimeType.endsWith("json");

/** Replaces every `{{name}}` in the texts of a value. Replacements are not expanded again. */
export function filled(value: unknown, values: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(value)) return value.map((each) => filled(each, values));
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, values)]));
  if (typeof value !== "string") return value;
  const [first = "", ...rest] = value.split("{{");
  const pieces = rest.map((piece) => {
    const close = piece.indexOf("}}");
    const name = piece.slice(0, Math.max(0, close)).trim();
    return close >= 0 && Object.hasOwn(values, name) ? `${values[name]}${piece.slice(close + 2)}` : `{{${piece}`;
  });
  return first + pieces.join("");
}
