import type { Origin, Standing } from "./standing.ts";

/** A run derived from its state changes. Events are not read, so `head` and `time` of a running run may be stale. */
export interface Known extends Standing, Origin {
  readonly run: string;
  readonly shard: number;
  /** When and at which sequence its request was stored, by the engine's clock. */
  readonly created: number;
  readonly place: number;
  /** Sequence and time of its last state change. */
  readonly seq: number;
  readonly time: number;
}
