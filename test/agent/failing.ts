import type { Breakers } from "../../src/agent/run/breaker.ts";
import type { Code } from "../../src/core/errors/codes.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";

/** A run's generation that failed at p0/m, as the chain tells the breakers. */
export function failing(
  breakers: Breakers,
  {
    run,
    tenant = "default",
    code = "unavailable",
    model = "m",
    details = {},
    ...facts
  }: {
    run: string;
    tenant?: string;
    code?: Code;
    model?: string;
    details?: Record<string, unknown>;
    shown?: boolean;
    stalled?: boolean;
    unusual?: boolean;
  },
): void {
  const guard = breakers.of({ provider: "p0", model }, { tenant, run });
  const error = new VenturiError("provider.stream", code, `${code}!`, { details });
  guard.failed(error, { shown: false, stalled: false, unusual: false, ...facts });
}
