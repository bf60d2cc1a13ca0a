import { isRecord } from "../json.ts";
import type { AnsweredCall, PromptCall } from "../prompt.ts";
import { topicsOf } from "./words.ts";

/** An answer that quotes the tool results, one sentence each. */
export function tellResults(results: readonly AnsweredCall[]): string {
  return results.map(tell).join(" ");
}

function tell(result: AnsweredCall): string {
  const { call } = result;
  const value = readable(result.text);
  if (isFailure(result.text)) return `The ${result.name} tool could not do it: ${sentence(value)}`;
  const topics = topicsOf(result.name);
  const expression = call?.arguments.expression;
  if (typeof expression === "string") return sentence(`${expression} = ${value}`);
  if (topics.has("time")) return sentence(`It is ${value}`);
  if (value === "") return `The ${result.name} tool is done; it had nothing to say.`;
  return `${result.name}${about(call)}: ${sentence(value)}`;
}

const isFailure = (text: string): boolean =>
  /^\s*(\{\s*)?"?(error|failed)\b/i.test(text) ||
  /\btool_(failed|timeout|denied|invalid_arguments|not_found)\b/.test(text);

function about(call: PromptCall | undefined): string {
  const first = Object.values(call?.arguments ?? {}).find(
    (value) => typeof value === "string" || typeof value === "number",
  );
  return first === undefined ? "" : ` (${shorten(String(first), 60)})`;
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** JSON in readable form; anything else as it is, cut to a length that can be read aloud. */
function readable(text: string): string {
  const trimmed = text.trim();
  if (!/^[[{"]/.test(trimmed)) return shorten(trimmed, 600);
  try {
    return shorten(say(JSON.parse(trimmed)), 600);
  } catch {
    return shorten(trimmed, 600);
  }
}

const mainKeys = ["human", "result", "answer", "text", "formatted", "value", "message", "output", "error"];

const labelKeys = ["name", "title", "path", "id"];

function say(value: unknown): string {
  if (Array.isArray(value)) return value.map(say).join("; ");
  if (!isRecord(value)) return String(value);
  const main = mainKeys.find((key) => typeof value[key] === "string" || typeof value[key] === "number");
  if (main !== undefined) return String(value[main]);
  const label = labelKeys.find((key) => typeof value[key] === "string");
  const rest = Object.entries(value).filter(([key, inner]) => key !== label && inner !== false && inner !== null);
  const facts = rest.map(([key, inner]) => (Array.isArray(inner) ? say(inner) : `${key} ${say(inner)}`)).join(", ");
  if (label === undefined) return facts;
  return facts === "" ? String(value[label]) : `${value[label]} (${facts})`;
}

const shorten = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length)}…`);
