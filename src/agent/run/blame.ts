import type { VenturiError } from "../../core/errors/errors.ts";
import { untranslated } from "../../core/model/native.ts";
import type { Stalls } from "../../core/ports/stalls.ts";
import type { RunRequest } from "../../core/run/run-request.ts";

export interface FailureFacts {
  /** Clients had already seen output of the generation. */
  readonly shown: boolean;
  /** The event loop of this process was blocked shortly before. */
  readonly stalled: boolean;
  /** The request contains caller-supplied fields, a schema or tools, which may have caused the failure. */
  readonly unusual: boolean;
}

/**
 * How much a failure counts against the provider's health: 1, 0, or 0.5 if the request may have caused it. A wrong key, a bad request and
 * faults of this process count 0; rate limits are handled by waiting.
 */
export function blameFor(error: VenturiError, { shown, stalled, unusual }: FailureFacts): number {
  if (!blames.has(error.code)) return 0;
  const answered = typeof error.details?.status === "number";
  if (stalled && !answered) return 0;
  if (error.code === "stream_error" && shown) return 0.5;
  return answered && unusual ? 0.5 : 1;
}

const blames: ReadonlySet<string> = new Set(["unavailable", "timeout", "idle_timeout", "stream_error"]);

/** Whether the connection itself failed, which concerns all models of the provider. */
export const isUnreachable = ({ details }: VenturiError): boolean =>
  details?.unreachable === true || details?.timeout === "connect";

/** Whether the request contains something few other callers send. */
export function isUnusual({ native, output, clientTools }: RunRequest): boolean {
  return (
    (native !== undefined && untranslated(native).length > 0) ||
    output?.schema !== undefined ||
    clientTools?.some((tool) => tool.native !== undefined && untranslated(tool.native).length > 0) === true
  );
}

/** How long after a stall sockets may still fail because of it, ms. */
const aftermath = 5_000;

/** Whether this process was blocked so recently that a timeout or dropped connection is its own fault. */
export const stalledAt = (stalls: Stalls | undefined, now: number): boolean => {
  const at = stalls?.longAt?.();
  return at !== undefined && now - at <= aftermath;
};
