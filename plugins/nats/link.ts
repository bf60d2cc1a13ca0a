import type { Msg, MsgHdrs, NatsConnection, Subscription } from "@nats-io/transport-node";
import { VenturiError } from "venturi/plugin";
import { explain } from "./failures.ts";
import type { Outgoing } from "./fragments.ts";
import { type Ack, ackOf, bytesOf } from "./stored.ts";

export interface LinkOptions {
  readonly connect: () => Promise<NatsConnection>;
  /** How long an operation is retried, ms. */
  readonly timeout: number;
  /** How long a response may take before it counts as lost, ms. */
  readonly requestTimeout: number;
  readonly inbox: string;
}

/** Called for each message of a response; true ends the wait. Without a message: nothing more will arrive, and why. */
type Receive = (message: Msg | undefined, why: string) => boolean;

interface Pulls {
  readonly ask: (subject: string, request: object) => void;
  readonly close: () => void;
}

const sweepInterval = 50;

/**
 * One connection with its own request handling: nats.js creates a timer, a promise chain and a header object per request, which
 * costs more than the publish. Here one inbox and one timer serve all.
 */
export class Link {
  readonly timeout: number;
  readonly #options: LinkOptions;
  readonly #waiting = new Map<string, { until: number; readonly receive: Receive }>();
  readonly #lost = new Set<() => void>();
  #count = 0;
  #connecting: Promise<NatsConnection> | undefined;
  #connection: NatsConnection | undefined;
  #up = false;
  #sweep: NodeJS.Timeout | undefined;
  #closed = false;
  #heard = 0;

  constructor(options: LinkOptions) {
    this.timeout = options.timeout;
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Of the connected server. */
  get maxPayload(): number {
    return this.#connection?.info?.max_payload ?? 1_048_576;
  }

  /** `callback` runs whenever the connection, and with it core NATS messages, was lost. */
  onLost(callback: () => void): void {
    this.#lost.add(callback);
  }

  async connection(op: string): Promise<NatsConnection> {
    if (this.#closed) throw new VenturiError(op, "journal_failed", "the journal has been closed");
    this.#connecting ??= this.#connect();
    try {
      return await this.#connecting;
    } catch (cause) {
      this.#connecting = undefined;
      const { message, unusable } = explain(cause);
      throw new VenturiError(op, "journal_failed", message, { cause, details: { unusable } });
    }
  }

  async publish(op: string, message: Outgoing): Promise<Ack> {
    await this.connection(op);
    return this.#publish([message]);
  }

  /** Publishes atomically to one stream; the ack carries the last message's sequence. */
  async publishTogether(op: string, messages: readonly Outgoing[]): Promise<Ack> {
    await this.connection(op);
    return this.#publish(messages);
  }

  /** Core NATS: fire and forget. */
  tell(subject: string, text: string): void {
    if (this.#up) this.#connection?.publish(subject, text);
  }

  async subscribe(op: string, subject: string, callback: (message: Msg) => void): Promise<Subscription> {
    const connection = await this.connection(op);
    return connection.subscribe(subject, {
      callback: (error, message) => {
        if (!error) callback(message);
      },
    });
  }

  /** One response, or why there was none. */
  async ask(op: string, subject: string, request: object): Promise<Msg | string> {
    return new Promise((resolve, reject) => {
      this.stream(op, { subject, request }, (message, why) => {
        if (!message) resolve(why);
        else resolve(message.headers?.code === 503 ? "the stream has no leader" : message);
        return true;
      }).catch(reject);
    });
  }

  /** As many responses as `receive` wants. */
  async stream(
    op: string,
    { subject, request }: { subject: string; request: object },
    receive: Receive,
  ): Promise<void> {
    const connection = await this.connection(op);
    if (!this.#up) {
      receive(undefined, "the connection was lost");
      return;
    }
    const reply = this.#wait(receive);
    connection.publish(subject, JSON.stringify(request), { reply });
  }

  /**
   * Requests whose responses have their own subjects, such as a consumer's messages. `receive` without a message: nothing arrived within
   * the response timeout.
   */
  async pulls(op: string, receive: (message: Msg | undefined, why: string) => void): Promise<Pulls> {
    const connection = await this.connection(op);
    const { inbox, requestTimeout } = this.#options;
    const reply = `${inbox}.pull.${(++this.#count).toString(36)}`;
    let heard = performance.now();
    const subscription = connection.subscribe(reply, {
      callback: (error, message) => {
        heard = performance.now();
        receive(error ? undefined : message, error?.message ?? "");
      },
    });
    const watch = setInterval(() => {
      if (!this.#up) receive(undefined, "the connection was lost");
      else if (performance.now() - heard > requestTimeout) receive(undefined, "no answer in time");
    }, sweepInterval);
    return {
      ask: (subject, request) => connection.publish(subject, JSON.stringify(request), { reply }),
      close: () => {
        clearInterval(watch);
        subscription.unsubscribe();
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweep);
    this.#failAll("the journal has been closed");
    const connection = await this.#connecting?.catch(() => undefined);
    this.#up = false;
    await connection?.close();
  }

  #publish(messages: readonly Outgoing[]): Promise<Ack> {
    const connection = this.#connection;
    // nats.js would buffer the publish until it reconnects, long after the request has timed out.
    if (!connection || !this.#up) return Promise.resolve({ kind: "lost", why: "the connection was lost" });
    return new Promise((resolve) => {
      const reply = this.#wait((message, why) => {
        resolve(message ? ackOf(message) : { kind: "lost", why });
        return true;
      });
      try {
        const last = messages.length - 1;
        const batch = last > 0 ? `Nats-Batch-Id: ${reply.slice(-40)}\r\n` : "";
        for (const [index, { subject, data, headers }] of messages.entries()) {
          const place = last > 0 ? `${batch}Nats-Batch-Sequence: ${index + 1}\r\n` : "";
          const commit = last > 0 && index === last ? "Nats-Batch-Commit: 1\r\n" : "";
          connection.publish(subject, data, {
            headers: rawHeaders(headers + place + commit),
            ...(index === last && { reply }),
          });
        }
      } catch (thrown) {
        this.#waiting.delete(this.#keyOf(reply));
        resolve({ kind: "lost", why: explain(thrown).message });
      }
    });
  }

  async #connect(): Promise<NatsConnection> {
    const connection = await this.#options.connect();
    connection.subscribe(`${this.#options.inbox}.*`, {
      callback: (error, message) => {
        if (!error) this.#receive(message);
      },
    });
    if (this.#closed) {
      await connection.close();
      return connection;
    }
    this.#connection = connection;
    this.#up = true;
    this.#sweep ??= setInterval(() => this.#expire(), sweepInterval).unref();
    this.#watch(connection);
    return connection;
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === "reconnect") this.#up = true;
      if (type !== "disconnect") continue;
      this.#up = false;
      this.#failAll("the connection was lost");
      for (const callback of this.#lost) callback();
    }
    // Closed permanently, for example by a server that revoked the credentials: the next operation reconnects.
    if (this.#closed || this.#connection !== connection) return;
    this.#up = false;
    this.#connecting = undefined;
    this.#failAll("the connection was closed");
    for (const callback of this.#lost) callback();
  }

  #receive(message: Msg): void {
    this.#heard = performance.now();
    const key = this.#keyOf(message.subject);
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    this.#waiting.delete(key);
    if (waiting.receive(message, "")) return;
    waiting.until = this.#heard + this.#options.requestTimeout;
    this.#waiting.set(key, waiting);
  }

  #wait(receive: Receive): string {
    const key = (++this.#count).toString(36);
    this.#waiting.set(key, { until: performance.now() + this.#options.requestTimeout, receive });
    return `${this.#options.inbox}.${key}`;
  }

  #keyOf(subject: string): string {
    return subject.slice(this.#options.inbox.length + 1);
  }

  /** All requests have the same timeout, so the first unexpired one ends the scan. */
  #expire(): void {
    const now = performance.now();
    let late = false;
    for (const [key, { until, receive }] of this.#waiting) {
      if (until > now) break;
      this.#waiting.delete(key);
      late = true;
      receive(undefined, "no answer in time");
    }
    // Nothing at all was received since the request: the connection is dead, and TCP will not report that for long.
    if (!late || now - this.#heard < this.#options.requestTimeout) return;
    this.#heard = now;
    this.#connection?.reconnect().catch(() => {}); // Reconnecting never gives up.
  }

  #failAll(why: string): void {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { receive } of all) receive(undefined, why);
  }
}

/** nats.js only calls `encode` on the headers of a publish, and building its own is what costs most. */
const rawHeaders = (lines: string): MsgHdrs =>
  ({ encode: () => bytesOf(`NATS/1.0\r\n${lines}\r\n`) }) as unknown as MsgHdrs;
