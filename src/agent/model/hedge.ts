import { VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Delta } from "../../core/model/deltas.ts";
import type { GenerationContext, GenerationRequest } from "../../core/model/provider.ts";
import type { Usage } from "../../core/model/usage.ts";
import { PolledStream } from "../../core/ports/polled-stream.ts";
import type { Hedged } from "../../core/run/event-fields.ts";
import type { Guard } from "../run/breaker.ts";
import type { ModelTarget } from "../run/definition.ts";
import type { Seat } from "../run/members.ts";
import type { RunContext } from "../run/run-context.ts";
import { completeUsage } from "./estimate.ts";

type Step = IteratorResult<readonly Delta[], undefined>;

/** A model being asked, and the breaker and seat to report the outcome to. */
export interface Asked {
  readonly target: ModelTarget;
  readonly attempt: number;
  readonly request: GenerationRequest;
  readonly breaker: Guard;
  readonly seat: Seat | undefined;
}

/** A second model for one generation, and which of the two won. */
export interface Hedge {
  readonly after: number;
  readonly first: Asked;
  /** The second model, with budget reserved for both; undefined when none is available. */
  rival(): Promise<Asked | undefined>;
  /** The model whose answer is used; `first` until the other has won. */
  winner: Asked;
  /** Cost of the losing request. */
  lost?: Hedged;
}

/** A stream opened for a generation. */
export interface Opened {
  readonly asked: Asked;
  readonly context: GenerationContext;
  readonly stream: PolledStream<readonly Delta[]>;
  readonly controller: AbortController;
}

/**
 * The stream of the model that answers first. The second is asked after `after` ms of silence, and the loser is cancelled. If one fails,
 * the other goes on; if both fail, the first one's failure is reported.
 */
export async function race(
  run: RunContext,
  hedge: Hedge,
  { first, open }: { readonly first: Opened; readonly open: (asked: Asked) => Opened },
): Promise<Opened> {
  const own = new Racer(first);
  const silent = await own.silentFor(run, hedge.after);
  if (!silent) return own.opened;
  const rival = await hedge.rival();
  if (rival === undefined) return own.opened;
  const other = new Racer(open(rival));
  await run.orAborted(Promise.race([own.decided, other.decided])).catch(() => {}); // When the run ends, the winner's stream reports it.
  if (own.state === "failed") await other.decided;
  else if (other.state === "failed") await own.decided;
  const [won, lost] = other.state === "answers" && own.state !== "answers" ? [other, own] : [own, other];
  hedge.winner = won.opened.asked;
  hedge.lost = endLoser(run, lost, won.opened.asked.target.name);
  return won.opened;
}

function endLoser(run: RunContext, { opened, failure, usage, state }: Racer, winner: string): Hedged {
  const { target, attempt, request, breaker, seat } = opened.asked;
  const error = state === "failed" ? wrap("provider.stream", failure) : undefined;
  if (error === undefined) {
    const message = `${winner} answered first`;
    opened.controller.abort(new VenturiError("provider.stream", "stream_interrupted", message));
    breaker.abandoned();
  } else {
    breaker.failed(error, { shown: false, stalled: false, unusual: false });
  }
  void opened.stream.return().catch(() => {});
  // Vendors bill the prompt of a cancelled request; a failed one costs nothing.
  const spent = error === undefined ? completeUsage(usage, request.messages, 0) : usage;
  seat?.leave(spent === undefined ? 0 : (spent.inputTokens ?? 0) + (spent.outputTokens ?? 0));
  return {
    model: target.name,
    attempt,
    ...(error === undefined ? {} : { error: error.toJSON() }),
    ...(spent === undefined ? {} : { usage: spent, ...run.costOf(target.name, spent) }),
  };
}

/** Deltas that may arrive before the model has answered anything. */
const preliminary: ReadonlySet<Delta["type"]> = new Set(["response", "usage"]);

/** Reads ahead until the model answers or fails, then replays what it read to the consumer. */
class Racer extends PolledStream<readonly Delta[]> {
  readonly opened: Opened;
  readonly decided: Promise<void>;
  state: "silent" | "answers" | "failed" = "silent";
  failure: unknown;
  usage: Usage | undefined;
  readonly #inner: PolledStream<readonly Delta[]>;
  readonly #ahead: Step[] = [];

  constructor(opened: Opened) {
    super();
    this.opened = { ...opened, stream: this };
    this.#inner = opened.stream;
    this.decided = this.#read();
  }

  /** Whether the stream stayed silent for this long. */
  async silentFor({ deps: { clock } }: RunContext, ms: number): Promise<boolean> {
    const late = Promise.withResolvers<void>();
    const stop = clock.after(ms, late.resolve);
    await Promise.race([this.decided, late.promise]);
    stop();
    return this.state === "silent";
  }

  poll(): Step | undefined {
    const step = this.#ahead.shift();
    if (step !== undefined || this.state === "silent") return step;
    if (this.state === "failed") throw this.failure;
    return this.#inner.poll();
  }

  arrival(): Promise<void> {
    if (this.#ahead.length > 0) return Promise.resolve();
    return this.state === "silent" ? this.decided : this.#inner.arrival();
  }

  async return(): Promise<Step> {
    return await this.#inner.return();
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const step = this.#inner.poll();
        if (step === undefined) {
          await this.#inner.arrival();
          continue;
        }
        this.#ahead.push(step);
        for (const delta of step.done ? [] : step.value) if (delta.type === "usage") this.usage = delta.usage;
        const failed = step.done ? undefined : step.value.find(({ type }) => type === "error");
        if (failed?.type === "error") throw failed.error;
        if (step.done || step.value.some(({ type }) => !preliminary.has(type))) break;
      }
      this.state = "answers";
    } catch (thrown) {
      this.failure = thrown;
      this.state = "failed";
      this.#ahead.length = 0;
    }
  }
}
