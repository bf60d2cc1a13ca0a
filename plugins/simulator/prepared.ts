import type { IncomingMessage } from "node:http";
import type { Decision } from "./simulation.ts";
import type { WireFrame } from "./wire.ts";

export interface Ready {
  readonly decision: Decision;
  readonly frames: readonly WireFrame[];
}

const most = 8;
const longestBody = 16_384;

/**
 * Cached responses to the last few plain requests: a load test repeats the same request and does not want to measure the
 * simulator.
 */
export class Prepared {
  #ready = new Map<string, Ready>();

  /** Undefined for a request that cannot be cached. */
  key(request: IncomingMessage, body: string): string | undefined {
    if (body.length > longestBody) return undefined;
    if (Object.keys(request.headers).some((name) => name.startsWith("x-simulate-"))) return undefined;
    return `${request.url} ${body}`;
  }

  get(key: string | undefined): Ready | undefined {
    return key === undefined ? undefined : this.#ready.get(key);
  }

  keep(key: string | undefined, ready: Ready): void {
    if (key === undefined || !ready.decision.plain) return;
    if (this.#ready.size >= most) this.#ready.delete(this.#ready.keys().next().value ?? "");
    this.#ready.set(key, ready);
  }
}
