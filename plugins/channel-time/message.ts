import { costsOf, isLimitName } from "venturi/internal";
import { isTerminal, type RunEvent, type RunRow } from "venturi/plugin";
import type { WebhookEvent, WebhookOptions } from "./webhook-options.ts";

/** One delivery. Its id stays the same when repeated, so that a receiver can drop duplicates. */
export interface Message {
  readonly id: string;
  /** Position in the run: of the event, and among the messages the event produces. */
  readonly place: number;
  readonly type: WebhookEvent;
  readonly tenant: string;
  /** Absent in messages of earlier versions. */
  readonly agent?: string;
  readonly body: string;
}

const perEvent = 4;
export const placeAfter = (seq: number): number => (seq + 1) * perEvent - 1;
export const seqOf = (place: number): number => Math.floor(place / perEvent);

/** The messages an event produces, in order. */
export function messagesOf(row: RunRow, event: RunEvent, options: WebhookOptions): Message[] {
  return typesOf(event)
    .map((type, index) => ({ type, place: event.seq * perEvent + index }))
    .filter(({ type }) => options.events.includes(type))
    .map(({ type, place }) => ({
      id: `msg_${row.run}_${place}`,
      place,
      type,
      tenant: row.tenant,
      agent: row.agent,
      body: JSON.stringify(bodyOf(row, event, { type, options })),
    }));
}

interface Told {
  readonly type: WebhookEvent;
  readonly options: WebhookOptions;
}

function bodyOf(row: RunRow, event: RunEvent, { type, options }: Told): Record<string, unknown> {
  const timestamp = new Date(event.at).toISOString();
  if (options.format !== "a2a") return { type, timestamp, data: dataOf(row, event, options) };
  // Without content: the receiver fetches the task with its own key.
  const { run, session = run } = row;
  return { statusUpdate: { taskId: run, contextId: session, status: { state: taskState(event), timestamp } } };
}

function taskState(event: RunEvent): string {
  if (event.type === "run.finished") return "TASK_STATE_COMPLETED";
  if (event.type === "run.failed")
    return event.error.code === "stream_interrupted" ? "TASK_STATE_CANCELED" : "TASK_STATE_FAILED";
  return event.type === "approval.requested" || event.type === "question.asked"
    ? "TASK_STATE_INPUT_REQUIRED"
    : "TASK_STATE_WORKING";
}

function typesOf(event: RunEvent): WebhookEvent[] {
  switch (event.type) {
    case "approval.requested":
    case "question.asked":
      return ["question.asked"];
    case "approval.resolved":
    case "question.answered":
      return ["question.answered"];
    case "run.finished":
      return isLimitName(event.finish) ? ["budget.exceeded", "run.finished"] : ["run.finished"];
    case "run.failed": {
      const { code } = event.error;
      const isLimit = code === "budget_exceeded" || code === "max_rounds_exceeded";
      return isLimit ? ["budget.exceeded", "run.failed"] : ["run.failed"];
    }
    case "budget.warned":
    case "budget.exceeded":
      return ["budget.reached"];
    default:
      return [];
  }
}

/** Names, numbers and codes. Text written by people and models is left out unless configured. */
function dataOf(row: RunRow, event: RunEvent, { content }: WebhookOptions): Record<string, unknown> {
  const { run, agent, session, tenant, request } = row;
  const base = {
    run,
    seq: event.seq,
    agent,
    tenant,
    ...(session === undefined ? {} : { session }),
    ...(request.parent === undefined ? {} : { parent: request.parent.run }),
    ...(content && request.metadata !== undefined ? { metadata: request.metadata } : {}),
  };
  if (event.type === "approval.requested") {
    const { call, name, until } = event;
    const asked = { call, name, ...(until === undefined ? {} : { until: new Date(until).toISOString() }) };
    return { ...base, ...asked, ...(content ? { arguments: event.arguments, reason: event.reason } : {}) };
  }
  if (event.type === "approval.resolved") {
    const { call, approved, by } = event;
    return { ...base, call, approved, ...(by === undefined ? {} : { by }) };
  }
  if (event.type === "question.asked") {
    const { call, name, kind, until, message, choices } = event;
    const asked = { call, name, kind, ...(until === undefined ? {} : { until: new Date(until).toISOString() }) };
    return { ...base, ...asked, ...(content ? { message, choices } : {}) };
  }
  if (event.type === "question.answered") {
    return { ...base, call: event.call, answered: event.answered, ...(content ? { answer: event.answer } : {}) };
  }
  if (event.type === "budget.warned" || event.type === "budget.exceeded") {
    const { budget, of, whose, per, onExceed, limit, spent } = event;
    return {
      ...base,
      percent: event.type === "budget.warned" ? 80 : 100,
      budget,
      of,
      whose,
      per,
      onExceed,
      limit,
      spent,
    };
  }
  if (!isTerminal(event)) return base;
  const { rounds, usage } = event;
  const how = event.type === "run.finished" ? { finish: event.finish } : { code: event.error.code };
  const words = event.type === "run.failed" ? { error: event.error.err } : {};
  const status = event.type === "run.finished" ? "finished" : "failed";
  return {
    ...base,
    status,
    ...how,
    rounds,
    usage,
    ...costsOf(event),
    ...(content ? { output: event.output, ...words } : {}),
  };
}
