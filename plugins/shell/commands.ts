import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { VenturiError } from "venturi/plugin";
import { z } from "zod";

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/, { error: "expected the plain name of a program" });

const goneKeys = "allow and deny are gone, since patterns do not confine a program: leave them out, the sandbox does";

/** A program's name, or a full command: fixed leading arguments, and what the model may add. */
export const CommandOptions = z.union([
  name,
  z.strictObject(
    {
      name,
      description: z.string().optional(),
      argv: z.array(z.string().min(1)).min(1).describe("program and fixed leading arguments"),
      arguments: z
        .enum(["none", "any"], {
          error: ({ input }) =>
            input === "checked"
              ? "checked is gone, since options are no fence: say any, the sandbox confines it"
              : undefined,
        })
        .default("none")
        .describe("what the model may add: nothing, or anything"),
    },
    {
      error: ({ code, keys }) =>
        code === "unrecognized_keys" && (keys as string[]).every((key) => key === "allow" || key === "deny")
          ? goneKeys
          : undefined,
    },
  ),
]);
export type CommandOptions = z.output<typeof CommandOptions>;

/** A command the model may run. */
export interface Command {
  readonly name: string;
  readonly description: string | undefined;
  /** Absolute, resolved once at startup: later changes of PATH do not matter. */
  readonly program: string;
  readonly prefix: readonly string[];
  readonly arguments: "none" | "any";
}

export async function resolveCommand(entry: CommandOptions, path: readonly string[]): Promise<Command> {
  const spelled = typeof entry === "string" ? { name: entry, argv: [entry], arguments: "any" as const } : entry;
  const [first = "", ...prefix] = spelled.argv;
  return {
    name: spelled.name,
    description: "description" in spelled ? spelled.description : undefined,
    program: await findProgram(first, path),
    prefix,
    arguments: spelled.arguments,
  };
}

/** The command's complete argument list; `tool_denied` for arguments it does not accept. */
export function argumentsOf(command: Command, given: readonly string[]): string[] {
  if (given.some((argument) => argument.includes("\0"))) throw denied("an argument has a NUL in it");
  if (command.arguments === "none" && given.length > 0) throw denied(`${command.name} takes no arguments here`);
  return [...command.prefix, ...given];
}

/** An absolute path. A program inside `outside` is refused, since it could be replaced from there. */
export async function findProgram(program: string, path: readonly string[], outside?: string): Promise<string> {
  const candidates = isAbsolute(program) ? [program] : path.map((folder) => join(folder, program));
  if (!isAbsolute(program) && program.includes("/"))
    throw invalid(`"${program}": name a program or give its full path`);
  for (const candidate of candidates) {
    if (!(await isProgram(candidate))) continue;
    const real = await realpath(candidate);
    if (outside !== undefined && `${real}/`.startsWith(`${outside}/`)) {
      throw invalid(`"${candidate}" is in the workspace, where commands could replace it`);
    }
    return candidate;
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

const invalid = (message: string) => new VenturiError("tool.create", "config_invalid", message);
const denied = (message: string) => new VenturiError("tool.call", "tool_denied", message);
