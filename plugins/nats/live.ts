import type { Msg, Subscription } from "@nats-io/transport-node";
import type { RunEvent } from "venturi/plugin";
import { Joiner } from "./fragments.ts";
import type { Link } from "./link.ts";
import type { Names } from "./names.ts";
import { eventsIn, type Record } from "./records.ts";
import { standingOf } from "./standing.ts";
import { type Stored, textOf } from "./stored.ts";

/** Core NATS may silently drop the last record of a burst: the stream is checked after this long, ms. */
const recheck = 900;
const idle = 10_000;
const mostEvents = 4_096;

interface Followed {
  readonly joiner: Joiner;
  subscription: Subscription | undefined;
  records: Record[];
  events: number;
  /** Everything up to here is known to be complete, and later records follow without a gap. */
  head: number | undefined;
  checked: number;
  used: number;
}

/**
 * Events of runs written by other processes. Streams republish what they commit; followers subscribe to that and need no reads.
 * Each record states its first event, so a lost one leaves a gap, which is then read.
 */
export class Live {
  readonly #link: Link;
  readonly #names: Names;
  readonly #came: (run: string) => void;
  readonly #runs = new Map<string, Followed>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(link: Link, names: Names, came: (run: string) => void) {
    this.#link = link;
    this.#names = names;
    this.#came = came;
    link.onLost(() => {
      for (const followed of this.#runs.values()) forget(followed);
    });
  }

  /** Call before reading the run, so that nothing is missed in between. */
  follow(run: string): void {
    const now = performance.now();
    const there = this.#runs.get(run);
    if (there) {
      there.used = now;
      return;
    }
    const followed: Followed = {
      joiner: new Joiner(),
      subscription: undefined,
      records: [],
      events: 0,
      head: undefined,
      checked: 0,
      used: now,
    };
    this.#runs.set(run, followed);
    this.#link
      .subscribe("journal.follow", this.#names.live(run), (message) => this.#take(run, message))
      .then(
        (subscription) => {
          if (this.#runs.get(run) === followed) followed.subscription = subscription;
          else subscription.unsubscribe();
        },
        () => this.#runs.delete(run), // The next caller retries.
      );
    this.#sweep ??= setInterval(() => this.#leaveIdle(), idle / 4).unref();
  }

  /** The events after `after`, if known without reading the stream. */
  take(run: string, after: number, limit: number): RunEvent[] | undefined {
    const followed = this.#runs.get(run);
    if (followed?.head === undefined) return undefined;
    if (after >= followed.head) return performance.now() - followed.checked < recheck ? [] : undefined;
    const [oldest] = followed.records;
    if (!oldest || oldest.first > after + 1) return undefined;
    const from = followed.records.findIndex((record) => record.head > after);
    return eventsIn(followed.records.slice(from), after, limit);
  }

  /** Called after the stream was read up to `head`. */
  checked(run: string, head: number): void {
    const followed = this.#runs.get(run);
    if (!followed) return;
    followed.checked = performance.now();
    if (followed.head !== undefined && followed.head >= head) return;
    const later = followed.records.filter((record) => record.head > head);
    followed.records = later;
    followed.events = later.reduce((sum, { first, head: last }) => sum + last - first + 1, 0);
    const [next] = later;
    if (next && next.first > head + 1) forget(followed);
    else followed.head = later.at(-1)?.head ?? head;
  }

  close(): void {
    clearInterval(this.#sweep);
    for (const { subscription } of this.#runs.values()) subscription?.unsubscribe();
    this.#runs.clear();
  }

  #take(run: string, message: Msg): void {
    const followed = this.#runs.get(run);
    const { headers } = message;
    if (!followed || !headers) return;
    const whole = followed.joiner.take(republished(message));
    const { first, head, epoch } = standingOf(headers.get("V"));
    if (!whole || first === 0) return;
    const end = followed.records.at(-1)?.head ?? followed.head;
    if (end !== undefined && head <= end) return;
    if (end !== undefined && first !== end + 1) forget(followed);
    followed.records.push({ first, head, epoch, body: textOf(whole.data) });
    followed.events += head - first + 1;
    if (followed.head !== undefined) followed.head = head;
    while (followed.events > mostEvents && followed.records.length > 1) {
      const gone = followed.records.shift();
      if (gone) followed.events -= gone.head - gone.first + 1;
    }
    this.#came(run);
  }

  #leaveIdle(): void {
    const now = performance.now();
    for (const [run, { used, subscription }] of this.#runs) {
      if (now - used < idle) continue;
      subscription?.unsubscribe();
      this.#runs.delete(run);
    }
  }
}

/** Core NATS may have left a gap: the stream must be read. */
function forget(followed: Followed): void {
  followed.records = [];
  followed.events = 0;
  followed.head = undefined;
}

const republished = (message: Msg): Stored => ({
  subject: message.subject,
  seq: Number(message.headers?.get("Nats-Sequence") ?? 0),
  time: 0,
  header: (name) => message.headers?.get(name) || undefined,
  data: message.data,
});
