import type { IncomingHttpHeaders } from "node:http";
import { VenturiError } from "../core/errors/errors.ts";
import type { StartOptions } from "../core/ports/runs.ts";

interface Keyed {
  readonly headers: IncomingHttpHeaders;
  readonly body?: unknown;
}

/**
 * The Idempotency-Key of a request, and what is compared when it is used again. How the answer is delivered is not part of what was asked,
 * and the agent is compared by its own name.
 */
export function keyOf({ headers, body }: Keyed, called: string): Pick<StartOptions, "key" | "sent"> {
  const key = headers["idempotency-key"];
  if (key === undefined) return {};
  if (typeof key !== "string" || key === "" || key.length > 256)
    throw new VenturiError("run.start", "invalid_input", "an Idempotency-Key has 1 to 256 characters");
  const { stream: _, stream_options: __, agent, ...sent } = Object(body) as Record<string, unknown>; // Channels take objects only.
  return { key, sent: agent === called ? sent : { ...sent, agent } };
}
