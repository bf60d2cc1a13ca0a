import { VenturiError } from "../../core/errors/errors.ts";
import { systemChance } from "../../core/ports/chance.ts";
import type { RunContext } from "../run/run-context.ts";
import { GenerationFailure } from "./generation.ts";

/** Longest wait for one model while others are available, ms. */
export const patient = 5_000;

export const longestWait = (run: RunContext): number => run.agent.model.retry.longestWait ?? 60_000;

export const worthRetrying = (error: VenturiError): boolean => {
  const asked = error.details?.retry;
  return typeof asked === "boolean" ? asked : error.retryable;
};

/** The wait the provider asked for, ms. */
export function askedWait({ details }: VenturiError): number | undefined {
  const asked = details?.retryAfterMs;
  return typeof asked === "number" && asked >= 0 ? asked : undefined;
}

/** Adds to the message a requested wait that was too long to wait for, as the reason for not retrying. */
export function namingWait(run: RunContext, failure: GenerationFailure): GenerationFailure {
  const { error, shown, usage } = failure;
  const asked = askedWait(error);
  const most = longestWait(run);
  if (asked === undefined || asked <= most || !worthRetrying(error)) return failure;
  const seconds = (ms: number) => `${Math.ceil(ms / 1_000)} s`;
  const message = `${error.message}; it asks to wait ${seconds(asked)}, and retry.longestWait is ${seconds(most)}`;
  const named = new VenturiError(error.op, error.code, message, { cause: error, details: { ...error.details } });
  return new GenerationFailure(named, { shown, usage });
}

/** Jitter keeps clients that were rejected together from retrying together. */
export const withJitter = (run: RunContext, asked: number): number => asked * (1 + random(run) * 0.25);

const random = ({ deps }: RunContext): number => (deps.chance ?? systemChance).random();

/** The provider's retry-after plus up to 25 %; without one 0.5 s doubling up to 8 s, minus up to 25 %. */
export function backoff(run: RunContext, error: VenturiError, tries: number): number {
  const asked = askedWait(error);
  if (asked !== undefined) return withJitter(run, asked);
  return Math.min(8_000, 500 * 2 ** tries) * (1 - random(run) * 0.25);
}
