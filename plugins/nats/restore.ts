import { randomUUID } from "node:crypto";
import { outcomeOf, questionsOpened } from "venturi/internal";
import { encodeEvent, isTerminal, type Recording, type RunEvent } from "venturi/plugin";
import { taken } from "./enqueue.ts";
import { failed } from "./failures.ts";
import type { Write } from "./fragments.ts";
import { blockOf, type Names } from "./names.ts";
import { type Asked, readRequest } from "./requests.ts";
import { busy, type Sessions } from "./sessions.ts";
import { signalHeader } from "./signals.ts";
import { fence, originText, type Standing, standingText } from "./standing.ts";
import { pause, type Store } from "./store.ts";
import { bytesOf } from "./stored.ts";
import type { Tails } from "./tails.ts";
import type { View } from "./view.ts";
import { keepWire } from "./wires.ts";

export interface Restoring {
  readonly store: Store;
  readonly names: Names;
  readonly view: View;
  readonly tails: Tails;
  readonly sessions: Sessions;
}

const op = "journal.restore";

/** One atomic batch, so that the run is never partially visible. */
export async function restore(options: Restoring, recording: Recording): Promise<void> {
  const { store, names, view, tails, sessions } = options;
  const { run, tenant, session, wires } = recording;
  if (await tails.read(op, run)) throw taken(op, run);
  const nonce = randomUUID();
  const { writes, done } = writesOf(names, recording, nonce);
  const messages = store.messagesOf(op, writes);
  // An ended run blocks nothing and needs no place in the queue.
  if (session !== undefined && !done) await sessions.enter(op, { tenant, session }, { run, whenBusy: "conflict" });
  else if (session !== undefined && (await sessions.first(op, { tenant, session })) !== undefined)
    throw busy(op, session);
  // Unreachable until the run exists, so they can be stored first. An import that was cut off may have left some.
  if (wires.length > 0) await store.api(op, `STREAM.PURGE.${names.wires}`, { filter: names.wire(run) });
  for (const wire of wires) await keepWire("journal.keepWire", options, { run, wire });
  const deadline = performance.now() + store.timeout;
  let asked: Asked | undefined;
  for (;;) {
    const ack = await store.send(op, messages);
    asked = await readRequest(op, options, run);
    if (asked) break;
    if (performance.now() > deadline) throw failed(op, ack.kind === "lost" ? ack.why : "the run is not there");
    await pause(50);
  }
  const last = await tails.last(op, run);
  if (asked.nonce !== nonce || !last) throw taken(op, run);
  const shard = names.shardOf(run);
  const origin = originText(asked.origin);
  view.apply({ run, shard, kind: "q", seq: asked.seq, time: asked.time, standing: last.header("V") ?? "", origin });
  view.apply({ run, shard, kind: "x", seq: last.seq, time: last.time, standing: last.header("V") ?? "" });
}

function writesOf(names: Names, recording: Recording, nonce: string): { writes: Write[]; done: boolean } {
  const { run, tenant, session, request, events, signals } = recording;
  const origin = originText({ agent: request.agent, tenant, revision: request.revision, session });
  const last = events.at(-1);
  const done = last !== undefined && isTerminal(last);
  const ending = done ? "done" : (recording.state ?? "waiting");
  const outcome = done ? outcomeOf(last) : undefined;
  const cancelled = signals.some(({ kind }) => kind === "cancel");
  const parked = { state: "waiting", worker: "", asking: 0, wake: 0 } as const;
  let standing: Standing = { ...parked, epoch: 1, head: 0, signals: 0, cancelled, outcome };
  const writes: Write[] = [
    {
      subject: names.run(run, "q"),
      fence: fence(0, names.run(run, "*")),
      headers: `V: ${standingText(standing)}\r\nQ: ${origin}\r\nN: ${nonce}\r\n`,
      data: bytesOf(JSON.stringify(request)),
    },
  ];
  for (const [index, { id, kind, body }] of signals.entries()) {
    standing = { ...standing, signals: index + 1 };
    const headers = `V: ${standingText(standing)}\r\n${signalHeader({ id, kind })}`;
    writes.push({ subject: names.run(run, "s"), headers, data: bytesOf(JSON.stringify(body)) });
  }
  const blocks = [...Map.groupBy(events, ({ seq }) => blockOf(seq)).entries()];
  for (const [block, events] of blocks) {
    const isLast = block === blocks.at(-1)?.[0];
    const asking = standing.asking + questionsOpened(events);
    standing = { ...standing, asking, head: events.at(-1)?.seq ?? 0, state: isLast ? ending : "waiting" };
    const headers = `V: ${standingText(standing, { first: events[0]?.seq ?? 0, claim: false })}\r\n`;
    const data = bytesOf(textOf(events));
    writes.push({ subject: names.run(run, isLast ? "x" : `e${block}`), headers, data });
  }
  return { writes, done };
}

const textOf = (events: readonly RunEvent[]): string => events.map(encodeEvent).join("\n");
