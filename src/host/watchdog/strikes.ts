import { VenturiError } from "../../core/errors/errors.ts";
import type { RequestDoing } from "../../core/values/doing.ts";

/** A caller's requests to a route that blocked processes. */
export interface Refused extends RequestDoing {
  /** Ms since the epoch. */
  readonly until: number;
}

/** How many processes a tenant's requests to one route may block within this time, ms. */
const mostStrikes = 2;
const remembered = 10 * 60_000;
/** How long such requests are then refused, ms. */
const banned = 10 * 60_000;

/** Tracks which requests blocked processes; kept by whoever starts the processes. */
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

let refused: readonly Refused[] = [];

export function refuse(list: readonly Refused[]): void {
  refused = list;
}

/** Throws `rate_limited` for requests that blocked two processes. */
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
