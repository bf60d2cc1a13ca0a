import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import type { Hint } from "venturi/plugin";
import type { Database } from "./database.ts";
import type { Opened } from "./servers.ts";

const shards = 256;
const checkEvery = 15_000;
const firstRetry = 250;
const lastRetry = 5_000;
const goodbye = 500;

/** What a transaction changed, for notifications: shard numbers, since ids would not fit. */
export interface Change {
  readonly work?: boolean;
  readonly events?: readonly string[];
  readonly signals?: readonly string[];
}

/** Wake-ups between replicas: LISTEN on a dedicated connection, polling behind a pooler. */
export class Hints {
  readonly channel: string;
  readonly #database: Database;
  readonly #poll: number | undefined;
  readonly #origin = randomUUID().slice(0, 8);
  readonly #listeners = new Set<(hint: Hint) => void>();
  #opened: Opened<Client> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running = false;
  #retry = firstRetry;

  /** With `poll` it never listens, but wakes everyone at that interval. */
  constructor(database: Database, poll: number | undefined) {
    this.#database = database;
    this.#poll = poll;
    this.channel = `venturi_${database.schema}`;
  }

  add(callback: (hint: Hint) => void): () => void {
    this.#listeners.add(callback);
    if (!this.#running) this.#start();
    return () => {
      this.#listeners.delete(callback);
    };
  }

  payload(change: Change): string {
    return [this.#origin, change.work ? "w" : "", shardsOf(change.events), shardsOf(change.signals)].join("|");
  }

  /** Notifies listeners in this process at once, without a round trip through the database. */
  tell(change: Change): void {
    const { work = false, events = [], signals = [] } = change;
    this.#emit({
      work,
      events: (run) => events.includes(run),
      ...(signals.length > 0 && { signals: (run) => signals.includes(run) }),
    });
  }

  async close(): Promise<void> {
    this.#running = false;
    this.#listeners.clear();
    this.#database.lost.delete(this.#suspect);
    clearTimeout(this.#timer);
    await this.#opened?.end(goodbye);
    this.#opened = undefined;
  }

  #start(): void {
    this.#running = true;
    if (this.#poll !== undefined) {
      this.#timer = setInterval(() => this.#emit(everything), this.#poll);
      return;
    }
    this.#database.lost.add(this.#suspect);
    this.#listen();
  }

  async #listen(): Promise<void> {
    try {
      const opened = await this.#database.connect();
      if (!this.#running) return void (await opened.end(goodbye));
      this.#opened = opened;
      opened.link.on("end", () => this.#lose(opened));
      opened.link.on("notification", ({ payload }) => this.#receive(payload ?? ""));
      await opened.link.query(`LISTEN ${this.channel}`);
      this.#retry = firstRetry;
      // Covers whatever happened while not listening.
      this.#emit(everything);
      this.#check(opened, checkEvery);
    } catch {
      this.#lose(this.#opened);
    }
  }

  /** A connection whose peer has vanished stays silent for ever; a query detects that. */
  #check(opened: Opened<Client>, wait: number): void {
    if (opened !== this.#opened) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      opened.link.query("SELECT 1").then(
        () => this.#check(opened, checkEvery),
        () => this.#lose(opened),
      );
    }, wait);
  }

  /** What broke the other connections may have broken this one silently. */
  readonly #suspect = () => {
    if (this.#opened) this.#check(this.#opened, 0);
  };

  #lose(opened: Opened<Client> | undefined): void {
    if (opened !== this.#opened) return;
    this.#opened = undefined;
    clearTimeout(this.#timer);
    opened?.link.removeAllListeners("end").removeAllListeners("notification");
    opened?.end(0).catch(() => {}); // Abandoned either way.
    if (!this.#running) return;
    this.#timer = setTimeout(() => this.#listen(), this.#retry);
    this.#retry = Math.min(lastRetry, this.#retry * 2);
  }

  #receive(payload: string): void {
    const [origin, work, events = "", signals = ""] = payload.split("|");
    if (origin === this.#origin) return;
    this.#emit({ work: work === "w", events: memberOf(events), ...(signals !== "" && { signals: memberOf(signals) }) });
  }

  #emit(hint: Hint): void {
    for (const listener of this.#listeners) listener(hint);
  }
}

const everything: Hint = { work: true, events: () => true, signals: () => true };

function shardsOf(runs: readonly string[] | undefined): string {
  return runs ? [...new Set(runs.map(shardOf))].join(",") : "";
}

function memberOf(list: string): (run: string) => boolean {
  const members = new Set(list.split(",").filter(Boolean).map(Number));
  return (run) => members.size > 0 && members.has(shardOf(run));
}

/** FNV-1a. */
function shardOf(run: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < run.length; index++) hash = Math.imul(hash ^ run.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % shards;
}
