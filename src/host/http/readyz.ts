import type { FastifyInstance } from "fastify";
import { reasonsOf, VenturiError, wrap } from "../../core/errors/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import type { OwnStatus, ProcessState } from "../processes/protocol.ts";
import type { Siblings } from "../processes/siblings.ts";

const op = "server.ready";

export interface ReadyDeps {
  /** Rejects while the service cannot accept runs (journal unreachable). */
  readonly ready: () => Promise<void>;
  /** Blocked time of the event loop in the last ten seconds. */
  readonly eventLoop?: (() => { readonly blockedMs: number; readonly longestMs: number }) | undefined;
  readonly siblings?: Siblings | undefined;
  readonly log: Log;
}

export interface OwnReadiness {
  readonly status: OwnStatus;
  readonly reason?: VenturiError;
}

/** Readiness of a draining process. */
export const stopping = (): OwnReadiness => ({
  status: "draining",
  reason: new VenturiError(op, "shutting_down", "the service is stopping"),
});

/** Whether this process takes runs now, and if not, why. */
export async function ownReadiness(deps: ReadyDeps): Promise<OwnReadiness> {
  try {
    await deps.ready();
  } catch (thrown) {
    // Unauthenticated callers see only that it failed, not where the journal is.
    const error = wrap(op, thrown, "journal_failed");
    deps.log.warn("not ready", { code: error.code, reason: reasonsOf(error).join(": ") });
    const message =
      error.code === "journal_failed" ? "the journal is unusable; see the log for the reason" : error.message;
    return { status: "not_ready", reason: new VenturiError(op, error.code, message) };
  }
  const eventLoop = deps.eventLoop?.();
  // Blocked more than half the time: additional runs would only slow down the others.
  if (eventLoop === undefined || eventLoop.blockedMs <= 5_000) return { status: "ready" };
  const message = "the event loop is overloaded; see the log and the metrics";
  return { status: "busy", reason: new VenturiError(op, "unavailable", message, { details: { eventLoop } }) };
}

/** `/readyz` of this process, or of all: the service is ready if one process is, since connections go to one that accepts runs. */
export function mountReadyz(app: FastifyInstance, deps: ReadyDeps, own: () => Promise<OwnReadiness>): void {
  const schema = { summary: "New runs are taken", tags: ["operations"] };
  app.get("/readyz", { config: { open: true }, schema }, async () => {
    const { status, reason } = await own();
    const processes = await deps.siblings?.states().catch(() => undefined);
    const isReady = processes?.some((each) => each.status === "ready") ?? status === "ready";
    if (!isReady) throw refusal(reason, processes);
    const eventLoop = deps.eventLoop?.();
    return {
      status: "ready",
      ...(eventLoop === undefined ? {} : { eventLoop }),
      ...(processes === undefined ? {} : { processes }),
    };
  });
}

function refusal(
  reason = new VenturiError(op, "unavailable", "no process of the service takes runs now"),
  processes: readonly ProcessState[] | undefined,
): VenturiError {
  if (processes === undefined) return reason;
  return new VenturiError(op, reason.code, reason.message, { details: { ...reason.details, processes } });
}
