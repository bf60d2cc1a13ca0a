import { Egress, egressFetch, type Notified, namesPrivate, redactor } from "venturi/internal";
import { type Clock, type EgressFetch, messageOf, VenturiError } from "venturi/plugin";
import type { Message } from "./message.ts";
import { signedHeaders } from "./sign.ts";
import { backoff, type WebhookOptions } from "./webhook-options.ts";

export type Delivered =
  | { readonly kind: "ok" }
  /** `final`: no further try can succeed. */
  | { readonly kind: "failed"; readonly error: string; readonly final: boolean; readonly retryAfter?: number };

/** Failures in a row, of whatever runs, after which the receiver counts as down and is asked by one delivery at a time. */
const downAfter = 5;
const longestProbe = 60_000;

/** Whoever is at the other end of a webhook: how it is reached, and how it is doing. */
export class Receiver {
  readonly options: WebhookOptions;
  readonly #clock: Clock;
  readonly #fetch: EgressFetch;
  readonly #masked: (text: string) => string;
  #failures = 0;
  #busy = 0;
  #probeAt = Number.NEGATIVE_INFINITY;
  /** When it was last down, by the monotonic clock: whoever failed before may try at once. */
  upSince = Number.NEGATIVE_INFINITY;

  constructor(options: WebhookOptions, clock: Clock, fetchOf = ownFetch) {
    this.options = options;
    this.#clock = clock;
    this.#fetch = fetchOf(options);
    this.#masked = redactor(Object.fromEntries(this.#secrets.map((secret, index) => [`secret ${index + 1}`, secret])));
  }

  get isDown(): boolean {
    return this.#failures >= downAfter;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Whether a delivery may begin now. */
  get isFree(): boolean {
    if (!this.isDown) return this.#busy < this.options.concurrency;
    return this.#busy === 0 && this.#clock.monotonic() >= this.#probeAt;
  }

  async deliver(message: Message, where: Notified = {}, signal?: AbortSignal): Promise<Delivered> {
    this.#busy += 1;
    try {
      const delivered = await this.#send(message, where, signal);
      if (delivered.kind === "ok") this.#worked();
      else if (!signal?.aborted && !delivered.final) this.#failed(delivered.retryAfter ?? 0);
      return delivered;
    } finally {
      this.#busy -= 1;
    }
  }

  close(): Promise<void> {
    return this.#fetch.close();
  }

  get #secrets(): readonly string[] {
    return [this.options.secret].flat();
  }

  async #send(message: Message, where: Notified, signal: AbortSignal | undefined): Promise<Delivered> {
    const { url = this.options.url, headers } = where;
    if (url === undefined) return { kind: "failed", error: "the webhook has no URL", final: true };
    const late = new AbortController();
    const stop = this.#clock.after(this.options.timeout, () => late.abort(new Error("the receiver took too long")));
    const body = this.#masked(message.body);
    const timestamp = String(Math.floor(this.#clock.now() / 1_000));
    try {
      const response = await this.#fetch.fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "user-agent": "venturi",
          ...headers,
          ...signedHeaders(this.#secrets, { id: message.id, timestamp, body }),
        },
        body,
        signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
      });
      await response.body?.cancel(); // what it says is of no interest, and may be endless
      return response.ok ? { kind: "ok" } : refused(response);
    } catch (thrown) {
      // A rule of the configuration refuses it, and will again.
      const final = VenturiError.isInstance(thrown) && thrown.code === "tool_denied";
      return { kind: "failed", error: reasonOf(late.signal.aborted ? late.signal.reason : thrown), final };
    } finally {
      stop();
    }
  }

  #worked(): void {
    if (this.isDown) this.upSince = this.#clock.monotonic();
    this.#failures = 0;
  }

  #failed(retryAfter: number): void {
    this.#failures += 1;
    const wait = Math.min(longestProbe, backoff(this.#failures - downAfter, this.options.retry));
    this.#probeAt = this.#clock.monotonic() + Math.max(wait, retryAfter);
  }
}

function ownFetch(options: WebhookOptions): EgressFetch {
  const own = options.url === undefined ? undefined : new URL(options.url);
  return egressFetch(
    new Egress({
      hosts: [...(options.hosts ?? []), ...(own === undefined ? [] : [own.host])],
      allowPrivate: [...options.allowPrivate, ...(own === undefined ? [] : namesPrivate(own))],
      nameServers: options.nameServers,
    }),
  );
}

function refused(response: Response): Delivered {
  const seconds = Number(response.headers.get("retry-after"));
  const retryAfter = Number.isFinite(seconds) && seconds > 0 ? { retryAfter: Math.min(seconds, 3_600) * 1_000 } : {};
  // 410: the receiver is gone for good, by Standard Webhooks.
  return { kind: "failed", error: `status ${response.status}`, final: response.status === 410, ...retryAfter };
}

function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? `: ${thrown.cause.message}` : "";
  return `${messageOf(thrown)}${cause}`.slice(0, 300);
}
