import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import { VenturiError } from "venturi/plugin";
import { z } from "zod";
import type { Command } from "./command.ts";
import { isHarmless, isKnown } from "./guard.ts";

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/, { error: "expected the plain name of a program" });

/** A program's name, or a full command: fixed leading arguments, and what the model may add. */
export const CommandOptions = z.union([
  name,
  z.strictObject({
    name,
    description: z.string().optional(),
    argv: z.array(z.string().min(1)).min(1).describe("program and fixed leading arguments"),
    arguments: z
      .enum(["none", "checked", "any"])
      .default("none")
      .describe("what the model may add: nothing, what passes the program's rules, or anything at all"),
    allow: z.array(z.string()).optional().describe("patterns (* matches anything) of which each argument must fit one"),
    deny: z.array(z.string()).default([]).describe("patterns that no argument may fit"),
  }),
]);
export type CommandOptions = z.output<typeof CommandOptions>;

export async function resolveCommand(entry: CommandOptions, path: readonly string[]): Promise<Command> {
  const spelled =
    typeof entry === "string" ? { name: entry, argv: [entry], arguments: "checked" as const, deny: [] } : entry;
  const [first = "", ...prefix] = spelled.argv;
  const known = basename(first);
  if (spelled.arguments === "checked") checkChecked(known, prefix);
  return {
    name: spelled.name,
    description: "description" in spelled ? spelled.description : undefined,
    program: await findProgram(first, path),
    prefix,
    arguments: spelled.arguments,
    known,
    canRunCode: spelled.arguments === "any" || (spelled.arguments === "none" && !isHarmless(known, prefix)),
    allow: "allow" in spelled ? spelled.allow?.map(pattern) : undefined,
    deny: spelled.deny.map(pattern),
  };
}

function checkChecked(program: string, prefix: readonly string[]): void {
  if (!isKnown(program)) {
    throw invalid(
      `"${program}" is not among the programs whose options are known; give it a fixed argv, or arguments: any in a sandbox`,
    );
  }
  // An operand may still be missing; the model supplies it.
  if (prefix.some((argument) => argument.startsWith("-")) && !isHarmless(program, [...prefix, "x", "x"])) {
    throw invalid(`"${[program, ...prefix].join(" ")}" has options that are not among those that can be checked`);
  }
}

export async function findProgram(program: string, path: readonly string[]): Promise<string> {
  const candidates = isAbsolute(program) ? [program] : path.map((folder) => join(folder, program));
  if (!isAbsolute(program) && program.includes("/"))
    throw invalid(`"${program}": name a program or give its full path`);
  for (const candidate of candidates) {
    if (await isProgram(candidate)) return candidate;
  }
  throw invalid(`the program "${program}" is not in ${path.join(":")}`);
}

const isProgram = (file: string): Promise<boolean> =>
  access(file, constants.X_OK)
    .then(() => stat(file))
    .then(
      (stats) => stats.isFile(),
      () => false,
    );

const pattern = (text: string): RegExp =>
  new RegExp(`^${text.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*+/g, "[^]*")}$`);

const invalid = (message: string) => new VenturiError("tool.create", "config_invalid", message);
