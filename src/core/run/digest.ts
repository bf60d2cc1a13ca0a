import { z } from "zod";
import type { PriceOf } from "../model/prices.ts";
import { type Inherited, Usage } from "../model/usage.ts";
import { named } from "../values/schema-names.ts";
import { type RunInput, Timing } from "./event-fields.ts";
import { type EventOf, outcomeOf, outcomes, type RunEvent, type TerminalEvent } from "./events.ts";
import { Spending } from "./spending.ts";
import { timeIn } from "./timing.ts";

/** An ended run in one row, for lists, filters and search. A view of its events; `venturi reindex` rebuilds it. */
export const Digest = z.strictObject({
  run: z.string(),
  agent: z.string(),
  session: z.string().exactOptional(),
  status: z.enum(outcomes),
  finish: z.string().exactOptional(),
  /** Error code of a run that did not finish. */
  code: z.string().exactOptional(),
  /** Id of the key that cancelled it. */
  cancelledBy: z.string().exactOptional(),
  startedAt: z.number(),
  endedAt: z.number(),
  /** From the request to the last event: the sum of `timing`. */
  ms: z.number(),
  timing: Timing,
  usage: Usage,
  /** Without what its tools spent, such as called agents, which have runs of their own; absent if they spent nothing. */
  ownUsage: Usage.exactOptional(),
  /** Usage copied by a fork; not part of its own figures. */
  inherited: z.strictObject({ usage: Usage, cost: z.number().exactOptional() }).exactOptional(),
  /** USD, of its own generations, at the prices configured when it ended; absent if one was unknown. */
  cost: z.number().exactOptional(),
  /** Including what its tools spent, such as called agents; absent if it called none or one is unknown. */
  totalCost: z.number().exactOptional(),
  rounds: z.number().int(),
  /** Number of tool calls, and the tools called, in order of first use. */
  calls: z.number().int(),
  tools: z.array(z.string()),
  models: z.array(z.string()),
  /** Hash of the configuration it ran with. */
  config: z.string().exactOptional(),
  /** Id of the key that started it. */
  by: z.string().exactOptional(),
  /** The run that called it as a tool. */
  parent: z.string().exactOptional(),
  fork: z.strictObject({ run: z.string(), after: z.number().int() }).exactOptional(),
  /** First characters of its input and output. */
  input: z.string(),
  output: z.string(),
});
export type Digest = z.output<typeof Digest>;
named("Digest", Digest);

/** What a journal stores with a run's terminal event, in the same transaction. */
export interface EndOfRun {
  readonly digest: Digest;
  /** Text for full-text search: the beginning of input and output. */
  readonly text: string;
}

const shown = 200;
const searched = 8_192;
const mostNames = 50;

/** What a run's digest shows of its request. */
interface Asked {
  readonly agent: string;
  readonly input: RunInput;
  readonly session?: string;
  readonly caller?: { readonly id: string };
  readonly parent?: { readonly run: string };
}

function withName(names: readonly string[], long: string): readonly string[] {
  const name = beginning(long, shown);
  return names.length >= mostNames || names.includes(name) ? names : [...names, name];
}

/** Folds a run's events into its digest. Deltas contribute nothing and need not be added. */
export class DigestFold {
  readonly #run: string;
  readonly #request: Asked;
  #tools: readonly string[] = [];
  #models: readonly string[] = [];
  #calls = 0;
  #started: EventOf<"run.started"> | undefined;
  readonly #spending: Spending;

  constructor(run: string, request: Asked, priceOf?: PriceOf) {
    this.#spending = new Spending(priceOf);
    this.#run = run;
    this.#request = request;
  }

  add(event: RunEvent): void {
    this.#spending.apply(event);
    switch (event.type) {
      case "run.started":
        this.#started = event;
        return;
      case "round.started":
        this.#models = withName(this.#models, event.model);
        return;
      case "tool_call.ready":
      case "tool_call.rejected":
        this.#calls += 1;
        this.#tools = withName(this.#tools, event.name);
    }
  }

  end(last: TerminalEvent): EndOfRun {
    const { agent, session, caller, parent } = this.#request;
    const input = inputText(this.#started?.input ?? this.#request.input);
    const startedAt = this.#started?.at ?? last.at;
    const { config, fork } = this.#started ?? {};
    const { usage: own, cost, totalCost, inherited } = this.#spending.bill;
    const totals = this.#spending.own;
    // Terminal events of earlier releases include what a fork copied.
    const usage = inherited === undefined ? last.usage : own;
    const digest: Digest = {
      run: this.#run,
      agent,
      ...(session === undefined ? {} : { session }),
      status: outcomeOf(last),
      ...(last.type === "run.finished"
        ? { finish: beginning(last.finish, shown) }
        : { code: last.error.code, ...stoppedBy(last) }),
      startedAt,
      endedAt: last.at,
      ms: lastedMs(last, startedAt),
      timing: last.timing,
      usage,
      ...(totals.isByTools ? { ownUsage: totals.generations } : {}),
      ...(inherited === undefined ? {} : { inherited: takenOver(inherited) }),
      ...(cost === undefined ? {} : { cost }),
      ...(totalCost === undefined ? {} : { totalCost }),
      rounds: last.rounds,
      calls: this.#calls,
      tools: [...this.#tools],
      models: [...this.#models],
      ...(config === undefined ? {} : { config }),
      ...(caller === undefined ? {} : { by: caller.id }),
      ...(parent === undefined ? {} : { parent: parent.run }),
      ...(fork === undefined ? {} : { fork }),
      input: beginning(input, shown),
      output: beginning(last.output, shown),
    };
    return { digest, text: `${beginning(input, searched)}\n${beginning(last.output, searched)}` };
  }
}

const stoppedBy = (last: EventOf<"run.failed">): Pick<Digest, "cancelledBy"> => {
  const by = last.error.details?.by;
  return outcomeOf(last) === "cancelled" && typeof by === "string" ? { cancelledBy: beginning(by, shown) } : {};
};

const takenOver = ({ usage, cost }: Inherited): NonNullable<Digest["inherited"]> => ({
  usage,
  ...(cost === undefined ? {} : { cost }),
});

interface Recorded {
  readonly run: string;
  readonly request: Asked;
  readonly priceOf?: PriceOf | undefined;
}

/** The end of a run computed from its events; undefined while it has none. */
export function endOfRun(recorded: Recorded, events: Iterable<RunEvent>): EndOfRun | undefined {
  const { run, request, priceOf } = recorded;
  const fold = new DigestFold(run, request, priceOf);
  for (const event of events) {
    fold.add(event);
    if (event.type === "run.finished" || event.type === "run.failed") return fold.end(event);
  }
  return undefined;
}

/** The user's request: the text, or else the text of the last message. */
export function inputText({ text, messages = [] }: RunInput): string {
  if (text !== undefined) return text;
  const parts = messages.at(-1)?.parts ?? [];
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Some engines reject NUL characters and lone surrogates, which a cut can produce. */
export const beginning = (text: string, length: number): string =>
  (text.length <= length ? text : text.slice(0, length)).toWellFormed().replaceAll("\0", "\ufffd");

/** The words of a text or query, for engines without full-text search and for writing queries. */
export const wordsOf = (text: string): string[] =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];

/** Maximum words used of one query. */
export const mostWords = 16;

/** How long an ended run took: the sum of its parts, also those before its first event. */
export const lastedMs = ({ timing, at }: TerminalEvent, startedAt: number): number =>
  timeIn(timing) || Math.max(0, at - startedAt);
