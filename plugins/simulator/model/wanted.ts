import type { Prompt, PromptTool } from "../prompt.ts";
import { expressionIn } from "./arithmetic.ts";
import { fillArguments } from "./fill.ts";
import { topicsOf } from "./words.ts";

/** A call the words ask for. */
export interface Wanted {
  readonly tool: PromptTool;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The calls a text asks for, in order, without duplicates. */
export function wantedCalls(text: string, prompt: Prompt): Wanted[] {
  if (prompt.toolChoice === "none" || prompt.tools.length === 0) return [];
  const { toolChoice, tools } = prompt;
  if (typeof toolChoice === "object") {
    const tool = tools.find((candidate) => candidate.name === toolChoice.name);
    return tool === undefined ? [] : [callOf(tool, text)];
  }
  const found = once(clausesOf(text, tools).map((clause) => callOf(clause.tool, clause.text)));
  const [first] = tools;
  if (found.length === 0 && toolChoice === "required" && first !== undefined) return [callOf(first, text)];
  return found;
}

const callOf = (tool: PromptTool, text: string): Wanted => ({ tool, arguments: fillArguments(tool, text) });

function once(calls: readonly Wanted[]): Wanted[] {
  const seen = new Map(calls.map((call) => [`${call.tool.name} ${JSON.stringify(call.arguments)}`, call]));
  return [...seen.values()];
}

interface Clause {
  readonly text: string;
  readonly tool: PromptTool;
}

const borders = /([.?!;]\s+|\n+|,?\s+(?:and then|then|and also|also|and|plus)\s+(?!\d)|,\s+)/i;

/**
 * Splits where a sentence may change its subject. A piece that matches no tool belongs to the one before, unless it is a bare
 * name or number ("the weather in Paris and London"): that repeats the request for another object.
 */
function clausesOf(text: string, tools: readonly PromptTool[]): Clause[] {
  const clauses: Clause[] = [];
  const pieces = text.split(borders);
  for (let position = 0; position < pieces.length; position += 2) {
    const piece = pieces[position]?.trim() ?? "";
    const tool = toolFor(piece, tools);
    const last = clauses.at(-1);
    if (tool !== undefined) clauses.push({ text: piece, tool });
    else if (last !== undefined && bareName.test(piece)) clauses.push({ text: `for ${piece}`, tool: last.tool });
    else if (last !== undefined && /\b(and|plus)\b|,/i.test(pieces[position - 1] ?? "")) {
      clauses.splice(-1, 1, { text: `${last.text}${pieces[position - 1]}${piece}`, tool: last.tool });
    }
  }
  if (clauses.length > 0) return clauses;
  const tool = toolFor(text, tools);
  return tool === undefined ? [] : [{ text, tool }];
}

const bareName = /^(?:(?:in|for|of) )?(?:[\p{Lu}#][\p{L}\p{N}-]*|\S*\d\S*)(?: [\p{Lu}][\p{L}-]*){0,2}[?.!]*$/u;

function toolFor(piece: string, tools: readonly PromptTool[]): PromptTool | undefined {
  const expression = expressionIn(piece);
  if (expression !== undefined) return best(tools, `calculate expression ${operations(expression)}`);
  if (asksTime.test(piece)) {
    const clock = best(tools, "time");
    if (clock !== undefined) return clock;
  }
  // "time" occurs in many sentences; only a question for it counts.
  return best(tools, /\bclock\b/i.test(piece) ? piece : piece.replaceAll(/\b(time|date|today|hour)s?\b/gi, ""));
}

const asksTime =
  /\b(what|which|tell|current|know|say|give|check)\b.*\b(time|date|day|year|month)\b|\btime is it\b|\btoday'?s date\b|\b(time|date) (now|today|in)\b/i;

const signs: readonly (readonly [string, string])[] = [
  ["+", "add sum plus"],
  ["-", "subtract minus difference"],
  ["*", "multiply product times"],
  ["/", "divide quotient"],
  ["^", "power"],
];

const operations = (expression: string): string =>
  signs.map(([sign, words]) => (expression.includes(sign) ? words : "")).join(" ");

/** A word of the name scores three, of the description or a parameter one; less than two is a coincidence. */
function best(tools: readonly PromptTool[], words: string): PromptTool | undefined {
  const topics = topicsOf(words);
  let chosen: PromptTool | undefined;
  let most = 1;
  for (const tool of tools) {
    const score = scoreOf(tool, topics);
    if (score > most) {
      chosen = tool;
      most = score;
    }
  }
  return chosen;
}

function scoreOf(tool: PromptTool, topics: ReadonlySet<string>): number {
  const named = topicsOf(tool.name);
  const described = topicsOf(`${tool.description} ${JSON.stringify(Object.keys(properties(tool)))}`);
  let score = 0;
  for (const topic of topics) score += named.has(topic) ? 3 : described.has(topic) ? 1 : 0;
  return score;
}

const properties = (tool: PromptTool): object => {
  const found = tool.parameters.properties;
  return typeof found === "object" && found !== null ? found : {};
};
