import type { Msg } from "@nats-io/transport-node";
import { failed, tooLarge } from "./failures.ts";
import { cut, Joiner, type Outgoing, type Write } from "./fragments.ts";
import type { Link } from "./link.ts";
import { type Ack, type LeaderMessage, type Stored, storedByLeader, storedByReplica } from "./stored.ts";

/** Maximum messages in an atomic batch. */
export const batchLimit = 1_000;
const pageSize = 256;
const pageBytes = 4 * 1_048_576;
/** Maximum subjects of one `multi_last`. */
export const lastLimit = 1_000;

interface Pull {
  readonly consumer: string;
  readonly batch: number;
}

interface ApiError {
  readonly code: number;
  readonly err_code: number;
  readonly description: string;
}

/** `JSStreamReplicasNotSupportedErr` has a server error code, but a single server will never answer otherwise. */
const isFinal = ({ code, err_code }: ApiError): boolean => code < 500 || err_code === 10074;

/** JetStream reads and writes for the journal. */
export class Store {
  readonly link: Link;
  readonly #api: string;

  constructor(link: Link, domain: string | undefined) {
    this.link = link;
    this.#api = domain === undefined ? "$JS.API" : `$JS.${domain}.API`;
  }

  get timeout(): number {
    return this.link.timeout;
  }

  /** One write, split if large. Not retried: the caller must find out what a lost response means. */
  write(op: string, write: Write): Promise<Ack> {
    return this.writeTogether(op, [write]);
  }

  writeTogether(op: string, writes: readonly Write[]): Promise<Ack> {
    return this.send(op, this.messagesOf(op, writes));
  }

  messagesOf(op: string, writes: readonly Write[]): Outgoing[] {
    const messages = writes.flatMap((write) => cut(write, this.link.maxPayload));
    if (messages.length > batchLimit)
      throw tooLarge(op, `${messages.length} messages at once, and NATS takes ${batchLimit}; raise its max_payload`);
    return messages;
  }

  send(op: string, messages: readonly Outgoing[]): Promise<Ack> {
    const [only] = messages;
    return only && messages.length === 1 ? this.link.publish(op, only) : this.link.publishTogether(op, messages);
  }

  /** An unconditional write, retried until it is stored. */
  async put(op: string, write: Write): Promise<void> {
    const deadline = performance.now() + this.timeout;
    for (;;) {
      const ack = await this.write(op, write);
      if (ack.kind === "stored") return;
      if (performance.now() > deadline) throw failed(op, ack.kind === "lost" ? ack.why : "others keep writing");
      await pause(50);
    }
  }

  /** From the stream's leader: sees everything acknowledged. */
  async last(op: string, stream: string, subject: string): Promise<Stored | undefined> {
    return this.#fromLeader(op, stream, { last_by_subj: subject });
  }

  async at(op: string, stream: string, seq: number): Promise<Stored | undefined> {
    return this.#fromLeader(op, stream, { seq });
  }

  /** A JetStream API request, retried while no server can answer. */
  async api<T extends object>(op: string, subject: string, request: object): Promise<T> {
    const answer = await this.tryApi<T>(op, subject, request);
    if ("error" in answer) throw failed(op, answer.error.description);
    return answer;
  }

  async tryApi<T extends object>(
    op: string,
    subject: string,
    request: object,
  ): Promise<T | { readonly error: ApiError }> {
    const deadline = performance.now() + this.timeout;
    for (;;) {
      const answer = await this.link.ask(op, `${this.#api}.${subject}`, request);
      if (typeof answer !== "string") {
        const said = answer.json<T & { error?: ApiError }>();
        if (said.error && (isFinal(said.error) || performance.now() > deadline)) return { error: said.error };
        if (!said.error) return said;
      } else if (performance.now() > deadline) throw failed(op, answer);
      await pause(40);
    }
  }

  /** Reads from a consumer, `batch` messages at a time, until `take` returns true. `consumer`: `STREAM.NAME`. Rejects when interrupted. */
  async pull(op: string, { consumer, batch }: Pull, take: (message: Msg) => boolean): Promise<void> {
    const done = Promise.withResolvers<void>();
    let left = 0;
    const ask = () => {
      left = batch;
      pulls.ask(`${this.#api}.CONSUMER.MSG.NEXT.${consumer}`, { batch, no_wait: true });
    };
    const pulls = await this.link.pulls(op, (message, why) => {
      if (!message) return done.reject(new Error(why));
      if (!message.reply) {
        const { code = 0, description = "" } = message.headers ?? {};
        const isEnd = code === 404 || code === 408;
        return isEnd ? done.resolve() : done.reject(new Error(description || `status ${code}`));
      }
      try {
        if (take(message)) return done.resolve();
      } catch (thrown) {
        return done.reject(thrown);
      }
      left -= 1;
      if (left === 0) ask();
    });
    try {
      ask();
      await done.promise;
    } finally {
      pulls.close();
    }
  }

  /** The last message under each subject, from a replica that has reached `atLeast`. */
  async lastOfEach(op: string, stream: string, request: { subjects: readonly string[]; atLeast: number }) {
    const { subjects, atLeast } = request;
    const deadline = performance.now() + this.timeout;
    for (;;) {
      const answer = await this.#collect(op, stream, { multi_last: subjects, batch: lastLimit + 24 });
      if (typeof answer !== "string" && (answer.upTo === undefined || answer.upTo >= atLeast)) return answer.found;
      if (performance.now() > deadline)
        throw failed(op, typeof answer === "string" ? answer : "its replicas are behind");
      await pause(5);
    }
  }

  /** The first message under the subject at or after `seq`, from any replica. */
  async next(op: string, stream: string, request: { subject: string; seq: number }): Promise<Stored | undefined> {
    const [found] = await this.#page(op, stream, { seq: request.seq, next_by_subj: request.subject, batch: 1 });
    return found;
  }

  /**
   * Messages under `filter` from `seq` to `upTo`, which is the sequence of one of them, reassembled. A replica may lag: retried
   * until it has caught up.
   */
  async *scan(
    op: string,
    stream: string,
    range: { filter: string; seq: number; upTo: number },
  ): AsyncGenerator<Stored> {
    const { filter, upTo } = range;
    const joiner = new Joiner();
    const deadline = performance.now() + this.timeout;
    let { seq } = range;
    while (seq <= upTo) {
      const request = { seq, next_by_subj: filter, batch: pageSize, max_bytes: pageBytes };
      const messages = await this.#page(op, stream, request);
      for (const message of messages) {
        if (message.seq > upTo) return;
        seq = message.seq + 1;
        const whole = joiner.take(message);
        if (whole) yield whole;
      }
      if (messages.length > 0) continue;
      // Lagging, or the messages were removed in the meantime.
      if (!(await this.at(op, stream, upTo))) return;
      if (performance.now() > deadline) throw failed(op, "its replicas are behind");
      await pause(5);
    }
  }

  async #fromLeader(op: string, stream: string, request: object): Promise<Stored | undefined> {
    const subject = `STREAM.MSG.GET.${stream}`;
    const answer = await this.tryApi<{ message?: LeaderMessage }>(op, subject, request);
    if ("error" in answer) {
      if (answer.error.err_code === 10037) return undefined; // Message not found.
      throw failed(op, answer.error.description);
    }
    if (!answer.message) throw failed(op, "it answered without a message");
    return storedByLeader(answer.message);
  }

  async #page(op: string, stream: string, request: object): Promise<Stored[]> {
    const deadline = performance.now() + this.timeout;
    for (;;) {
      const answer = await this.#collect(op, stream, request);
      if (typeof answer !== "string") return answer.found;
      if (performance.now() > deadline) throw failed(op, answer);
      await pause(40);
    }
  }

  #collect(op: string, stream: string, request: object): Promise<{ found: Stored[]; upTo?: number } | string> {
    const found: Stored[] = [];
    return new Promise((resolve, reject) => {
      this.link
        .stream(op, { subject: `${this.#api}.DIRECT.GET.${stream}`, request }, (message, why) => {
          if (!message) {
            resolve(why);
            return true;
          }
          const { headers } = message;
          const code = headers?.code ?? 0;
          if (headers && code === 0) {
            found.push(storedByReplica(message, headers));
            if (headers.get("Nats-Num-Pending") !== "") return false;
            resolve({ found }); // A single message has no end marker.
            return true;
          }
          const upTo = headers?.get("Nats-UpTo-Sequence");
          if (code === 204) resolve(upTo ? { found, upTo: Number(upTo) } : { found });
          else if (code === 404) resolve({ found });
          else if (code === 503) resolve("the stream has no replica that answers");
          else resolve(headers?.description || `status ${code}`);
          return true;
        })
        .catch(reject);
    });
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
