import { VenturiError } from "../../core/errors/errors.ts";
import type { RequestDoing } from "../../core/values/doing.ts";

/** A caller's requests to a route, which blocked processes. */
export interface Refused extends RequestDoing {
  /** Ms since the epoch. */
  readonly until: number;
}

/** Processes that a tenant's requests to one route may block in this time, ms. */
const mostStrikes = 2;
const remembered = 10 * 60_000;
/** How long they are refused then, ms. */
const banned = 10 * 60_000;

/** Kept by whoever starts the processes: which requests blocked them. */
export class Strikes {
  #strikes: Refused[] = [];
  #refused: Refused[] = [];

  /** True when this was one too many. */
  add({ tenant, route }: RequestDoing, now = Date.now()): boolean {
    this.#strikes = this.#strikes.filter(({ until }) => until > now);
    this.#strikes.push({ tenant, route, until: now + remembered });
    if (this.#strikes.filter((strike) => isSame(strike, { tenant, route })).length < mostStrikes) return false;
    this.#refused.push({ tenant, route, until: now + banned });
    return true;
  }

  refused(now = Date.now()): readonly Refused[] {
    this.#refused = this.#refused.filter(({ until }) => until > now);
    return this.#refused;
  }
}

/** In a process: what is refused there. */
let refused: readonly Refused[] = [];

export function refuse(list: readonly Refused[]): void {
  refused = list;
}

/** Throws `rate_limited` for a request that blocked two processes. */
export function mustNotBlock(request: RequestDoing): void {
  if (refused.length === 0) return;
  const retryAfterMs = Math.max(
    0,
    ...refused.filter((each) => isSame(each, request)).map(({ until }) => until - Date.now()),
  );
  if (retryAfterMs === 0) return;
  const message = `your requests to ${request.route} blocked ${mostStrikes} processes of this service; they are refused for now`;
  throw new VenturiError("request.check", "rate_limited", message, { details: { retryAfterMs } });
}

const isSame = (one: RequestDoing, other: RequestDoing): boolean =>
  one.tenant === other.tenant && one.route === other.route;
