import { storedBody } from "venturi/internal";
import { type Cursor, type Signal, VenturiError } from "venturi/plugin";
import { type Changing, change } from "./changes.ts";
import { failed } from "./failures.ts";
import { runOf } from "./names.ts";
import { standingOf } from "./standing.ts";
import { lastLimit } from "./store.ts";
import { bytesOf, type Stored, textOf } from "./stored.ts";

type Body = Omit<Signal, "number">;

/** Signals are messages of the run, so they are ordered before or after any park, claim or end. */
export class Signals {
  readonly #options: Changing;

  constructor(options: Changing) {
    this.#options = options;
  }

  async send(run: string, signal: Body): Promise<boolean> {
    const op = "journal.signal";
    const data = bytesOf(JSON.stringify(signal.body));
    const headers = signalHeader(signal);
    let known = false;
    let mine = false;
    const stored = await change(this.#options, { op, run }, async (tail, nonce) => {
      known = true;
      if (tail.signals > 0) {
        const before = await this.#stored(op, run, tail.signals);
        const same = before.find((message) => signalOf(message).id === signal.id);
        mine = same?.header("N") === nonce; // Stored by the previous attempt, whose response was lost.
        if (same) return undefined;
      }
      if (tail.state === "done") return undefined;
      const cancelled = tail.cancelled || signal.kind === "cancel";
      const state = tail.state === "waiting" ? "ready" : tail.state;
      const standing = { ...tail, cancelled, state, signals: tail.signals + 1, wake: 0 };
      return { kind: "s", standing, data, headers };
    });
    if (!known) throw new VenturiError(op, "not_found", `there is no run ${run}`);
    return stored || mine;
  }

  async readMany(op: string, cursors: readonly Cursor[]): Promise<Map<string, Signal[]>> {
    const counts = await this.#counts(op, cursors);
    const found = new Map<string, Signal[]>();
    await Promise.all(
      cursors.map(async ({ run, after }) => {
        const count = counts.get(run) ?? 0;
        if (count <= after) return;
        const messages = await this.#stored(op, run, count);
        const signals = messages.map((message, index) => ({ number: index + 1, ...signalOf(message) }));
        found.set(run, signals.slice(after));
      }),
    );
    return found;
  }

  /** The signal counts of many runs, hundreds per request. */
  async #counts(op: string, cursors: readonly Cursor[]): Promise<Map<string, number>> {
    const { store, names, view } = this.#options;
    const counts = new Map<string, number>();
    for (const [shard, group] of Map.groupBy(cursors, ({ run }) => names.shardOf(run))) {
      for (let at = 0; at < group.length; at += lastLimit) {
        const subjects = group.slice(at, at + lastLimit).map(({ run }) => names.run(run, "s"));
        const atLeast = view.applied(shard);
        for (const message of await store.lastOfEach(op, names.stream(shard), { subjects, atLeast }))
          counts.set(runOf(message.subject).run, standingOf(message.header("V") ?? "").signals);
      }
    }
    return counts;
  }

  /** All signals of a run, at least `count` of them. */
  async #stored(op: string, run: string, count: number): Promise<Stored[]> {
    const { store, names } = this.#options;
    const subject = names.run(run, "s");
    const last = await store.last(op, names.streamOf(run), subject);
    const messages: Stored[] = [];
    if (last) {
      const range = { filter: subject, seq: 1, upTo: last.seq };
      for await (const message of store.scan(op, names.streamOf(run), range)) messages.push(message);
    }
    if (messages.length < count) throw failed(op, `the run ${run} has ${messages.length} of its ${count} signals`);
    return messages;
  }
}

/** Separate from the body: the kind must be known even if the body cannot be read. */
export const signalHeader = ({ id, kind }: Pick<Body, "id" | "kind">): string =>
  `S: ${kind} ${encodeURIComponent(id)}\r\n`;

function signalOf(message: Stored): Body {
  const [kind, id = ""] = (message.header("S") ?? "").split(" ");
  return { id: decodeURIComponent(id), kind: kind as Body["kind"], body: storedBody(textOf(message.data)) }; // Written from one.
}
