import type { TimePart, TimeSegment } from "venturi/client/times";
import { duration } from "../text/words.ts";
import type { Attempt, Call, Round, RunView } from "./view.ts";

export interface Bar {
  readonly kind: "run" | "round" | "arguments" | "queued" | TimePart;
  readonly from: number;
  /** Undefined while in progress. */
  readonly to: number | undefined;
  /** It ran in parallel to what the run's time is charged to, such as a tool that started while the model was still writing. */
  readonly beside?: true;
}

export interface Row {
  readonly id: string;
  readonly depth: number;
  readonly label: string;
  readonly detail: string;
  readonly bars: readonly Bar[];
  readonly ticks: readonly number[] | undefined;
  readonly tone: "plain" | "error" | "waiting" | "retracted";
  readonly from: number;
  readonly to: number | undefined;
  readonly seq: number;
  readonly call: Call | undefined;
  readonly attempt: Attempt | undefined;
  /** Set on rows of a called run. */
  readonly run: string | undefined;
}

/** The run as a tree of rows in order: the run, its rounds, their generations and calls, and below a call the rows of the run it called. */
export function rowsOf(view: RunView, called: ReadonlyMap<string, RunView> = new Map(), depth = 0): Row[] {
  if (view.head === 0) return [];
  const rows: Row[] = [
    plain({
      id: "run",
      depth: 0,
      label: view.agent || "run",
      detail: view.error?.code ?? view.finish ?? view.status,
      bars: [{ kind: "run", from: view.startedAt, to: view.endedAt }],
      from: view.startedAt,
      to: view.endedAt,
      seq: 1,
      tone: view.status === "failed" ? "error" : view.status === "waiting" ? "waiting" : "plain",
    }),
  ];
  for (const round of view.rounds) {
    const { startedAt: from, endedAt: to } = round;
    rows.push(
      plain({
        id: `round ${round.round}`,
        depth: 1,
        label: `Round ${round.round}`,
        detail: "",
        bars: [{ kind: "round", from, to }],
        from,
        to,
        seq: round.seq,
      }),
    );
    for (const attempt of round.attempts) rows.push(attemptRow(view, round, attempt));
    for (const call of round.calls) {
      rows.push(callRow(view, call));
      const child = call.child === undefined ? undefined : called.get(call.child);
      if (child !== undefined && depth < deepest) rows.push(...nested(child, called, depth));
    }
  }
  return rows;
}

const deepest = 3;

const nested = (child: RunView, called: ReadonlyMap<string, RunView>, depth: number): Row[] =>
  rowsOf(child, called, depth + 1).map((row) => ({
    ...row,
    id: `${child.run} ${row.id}`,
    depth: row.depth + 3,
    run: row.run ?? child.run,
  }));

type Given = Partial<Row> & Pick<Row, "id" | "depth" | "label" | "detail" | "bars" | "from" | "to" | "seq">;

const plain = (row: Given): Row => ({
  ticks: undefined,
  tone: "plain",
  call: undefined,
  attempt: undefined,
  run: undefined,
  ...row,
});

/** The run's time segments between two moments: the same as in the ribbon, `why` and the list. */
function timesIn(view: RunView, from: number, to = Number.POSITIVE_INFINITY): readonly (TimeSegment & Open)[] {
  const { segments, now, at } = view.times;
  const all: (TimeSegment & Open)[] = segments.map((segment) => ({ ...segment, isOpen: false }));
  if (view.endedAt === undefined) all.push({ ...now, from: at, to: Number.POSITIVE_INFINITY, isOpen: true });
  return all
    .map((segment) => ({ ...segment, from: Math.max(segment.from, from), to: Math.min(segment.to, to) }))
    .filter((segment) => segment.to > segment.from);
}

interface Open {
  readonly isOpen: boolean;
}

const barOf = ({ part, from, to, isOpen }: TimeSegment & Open): Bar => ({
  kind: part,
  from,
  to: isOpen && to === Number.POSITIVE_INFINITY ? undefined : to,
});

/** Parts that delay everything, whatever they are charged to. */
const outside: ReadonlySet<TimePart> = new Set(["blocked", "gc", "journal", "down", "hook", "client"]);

/** Bars for a call's activity in this time: charged to it, or in parallel to something else. */
const barsFor = (part: "tool" | "approval", segments: readonly (TimeSegment & Open)[]): Bar[] =>
  segments.map((segment) => {
    const bar = barOf(segment);
    if (segment.part === part || outside.has(segment.part)) return bar;
    return { ...bar, kind: part, beside: true };
  });

/** Attempts of one round may have the same number, when a worker died. */
export const attemptId = ({ started: { round, attempt, seq } }: Attempt): string =>
  `attempt ${round}.${attempt}.${seq}`;

function attemptRow(view: RunView, { attempts }: Round, attempt: Attempt): Row {
  const { started, startedAt, endedAt, outcome } = attempt;
  const end = endedAt ?? view.endedAt;
  const next = attempts[attempts.indexOf(attempt) + 1]?.startedAt;
  const isRetried = outcome?.type === "generation.failed" && outcome.retryMs !== undefined;
  const backedOff = isRetried && end !== undefined ? (next ?? view.endedAt) : end;
  const bars = timesIn(view, startedAt, backedOff).map(barOf);
  return plain({
    id: attemptId(attempt),
    depth: 2,
    label: attempt.model,
    detail: attempt.error?.code ?? ttftOf(attempt),
    bars,
    ticks: attempt.ticks,
    tone: attempt.error !== undefined ? "error" : attempt.retracted !== undefined ? "retracted" : "plain",
    from: startedAt,
    to: end,
    seq: started.seq,
    attempt,
  });
}

const ttftOf = ({ startedAt, firstAt }: Attempt): string =>
  firstAt === undefined ? "" : `first token ${duration(firstAt - startedAt)}`;

function callRow(view: RunView, call: Call): Row {
  const { startedAt, readyAt, executedAt, question } = call;
  const end = call.endedAt ?? view.endedAt;
  const bars: Bar[] = [];
  const written = readyAt ?? executedAt ?? end;
  bars.push({ kind: "arguments", from: startedAt, to: written });
  if (question !== undefined)
    bars.push(...barsFor("approval", timesIn(view, question.asked.at, question.answered?.at ?? end)));
  else if (readyAt !== undefined && executedAt !== undefined && executedAt > readyAt) {
    bars.push({ kind: "queued", from: readyAt, to: executedAt });
  }
  if (executedAt !== undefined) bars.push(...barsFor("tool", timesIn(view, executedAt, end)));
  return plain({
    id: `call ${call.id}`,
    depth: 2,
    label: call.name,
    detail: call.error?.code ?? call.state,
    bars,
    tone: toneOf(call),
    from: startedAt,
    to: end,
    seq: call.seq,
    call,
  });
}

function toneOf({ state, retracted }: Call): Row["tone"] {
  if (retracted !== undefined) return "retracted";
  if (state === "asking") return "waiting";
  return state === "failed" || state === "rejected" ? "error" : "plain";
}
