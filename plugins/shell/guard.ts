import { VenturiError } from "venturi/plugin";
import type { Command } from "./commands.ts";
import { type Jail, leadsOutside } from "./jail.ts";

export interface Place {
  readonly jail: Jail;
  /** Where the command will run. */
  readonly directory: string;
}

/** Throws `tool_denied` for arguments that the command's config and the program's rules do not allow. */
export async function checkArguments(command: Command, given: readonly string[], place: Place): Promise<void> {
  for (const argument of given) {
    if (argument.includes("\0")) throw denied("an argument has a NUL in it");
    if (command.deny.some((pattern) => pattern.test(argument))) throw denied(`"${argument}" is denied by the config`);
    if (command.allow !== undefined && !command.allow.some((pattern) => pattern.test(argument))) {
      throw denied(`"${argument}" is none of the arguments the config allows`);
    }
  }
  if (command.arguments === "any") return;
  if (command.arguments === "none" && given.length > 0) throw denied(`${command.name} takes no arguments here`);
  checkSubcommand(command, given);
  for (const argument of given) {
    checkOption(command, argument);
    if (outwards.test(argument)) throw denied(`"${argument}": paths are relative to the workspace and stay in it`);
    for (const path of pathsIn(argument)) {
      if (await leadsOutside(place.jail, place.directory, path))
        throw denied(`"${path}" is a link out of the workspace`);
    }
  }
}

function checkSubcommand(command: Command, given: readonly string[]): void {
  const { subcommands } = command.rule;
  if (subcommands === undefined || command.prefix.length > 0) return;
  const [first = ""] = given;
  if (!subcommands.has(first)) {
    throw denied(`${command.name} must be followed by one of: ${[...subcommands].join(", ")}`);
  }
}

function checkOption(command: Command, argument: string): void {
  if (!argument.startsWith("-")) return;
  for (const option of command.rule.deniedOptions ?? []) {
    if (isOption(argument, option)) throw denied(`${command.name} may not be given ${option}`);
  }
}

/** Long options may be abbreviated (`--upload-p`) and carry a value; short ones stand in clusters (`-lL`). */
function isOption(argument: string, option: string): boolean {
  const [name = ""] = argument.split("=", 1);
  if (option.startsWith("--")) return name.length > 3 && option.startsWith(name);
  if (option.length > 2) return name === option;
  return !argument.startsWith("--") && argument.includes(option.slice(1), 1);
}

/** An absolute path, a home or a `..`, at the start or where options and programs begin a value. */
const outwards = /(?:^|[=:,;@<>("'\s]|^-{1,2}[\w-]*?)(?:[/~]|\.\.(?:\/|$))|\/\.\.(?:\/|$)/;

/** Every part of an argument that a program might take for a path. */
function pathsIn(argument: string): string[] {
  const parts = [argument, argument.slice(argument.indexOf("=") + 1), argument.slice(argument.lastIndexOf(":") + 1)];
  if (/^-[A-Za-z]./.test(argument)) parts.push(argument.slice(2));
  if (argument.startsWith("@")) parts.push(argument.slice(1));
  return parts.filter((part) => part !== "");
}

const denied = (message: string) => new VenturiError("tool.call", "tool_denied", message);
