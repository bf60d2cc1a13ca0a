import { VenturiError } from "../../core/errors/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Telemetry } from "../../core/ports/telemetry.ts";
import { defaultTenant } from "../../core/run/run-request.ts";
import type { KeyHolder } from "./key-holder.ts";

/** One log line per reason and second. */
const window = 1_000;
const statuses: readonly number[] = [401, 429, 503];

export interface RefusalsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly telemetry: Pick<Telemetry, "count">;
}

type Refused = Pick<KeyHolder, "id" | "tenant" | "tenants">;

/** Reports requests and starts that the service refuses: each as a metric, and one log line per reason and second. */
export class Refusals {
  readonly #deps: RefusalsDeps;
  /** Refusals since the last line, by reason. */
  readonly #since = new Map<string, number>();
  /** The same error may pass several places that note it. */
  readonly #noted = new WeakSet<VenturiError>();

  constructor(deps: RefusalsDeps) {
    this.#deps = deps;
  }

  /** `holder`: the refused caller, if its key was known. */
  note(thrown: unknown, holder?: Refused): void {
    if (!VenturiError.isInstance(thrown) || !statuses.includes(thrown.status) || this.#isNoted(thrown)) return;
    const { limit } = thrown.details ?? {};
    const reason = typeof limit === "string" ? limit : thrown.code;
    const tenantClass = classOf(holder);
    this.#deps.telemetry.count("venturi.requests.refused", { reason, "venturi.tenant.class": tenantClass });
    const since = this.#since.get(reason);
    if (since !== undefined) {
      this.#since.set(reason, since + 1);
      return;
    }
    this.#deps.log.warn("request refused", {
      reason,
      code: thrown.code,
      class: tenantClass,
      ...(holder === undefined ? {} : { key: holder.id }),
      error: thrown.message,
    });
    this.#open(reason);
  }

  #open(reason: string): void {
    this.#since.set(reason, 0);
    this.#deps.clock.after(window, () => {
      const count = this.#since.get(reason) ?? 0;
      this.#since.delete(reason);
      if (count === 0) return;
      this.#deps.log.warn("more requests refused", { reason, count, ms: window });
      this.#open(reason);
    });
  }

  #isNoted(error: VenturiError): boolean {
    for (let cause: unknown = error; VenturiError.isInstance(cause); cause = cause.cause) {
      if (this.#noted.has(cause)) return true;
    }
    this.#noted.add(error);
    return false;
  }
}

const classOf = (holder: Refused | undefined): string => {
  if (holder === undefined) return "anonymous";
  if (holder.tenants === "all") return "operator";
  return holder.tenant === defaultTenant ? "default" : "tenant";
};
