import { createHash } from "node:crypto";

/** Events whose records share a subject, so that a page in the middle of a long run is found without reading from the start. */
const eventsPerBlock = 512;
export const blockOf = (seq: number): number => Math.floor((seq - 1) / eventsPerBlock);

/** `q` the request, `e0`, `e1`, … blocks of events, `x` a state change (with events, if any), `s` a signal. */
export type Kind = "q" | "x" | "s" | `e${number}`;

/** Streams and subjects of one journal. A run's messages share one stream, selected by its id. */
export class Names {
  readonly space: string;
  readonly shards: number;
  readonly index: string;
  readonly wires: string;
  readonly audits: string;

  constructor(space: string, shards: number) {
    this.space = space;
    this.shards = shards;
    this.index = `V_${space}_I`;
    this.wires = `V_${space}_W`;
    this.audits = `V_${space}_A`;
  }

  stream(shard: number): string {
    return `V_${this.space}_${shard}`;
  }
  streamOf(run: string): string {
    return this.stream(this.shardOf(run));
  }
  shardOf(run: string): number {
    return this.shards === 1 ? 0 : hash(run) % this.shards;
  }
  /** All subjects of a run stream. */
  runs(shard: number, kind: "q" | "x" | "s" | "*"): string {
    return `v.${this.space}.${shard}.r.*.${kind}`;
  }
  /** `*`: the filter every write to the run is fenced with. All writers must use exactly the same one. */
  run(run: string, kind: Kind | "*"): string {
    return `v.${this.space}.${this.shardOf(run)}.r.${token(run)}.${kind}`;
  }
  /** Usage of generations: next to the runs, under no run's id. */
  usage(shard: number): string {
    return `v.${this.space}.${shard}.r.~usage.u`;
  }
  /** Where the stream republishes the run's messages. */
  live(run: string): string {
    return `v.${this.space}.l.${this.shardOf(run)}.${token(run)}.*`;
  }
  liveOf(shard: number): string {
    return `v.${this.space}.l.${shard}.{{wildcard(1)}}.{{wildcard(2)}}`;
  }
  key(tenant: string, key: string): string {
    return `v.${this.space}.i.k.${digest(within(tenant, key))}`;
  }
  /** Next to the key of a removed run. */
  removedKey(key: string): string {
    return `v.${this.space}.i.g.${key.slice(key.lastIndexOf(".") + 1)}`;
  }
  keyOf(removedKey: string): string {
    return `v.${this.space}.i.k.${removedKey.slice(removedKey.lastIndexOf(".") + 1)}`;
  }
  session(tenant: string, session: string): string {
    return `v.${this.space}.i.s.${digest(within(tenant, session))}`;
  }
  caller(tenant: string, caller: string): string {
    return `v.${this.space}.i.a.${digest(within(tenant, caller))}`;
  }
  worker(worker: string): string {
    return `v.${this.space}.i.w.${token(worker)}`;
  }
  checkpoint(shard: number, fragment: number | "*"): string {
    return `v.${this.space}.i.v.${shard}.${fragment}`;
  }
  value(space: string, key: string): string {
    // Always base64, since a key may be anything, even "*".
    return `v.${this.space}.i.n.${token(space)}.=${Buffer.from(key).toString("base64url")}`;
  }
  values(space: string): string {
    return `v.${this.space}.i.n.${token(space)}.*`;
  }
  get clock(): string {
    return `v.${this.space}.i.c`;
  }
  wire(run: string): string {
    return `v.${this.space}.w.${token(run)}`;
  }
  /** `d` the bytes, `n` when they were last put. */
  blob(kind: "d" | "n", hash: string): string {
    return `v.${this.space}.b.${kind}.${hash}`;
  }
  blobUse(run: string, hash: string): string {
    return `v.${this.space}.b.u.${token(run)}.${hash}`;
  }
  blobUser(hash: string, run: string): string {
    return `v.${this.space}.b.r.${hash}.${run === "*" ? run : token(run)}`;
  }
  /** Absent tokens: `*` in a filter, `-` when written. */
  audit({ tenant, action, run }: Audited, absent: "*" | "-"): string {
    const tokens = [tenant, action, run].map((each) => (each === undefined ? absent : `_${token(each)}`));
    return `v.${this.space}.a.${tokens.join(".")}`;
  }
  get hints(): string {
    return `v.${this.space}.h`;
  }
}

interface Audited {
  readonly tenant?: string | undefined;
  readonly action?: string | undefined;
  readonly run?: string | undefined;
}

/** A tenant-scoped name. The length prefix keeps ("a", "b c") and ("a b", "c") apart. */
export const within = (tenant: string, name: string): string => `${tenant.length} ${tenant} ${name}`;

/** Run and kind of a subject, stored or republished. */
export function runOf(subject: string): { run: string; kind: string } {
  const [, , , , run = "", kind = ""] = subject.split(".");
  return { run: untoken(run), kind };
}

/** One subject token: valid ids unchanged, others in base64. */
const token = (id: string): string => (/^[A-Za-z0-9_-]+$/.test(id) ? id : `=${Buffer.from(id).toString("base64url")}`);
export const untoken = (text: string): string =>
  text.startsWith("=") ? Buffer.from(text.slice(1), "base64url").toString() : text;

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** FNV-1a. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}
