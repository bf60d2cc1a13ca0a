import { Egress, egressFetch, type Notified, namesPrivate, redactor } from "venturi/internal";
import { type Clock, type EgressFetch, messageOf, VenturiError } from "venturi/plugin";
import type { Message } from "./message.ts";
import { signedHeaders } from "./sign.ts";
import { backoff, type WebhookOptions } from "./webhook-options.ts";

/** A delivery's destination, and the tenant of its run. */
export type Addressed = Notified & { readonly tenant?: string };

export type Delivered =
  | { readonly kind: "ok" }
  /** `final`: no retry can succeed. */
  | { readonly kind: "failed"; readonly error: string; readonly final: boolean; readonly retryAfter?: number };

/** After this many consecutive failures of a tenant at an address, it is probed by one delivery of that tenant at a time. */
const downAfter = 5;
const longestProbe = 60_000;
/** Maximum tenants and addresses with recorded failures. */
const mostKnown = 5_000;

/** Health of an address for one tenant, so that one tenant's failures do not affect another. */
interface Health {
  failures: number;
  busy: number;
  /** By the monotonic clock. */
  probeAt: number;
  /** When it last recovered, by the monotonic clock: deliveries that failed before may retry at once. */
  upSince: number;
}

const unknown: Readonly<Health> = {
  failures: 0,
  busy: 0,
  probeAt: Number.NEGATIVE_INFINITY,
  upSince: Number.NEGATIVE_INFINITY,
};

/** The receiver of a webhook: how to reach it, and its health. */
export class Receiver {
  readonly options: WebhookOptions;
  readonly #clock: Clock;
  readonly #fetch: EgressFetch;
  readonly #masked: (text: string) => string;
  #busy = 0;
  readonly #busyOf = new Map<string, number>();
  readonly #health = new Map<string, Health>();

  constructor(options: WebhookOptions, clock: Clock, fetchOf = ownFetch) {
    this.options = options;
    this.#clock = clock;
    this.#fetch = fetchOf(options);
    this.#masked = redactor(Object.fromEntries(this.#secrets.map((secret, index) => [`secret ${index + 1}`, secret])));
  }

  /** Whether any delivery may begin now. */
  get hasRoom(): boolean {
    return this.#busy < this.options.concurrency;
  }

  /** Whether a delivery there may begin now. A tenant gets at most half of the slots. */
  isFree(where: Addressed): boolean {
    const { tenant = "" } = where;
    const share = Math.ceil(this.options.concurrency / 2);
    if (!this.hasRoom || (this.#busyOf.get(tenant) ?? 0) >= share) return false;
    const { failures, busy, probeAt } = this.#healthOf(where);
    return failures < downAfter || (busy === 0 && this.#clock.monotonic() >= probeAt);
  }

  upSince(where: Addressed): number {
    return this.#healthOf(where).upSince;
  }

  async deliver(message: Message, where: Addressed = {}, signal?: AbortSignal): Promise<Delivered> {
    const { tenant = "" } = where;
    const health = this.#known(where);
    const count = (by: 1 | -1) => {
      this.#busy += by;
      health.busy += by;
      const left = (this.#busyOf.get(tenant) ?? 0) + by;
      if (left === 0) this.#busyOf.delete(tenant);
      else this.#busyOf.set(tenant, left);
    };
    count(1);
    try {
      const delivered = await this.#send(message, where, signal);
      if (delivered.kind === "ok") this.#worked(health);
      else if (!signal?.aborted && !delivered.final) this.#failed(health, delivered.retryAfter ?? 0);
      return delivered;
    } finally {
      count(-1);
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
    // Not only runs name a webhook: so do clients of an agent, for their tasks.
    if (!isFor(this.options, message))
      return { kind: "failed", error: "the webhook is not for this tenant or agent", final: true };
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
      await response.body?.cancel(); // The body is ignored, and may be endless.
      return response.ok ? { kind: "ok" } : refused(response);
    } catch (thrown) {
      // Refused by a rule of the configuration, and will be again.
      const final = VenturiError.isInstance(thrown) && thrown.code === "tool_denied";
      return { kind: "failed", error: reasonOf(late.signal.aborted ? late.signal.reason : thrown), final };
    } finally {
      stop();
    }
  }

  #worked(health: Health): void {
    if (health.failures >= downAfter) health.upSince = this.#clock.monotonic();
    health.failures = 0;
  }

  #failed(health: Health, retryAfter: number): void {
    health.failures += 1;
    const wait = Math.min(longestProbe, backoff(health.failures - downAfter, this.options.retry));
    health.probeAt = this.#clock.monotonic() + Math.max(wait, retryAfter);
  }

  #healthOf(where: Addressed): Readonly<Health> {
    return this.#health.get(this.#keyOf(where)) ?? unknown;
  }

  #known(where: Addressed): Health {
    const key = this.#keyOf(where);
    const health = this.#health.get(key) ?? { ...unknown };
    this.#health.delete(key);
    this.#health.set(key, health);
    const [longestUnused] = this.#health.keys();
    if (this.#health.size > mostKnown && longestUnused !== undefined) this.#health.delete(longestUnused);
    return health;
  }

  #keyOf({ tenant = "", url = this.options.url ?? "" }: Addressed): string {
    return `${tenant}\n${URL.canParse(url) ? new URL(url).origin : url}`;
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

/** Whether the webhook tells of runs of this tenant and agent. */
export function isFor(
  { tenants, agents }: WebhookOptions,
  { tenant, agent }: { tenant: string; agent?: string },
): boolean {
  return (tenants?.includes(tenant) ?? true) && (agent === undefined || (agents?.includes(agent) ?? true));
}

function refused(response: Response): Delivered {
  const seconds = Number(response.headers.get("retry-after"));
  const retryAfter = Number.isFinite(seconds) && seconds > 0 ? { retryAfter: Math.min(seconds, 3_600) * 1_000 } : {};
  // 410: the receiver is permanently gone, by Standard Webhooks.
  return { kind: "failed", error: `status ${response.status}`, final: response.status === 410, ...retryAfter };
}

function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? `: ${thrown.cause.message}` : "";
  return `${messageOf(thrown)}${cause}`.slice(0, 300);
}
