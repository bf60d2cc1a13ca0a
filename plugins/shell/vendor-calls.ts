import { asList, asRecord } from "venturi/plugin/provider";
import { splitWords } from "./words.ts";

type Json = Record<string, unknown>;

/** OpenAI's Responses API's names for a client-side shell: `local_shell_call` and `shell_call`. */
export const vendorNames = ["local_shell", "shell"];

/**
 * Converts the vendors' formats to this tool's: `{ action: { type: "exec", command: [argv…], working_directory, timeout_ms, env, user } }`
 * and `{ action: { commands: ["text", …], timeout_ms, max_output_length } }`. Fields without an equivalent (`env`, `user`) stay, so that
 * validation refuses them by name.
 */
export function adaptVendorCall(input: Json): Json {
  const { action: given, environment: _, ...others } = input;
  if (typeof given !== "object" || given === null) return input;
  const { type: _type, command, commands, working_directory, timeout_ms, max_output_length, ...rest } = asRecord(given);
  const settings = {
    ...others,
    ...withoutEmpty(rest),
    ...(typeof timeout_ms === "number" ? { timeoutMs: timeout_ms } : {}),
    ...(typeof max_output_length === "number" ? { maxOutput: max_output_length } : {}),
  };
  if (commands !== undefined) {
    const [first, ...next] = asList(commands).map((text) => fromText(String(text)));
    return { ...settings, ...first, next };
  }
  const directory = typeof working_directory === "string" && working_directory !== "" ? working_directory : undefined;
  const step = fromArgv(asList(command).map(String));
  return { ...settings, ...step, ...(directory === undefined ? {} : { directory }) };
}

export interface Step {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly directory?: string;
}

/** Models write `["bash", "-lc", "ls -la"]` for what they would type: only the text matters. */
function fromArgv(argv: readonly string[]): Step {
  const [first = "", flags = "", text, ...more] = argv;
  const isShell = /^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh$/.test(first) && /^-[el]*c$/.test(flags);
  if (isShell && text !== undefined && more.length === 0) return fromText(text);
  return { command: first, arguments: argv.slice(1) };
}

/** One plain command, optionally after a `cd`; anything else is for the command `sh`, if configured. */
function fromText(text: string): Step {
  const [, directory, after] = /^\s*cd\s+([\w./-]+)\s*&&\s*(.*)$/s.exec(text) ?? [];
  const words = splitWords(after ?? text);
  if (words === undefined || words.length === 0) return { command: "sh", arguments: [text] };
  const [command = "", ...rest] = words;
  return { command, arguments: rest, ...(directory === undefined ? {} : { directory }) };
}

/** The vendor sends `env: {}` and `user: null` when nothing is requested. */
const withoutEmpty = (values: Json): Json =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) => value !== null && !(typeof value === "object" && Object.keys(value).length === 0),
    ),
  );
