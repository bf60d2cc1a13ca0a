import type { Usage } from "../../core/model/usage.ts";
import type { EventBody } from "../../core/run/events.ts";

interface MeteredCall {
  readonly model: string;
  /** Estimated input tokens, and the limit of the answer. */
  readonly input: number;
  readonly output: number | undefined;
}

/** A generation about to be requested. */
export interface Metered extends MeteredCall {
  readonly ownership: { readonly run: string; readonly epoch: number; readonly head: number };
  /** The other model already being asked for this generation. */
  readonly beside?: MeteredCall;
  /** A cheaper model is already in use because a budget ran out. */
  readonly saving: boolean;
}

export type MeterAnswer =
  | { readonly decision: "go"; readonly notices: readonly EventBody[] }
  | {
      readonly decision: "refuse" | "finish" | "cheaper";
      readonly notices: readonly EventBody[];
      readonly budget: string;
      readonly message: string;
      /** Set when a per-minute limit is the reason. */
      readonly rate?: RateLimit;
    };

/** When there is room again; for token limits also the limit and the remainder. */
export interface RateLimit {
  readonly retryAfterMs: number;
  readonly most?: number;
  readonly left?: number;
}

/** Enforces the budgets that apply to a run. */
export interface Meter {
  /** Events that settle the last reservation are not stored yet; a new reservation before that would be settled by them. */
  readonly unsettled: boolean;
  reserve(asked: Metered): Promise<MeterAnswer>;
  /** Reports the actual usage, to improve the next estimate. */
  used(model: string, usage: Usage): void;
}
