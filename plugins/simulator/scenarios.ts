import { VenturiError } from "venturi/plugin";
import { fragmentsOf, wordPieces } from "./model/pieces.ts";
import { exchangeOf, type Prompt } from "./prompt.ts";
import type { Scenario, ScenarioTurn } from "./scenario.ts";
import { stampMark } from "./stamp.ts";
import type { Piece, Turn } from "./turn.ts";

export interface Choice {
  /** Header `x-simulate-scenario`; "" when absent. */
  readonly name: string;
  readonly key: string;
  readonly id: string;
}

/** Selects the scenario for a request, and its current turn. */
export class Scenarios {
  #all: readonly Scenario[];
  #requests = new Map<string, number>();

  constructor(scenarios: readonly Scenario[]) {
    this.#all = scenarios;
  }

  turn(prompt: Prompt, choice: Choice): Turn | undefined {
    const scenario = this.#find(prompt, choice.name);
    if (scenario === undefined) return undefined;
    const number =
      scenario.advance === "round" ? exchangeOf(prompt).rounds : this.#count(`${scenario.name} ${choice.key}`);
    // Past the end the last turn repeats: a model that never stops calling is a scenario of one turn.
    const turn = scenario.turns[Math.min(number, scenario.turns.length - 1)];
    return turn === undefined ? undefined : played(turn, prompt, choice.id);
  }

  #find(prompt: Prompt, name: string): Scenario | undefined {
    if (name === "") return this.#all.find((scenario) => fits(scenario, prompt));
    const named = this.#all.find((scenario) => scenario.name === name);
    if (named !== undefined) return named;
    const known = this.#all.map((scenario) => scenario.name).join(", ") || "none";
    throw new VenturiError("simulator.scenario", "invalid_input", `no scenario "${name}"; there are ${known}`);
  }

  #count(key: string): number {
    const count = this.#requests.get(key) ?? 0;
    this.#requests.set(key, count + 1);
    return count;
  }
}

/** Patterns are the author's, who has not thought of a text of megabytes. */
const longestMatched = 4_096;
const longestName = 256;

function fits({ name, match }: Scenario, prompt: Prompt): boolean {
  if (prompt.model === name) return true;
  if (match === undefined || (match.model === undefined && match.text === undefined)) return false;
  if (match.model !== undefined && !globFits(match.model, prompt.model)) return false;
  return (
    match.text === undefined || new RegExp(match.text, "iu").test(exchangeOf(prompt).text.slice(0, longestMatched))
  );
}

function globFits(glob: string, name: string): boolean {
  if (name.length > longestName) return false;
  const literals = glob.split("*").map((literal) => literal.replaceAll(/[^\p{L}\p{N}]/gu, "\\$&"));
  return new RegExp(`^${literals.join(".*")}$`, "s").test(name);
}

function played(turn: ScenarioTurn, prompt: Prompt, id: string): Turn {
  const texts = (words: string | string[] = []): string[] =>
    typeof words === "string" ? wordPieces(filled(words, prompt)) : words.map((text) => filled(text, prompt));
  const pieces: Piece[] = [
    ...texts(turn.reasoning).map((text): Piece => ({ type: "reasoning", text })),
    ...texts(turn.text).map((text): Piece => ({ type: "text", text: turn.stamp ? `${stampMark} ${text}` : text })),
    ...texts(turn.refusal).map((text): Piece => ({ type: "refusal", text })),
    ...calls(turn, id),
  ];
  return {
    pieces,
    finish: turn.finish ?? (turn.calls.length > 0 ? "tool_calls" : turn.refusal === undefined ? "stop" : "refusal"),
    ...(turn.usage === undefined ? {} : { usage: turn.usage === "none" ? null : turn.usage }),
    ...(turn.pace === undefined ? {} : { pace: turn.pace }),
    faults: [turn.faults],
    ...(turn.error === undefined ? {} : { failure: turn.error }),
  };
}

function filled(text: string, prompt: Prompt): string {
  if (!text.includes("{{")) return text;
  const { text: asked, results } = exchangeOf(prompt);
  const answered = results.map((result) => result.text).join("; ");
  return text.replaceAll("{{prompt}}", () => asked).replaceAll("{{results}}", () => answered);
}

function calls(turn: ScenarioTurn, id: string): Piece[] {
  const each = turn.calls.map((call, index): Piece[] => {
    const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
    const fragments = Array.isArray(call.fragments) ? call.fragments : fragmentsOf(text, call.fragments ?? 8);
    return [
      { type: "call", index, id: call.id ?? `call_${id.slice(0, 16)}_${index}`, name: call.name },
      ...fragments.map((fragment): Piece => ({ type: "arguments", index, text: fragment })),
    ];
  });
  return turn.interleave ? interleaved(each) : each.flat();
}

function interleaved(lists: readonly (readonly Piece[])[]): Piece[] {
  const longest = Math.max(0, ...lists.map((pieces) => pieces.length));
  return Array.from({ length: longest }, (_, place) =>
    lists.flatMap((pieces) => pieces.slice(place, place + 1)),
  ).flat();
}
