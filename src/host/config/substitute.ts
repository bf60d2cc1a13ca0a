import { dirname, resolve } from "node:path";
import { type Problem, pathText } from "../yaml/problem.ts";
import { readText } from "../yaml/read.ts";
import { type Node, type ScalarNode, scalars } from "../yaml/tree.ts";

const reference = /\$\{(env|file):([^}]*?)(?::-([^}]*))?\}/g;

/**
 * Replaces `${env:NAME}`, `${env:NAME:-default}` and `${file:path}` in scalars, after parsing, so that a value can never become
 * YAML. Replacements are not expanded again.
 */
export function substitute(root: Node, env: Readonly<Record<string, string | undefined>>, problems: Problem[]): void {
  for (const [path, scalar] of scalars(root)) {
    if (typeof scalar.value !== "string" || !scalar.value.includes("${")) continue;
    const replaced = replaceIn(scalar, env);
    if ("problem" in replaced) {
      problems.push({ place: scalar.place, path: pathText(path), message: replaced.problem });
      continue;
    }
    scalar.value = replaced.text;
    if (replaced.from.length > 0) scalar.from = replaced.from;
    if (replaced.loose) scalar.loose = true;
  }
}

function replaceIn(
  scalar: ScalarNode,
  env: Readonly<Record<string, string | undefined>>,
): { text: string; from: string[]; loose: boolean } | { problem: string } {
  const from: string[] = [];
  let problem: string | undefined;
  let loose = false;
  const text = String(scalar.value).replace(reference, (whole, kind: string, name: string, fallback?: string) => {
    loose = true;
    if (kind === "env") {
      const value = env[name];
      // As in a shell, `:-` also applies to an empty variable.
      if (fallback !== undefined && (value === undefined || value === "")) return fallback;
      if (value === undefined) problem ??= `the variable ${name} is not set; set it or write \${env:${name}:-default}`;
      from.push(whole);
      return value ?? "";
    }
    const file = resolve(dirname(scalar.place.file), name);
    const read = readText(file);
    if (typeof read !== "string") problem ??= `${file} ${read.problem}`;
    from.push(whole);
    // Secret files usually end with a newline that is not part of the secret.
    return typeof read === "string" ? read.replace(/\r?\n$/, "") : "";
  });
  if (problem !== undefined) return { problem };
  return { text, from, loose };
}
