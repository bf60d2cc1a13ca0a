import { exchangeOf, type Prompt } from "../prompt.ts";
import type { Random } from "../random.ts";
import type { Piece, Turn } from "../turn.ts";
import { fillValue } from "./fill.ts";
import { callPieces, reasoningPieces, textPieces } from "./pieces.ts";
import { plainReply } from "./reply.ts";
import { tellResults } from "./tell.ts";
import { type Wanted, wantedCalls } from "./wanted.ts";

/**
 * The built-in model. It understands next to nothing and says so, but calls the tools that the words ask for and reports their
 * results, so that everything around a model can be exercised without one.
 */
export function smallModel(given: Prompt, random: Random, id: string): Turn {
  const prompt = withShortTexts(given);
  const exchange = exchangeOf(prompt);
  if (exchange.results.length > 0)
    return said(prompt, tellResults(exchange.results), "The tools have answered. I tell what they said.");
  if (prompt.schema !== undefined) {
    return said(prompt, JSON.stringify(fillValue(prompt.schema, exchange.text)), "The answer has to fit a schema.");
  }
  const wanted = wantedCalls(exchange.text, prompt);
  if (wanted.length === 0)
    return said(prompt, plainReply(prompt, exchange.text, random), "No tool is needed. I answer myself.");
  const pieces: Piece[] = [
    ...thinking(prompt, `The words ask for ${names(wanted)}. I call ${wanted.length === 1 ? "it" : "them"}.`),
    // The text after the tool results starts a new paragraph.
    ...textPieces(`${opening(wanted, random)}\n\n`),
    ...wanted.flatMap((call, index) =>
      callPieces({
        index,
        id: `call_${id.slice(0, 16)}_${index}`,
        name: call.tool.name,
        text: JSON.stringify(call.arguments),
      }),
    ),
  ];
  return { pieces, finish: "tool_calls" };
}

/** Some of its rules take quadratic time, and it understands no more of a longer text. */
const longestText = 4_096;

function withShortTexts(prompt: Prompt): Prompt {
  if (prompt.messages.every(({ text }) => text.length <= longestText)) return prompt;
  const messages = prompt.messages.map((entry) => ({ ...entry, text: entry.text.slice(0, longestText) }));
  return { ...prompt, messages };
}

function said(prompt: Prompt, text: string, thought: string): Turn {
  return { pieces: [...thinking(prompt, thought), ...textPieces(text)], finish: "stop" };
}

const thinking = (prompt: Prompt, thought: string): Piece[] => (prompt.reasoning ? reasoningPieces(thought) : []);

const names = (wanted: readonly Wanted[]): string => [...new Set(wanted.map((call) => call.tool.name))].join(" and ");

function opening(wanted: readonly Wanted[], random: Random): string {
  const phrases = [
    `Let me ask ${names(wanted)}.`,
    `I'll use ${names(wanted)} for that.`,
    `One moment, I'm asking ${names(wanted)}.`,
  ];
  return phrases[Math.floor(random() * phrases.length)] ?? "";
}
