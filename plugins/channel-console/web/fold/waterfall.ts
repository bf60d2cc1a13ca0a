import type { Attempt, Call, RunView } from "./view.ts";

export type BarKind = "run" | "round" | "wait" | "stream" | "backoff" | "arguments" | "queued" | "approval" | "tool";

export interface Bar {
  readonly kind: BarKind;
  readonly from: number;
  /** Undefined while it goes on. */
  readonly to: number | undefined;
}

/** A row of the waterfall. */
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

/**
 * The run as a tree of rows in order: the run, its rounds, their generations and calls, and below a call that called a run the
 * rows of that one.
 */
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
    for (const attempt of round.attempts) rows.push(attemptRow(view, attempt));
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

function attemptRow(view: RunView, attempt: Attempt): Row {
  const { startedAt, firstAt, endedAt, retryMs } = attempt;
  const end = endedAt ?? view.endedAt;
  const bars: Bar[] = [{ kind: "wait", from: startedAt, to: firstAt ?? end }];
  if (firstAt !== undefined) bars.push({ kind: "stream", from: firstAt, to: end });
  if (retryMs !== undefined && end !== undefined) bars.push({ kind: "backoff", from: end, to: end + retryMs });
  return plain({
    id: `attempt ${attempt.round}.${attempt.attempt}.${attempt.seq}`,
    depth: 2,
    label: attempt.model,
    detail: attempt.error?.code ?? ttftOf(attempt),
    bars,
    ticks: attempt.ticks,
    tone: attempt.error !== undefined ? "error" : attempt.retracted !== undefined ? "retracted" : "plain",
    from: startedAt,
    to: end,
    seq: attempt.seq,
    attempt,
  });
}

const ttftOf = ({ startedAt, firstAt }: Attempt): string =>
  firstAt === undefined ? "" : `first token ${Math.round(firstAt - startedAt)} ms`;

function callRow(view: RunView, call: Call): Row {
  const { startedAt, readyAt, executedAt, approval } = call;
  const end = call.endedAt ?? view.endedAt;
  const bars: Bar[] = [];
  const written = readyAt ?? executedAt ?? end;
  bars.push({ kind: "arguments", from: startedAt, to: written });
  if (approval !== undefined)
    bars.push({ kind: "approval", from: approval.requestedAt, to: approval.resolvedAt ?? end });
  else if (readyAt !== undefined && executedAt !== undefined && executedAt > readyAt) {
    bars.push({ kind: "queued", from: readyAt, to: executedAt });
  }
  if (executedAt !== undefined) bars.push({ kind: "tool", from: executedAt, to: end });
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
