import { listedRequest } from "venturi/internal";
import type { RunRow } from "venturi/plugin";
import { isFragment } from "./fragments.ts";
import type { Known } from "./known.ts";
import type { Names } from "./names.ts";
import { type Origin, originOf, type Tail } from "./standing.ts";
import type { Store } from "./store.ts";
import { type Stored, textOf } from "./stored.ts";

/** A run's request and the nonce of the enqueue that stored it. */
export interface Asked {
  readonly origin: Origin;
  /** The request as JSON. */
  readonly request: string;
  readonly nonce: string | undefined;
  readonly seq: number;
  readonly time: number;
}

export async function readRequest(
  op: string,
  { store, names }: { store: Store; names: Names },
  run: string,
): Promise<Asked | undefined> {
  const stream = names.streamOf(run);
  const subject = names.run(run, "q");
  const last = await store.last(op, stream, subject);
  if (!last || !isFragment(last)) return last && askedOf(last);
  for await (const whole of store.scan(op, stream, { filter: subject, seq: 1, upTo: last.seq })) return askedOf(whole);
  return undefined;
}

export const askedOf = (stored: Stored): Asked => ({
  origin: originOf(stored.header("Q") ?? ""),
  request: textOf(stored.data),
  nonce: stored.header("N"),
  seq: stored.seq,
  time: stored.time,
});

export function rowOf(run: string, asked: Asked, tail: Tail | Known): RunRow {
  const { agent, tenant, session } = asked.origin;
  const { state, outcome, head, epoch, asking = 0 } = tail;
  const times = { createdAt: Math.floor(asked.time), updatedAt: Math.floor(tail.time) };
  return {
    run,
    tenant,
    agent,
    session,
    state,
    outcome,
    head,
    asking,
    epoch,
    ...times,
    request: listedRequest(asked.request, agent),
  };
}
