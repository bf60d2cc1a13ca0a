import { inputMessages } from "../../agent/state/input-messages.ts";
import { RunState } from "../../agent/state/run-state.ts";
import { continuedBy, extendSession } from "../../agent/state/session-messages.ts";
import { complaintsOf } from "../../core/errors/complaints.ts";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Journal, Recording, Signal } from "../../core/journal/journal.ts";
import type { Message } from "../../core/model/messages.ts";
import type { GenerationOptions } from "../../core/model/provider.ts";
import type { RunInput } from "../../core/run/event-fields.ts";
import type { EventOf, RunEvent } from "../../core/run/events.ts";
import { ForkRequest } from "../../core/run/fork.ts";
import type { ListedSkill } from "../../core/run/listed-skill.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import type { RunRow } from "../../core/run/run-row.ts";
import { heldRun, historyOrNothing, readHistory } from "../../journal/history.ts";
import { isRecorded, madeIn } from "./recorded-calls.ts";

const op = "run.fork";

export interface ForkTarget {
  /** The new run's id. */
  readonly run: string;
  readonly tenant: string;
  readonly caller: RunRequest["caller"] | undefined;
  readonly now: number;
  /** Skills of the agent, if it differs from the original's. */
  readonly skills?: readonly ListedSkill[];
}

/** The original's events up to the step, and its input including the conversation before it. */
export interface ForkSource {
  readonly row: RunRow;
  readonly prefix: readonly RunEvent[];
  readonly input: RunInput;
  /** Runs whose blobs these refer to. */
  readonly runs: readonly string[];
}

/** Reads what a fork copies. Rejects with `invalid_input` if `after` is not a step of the run. */
export async function forkSource(journal: Journal, row: RunRow, asked: ForkRequest): Promise<ForkSource> {
  const prefix = await prefixOf(journal, row, asked);
  mustBeStep(prefix, asked.after === 1 ? prefix.length : asked.after, row);
  const started = prefix[0];
  if (started?.type !== "run.started") throw invalid(`the run ${row.run} has no beginning`);
  const given = typeof asked.input === "string" ? { text: asked.input } : asked.input;
  if (given !== undefined && asked.after > 1) {
    throw invalid(`input: events 2 to ${asked.after} answer the old input; fork after event 1 to change it`);
  }
  if (asked.agent !== undefined && asked.after > 1) {
    throw invalid(`agent: events 2 to ${asked.after} are another agent's; fork after event 1 to change it`);
  }
  const { variables } = started.input;
  const own = given === undefined ? started.input : { ...(variables === undefined ? {} : { variables }), ...given };
  const { messages, runs } = await conversationBefore(journal, row);
  const before = continuedBy(messages, inputMessages(own));
  if (before.length === 0) return { row, prefix, input: own, runs: [row.run] };
  const { text: _, ...rest } = own;
  return { row, prefix, input: { ...rest, messages: [...before, ...inputMessages(own)] }, runs: [...runs, row.run] };
}

/** Includes the notes recalled right after the start, so that the search is not repeated. */
async function prefixOf(journal: Journal, row: RunRow, { after, input, agent }: ForkRequest): Promise<RunEvent[]> {
  const read = (head: number) => readHistory(journal, { run: row.run, head: Math.min(head, row.head) });
  if (after !== 1 || input !== undefined || agent !== undefined) return await read(after);
  // No delta comes before the first round.
  const first = heldRun(journal, row.run)?.steps ?? (await read(mostBefore));
  const begun = first.findIndex(({ type }) => type === "round.started");
  const at = first.slice(0, begun < 0 ? first.length : begun).findLastIndex(isRecall);
  return first.slice(0, Math.max(1, at + 1));
}

/** Maximum number of events (guard decisions) between a run's start and its recall. */
const mostBefore = 100;

const isRecall = (event: RunEvent): boolean => event.type === "memory.recalled" && event.call === undefined;

/** Validates the request: programs may call this without a channel's checks. */
export function checkFork(request: unknown): ForkRequest {
  const parsed = ForkRequest.safeParse(request);
  if (parsed.success) return parsed.data;
  const [first] = complaintsOf(ForkRequest, request, parsed.error);
  throw invalid(`${first?.path || "the fork"}: ${first?.message ?? "not valid"}`);
}

/** The fork's request: the original's, without its ties to caller and conversation. */
export function forkedRequest({ row, prefix, input }: ForkSource, asked: ForkRequest): RunRequest {
  const { session: _s, parent: _p, caller: _c, user: _u, revision: _r, channel: _h, ...kept } = row.request;
  const { traceparent: _t, tracestate: _ts, baggage: _b, onDisconnect: _d, fork: _f, debug: _g, ...rest } = kept;
  const { notify: _n, shadow: _w, sent: _k, ...request } = rest;
  const { tools, unanswered, instructions, model, options, session } = asked;
  const keys = openKeys(row, prefix);
  return {
    ...request,
    ...(asked.agent === undefined ? {} : { agent: asked.agent }),
    input,
    ...(session === undefined ? {} : { session }),
    ...(model === undefined ? {} : { model }),
    ...(options === undefined ? {} : { options: { ...request.options, ...options } as GenerationOptions }), // Merging removes the nulls.
    fork: {
      run: row.run,
      after: prefix.length,
      tools,
      ...(unanswered === undefined ? {} : { unanswered }),
      ...(Object.keys(keys).length === 0 ? {} : { keys }),
      ...(instructions === undefined ? {} : { instructions }),
    },
  };
}

/** Idempotency keys of calls without a result, which the fork may still make. */
function openKeys({ run, request }: RunRow, prefix: readonly RunEvent[]): Record<string, string> {
  const open = madeIn(prefix).filter((call) => !isRecorded(call));
  return Object.fromEntries(open.map(({ call }) => [call, request.fork?.keys?.[call] ?? `${run}:${call}`]));
}

/** The new run as a journal recording: ready to be claimed, and continued like a run after a crash. */
export async function forkRecording(
  journal: Journal,
  source: ForkSource,
  { asked, request, target }: { asked: ForkRequest; request: RunRequest; target: ForkTarget },
): Promise<Recording> {
  const { row, prefix } = source;
  const last = prefix.at(-1);
  // Shift all times: durations stay, and the time since then does not count for the fork.
  const shift = target.now - (last?.at ?? target.now);
  const signals = await seenSignals(journal, row.run, prefix);
  const numbers = new Map(signals.map(({ number }, index) => [number, index + 1]));
  const edits = new Map(asked.edit?.map((edit) => [edit.call, edit]));
  const events = prefix.map((event): RunEvent => {
    const waited = event.waited?.map((wait) => ({ ...wait, from: wait.from + shift }));
    const moved = { ...event, run: target.run, at: event.at + shift, ...(waited === undefined ? {} : { waited }) };
    if (moved.type === "run.started") return started(moved, request, target);
    if (moved.type === "tool.finished") return edited(moved, edits);
    // "For this run" applied to the original run.
    if (moved.type === "approval.resolved") delete moved.for;
    if ("signal" in moved && moved.signal !== undefined) return { ...moved, signal: numbers.get(moved.signal) ?? 0 };
    return moved;
  });
  const [unknown] = edits.keys();
  if (unknown !== undefined) throw invalid(`edit: no call "${unknown}" has a result up to event ${asked.after}`);
  return {
    run: target.run,
    tenant: target.tenant,
    session: request.session,
    request: { ...request, ...(target.caller === undefined ? {} : { caller: target.caller }) },
    signals: signals.map(({ id, kind, body }) => ({ id, kind, body })),
    wires: [],
    events,
    state: "ready",
  };
}

function started(
  event: EventOf<"run.started">,
  { agent, input, session, fork }: RunRequest,
  { caller, skills: others }: ForkTarget,
): EventOf<"run.started"> {
  const { session: _s, trace: _t, parent: _p, by: _b, fork: _f, skills: own, ...kept } = event;
  const skills = event.agent === agent ? own : others;
  return {
    ...kept,
    ...(skills === undefined ? {} : { skills: [...skills] }),
    agent,
    input,
    ...(session === undefined ? {} : { session }),
    ...(fork === undefined ? {} : { fork: { run: fork.run, after: fork.after } }),
    ...(caller === undefined ? {} : { by: caller.id }),
  };
}

/** Takes the edit out of the map; edits left over were not found. */
function edited(
  event: EventOf<"tool.finished">,
  edits: Map<string, { readonly output: string; readonly ok: boolean }>,
): EventOf<"tool.finished"> {
  const edit = edits.get(event.call);
  if (edit === undefined) return event;
  edits.delete(event.call);
  const { output: _o, shown: _s, hash: _h, size: _b, length: _l, error: _e, images: _i, files: _f, ...kept } = event;
  return { ...kept, ok: edit.ok, output: edit.output };
}

/** Refuses a position in the middle of a generation. */
function mustBeStep(prefix: readonly RunEvent[], after: number, row: RunRow): void {
  if (after > row.head) throw invalid(`after: the run has ${row.head} events so far`);
  const steps: number[] = [];
  let generated = false;
  for (const event of prefix) {
    if (event.type === "round.started" || event.type === "round.retracted") generated = false;
    if (event.type === "generation.finished") generated = true;
    const whole = event.type === "run.started" || event.type === "round.finished" || isRecall(event);
    if (whole || (generated && (event.type === "tool.finished" || event.type === "generation.finished")))
      steps.push(event.seq);
  }
  if (steps.at(-1) === after) return;
  const type = prefix.at(-1)?.type ?? "nothing";
  throw invalid(`after: event ${after} (${type}) is not the end of a step; the last one before it is ${steps.at(-1)}`);
}

/** Signals reflected in the prefix. Others, such as a cancel or an answer to a later question, are not copied. */
async function seenSignals(journal: Journal, run: string, prefix: readonly RunEvent[]): Promise<Signal[]> {
  const seen = new Set(prefix.flatMap((event) => ("signal" in event ? [event.signal] : [])));
  if (seen.size === 0) return [];
  return (await journal.signals(run, 0)).filter(({ number }) => seen.has(number));
}

/** The session's messages when the run began, and the runs they come from. */
export async function conversationBefore(
  journal: Journal,
  { run, tenant, session }: RunRow,
): Promise<{ messages: Message[]; runs: string[] }> {
  let messages: Message[] = [];
  const runs: string[] = [];
  let cursor: string | undefined;
  do {
    if (session === undefined) break;
    const query = { tenant, session, oldestFirst: true, limit: 50, ...(cursor === undefined ? {} : { cursor }) };
    const page = await journal.list(query);
    for (const row of page.runs) {
      if (row.run === run) return { messages, runs };
      if (row.state !== "done") continue;
      runs.push(row.run);
      messages = extendSession(messages, RunState.of(await historyOrNothing(journal, row)));
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { messages, runs };
}

/** Refuses a session that already has turns: the fork's own conversation would be repeated. */
export async function mustBeNew(journal: Journal, tenant: string, session: string): Promise<void> {
  const { runs } = await journal.list({ tenant, session, limit: 1 });
  if (runs.length > 0) throw new VenturiError(op, "conflict", `the session "${session}" has runs; name a new one`);
}

/** Blobs belong to runs: makes those that the fork's events and input refer to its own as well. */
export async function shareContent(
  journal: Journal,
  { run, events, request }: Recording,
  from: readonly string[],
): Promise<void> {
  const { blobs } = journal;
  const named = hashesIn([events, request.input, request.instructions]);
  if (blobs === undefined || named.size === 0) return;
  const hashes = new Set((await Promise.all(from.map((owner) => blobs.of(owner)))).flat());
  for (const hash of named) {
    if (!hashes.has(hash) || (await blobs.use?.(run, hash)) === true) continue;
    const bytes = await blobs.get(hash);
    if (bytes !== undefined) await blobs.put(run, hash, bytes);
  }
}

/** SHA-256 digests at the end of texts: that is how parts and vendor fields refer to blobs. */
function hashesIn(value: unknown): Set<string> {
  const found = new Set<string>();
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") {
      if (next.length >= 64 && next.length < 200 && isDigest(next.slice(-64))) found.add(next.slice(-64));
    } else if (typeof next === "object" && next !== null) open.push(...Object.values(next));
  }
  return found;
}

/** Decoding stops at the first other character. */
const isDigest = (text: string): boolean => Buffer.from(text, "hex").length === 32;

const invalid = (message: string): VenturiError => new VenturiError(op, "invalid_input", message);
