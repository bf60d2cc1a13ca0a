import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { textMessage } from "venturi/internal";
import type { Message, RunInput, RunRequest } from "venturi/plugin";

/**
 * Whether a stored request equals the given one, which is as it would be stored, or as it came: large content is stored by hash, and
 * variables include the agent's defaults.
 */
export function sameRequest(stored: RunRequest, given: RunRequest): boolean {
  return (
    stored.agent === given.agent &&
    sameInput(stored.input, given.input) &&
    isDeepStrictEqual(chosen(stored), chosen(given))
  );
}

/** As JSON, which is how it is stored: without `undefined`. */
function chosen({ session, metadata, limits, notify, model, options, clientTools, toolChoice }: RunRequest): unknown {
  const fields = { session, metadata, limits, notify, model, options, clientTools, toolChoice };
  return JSON.parse(JSON.stringify(fields));
}

function sameInput(stored: RunInput, given: RunInput): boolean {
  const { variables = {} } = stored;
  const sameVariables = Object.entries(given.variables ?? {}).every(([name, value]) =>
    isDeepStrictEqual(variables[name], value),
  );
  return sameVariables && sameContent(messagesOf(stored), messagesOf(given));
}

/** A large text is stored as a message. */
const messagesOf = ({ text, messages = [] }: RunInput): readonly Message[] =>
  text === undefined ? messages : [...messages, textMessage("user", text)];

function sameContent(stored: unknown, given: unknown): boolean {
  if (typeof stored === "string" && typeof given === "string")
    return stored === given || (stored.startsWith("\u0000") && stored.endsWith(hashOf(Buffer.from(given))));
  if (!isObject(stored) || !isObject(given)) return Object.is(stored, given);
  const isBare = typeof stored.hash === "string" && given.hash === undefined;
  const long = stored.type === "text" ? given.text : given.output;
  if (isBare && typeof long === "string") {
    const { hash, size: _, text: __, output: ___, ...rest } = stored;
    const { text, output, ...others } = given;
    return hash === hashOf(Buffer.from(long)) && sameContent(rest, others);
  }
  if (isBare && typeof given.data === "string") {
    const { hash, size: _, ...rest } = stored;
    const { data, ...others } = given;
    return hash === hashOf(Buffer.from(given.data, "base64")) && sameContent(rest, others);
  }
  const keys = Object.keys(stored);
  if (Array.isArray(stored) !== Array.isArray(given) || keys.length !== Object.keys(given).length) return false;
  return keys.every((key) => key in given && sameContent(stored[key], given[key]));
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
