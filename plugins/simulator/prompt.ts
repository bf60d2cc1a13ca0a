/** A request, independent of the wire. */
export interface Prompt {
  readonly model: string;
  readonly streaming: boolean;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly PromptTool[];
  readonly toolChoice: "auto" | "none" | "required" | { readonly name: string };
  /** JSON Schema for the answer. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
  /** The client requested reasoning. */
  readonly reasoning: boolean;
  /** The client requested a usage frame (optional in Chat Completions). */
  readonly usage: boolean;
}

export interface PromptMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  readonly calls: readonly PromptCall[];
  readonly results: readonly PromptResult[];
}

export interface PromptCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface PromptResult {
  readonly id: string;
  /** Some wires omit it; then it is found by call id. */
  readonly name: string;
  readonly text: string;
}

/** A result with the call it answers. */
export interface AnsweredCall extends PromptResult {
  readonly call: PromptCall | undefined;
}

export interface PromptTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export const message = (
  role: PromptMessage["role"],
  text: string,
  more: Partial<Pick<PromptMessage, "calls" | "results">> = {},
): PromptMessage => ({ role, text, calls: more.calls ?? [], results: more.results ?? [] });

/** The current exchange: the last user message, and the calls and results since. */
export interface Exchange {
  readonly text: string;
  /** Model answers since then. */
  readonly rounds: number;
  readonly results: readonly AnsweredCall[];
}

export function exchangeOf(prompt: Prompt): Exchange {
  const last = prompt.messages.findLastIndex((entry) => entry.role === "user" && entry.results.length === 0);
  const since = prompt.messages.slice(last + 1);
  const calls = since.flatMap((entry) => entry.calls);
  const results = since.flatMap((entry) => entry.results);
  return {
    text: last < 0 ? "" : (prompt.messages[last]?.text ?? ""),
    rounds: countRounds(since),
    results: results.map((result, position) => answered(result, calls, position)),
  };
}

/** Some wires split an answer into several assistant messages, so adjacent ones count once. */
function countRounds(since: readonly PromptMessage[]): number {
  return since.filter((entry, position) => entry.role === "assistant" && since[position - 1]?.role !== "assistant")
    .length;
}

/** By id where the wire has one, else by position. */
function answered(result: PromptResult, calls: readonly PromptCall[], position: number): AnsweredCall {
  const call = calls.find((candidate) => candidate.id !== "" && candidate.id === result.id) ?? calls[position];
  return { ...result, name: result.name || (call?.name ?? ""), call };
}

/** About four characters per token, the vendors' own rule of thumb. */
export const tokens = (characters: number): number => Math.max(1, Math.ceil(characters / 4));

export function inputTokens(prompt: Prompt): number {
  let characters = 0;
  for (const entry of prompt.messages) {
    characters += entry.text.length + 8;
    for (const call of entry.calls) characters += call.name.length + JSON.stringify(call.arguments).length;
    for (const result of entry.results) characters += result.text.length;
  }
  if (prompt.tools.length > 0) characters += JSON.stringify(prompt.tools).length;
  return tokens(characters);
}

const mostTries = 100;
const anyObject = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };

/** JSON mode without a schema: such clients often put their schema into the prompt. */
export function schemaInWords(messages: readonly PromptMessage[]): Readonly<Record<string, unknown>> {
  for (const { text } of messages) {
    // Each try reads the text once, so their number is bounded.
    let tries = 0;
    for (let start = text.indexOf("{"); start >= 0 && ++tries <= mostTries; start = text.indexOf("{", start + 1)) {
      const found = schemaAt(text, start);
      if (found !== undefined) return found;
    }
  }
  return anyObject;
}

function schemaAt(text: string, start: number): Readonly<Record<string, unknown>> | undefined {
  const end = endOfObject(text, start);
  if (end < 0) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(start, end));
    if (typeof value === "object" && value !== null && "properties" in value) return value as Record<string, unknown>; // an object
  } catch {
    // Not JSON; a later brace may begin some.
  }
  return undefined;
}

/** Behind the brace that closes the one at `start`, or -1. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isQuoted = false;
  for (let at = start; at < text.length; at++) {
    const sign = text[at];
    if (isQuoted) {
      if (sign === "\\") at++;
      else if (sign === '"') isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === "{") depth++;
    else if (sign === "}" && --depth === 0) return at + 1;
  }
  return -1;
}
