import type { IncomingHttpHeaders } from "node:http";
import { type Fault, parseFaults } from "./faults.ts";
import { modelTurn } from "./models.ts";
import { failed, type Plan, planOf } from "./plan.ts";
import { inputTokens, type Prompt, tokens } from "./prompt.ts";
import { digest, seeded, seedOf } from "./random.ts";
import type { Scenario } from "./scenario.ts";
import { Scenarios } from "./scenarios.ts";
import type { Failure, Turn, TurnUsage } from "./turn.ts";

export interface SimulationOptions {
  readonly seed: number;
  /** ms between pieces, unless the turn or a fault sets another pace. */
  readonly pace: number;
  /** Faults for every request. */
  readonly faults: string;
  readonly scenarios: readonly Scenario[];
}

/** The response to one request, and how to deliver it. */
export interface Decision {
  readonly turn: Turn;
  readonly plan: Plan;
  readonly pace: number;
  readonly usage: TurnUsage | undefined;
  readonly failure: Failure | undefined;
  readonly id: string;
  readonly prompt: Prompt;
  /** Determined by the request alone: no scenario, no fault. */
  readonly plain: boolean;
}

/** The simulator without sockets: a request in, a decision out. */
export class Simulation {
  #options: SimulationOptions;
  #faults: readonly Fault[];
  #failures = new Map<string, number>();
  #scenarios: Scenarios;
  #requests = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#faults = parseFaults(options.faults);
    this.#scenarios = new Scenarios(options.scenarios);
  }

  decide(asked: Prompt, headers: IncomingHttpHeaders, body: string): Decision {
    const [model = "", wished = ""] = asked.model.split("!", 2);
    const prompt = { ...asked, model };
    const id = digest(this.#options.seed, body);
    const key = header(headers, "x-simulate-key");
    const played = this.#scenarios.turn(prompt, { name: header(headers, "x-simulate-scenario"), key, id });
    const turn = played ?? modelTurn(prompt, seeded(seedOf(id)), id);
    // Each request draws again, so that a retry may succeed; the order of requests decides.
    const random = seeded(this.#options.seed + this.#requests++);
    const faults = [
      ...this.#faults,
      ...(turn.faults ?? []).flatMap(parseFaults),
      ...parseFaults(wished),
      ...parseFaults(header(headers, "x-simulate-fault")),
    ];
    const plan = planOf(faults, random);
    const failure = plan.failure ?? turn.failure ?? this.#failNow(plan, key || id);
    const pace = plan.pace ?? turn.pace ?? this.#options.pace;
    const plain = played === undefined && faults.length === 0;
    return { turn, plan, failure, id, prompt, pace, usage: usageOf(prompt, turn), plain };
  }

  #failNow(plan: Plan, key: string): Failure | undefined {
    if (plan.fail === undefined) return undefined;
    const count = this.#failures.get(key) ?? 0;
    if (count >= plan.fail.count) return undefined;
    this.#failures.set(key, count + 1);
    return failed(plan.fail.status);
  }
}

function header(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return Array.isArray(value) ? value.join(",") : (value ?? "");
}

function usageOf(prompt: Prompt, turn: Turn): TurnUsage | undefined {
  if (turn.usage === null) return undefined;
  if (turn.usage !== undefined) return turn.usage;
  let characters = 0;
  let thought = 0;
  for (const piece of turn.pieces) {
    const length = piece.type === "call" ? piece.name.length : piece.text.length;
    characters += length;
    if (piece.type === "reasoning") thought += length;
  }
  const reasoning = thought === 0 ? {} : { reasoningTokens: tokens(thought) };
  return { inputTokens: inputTokens(prompt), outputTokens: tokens(characters), ...reasoning };
}
