import { gatheredIn, inputText, isCutShort, type JsonObject, questionWords } from "venturi/internal";
import { type PendingQuestion, type RunRow, type Runs, type TerminalEvent, terminalOf } from "venturi/plugin";
import type { Serving } from "./serving.ts";

/** Maximum total size of a task's images and files, bytes; the rest is left out. */
const mostBytes = 8 * 1024 * 1024;

export const contextOf = ({ session, run }: Pick<RunRow, "session" | "run">): string => session ?? run;

export interface TaskView {
  readonly history?: number | undefined;
  readonly artifacts?: boolean;
}

/** The run's current state as a task. */
export async function taskOf(serving: Serving, row: RunRow, view: TaskView = {}): Promise<JsonObject> {
  const { run } = row;
  const ids = { taskId: run, contextId: contextOf(row) };
  const last = row.state === "done" ? await endOf(serving.runs, row) : undefined;
  const artifacts = last === undefined || view.artifacts === false ? [] : await artifactsOf(serving.runs, last);
  const asked = last === undefined && row.asking > 0 && serving.mayAnswer ? await serving.runs.pending(run) : [];
  const history = view.history === 0 ? [] : [userMessage(row)];
  return {
    id: run,
    contextId: ids.contextId,
    status:
      last === undefined
        ? (questionStatus(serving, asked, ids) ??
          status(row.state === "ready" ? "SUBMITTED" : "WORKING", row.updatedAt))
        : endStatus(last, ids),
    ...(artifacts.length === 0 ? {} : { artifacts }),
    ...(history.length === 0 ? {} : { history }),
  };
}

export const status = (state: string, at: number, message?: JsonObject): JsonObject => ({
  state: `TASK_STATE_${state}`,
  ...(message === undefined ? {} : { message }),
  timestamp: new Date(at).toISOString(),
});

export interface Ids {
  readonly taskId: string;
  readonly contextId: string;
}

const agentMessage = (messageId: string, ids: Ids, parts: readonly JsonObject[]): JsonObject => ({
  messageId,
  ...ids,
  role: "ROLE_AGENT",
  parts,
});

export function endStatus(last: TerminalEvent, ids: Ids): JsonObject {
  const said = (text: string) => agentMessage(`${last.run}-${last.seq}`, ids, [{ text }]);
  if (last.type === "run.finished") {
    const { finish, at } = last;
    return status("COMPLETED", at, isCutShort(finish) ? said(`The answer was cut short: ${finish}`) : undefined);
  }
  const { code, err } = last.error;
  const words = said(`${code}: ${err}`);
  return status(code === "stream_interrupted" ? "CANCELED" : "FAILED", last.at, words);
}

/** The first open question; the next one follows after its answer. */
export function questionStatus(serving: Serving, asked: readonly PendingQuestion[], ids: Ids): JsonObject | undefined {
  const [question] = asked;
  if (question === undefined) return undefined;
  const { call, kind, name, arguments: given, schema, choices, url, since } = question;
  const data = {
    call,
    kind,
    name,
    ...(kind === "approve" ? { arguments: given } : {}),
    ...(schema === undefined ? {} : { schema }),
    ...(choices === undefined ? {} : { choices }),
    ...(url === undefined ? {} : { url }),
  };
  const parts = [{ text: questionWords(serving.agent.name, question) }, { data, mediaType: "application/json" }];
  const message = agentMessage(`${ids.taskId}-${call}`, ids, parts);
  return status(url === undefined ? "INPUT_REQUIRED" : "AUTH_REQUIRED", since, message);
}

/** The answer as an artifact: text, object, and what the tools produced. */
export async function artifactsOf(runs: Runs, last: TerminalEvent): Promise<JsonObject[]> {
  const parts: JsonObject[] = last.output === "" ? [] : [{ text: last.output }];
  if (last.type === "run.finished") {
    if (last.object !== undefined) parts.push({ data: last.object, mediaType: "application/json" });
    for (const { mediaType, name, data } of await gatheredIn(runs, last.run, mostBytes)) {
      if (data !== undefined) parts.push({ raw: data, mediaType, ...(name === undefined ? {} : { filename: name }) });
    }
  }
  return parts.length === 0 ? [] : [{ artifactId: answerId, parts }];
}

export const answerId = "answer";

function userMessage(row: RunRow): JsonObject {
  const note = row.request.channel?.a2a;
  const messageId = typeof note === "string" ? note : `${row.run}-0`;
  const parts = [{ text: inputText(row.request.input) }];
  return { messageId, taskId: row.run, contextId: contextOf(row), role: "ROLE_USER", parts };
}

export async function endOf(runs: Runs, { run, head }: RunRow): Promise<TerminalEvent> {
  const last = await terminalOf(runs.follow(run, { after: Math.max(0, head - 1), passive: true, channel: "a2a" }));
  if (last === undefined) throw new Error("a run that is done has no end");
  return last;
}
