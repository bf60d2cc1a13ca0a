import { readdir, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type Kind, Refusal, type Value } from "./grammar.ts";
import { isInside, type Jail } from "./jail.ts";

/** Throws a Refusal for a value that does not match its kind. Paths are checked with the links that exist now. */
export async function checkValue(value: Value, jail: Jail, directory: string): Promise<void> {
  checkPlain(value);
  if (value.ambiguous && !isPath(value.kind)) await checkPath({ kind: "path", text: value.text }, jail, directory);
  if (!isPath(value.kind) || value.text === "-" || value.text === "") return;
  if (value.kind === "revision") return await checkRevision(value.text, jail, directory);
  await checkPath(value, jail, directory);
}

/** The part of the check that needs no file system. */
export function checkPlain({ kind, text }: Value): void {
  if (text.includes("\0")) throw new Refusal("an argument has a NUL in it");
  if (kind === "number" && !/^[-+]?\d+(?:[.]\d+)?[A-Za-z]{0,3}$/.test(text)) throw refused(text, "is no number");
  if (kind === "word" && !/^[\w.,:+%/-]*$/.test(text)) throw refused(text, "is no plain word");
  if (kind === "date" && !text.startsWith("+")) throw refused(text, "must begin with +: the clock is not set");
  if (kind === "format" && text.includes("%G")) throw refused(text, "would run the program that checks signatures");
}

const isPath = (kind: Kind): boolean => !["text", "number", "word", "format", "date"].includes(kind);

/** Git's operands are revisions, ranges, `revision:path`, pathspecs and paths; all of them must stay inside. */
async function checkRevision(text: string, jail: Jail, directory: string): Promise<void> {
  for (const part of new Set([text, ...text.split(":")])) {
    if (part !== "" && !part.startsWith("(")) await checkPath({ kind: "path", text: part }, jail, directory);
  }
}

async function checkPath({ kind, text }: Pick<Value, "kind" | "text">, jail: Jail, directory: string): Promise<void> {
  if (/^[/~]|^file:/i.test(text) || text.split("/").includes("..")) {
    throw refused(text, "paths are relative to the workspace and stay in it");
  }
  const real = await realPlace(resolve(directory, text));
  if (real === undefined || !isInside(jail, real)) throw refused(text, "is a link out of the workspace");
  if (kind === "path") return;
  const isFolder = await stat(real).then(
    (stats) => stats.isDirectory(),
    () => false, // does not exist
  );
  if ((kind === "file" || kind === "newFile") && isFolder) throw refused(text, "is a folder; name a file");
  if (kind === "file") return;
  // A repository's own files control what git runs.
  if (relative(jail.root, real).toLowerCase().split(sep).includes(".git")) {
    throw refused(text, "git's own files are not written to");
  }
  if (kind === "prefix") await checkPrefix(text, real);
}

/** A prefix for files to be created: none may exist yet, since it could be a link. */
async function checkPrefix(text: string, real: string): Promise<void> {
  const names = await readdir(dirname(real)).catch(() => []);
  if (names.some((name) => name.startsWith(basename(real)))) {
    throw refused(text, "files with this prefix already exist");
  }
}

/** Resolves the links in the existing part of a path; undefined for a dangling link. */
async function realPlace(path: string): Promise<string | undefined> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined); // does not exist: its folder decides
    if (real !== undefined) return join(real, ...missing);
    if (at === dirname(at) || (await readlink(at).catch(() => undefined)) !== undefined) return undefined;
    missing.unshift(basename(at));
  }
}

const refused = (text: string, why: string) => new Refusal(`"${text}": ${why}`);
