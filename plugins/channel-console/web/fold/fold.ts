import { isPiece, RunTimes } from "venturi/client/times";
import type { EventOf, RunEvent } from "../state/api-types.ts";
import { duration } from "../text/words.ts";
import type { Attempt, Call, Item, Notice, Round, RunView, Said } from "./view.ts";

export function emptyView(run: string): RunView {
  return {
    run,
    agent: "",
    session: undefined,
    status: "ready",
    head: 0,
    at: 0,
    startedAt: 0,
    endedAt: undefined,
    input: undefined,
    metadata: undefined,
    config: undefined,
    trace: undefined,
    parent: undefined,
    fork: undefined,
    items: [],
    rounds: [],
    calls: new Map(),
    times: new RunTimes(),
    usage: undefined,
    inherited: undefined,
    timing: undefined,
    finish: undefined,
    error: undefined,
    output: undefined,
    object: undefined,
    deltas: 0,
    mishaps: [],
  };
}

/**
 * Adds an event to the view, in constant time. An event already seen is ignored, so that a reader may resume anywhere. Never throws: what
 * an event refers to may be missing from a truncated journal.
 */
export function fold(view: RunView, event: RunEvent): RunView {
  if (event.seq <= view.head) return view;
  view.head = event.seq;
  view.at = Math.max(view.at, event.at);
  view.times.take(event);
  take(view, event);
  return view;
}

export function foldAll(run: string, events: Iterable<RunEvent>, until = Number.POSITIVE_INFINITY): RunView {
  const view = emptyView(run);
  for (const event of events) {
    if (event.seq > until) break;
    fold(view, event);
  }
  return view;
}

function take(view: RunView, event: RunEvent): void {
  switch (event.type) {
    case "run.started":
      return start(view, event);
    case "round.started":
      return startAttempt(view, event);
    case "text.delta":
      return say(view, "text", event);
    case "refusal.delta":
      return say(view, "refusal", event);
    case "reasoning.delta":
      return say(view, "reasoning", event);
    case "provider.activity":
      return touch(view, event);
    case "tool_call.started":
    case "tool_call.delta":
    case "tool_call.ready":
    case "tool_call.rejected":
      return writeCall(view, event);
    case "tool.started":
    case "tool.output":
    case "tool.finished":
      return runCall(view, event);
    case "approval.requested":
    case "question.asked":
      return ask(view, event);
    case "approval.resolved":
    case "question.answered":
      return answer(view, event);
    case "message.added":
      view.items.push({
        kind: "user",
        seq: event.seq,
        at: event.at,
        message: event.message,
        steered: true,
        by: event.by,
      });
      return;
    case "agent.changed":
      return notice(view, event, "info", "Handed over", `to ${event.agent}`);
    case "budget.warned":
      return notice(view, event, "info", "Budget", `${event.budget} has reached 80 %`);
    case "budget.exceeded":
      return notice(view, event, "info", "Budget", `${event.budget} is used up`);
    case "run.paused":
      closeAttempt(view, event.at);
      return notice(view, event, "info", "Paused", event.reason ?? "It goes on when somebody resumes it.");
    case "run.continued":
      return notice(view, event, "info", "Continued", event.by === undefined ? "" : `by ${event.by}`);
    case "tools.found":
      return notice(view, event, "info", "Tools found", event.names.join(", "));
    case "guard.decided":
      return notice(view, event, "info", "Guard", guardText(event));
    case "agent.revised":
      return notice(view, event, "info", "Revised", `goes on with another revision of ${event.agent}`);
    case "memory.recalled":
      return notice(view, event, event.error === undefined ? "info" : "warning", "Recalled", recalledLine(event));
    case "context.compacted":
      return notice(view, event, "info", "Context compacted", compactedText(event));
    case "run.resumed":
      closeAttempt(view, event.at);
      return notice(view, event, "info", "Resumed", "Another worker went on where the last one stopped.");
    case "generation.failed":
      return failAttempt(view, event);
    case "round.retracted":
      return retract(view, event);
    case "generation.finished":
      return finishAttempt(view, event);
    case "round.finished": {
      const round = roundOf(view, event.round);
      if (round !== undefined) round.endedAt = event.at;
      return;
    }
    case "run.finished":
    case "run.failed":
      return end(view, event);
  }
}

function start(view: RunView, event: EventOf<"run.started">): void {
  view.agent = event.agent;
  view.session = event.session;
  view.status = "running";
  view.startedAt = view.times.from;
  view.input = event.input;
  view.metadata = event.metadata;
  view.config = event.config;
  view.trace = event.trace;
  view.parent = event.parent;
  view.fork = (event as { fork?: RunView["fork"] }).fork; // Set on forks; older journals have none.
  const { text, messages = [] } = event.input;
  for (const message of messages) {
    if (message.role === "system") continue;
    view.items.push({ kind: "user", seq: event.seq, at: event.at, message, steered: false });
  }
  if (text === undefined) return;
  const message = { role: "user" as const, parts: [{ type: "text" as const, text }] };
  view.items.push({ kind: "user", seq: event.seq, at: event.at, message, steered: false });
}

function startAttempt(view: RunView, event: EventOf<"round.started">): void {
  closeAttempt(view, event.at);
  let round = roundOf(view, event.round);
  if (round === undefined) {
    round = { round: event.round, seq: event.seq, startedAt: event.at, endedAt: undefined, attempts: [], calls: [] };
    view.rounds.push(round);
  }
  const before = round.attempts.at(-1);
  round.attempts.push({
    round: event.round,
    attempt: event.attempt,
    seq: event.seq,
    model: event.model,
    provider: event.provider,
    startedAt: event.at,
    firstAt: undefined,
    endedAt: undefined,
    ticks: [],
    warnings: event.warnings ?? [],
    skipped: event.skipped ?? [],
    error: undefined,
    retryMs: undefined,
    usage: undefined,
    finish: undefined,
    retracted: undefined,
  });
  if (before !== undefined && before.model !== event.model) {
    notice(view, event, "warning", "Failed over", `${before.model} → ${event.model}`);
  }
  for (const warning of event.warnings ?? []) notice(view, event, "info", "Not sent to the model", warning);
  if (event.skipped !== undefined && event.skipped.length > 0) {
    notice(view, event, "info", "Skipped", `${event.skipped.join(", ")}: the provider's breaker is open`);
  }
}

function say(
  view: RunView,
  kind: Said["kind"],
  event: EventOf<"text.delta" | "refusal.delta" | "reasoning.delta">,
): void {
  touch(view, event);
  const attempt = attemptOf(view)?.attempt ?? 1;
  const last = view.items.at(-1);
  if (last?.kind === kind && last.open && last.round === event.round && last.attempt === attempt) {
    last.text += event.text;
    last.endAt = event.at;
    return;
  }
  closeSaid(last);
  const { seq, round, text, at } = event;
  view.items.push({ kind, seq, round, attempt, text, at, endAt: at, open: true, retracted: undefined });
}

/** The first delta ends the wait for the provider. */
function touch(view: RunView, event: RunEvent): void {
  if (!isPiece(event)) return;
  view.deltas += 1;
  const attempt = attemptOf(view);
  if (attempt === undefined) return;
  attempt.firstAt ??= event.at;
  attempt.ticks.push(event.at);
}

type CallEvent = EventOf<"tool_call.started" | "tool_call.delta" | "tool_call.ready" | "tool_call.rejected">;

function writeCall(view: RunView, event: CallEvent): void {
  const call = callOf(view, event);
  if (event.type === "tool_call.started") {
    if (event.client === true) call.state = "client";
    return touch(view, event);
  }
  if (event.type === "tool_call.delta") {
    call.argumentsText += event.arguments;
    return touch(view, event);
  }
  call.readyAt = event.at;
  if (event.type === "tool_call.ready") {
    call.arguments = event.arguments;
    if (call.state === "writing") call.state = "ready";
    return;
  }
  call.state = "rejected";
  call.argumentsText = event.arguments;
  call.error = event.error;
  call.endedAt = event.at;
  view.mishaps.push(event.seq);
}

function runCall(view: RunView, event: EventOf<"tool.started" | "tool.output" | "tool.finished">): void {
  const call = callOf(view, event);
  if (event.type === "tool.started") {
    call.executedAt ??= event.at;
    call.attempts = event.attempt;
    call.idempotencyKey = event.idempotencyKey;
    call.state = "running";
    return;
  }
  if (event.type === "tool.output") {
    call.child ??= /^run (run_\w+)\n/.exec(event.text)?.[1];
    call.progress += event.text;
    return;
  }
  call.endedAt = event.at;
  call.output = event.output;
  call.shown = event.shown;
  call.images = event.images ?? [];
  call.files = event.files ?? [];
  call.error = event.error;
  call.ms = event.ms;
  call.savedMs = event.savedMs;
  call.usage = event.usage;
  const refused = call.approval?.approved === false;
  call.state = refused ? "refused" : event.ok ? "done" : "failed";
  if (!event.ok && !refused) view.mishaps.push(event.seq);
}

function ask(view: RunView, event: EventOf<"approval.requested" | "question.asked">): void {
  const call = callOf(view, event);
  const question = event.type === "question.asked" ? event : undefined;
  call.arguments ??= event.type === "question.asked" ? { question: event.message } : event.arguments;
  call.approval = {
    seq: event.seq,
    requestedAt: event.at,
    until: event.until,
    reason: event.type === "question.asked" ? undefined : event.reason,
    origin: event.origin,
    question,
    resolvedAt: undefined,
    approved: undefined,
    answer: undefined,
    by: undefined,
    forRun: false,
    edited: undefined,
  };
  if (call.state !== "running") call.state = "asking";
  view.status = "waiting";
}

function answer(view: RunView, event: EventOf<"approval.resolved" | "question.answered">): void {
  const call = callOf(view, event);
  const { approval } = call;
  if (event.type === "question.answered") {
    if (approval !== undefined) {
      approval.resolvedAt = event.at;
      approval.approved = event.answered;
      approval.answer = event.reason;
      approval.by = event.by;
    }
    call.state = event.answered ? "done" : "refused";
    call.endedAt = event.at;
    call.output = event.answer === undefined ? undefined : textOf(event.answer);
    if (!openQuestions(view).length && view.status === "waiting") view.status = "running";
    return;
  }
  if (approval !== undefined) {
    approval.resolvedAt = event.at;
    approval.approved = event.approved;
    approval.answer = event.reason;
    approval.by = event.by;
    approval.forRun = event.for === "run";
    approval.edited = isSame(event.arguments, call.arguments) ? undefined : event.arguments;
  }
  if (call.state === "asking") call.state = event.approved ? "ready" : "refused";
  if (!openQuestions(view).length && view.status === "waiting") view.status = "running";
}

/** Compares by value: a form sends all its fields, changed or not, in its own order. */
function isSame(given: unknown, asked: unknown): boolean {
  if (given === undefined || given === asked) return true;
  if (typeof given !== "object" || typeof asked !== "object" || given === null || asked === null) return false;
  const [one, other] = [Object.entries(given), asked as Readonly<Record<string, unknown>>];
  return (
    one.length === Object.keys(other).length &&
    Array.isArray(given) === Array.isArray(asked) &&
    one.every(([name, value]) => Object.hasOwn(other, name) && isSame(value ?? null, other[name] ?? null))
  );
}

const textOf = (answer: unknown): string => (typeof answer === "string" ? answer : JSON.stringify(answer));

export const openQuestions = (view: RunView): Call[] =>
  [...view.calls.values()].filter(({ approval }) => approval !== undefined && approval.resolvedAt === undefined);

function failAttempt(view: RunView, event: EventOf<"generation.failed">): void {
  const attempt = attemptOf(view);
  if (attempt !== undefined) {
    attempt.error = event.error;
    attempt.retryMs = event.retryMs;
    attempt.usage = event.usage;
    attempt.endedAt = event.at;
  }
  closeSaid(view.items.at(-1));
  // A cancel also ends the generation; the run's end says who cancelled.
  if (event.error.code === "stream_interrupted") return;
  view.mishaps.push(event.seq);
  const retry = event.retryMs === undefined ? "" : ` Tries again in ${duration(event.retryMs)}.`;
  notice(view, event, "error", `${event.model}: ${event.error.code}`, `${event.error.err}${retry}`);
}

function retract(view: RunView, event: EventOf<"round.retracted">): void {
  for (let index = view.items.length - 1; index >= 0; index -= 1) {
    const item = view.items[index];
    if (item === undefined || item.kind === "user") break;
    if (item.kind === "notice") continue;
    const round = item.kind === "call" ? item.call.round : item.round;
    if (round !== event.round) break;
    if (item.kind === "call") item.call.retracted = event.reason;
    else {
      item.retracted ??= event.reason;
      item.open = false;
    }
  }
  const attempt = attemptOf(view);
  if (attempt !== undefined) {
    attempt.retracted = event.reason;
    attempt.endedAt ??= event.at;
  }
}

function finishAttempt(view: RunView, event: EventOf<"generation.finished">): void {
  closeSaid(view.items.at(-1));
  const attempt = attemptOf(view);
  if (attempt === undefined) return;
  attempt.endedAt = event.at;
  attempt.usage = event.usage;
  attempt.finish = event.finish;
}

function end(view: RunView, event: EventOf<"run.finished" | "run.failed">): void {
  closeSaid(view.items.at(-1));
  closeAttempt(view, event.at);
  const round = view.rounds.at(-1);
  if (round !== undefined) round.endedAt ??= event.at;
  view.endedAt = event.at;
  view.usage = event.usage;
  view.inherited = event.inherited?.usage;
  view.timing = event.timing;
  view.output = event.output;
  if (event.type === "run.finished") {
    view.status = "finished";
    view.finish = event.finish;
    view.object = event.object;
    return;
  }
  view.error = event.error;
  // A cancelled run did not fail.
  view.status = event.error.code === "stream_interrupted" ? "cancelled" : "failed";
  if (view.status === "failed") view.mishaps.push(event.seq);
}

function notice(view: RunView, event: RunEvent, tone: Notice["tone"], ...[title, text]: [string, string]): void {
  closeSaid(view.items.at(-1));
  view.items.push({ kind: "notice", tone, seq: event.seq, at: event.at, title, text, event });
}

function closeSaid(item: Item | undefined): void {
  if (item !== undefined && "open" in item) item.open = false;
}

function closeAttempt(view: RunView, at: number): void {
  const attempt = attemptOf(view);
  if (attempt !== undefined) attempt.endedAt ??= at;
}

const attemptOf = (view: RunView): Attempt | undefined => view.rounds.at(-1)?.attempts.at(-1);

const roundOf = (view: RunView, round: number): Round | undefined => {
  const last = view.rounds.at(-1);
  return last?.round === round ? last : view.rounds.find((each) => each.round === round);
};

/** If the beginning of a call is missing, it is created from a later event. */
function callOf(view: RunView, event: RunEvent & { readonly call: string; readonly round: number }): Call {
  const known = view.calls.get(event.call);
  if (known !== undefined && event.type !== "tool_call.started") {
    known.lastSeq = event.seq;
    return known;
  }
  const call: Call = {
    id: event.call,
    round: event.round,
    name: "name" in event ? event.name : "unknown",
    seq: event.seq,
    state: "writing",
    argumentsText: "",
    arguments: undefined,
    startedAt: event.at,
    readyAt: undefined,
    executedAt: undefined,
    endedAt: undefined,
    progress: "",
    output: undefined,
    shown: undefined,
    images: [],
    files: [],
    error: undefined,
    ms: undefined,
    savedMs: undefined,
    attempts: 0,
    idempotencyKey: undefined,
    usage: undefined,
    child: undefined,
    approval: undefined,
    retracted: undefined,
    lastSeq: event.seq,
  };
  view.calls.set(event.call, call);
  closeSaid(view.items.at(-1));
  view.items.push({ kind: "call", seq: event.seq, call });
  roundOf(view, event.round)?.calls.push(call);
  return call;
}

const compactedText = ({ dropped, summary, results = [], error }: EventOf<"context.compacted">): string => {
  if (error !== undefined) return `No summary: ${error.err}`;
  if (summary !== undefined) return `A summary stands for ${dropped} older messages.`;
  return dropped === 0 && results.length > 0
    ? `${results.length} older results are sent as a reference.`
    : `${dropped} older messages are left out.`;
};

const recalledLine = ({ notes, store, error }: EventOf<"memory.recalled">): string => {
  const found = notes.length === 0 ? `nothing in ${store}` : `${notes.length} from ${store}`;
  return error === undefined ? found : `${found}: ${error.err}`;
};

/** "pii masked 2 email in the answer". */
function guardText({ guard, action, direction, rule, count = 1, reason }: EventOf<"guard.decided">): string {
  const did = { block: "refused", redact: "masked", ask: "asks about", log: "noted", pass: "had nothing against" }[
    action
  ];
  const what = rule === undefined ? "" : ` ${count} ${rule} in`;
  return `${guard} ${did}${what} the ${direction}${reason === undefined ? "" : `: ${reason}`}`;
}
