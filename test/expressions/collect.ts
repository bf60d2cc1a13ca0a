import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "@babel/parser";

export const root = fileURLToPath(new URL("../../../", import.meta.url));

export interface Literal {
  readonly file: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/** A regular expression made at run time. */
export interface Built {
  readonly file: string;
  readonly line: number;
}

export interface Found {
  readonly literals: readonly Literal[];
  readonly built: readonly Built[];
}

/** As it is written. */
export const spelled = ({ source, flags }: Pick<Literal, "source" | "flags">): string => `/${source}/${flags}`;

/** Every regular expression of the program and its plugins. */
export function collect(): Found {
  const files = globSync(["src/**/*.{ts,tsx,js,mjs}", "plugins/**/*.{ts,tsx,js,mjs}"], { cwd: root })
    .filter((file) => !file.endsWith(".d.ts") && !file.includes("node_modules") && !file.includes("/fixtures/"))
    .sort();
  const all = files.map((file) => collectFrom(file, readFileSync(join(root, file), "utf8")));
  return { literals: all.flatMap((one) => one.literals), built: all.flatMap((one) => one.built) };
}

export function collectFrom(file: string, text: string): Found {
  const literals: Literal[] = [];
  const built: Built[] = [];
  const plugins = ["typescript", "decorators-legacy", ...(file.endsWith("x") ? ["jsx"] : [])];
  const { program } = parse(text, { sourceType: "module", plugins: plugins as never }); // its names are not exported
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null) return;
    const node = value as Node; // of the parsed tree
    const line = node.loc?.start.line ?? 0;
    if (node.type === "RegExpLiteral") {
      literals.push({ file, line, source: String(node.pattern), flags: String(node.flags) });
    }
    const isCall = node.type === "NewExpression" || node.type === "CallExpression";
    if (isCall && (node.callee as Node | undefined)?.name === "RegExp") built.push({ file, line });
    for (const [key, child] of Object.entries(node)) if (key !== "loc") visit(child);
  };
  visit(program);
  return { literals, built };
}

interface Node {
  readonly type?: string;
  readonly loc?: { readonly start: { readonly line: number } };
  readonly [key: string]: unknown;
}
