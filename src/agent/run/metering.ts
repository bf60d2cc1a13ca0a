import type { Usage } from "../../core/model/usage.ts";
import type { EventBody } from "../../core/run/events.ts";

interface MeteredCall {
  readonly model: string;
  /** Tokens of the request, by estimate, and the limit of its answer. */
  readonly input: number;
  readonly output: number | undefined;
}

/** A generation about to be asked for. */
export interface Metered extends MeteredCall {
  readonly ownership: { readonly run: string; readonly epoch: number; readonly head: number };
  /** Another model that is asked for the same generation already. */
  readonly beside?: MeteredCall;
  /** A cheaper model is asked already, because a budget ran out. */
  readonly saving: boolean;
}

export type MeterAnswer =
  | { readonly verdict: "go"; readonly notices: readonly EventBody[] }
  | {
      readonly verdict: "refuse" | "finish" | "cheaper";
      readonly notices: readonly EventBody[];
      readonly budget: string;
      readonly message: string;
      /** Of a limit per minute. */
      readonly rate?: RateLimit;
    };

/** When there is room again; of tokens also the limit and what is left of it. */
export interface RateLimit {
  readonly retryAfterMs: number;
  readonly most?: number;
  readonly left?: number;
}

/** The budgets of a run. */
export interface Meter {
  /** What was reserved last is settled with events that have to be stored first, or they would settle the next reservation. */
  readonly unsettled: boolean;
  reserve(asked: Metered): Promise<MeterAnswer>;
  /** What a generation used, from which the next estimate learns. */
  used(model: string, usage: Usage): void;
}
