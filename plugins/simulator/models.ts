import { record } from "./json.ts";
import { callPieces, textPieces } from "./model/pieces.ts";
import { smallModel } from "./model/small.ts";
import { exchangeOf, type Prompt, type PromptTool } from "./prompt.ts";
import type { Random } from "./random.ts";
import { stampMark } from "./stamp.ts";
import type { Piece, Turn } from "./turn.ts";

/** Names listed by `GET /v1/models`; every other name is the built-in model too. */
export const modelNames = [
  "small",
  "echo",
  "count-100",
  "pace-20-100",
  "stamp-20-100",
  "args-65536",
  "calls-3",
  "rounds-3",
];

/** The answer of the model named by the prompt. */
export function modelTurn(prompt: Prompt, random: Random, id: string): Turn {
  for (const [pattern, model] of models) {
    const match = pattern.exec(prompt.model);
    if (match !== null) return model({ prompt, id, numbers: match.slice(1).map(Number) });
  }
  return smallModel(prompt, random, id);
}

interface Asked {
  readonly prompt: Prompt;
  readonly id: string;
  readonly numbers: readonly number[];
}

const models: readonly (readonly [RegExp, (asked: Asked) => Turn])[] = [
  [/^echo$/, ({ prompt }) => ({ pieces: textPieces(exchangeOf(prompt).text), finish: "stop" })],
  [/^count-(\d+)$/, ({ numbers: [count = 0] }) => ({ pieces: counted(count), finish: "stop" })],
  [/^pace-(\d+)-(\d+)$/, ({ numbers: [pace = 0, count = 0] }) => ({ pieces: counted(count), finish: "stop", pace })],
  [/^stamp-(\d+)-(\d+)$/, ({ numbers: [pace = 0, count = 0] }) => ({ pieces: stamped(count), finish: "stop", pace })],
  [/^args-(\d+)(?:-(\d+))?$/, longArguments],
  [/^calls-(\d+)$/, (asked) => calling(asked, { calls: asked.numbers[0] ?? 1, rounds: 1 })],
  [/^rounds-(\d+)$/, (asked) => calling(asked, { calls: 1, rounds: asked.numbers[0] ?? 1 })],
];

const counted = (count: number): Piece[] =>
  Array.from({ length: count }, (_, index) => ({ type: "text", text: `${index + 1} ` }));

const stamped = (count: number): Piece[] =>
  Array.from({ length: count }, () => ({ type: "text", text: `${stampMark} ` }));

/** One call with exactly as many bytes of arguments as the name says, in fragments of 16. */
function longArguments({ prompt, id, numbers: [bytes = 0, size] }: Asked): Turn {
  if (exchangeOf(prompt).results.length > 0) return done;
  const { name, property } = target(prompt.tools[0]);
  const frame = `{${JSON.stringify(property)}:""}`;
  const text = `${frame.slice(0, -2)}${"x".repeat(Math.max(0, bytes - frame.length))}"}`;
  return { pieces: callPieces({ index: 0, id: `call_${id}`, name, text }, size || 16), finish: "tool_calls" };
}

function calling({ prompt, id }: Asked, { calls, rounds }: { calls: number; rounds: number }): Turn {
  const round = exchangeOf(prompt).rounds;
  if (round >= rounds) return done;
  const pieces = Array.from({ length: calls }, (_, index) => {
    const { name, property } = target(prompt.tools[index % Math.max(1, prompt.tools.length)]);
    const text = JSON.stringify({ [property]: String(round * calls + index + 1) });
    return callPieces({ index, id: `call_${id.slice(0, 16)}_${index}`, name, text });
  });
  return { pieces: pieces.flat(), finish: "tool_calls" };
}

const done: Turn = { pieces: textPieces("The tools have answered."), finish: "stop" };

/** A tool and one of its string properties, so that the call passes its schema. */
function target(tool: PromptTool | undefined): { name: string; property: string } {
  const properties = Object.entries(record(tool?.parameters.properties));
  const property = properties.find(([, schema]) => record(schema).type === "string")?.[0] ?? properties[0]?.[0];
  return { name: tool?.name ?? "simulate", property: property ?? "text" };
}
