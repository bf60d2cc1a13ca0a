import type { RunRequest, RunRow } from "venturi/plugin";
import type { Known } from "./catalog.ts";
import type { Names } from "./names.ts";
import { isPart } from "./parts.ts";
import { type Origin, originOf, type Tail } from "./standing.ts";
import type { Store } from "./store.ts";
import { type Stored, textOf } from "./stored.ts";

/** What a run was asked, and which enqueue that was: only that one knows the nonce. */
export interface Asked {
  readonly origin: Origin;
  readonly request: RunRequest;
  readonly nonce: string;
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
  if (!last || !isPart(last)) return last && askedOf(last);
  for await (const whole of store.scan(op, stream, { filter: subject, seq: 1, upTo: last.seq })) return askedOf(whole);
  return undefined;
}

export function askedOf(stored: Stored): Asked {
  const origin = originOf(stored.header("Q") ?? "");
  const { seq, time } = stored;
  if (origin.void) return { origin, request: { agent: "", input: {} }, nonce: "", seq, time };
  const body = JSON.parse(textOf(stored.data)) as Pick<Asked, "request" | "nonce">; // written from one
  return { origin, ...body, seq, time };
}

export function rowOf(run: string, asked: Asked, tail: Tail | Known): RunRow {
  const { agent, session } = asked.origin;
  const { state, outcome, head, epoch, time } = tail;
  const createdAt = Math.floor(asked.time);
  return {
    run,
    agent,
    session,
    state,
    outcome,
    head,
    epoch,
    createdAt,
    updatedAt: Math.floor(time),
    request: asked.request,
  };
}
