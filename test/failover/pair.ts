import { Wire } from "../chaos/wire.ts";
import { Cluster } from "../plugins/postgres/cluster.ts";
import { openJournal } from "../plugins/postgres/open.ts";
import { ownershipOf } from "../plugins/postgres/ownership.ts";
import { makeSynchronous, promote, standbyOf } from "../plugins/postgres/standby.ts";

import type { FailingEngine } from "./failover.ts";

export type Replication = "synchronous" | "asynchronous";
/**
 * The primary is killed, and its connections reset; it vanishes, and nobody hears of it again, though it lives on behind its
 * closed door; or it is the standby that is gone for a while, and nothing can be committed.
 */
export type Failure = "kill" | "vanish" | "stall";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A primary and its standby, reached as two hosts or as one address that is led to the primary. */
export class Pair {
  primary: Cluster;
  readonly #replication: Replication;
  readonly #doors: readonly [Wire, Wire];
  readonly #address: Wire;
  readonly #gone: Cluster[] = [];
  #standby: Cluster;
  #stream: Wire;
  /** The primary's door. */
  #at: 0 | 1 = 0;

  private constructor(parts: {
    replication: Replication;
    primary: Cluster;
    standby: Cluster;
    stream: Wire;
    doors: readonly [Wire, Wire];
    address: Wire;
  }) {
    this.primary = parts.primary;
    this.#replication = parts.replication;
    this.#standby = parts.standby;
    this.#stream = parts.stream;
    this.#doors = parts.doors;
    this.#address = parts.address;
  }

  static async start(replication: Replication): Promise<Pair> {
    const primary = await Cluster.start("off", { wal_keep_size: "256MB" });
    const stream = await Wire.to(primary.port);
    const standby = await standbyOf(primary, stream.port);
    if (replication === "synchronous") await makeSynchronous(primary);
    const doors = [await Wire.to(primary.port), await Wire.to(standby.port)] as const;
    return new Pair({ replication, primary, standby, stream, doors, address: await Wire.to(primary.port) });
  }

  get hosts(): string {
    const [one, two] = this.#doors;
    return `postgres://venturi@127.0.0.1:${one.port},127.0.0.1:${two.port}/postgres`;
  }

  get address(): string {
    return this.primary.urlAt(this.#address.port);
  }

  /** Two replicas know both hosts, one the address that is moved. */
  engine(): FailingEngine {
    const schema = "failover";
    return {
      journals: [this.hosts, this.hosts, this.address].map((url) => ({ type: "postgres", url, schema })),
      stopsAll: true,
      fail: (failure, delay) => this.fail(failure, delay),
      mend: () => this.mend(),
      open: async () => openJournal(this.primary.url, schema),
      ownership: (run) => ownershipOf(this.primary, schema, run),
      close: () => this.close(),
    };
  }

  /** `delay`: how long it takes until someone does something about it, ms. */
  async fail(failure: Failure, delay: number): Promise<void> {
    if (failure === "stall") return this.#stall(delay);
    // Before the primary fails the standby stops hearing from it: what is not acknowledged by then never comes.
    this.#stream.swallow();
    await pause(300);
    if (failure === "kill") await this.primary.kill();
    else this.#door.swallow();
    if (failure === "vanish") this.#address.swallow();
    await pause(delay);
    await promote(this.#standby);
    this.#gone.push(this.primary);
    this.primary = this.#standby;
    this.#at = this.#at === 0 ? 1 : 0;
    this.#address.lead(this.primary.port);
    this.#address.pass();
  }

  /** Another standby, in the place of the primary that failed, if one has. */
  async mend(): Promise<void> {
    if (this.#standby !== this.primary) return;
    for (const cluster of this.#gone) await cluster.kill();
    await this.#stream.close();
    this.#stream = await Wire.to(this.primary.port);
    this.#standby = await standbyOf(this.primary, this.#stream.port);
    if (this.#replication === "synchronous") await makeSynchronous(this.primary);
    const door = this.#doors[this.#at === 0 ? 1 : 0];
    door.lead(this.#standby.port);
    door.pass();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#doors, this.#address, this.#stream].map((wire) => wire.close()));
    const clusters = new Set([this.primary, this.#standby, ...this.#gone]);
    await Promise.all([...clusters].map((cluster) => cluster.stop()));
  }

  async #stall(delay: number): Promise<void> {
    await this.#standby.crash();
    await pause(12_000 + delay); // longer than a statement is waited for
    await this.#standby.up();
  }

  get #door(): Wire {
    return this.#doors[this.#at];
  }
}
