import { VenturiError } from "venturi/plugin";
import type { Command } from "./command.ts";
import { gitSubcommands } from "./git-grammar.ts";
import { gitEnvironment, openRepository } from "./git-repository.ts";
import { type Grammar, Refusal, readArguments } from "./grammar.ts";
import type { Jail } from "./jail.ts";
import { checkPlain, checkValue } from "./paths.ts";
import { programs } from "./programs.ts";

export interface Place {
  readonly jail: Jail;
  /** Where the command will run. */
  readonly directory: string;
}

/** What is started: the program's arguments and its additional environment. */
export interface Checked {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Throws `tool_denied` for arguments that the config or the program's grammar does not allow. */
export async function checkArguments(command: Command, given: readonly string[], place: Place): Promise<Checked> {
  for (const argument of given) {
    if (argument.includes("\0")) throw denied("an argument has a NUL in it");
    if (command.deny.some((pattern) => pattern.test(argument))) throw denied(`"${argument}" is denied by the config`);
    if (command.allow !== undefined && !command.allow.some((pattern) => pattern.test(argument))) {
      throw denied(`"${argument}" is not among the arguments the config allows`);
    }
  }
  if (command.arguments === "none" && given.length > 0) throw denied(`${command.name} takes no arguments here`);
  const argv = [...command.prefix, ...given];
  if (command.canRunCode) return { argv, environment: {} };
  try {
    return await checkHarmless(command, argv, place);
  } catch (thrown) {
    throw thrown instanceof Refusal ? denied(`${command.name}: ${thrown.message}`) : thrown;
  }
}

/** Whether there is a grammar to check the program's arguments with. */
export const isKnown = (program: string): boolean => program === "git" || programs.has(program);

/** Whether a fixed command line would pass the argument check; its paths are up to the config. */
export function isHarmless(program: string, argv: readonly string[]): boolean {
  try {
    const { grammar, rest } = grammarOf(program, argv);
    for (const value of readArguments(grammar, rest)) checkPlain(value);
    return true;
  } catch (thrown) {
    if (thrown instanceof Refusal) return false;
    throw thrown;
  }
}

async function checkHarmless(command: Command, argv: readonly string[], place: Place): Promise<Checked> {
  const { grammar, leading, rest, worktree } = grammarOf(command.known, argv);
  const fixed = command.prefix.length - leading.length;
  for (const value of readArguments(grammar, rest)) {
    if (value.index < fixed) checkPlain(value);
    else await checkValue(value, place.jail, place.directory);
  }
  const repository = command.known === "git" ? await openRepository(command.program, place, { worktree }) : undefined;
  return {
    argv: [...leading, ...grammar.always, ...rest],
    environment: {
      HOME: "/nonexistent", // no workspace file can act as a program's config
      ...grammar.environment,
      ...(repository === undefined ? {} : { ...gitEnvironment, ...repository.environment }),
    },
  };
}

interface Found {
  readonly grammar: Grammar;
  readonly leading: readonly string[];
  readonly rest: readonly string[];
  readonly worktree: boolean;
}

function grammarOf(program: string, argv: readonly string[]): Found {
  if (program !== "git") {
    const grammar = programs.get(program);
    if (grammar === undefined) throw new Refusal("nothing is known of this program's options");
    return { grammar, leading: [], rest: argv, worktree: false };
  }
  const [subcommand = "", ...rest] = argv;
  const grammar = gitSubcommands.get(subcommand);
  if (grammar === undefined) {
    throw new Refusal(`must be followed by one of ${[...gitSubcommands.keys()].join(", ")}`);
  }
  return { grammar, leading: [subcommand], rest, worktree: grammar.worktree };
}

const denied = (message: string) => new VenturiError("tool.call", "tool_denied", message);
