import { endOfRun, forgetEncoding, outcomeOf, questionsOpened, withItem } from "venturi/internal";
import type { Outcome, RunRequest, RunState } from "venturi/plugin";
import {
  type Append,
  type Claim,
  type ClaimFilter,
  type EndOfRun,
  type Enqueue,
  encodeEvent,
  isTerminal,
  type KeptWire,
  type Ownership,
  type Recording,
  type RunEvent,
  type RunRow,
  type Signal,
} from "venturi/plugin";

/** A run in memory. */
export interface StoredRun {
  readonly run: string;
  readonly tenant: string;
  readonly order: number;
  readonly session: string | undefined;
  readonly request: RunRequest;
  readonly key: string | undefined;
  readonly createdAt: number;
  updatedAt: number;
  state: RunState;
  outcome: Outcome | undefined;
  epoch: number;
  worker: string | undefined;
  /** When a parked run becomes claimable without a signal. */
  wakeAt: number | undefined;
  asking: number;
  end: EndOfRun | undefined;
  readonly events: RunEvent[];
  /** Index of the first event of the last append; readers in this process have received those before it. */
  newest: number;
  /** The epochs that wrote events, and the seq each continued from. */
  epochs: { readonly epoch: number; readonly after: number }[];
  readonly signals: Signal[];
  readonly wire: KeptWire[];
}

export const storedRun = (item: Enqueue, order: number, now: number): StoredRun => ({
  run: item.run,
  tenant: item.tenant,
  order,
  session: item.session,
  request: item.request,
  key: item.key,
  createdAt: now,
  updatedAt: now,
  state: "ready",
  outcome: undefined,
  epoch: 0,
  worker: undefined,
  wakeAt: undefined,
  asking: 0,
  end: undefined,
  events: [],
  newest: 0,
  epochs: [],
  signals: [],
  wire: [],
});

/** Stores an append that passed the fence. */
export function written(stored: StoredRun, item: Append, now: number): void {
  addEvents(stored, item.events, item.ownership.epoch);
  stored.updatedAt = now;
  if (item.state === undefined) return;
  const moreSignals = item.state === "waiting" && stored.signals.length > (item.seenSignals ?? 0);
  stored.state = moreSignals ? "ready" : item.state;
  stored.wakeAt = item.wakeAfter === undefined ? undefined : now + item.wakeAfter;
  stored.end = item.end;
}

/** Fills a new run from its recording. */
export function restored(stored: StoredRun, { run, request, events, signals, wires, state }: Recording): void {
  const last = events.at(-1);
  stored.epoch = 1;
  stored.state = last && isTerminal(last) ? "done" : (state ?? "waiting");
  stored.signals.push(...signals.map((signal, index) => ({ ...signal, number: index + 1 })));
  stored.wire.push(...wires);
  addEvents(stored, events, stored.epoch);
  stored.end = endOfRun({ run, request }, events);
}

function addEvents(stored: StoredRun, events: readonly RunEvent[], epoch: number): void {
  stored.asking += questionsOpened(events);
  if (stored.epochs.at(-1)?.epoch !== epoch)
    stored.epochs = withItem(stored.epochs, { epoch, after: stored.events.length });
  for (let index = stored.newest; index < stored.events.length; index++) {
    forgetEncoding(stored.events[index] as RunEvent); // `index` is below the length.
  }
  stored.newest = stored.events.length;
  for (const event of events) stored.events.push(event);
  const last = events.at(-1);
  if (last && isTerminal(last)) stored.outcome = outcomeOf(last);
}

/** The fence: the run is owned by this epoch, and the item continues its head. */
export function mayWrite(stored: StoredRun, { ownership, events }: Append): boolean {
  const head = events[0] ? events[0].seq - 1 : ownership.head;
  return stored.state === "running" && stored.epoch === ownership.epoch && stored.events.length === head;
}

/** Whether this exact item was stored before, so that a retry after a lost response is not fenced. */
export function isThere(stored: StoredRun, item: Append): boolean {
  const { epoch } = item.ownership;
  if (item.events.length === 0) {
    return stored.epoch === epoch && stored.events.length === item.ownership.head && stored.state !== "running";
  }
  return item.events.every((event) => {
    const there = stored.events[event.seq - 1];
    return there !== undefined && epochOf(stored, event.seq) === epoch && encodeEvent(there) === encodeEvent(event);
  });
}

const epochOf = ({ epochs }: StoredRun, seq: number): number | undefined =>
  epochs.findLast(({ after }) => after < seq)?.epoch;

export const isCancelled = (stored: StoredRun): boolean => stored.signals.some((signal) => signal.kind === "cancel");

export const passes = ({ run, request }: StoredRun, { agents, revisions, runs }: ClaimFilter): boolean =>
  ((agents === undefined || agents.includes(request.agent)) &&
    (revisions === undefined || request.revision === undefined || revisions.includes(request.revision))) ||
  runs?.includes(run) === true;

/** Starts a new epoch; the only place that does. */
export function claimFor(stored: StoredRun, worker: string, now: number): Claim {
  stored.epoch += 1;
  stored.worker = worker;
  stored.state = "running";
  stored.updatedAt = now;
  return {
    ownership: ownershipOf(stored, worker),
    tenant: stored.tenant,
    request: stored.request,
    signals: stored.signals.length,
  };
}

export const ownershipOf = (stored: StoredRun, worker: string): Ownership => ({
  run: stored.run,
  session: stored.session,
  epoch: stored.epoch,
  worker,
  head: stored.events.length,
});

export const rowOf = (stored: StoredRun): RunRow => ({
  run: stored.run,
  tenant: stored.tenant,
  agent: stored.request.agent,
  session: stored.session,
  state: stored.state,
  outcome: stored.outcome,
  head: stored.events.length,
  asking: stored.asking,
  epoch: stored.epoch,
  createdAt: stored.createdAt,
  updatedAt: stored.updatedAt,
  request: stored.request,
  ...(stored.end === undefined ? {} : { digest: stored.end.digest }),
});
