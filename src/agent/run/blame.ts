import type { VenturiError } from "../../core/errors/errors.ts";
import { untranslated } from "../../core/model/native.ts";
import type { Stalls } from "../../core/ports/stalls.ts";
import type { RunRequest } from "../../core/run/run-request.ts";

export interface FailureFacts {
  /** Output of the generation had been seen. */
  readonly shown: boolean;
  /** The event loop of this process was blocked shortly before. */
  readonly stalled: boolean;
  /** The request has fields, a schema or tools in the caller's own words, which the provider may have failed on. */
  readonly unusual: boolean;
}

/**
 * How much a failure says about the provider's health: 1, nothing (0), or half where it may be the request's. A wrong key, a bad
 * request and faults of this process say nothing; rate limits are handled by waiting.
 */
export function blameFor(error: VenturiError, { shown, stalled, unusual }: FailureFacts): number {
  if (!blames.has(error.code)) return 0;
  const answered = typeof error.details?.status === "number";
  if (stalled && !answered) return 0;
  if (error.code === "stream_error" && shown) return 0.5;
  return answered && unusual ? 0.5 : 1;
}

const blames: ReadonlySet<string> = new Set(["unavailable", "timeout", "idle_timeout", "stream_error"]);

/** Whether no connection came about, which concerns all models of the provider. */
export const isUnreachable = ({ details }: VenturiError): boolean =>
  details?.unreachable === true || details?.timeout === "connect";

/** Whether the caller has put something into the request that few others send. */
export function isUnusual({ native, output, clientTools }: RunRequest): boolean {
  return (
    (native !== undefined && untranslated(native).length > 0) ||
    output?.schema !== undefined ||
    clientTools?.some((tool) => tool.native !== undefined && untranslated(tool.native).length > 0) === true
  );
}

/** How long after a stall sockets may still fail because of it, ms. */
const aftermath = 5_000;

/** Whether this process was blocked so recently that a timeout or a cut connection is its own doing. */
export const stalledAt = (stalls: Stalls | undefined, now: number): boolean => {
  const at = stalls?.longAt?.();
  return at !== undefined && now - at <= aftermath;
};
