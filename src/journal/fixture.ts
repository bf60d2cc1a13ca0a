import type { Usage } from "../core/model/usage.ts";
import type { EventOf, RunEvent } from "../core/run/events.ts";

/** A turn of a simulator scenario. */
export interface FixtureTurn {
  reasoning?: string[];
  text?: string[];
  refusal?: string[];
  calls?: { name: string; id: string; arguments?: Record<string, unknown>; fragments?: string[] }[];
  finish?: string;
  usage?: Record<string, number>;
  pace?: number;
  faults?: string[];
}

export interface Fixture {
  name: string;
  match?: { text: string };
  advance: "round" | "request";
  turns: FixtureTurn[];
}

const finishes: ReadonlySet<string> = new Set(["stop", "tool_calls", "length", "content_filter", "refusal"]);

/**
 * A simulator scenario that replays the recorded model's output, in the same pieces and at about the same speed. A retracted
 * generation becomes one that breaks off at the same point.
 */
export function toFixture(events: readonly RunEvent[]): Fixture {
  const started = events.find((event) => event.type === "run.started");
  const turns: FixtureTurn[] = [];
  let generation: Recording | undefined;
  for (const event of events) {
    if (event.type === "round.started") {
      if (generation) turns.push(generation.cut());
      generation = new Recording();
    } else if (event.type === "round.retracted" && generation) {
      turns.push(generation.cut());
      generation = undefined;
    } else if (event.type === "generation.finished" && generation) {
      turns.push(generation.end(event));
      generation = undefined;
    } else generation?.add(event);
  }
  if (generation) turns.push(generation.cut());
  const said = lastWords(started);
  const broken = turns.some((turn) => turn.faults !== undefined);
  return {
    name: events[0]?.run ?? "run",
    ...(said === undefined ? {} : { match: { text: `^${escaped(said)}$` } }),
    advance: broken ? "request" : "round",
    turns: turns.length === 0 ? [{ text: [""] }] : turns,
  };
}

/** One recorded generation. */
class Recording {
  readonly #turn: FixtureTurn = {};
  readonly #calls = new Map<string, { name: string; id: string; fragments: string[] }>();
  readonly #times: number[] = [];

  add(event: RunEvent): void {
    switch (event.type) {
      case "text.delta":
        this.#piece("text", event);
        break;
      case "reasoning.delta":
        this.#piece("reasoning", event);
        break;
      case "refusal.delta":
        this.#piece("refusal", event);
        break;
      case "tool_call.started":
        this.#calls.set(event.call, { name: event.name, id: event.call, fragments: [] });
        break;
      case "tool_call.delta":
        this.#times.push(event.at);
        this.#calls.get(event.call)?.fragments.push(event.arguments);
        break;
    }
  }

  end(event: EventOf<"generation.finished">): FixtureTurn {
    const turn = this.#finished();
    if (finishes.has(event.finish)) turn.finish = event.finish;
    const usage = usageOf(event.usage);
    if (usage) turn.usage = usage;
    return turn;
  }

  cut(): FixtureTurn {
    return { ...this.#finished(), faults: ["missing-end"] };
  }

  #piece(kind: "text" | "reasoning" | "refusal", event: { readonly text: string; readonly at: number }): void {
    if (event.text === "") return;
    this.#times.push(event.at);
    const pieces = this.#turn[kind] ?? [];
    pieces.push(event.text);
    this.#turn[kind] = pieces;
  }

  #finished(): FixtureTurn {
    const calls = [...this.#calls.values()].map(({ fragments, ...call }) =>
      fragments.length === 0 ? { ...call, arguments: {} } : { ...call, fragments },
    );
    const span = (this.#times.at(-1) ?? 0) - (this.#times[0] ?? 0);
    const pace = this.#times.length > 1 ? Math.max(0, Math.round(span / (this.#times.length - 1))) : 0;
    return { ...this.#turn, ...(calls.length === 0 ? {} : { calls }), pace };
  }
}

function lastWords(started: EventOf<"run.started"> | undefined): string | undefined {
  if (started?.input.text !== undefined) return started.input.text;
  const users = started?.input.messages?.filter((message) => message.role === "user") ?? [];
  const parts = users.at(-1)?.parts ?? [];
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  return text === "" ? undefined : text;
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

function usageOf(usage: Usage): Record<string, number> | undefined {
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  return {
    inputTokens,
    outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}
