import { isAsked } from "venturi/internal";
import {
  type AgentInfo,
  isTerminal,
  type PendingQuestion,
  type RunEvent,
  type RunRequest,
  VenturiError,
} from "venturi/plugin";
import { agentNamed, runInput } from "./agents.ts";
import { answer, inputRequests, type Open, openQuestions } from "./questions.ts";
import { readPlace, writePlace } from "./request-state.ts";
import { callResult } from "./result.ts";
import { metaKeys } from "./revision.ts";
import { invalidParams, isObject, type Json, textParam } from "./rpc.ts";
import type { Serving } from "./serving.ts";
import { createdTask, legacyTask } from "./tasks.ts";

/** `tools/call`: a run of the agent. The state is in the journal, so any replica can continue it. */
export async function callTool(serving: Serving, params: Json): Promise<Json> {
  const { runs, client } = serving;
  const agent = agentNamed(runs, textParam(params, "name"));
  const watch = { progress: progressToken(params), log: wantsLog(serving, params) };
  if (params.requestState !== undefined) return await goOn(serving, { ...params, agent: agent.name }, watch);
  const started = await begin(serving, agent, params.arguments).catch((thrown: unknown) => {
    // Returned to the model that made the call, which can correct it.
    if (VenturiError.is(thrown, "invalid_input")) return { refused: thrown.message };
    throw thrown;
  });
  if ("refused" in started) return { content: [{ type: "text", text: started.refused }], isError: true };
  const { run } = started;
  if (client.era === "legacy" && isObject(params.task)) return { task: legacyTask(await runs.get(run)) };
  serving.onRun(run);
  return await followToAnswer(serving, { run, after: 0, ...watch });
}

async function begin({ runs, client, tag, trace }: Serving, agent: AgentInfo, given: unknown) {
  const { input, session } = runInput(agent, given);
  const request: RunRequest = {
    agent: agent.name,
    input,
    ...(session === undefined ? {} : { session }),
    ...(tag === undefined ? {} : { metadata: { [requestTag]: tag } }),
    onDisconnect: client.era === "modern" ? "cancel" : "continue",
    ...trace,
  };
  return await runs.start(request);
}

/** Metadata by which a request of an older protocol revision is found, to cancel it. */
export const requestTag = "mcp.request";

/** Continues with the client's answers to questions. */
async function goOn(serving: Serving, params: Json, watch: Pick<Watch, "progress" | "log">): Promise<Json> {
  const { runs, by } = serving;
  const { run, seq, of } = readPlace(params.requestState);
  const row = await runs.get(run);
  if (of !== params.agent || row.agent !== of) throw invalidParams("the state is of another call");
  const replies = isObject(params.inputResponses) ? params.inputResponses : {};
  const answered = new Set<string>();
  for (const [call, reply] of Object.entries(replies)) {
    if (await answer(runs, run, { call, reply, by })) answered.add(call);
  }
  serving.onRun(run);
  return await followToAnswer(serving, { run, after: seq, answered, ...watch });
}

export interface Watch {
  readonly run: string;
  readonly after: number;
  readonly progress: string | number | undefined;
  readonly log: boolean;
  /** Calls answered by this request; their events may be still to come. */
  readonly answered?: ReadonlySet<string>;
}

/** Follows the run to its end, to a question for the client, or until it becomes a task. */
export async function followToAnswer(serving: Serving, watch: Watch): Promise<Json> {
  const { runs, client, gone } = serving;
  const { run } = watch;
  const isTask = client.takesTasks;
  const late = isTask ? AbortSignal.timeout(serving.taskAfter) : undefined;
  const signal = late === undefined ? gone : AbortSignal.any([gone, late]);
  const told = new Set<string>();
  let seq = watch.after;
  try {
    if (seq > 0) {
      const asked = await put(serving, watch, { seq, told });
      if (asked !== undefined) return asked;
    }
    for await (const batch of runs.follow(run, { after: seq, signal, channel: "mcp" })) {
      for (const event of batch) await tell(serving, watch, event);
      seq = batch.at(-1)?.seq ?? seq;
      const last = batch.at(-1);
      if (last !== undefined && isTerminal(last)) return await callResult(runs, last);
      if (!batch.some(isAsked)) continue;
      const asked = await put(serving, watch, { seq, told });
      if (asked !== undefined) return asked;
    }
  } catch (thrown) {
    const isStopping = VenturiError.is(thrown, "shutting_down");
    if (isStopping && client.era === "modern" && !isTask)
      await runs.cancel(run, "the service stopped before it answered").catch(() => {}); // The client gets the reason either way.
    if (!signal.aborted && !(isStopping && isTask)) throw thrown;
  }
  if (!gone.aborted && isTask) return createdTask(await runs.get(run));
  if (client.era === "modern") await runs.cancel(run, "the client left");
  throw new Error("the client left");
}

/**
 * Puts open questions to the client: as the response, or in older revisions on the stream, which goes on. `told`: those put there already. A
 * reader that comes back is asked again, since the question may have been lost with the connection; the first answer counts.
 */
async function put(serving: Serving, { run, answered }: Watch, { seq, told }: Told): Promise<Json | undefined> {
  const { runs, client } = serving;
  const isNew = (question: PendingQuestion) => !answered?.has(question.call) && !told.has(askingOf(question));
  const open = await openQuestions(serving, run, isNew);
  if (open === undefined) return undefined;
  if (client.takesTasks) return createdTask(await runs.get(run));
  if (client.era === "modern") return inputRequired(open, { run, seq });
  await ask(serving, open, { run, seq });
  for (const question of open.questions) told.add(askingOf(question));
  return undefined;
}

interface Told {
  readonly seq: number;
  readonly told: Set<string>;
}

/** A call that was interrupted is asked about again. */
const askingOf = ({ call, since }: PendingQuestion): string => `${since} ${call}`;

/** Stateless: the response to this request is a question, and the client repeats the request with the answers. */
function inputRequired({ agent, forms }: Open, { run, seq }: { run: string; seq: number }): Json {
  return {
    resultType: "input_required",
    inputRequests: inputRequests(forms),
    requestState: writePlace({ run, seq, of: agent }),
  };
}

/** Older revisions: sends a request to the client on this stream. The answer arrives in a separate POST, at any replica. */
async function ask({ send }: Serving, { forms }: Open, { run, seq }: { run: string; seq: number }): Promise<void> {
  for (const [call, { mode: _, ...params }] of forms) {
    const id = `${questionPrefix}${writePlace({ run, seq, of: call })}`;
    await send({ jsonrpc: "2.0", id, method: "elicitation/create", params }, { run, seq });
  }
}

export const questionPrefix = "ask:";

async function tell({ send }: Serving, watch: Watch, event: RunEvent): Promise<void> {
  const { run, seq } = event;
  const text = progressText(event);
  if (text !== undefined && watch.progress !== undefined) {
    const params = { progressToken: watch.progress, progress: seq, message: text };
    await send({ jsonrpc: "2.0", method: "notifications/progress", params }, { run, seq });
  }
  const line = watch.log ? logLine(event) : undefined;
  if (line !== undefined) {
    const params = { level: "info", logger: "venturi", data: line };
    await send({ jsonrpc: "2.0", method: "notifications/message", params }, { run, seq });
  }
}

function progressText(event: RunEvent): string | undefined {
  switch (event.type) {
    case "text.delta":
    case "tool.output":
      return event.text;
    case "tool.started":
      return `→ ${event.name}`;
    default:
      return undefined;
  }
}

function logLine(event: RunEvent): Json | undefined {
  switch (event.type) {
    case "run.started":
      return { event: event.type, run: event.run, agent: event.agent };
    case "tool.started":
      return { event: event.type, tool: event.name };
    case "tool.finished":
      return { event: event.type, tool: event.name, ok: event.ok, ms: event.ms };
    case "round.finished":
      return { event: event.type, round: event.round, finish: event.finish };
    default:
      return undefined;
  }
}

export function progressToken({ _meta }: Json): string | number | undefined {
  const token = isObject(_meta) ? _meta.progressToken : undefined;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}

const infoLevels = ["debug", "info"];

/** Since 2026-07-28 each request states the log level it wants; before, clients with logging get all lines. */
const wantsLog = ({ client }: Serving, { _meta }: Json): boolean =>
  client.era === "legacy" || (isObject(_meta) && infoLevels.includes(String(_meta[metaKeys.logLevel])));
