import { answerQuestion, isJsonObject, type JsonObject, type Reply, shortKey } from "venturi/internal";
import type { PendingQuestion, RunRequest } from "venturi/plugin";
import { a2aError, invalidParams, noTask } from "./errors.ts";
import { inputOf, partsOf, textOf } from "./parts.ts";
import { type Serving, steeredRow, taskRow } from "./serving.ts";
import { contextOf } from "./task.ts";

/** The run a message is about, and the event after which its sender needs updates. */
export interface Taken {
  readonly run: string;
  readonly after: number;
}

/** Handles a message: it starts a task, answers its question, or steers one in progress. */
export async function takeMessage(serving: Serving, params: JsonObject): Promise<Taken> {
  const { message, configuration } = params;
  if (!isJsonObject(message)) throw invalidParams("message is missing");
  if (typeof message.messageId !== "string" || message.messageId === "")
    throw invalidParams("message.messageId is missing");
  const taskId = idIn(message, "taskId");
  const push = isJsonObject(configuration) ? configuration.taskPushNotificationConfig : undefined;
  if (isJsonObject(push)) {
    // Before anything is started or answered. Whoever begins a task says where it reports.
    pushStore(serving).check(push);
    if (taskId !== undefined) await steeredRow(serving, taskId);
  }
  const taken = taskId === undefined ? await begin(serving, message) : await goOn(serving, taskId, message);
  if (isJsonObject(push)) await pushStore(serving).set(taken.run, push);
  return taken;
}

/** An id that may be absent or empty. One of another type must not be taken for none: that would begin another task. */
function idIn(message: JsonObject, name: "taskId" | "contextId"): string | undefined {
  const id = message[name];
  if (id == null || id === "") return undefined;
  if (typeof id === "string" && id.length <= 256) return id;
  throw invalidParams(`message.${name} is a string of at most 256 characters`);
}

export function pushStore({ push }: Serving) {
  if (push !== undefined) return push;
  throw a2aError("PUSH_NOTIFICATION_NOT_SUPPORTED", "this service sends no push notifications; poll the task");
}

async function begin({ runs, agent, trace }: Serving, message: JsonObject): Promise<Taken> {
  const { messageId } = message;
  const contextId = idIn(message, "contextId");
  const session = contextId ?? crypto.randomUUID();
  const request: RunRequest = {
    agent: agent.name,
    input: inputOf(agent, message),
    session,
    channel: { a2a: String(messageId) },
    onDisconnect: "continue",
    ...trace,
  };
  // A repeated message, after a lost response, finds the task it began.
  const sent = { parts: message.parts, contextId };
  const { run } = await runs.start(request, { key: shortKey(`a2a:${agent.name}:${messageId}`), sent });
  return { run, after: 0 };
}

async function goOn(serving: Serving, taskId: string, message: JsonObject): Promise<Taken> {
  const { runs, by, mayAnswer } = serving;
  const row = await taskRow(serving, taskId);
  const contextId = idIn(message, "contextId");
  if (contextId !== undefined && contextId !== contextOf(row)) throw noTask(taskId);
  if (row.state === "done") {
    throw a2aError("UNSUPPORTED_OPERATION", "the task has ended; send a message with its contextId to go on");
  }
  const [first, ...others] = row.asking > 0 && mayAnswer ? await runs.pending(taskId) : [];
  if (first === undefined) {
    const text = textOf(message) || JSON.stringify(message.parts);
    await runs.signal(taskId, "message", { text, by }, shortKey(`a2a:${message.messageId}`));
    return { run: taskId, after: row.head };
  }
  const data = partsOf(message)
    .map((part) => part.data)
    .find(isJsonObject);
  const named = data?.call === undefined ? first : [first, ...others].find(({ call }) => call === data.call);
  if (named === undefined) throw invalidParams("no question with this call is open");
  await answerQuestion(runs, taskId, { call: named.call, by, reply: replyOf(named, textOf(message), data) });
  return { run: taskId, after: row.head };
}

const yes = new Set(["yes", "y", "ok", "okay", "approve", "approved", "accept", "accepted", "true"]);
const no = new Set(["no", "n", "reject", "rejected", "decline", "declined", "deny", "denied", "cancel", "false"]);

/** Only a clear yes approves a call. */
function replyOf({ kind, schema }: PendingQuestion, text: string, data: JsonObject | undefined): Reply {
  const { call: _, approved, reason, arguments: changed, answer, ...content } = data ?? {};
  const why = typeof reason === "string" ? { reason } : {};
  if (approved === false) return { action: "decline", ...why };
  if (kind === "approve") {
    if (approved === true) return { action: "accept", ...(isJsonObject(changed) ? { content: changed } : {}) };
    const [word = ""] = text.trim().toLowerCase().split(notLetters);
    if (yes.has(word)) return { action: "accept" };
    if (no.has(word)) return { action: "decline", reason: text.slice(0, 4_000) };
    throw invalidParams(
      'answer with the data { "approved": true } or false, or with a text that begins with yes or no',
    );
  }
  if (answer !== undefined) return { action: "accept", content: schema === undefined ? { answer } : answer };
  if (schema !== undefined)
    return { action: "accept", content: Object.keys(content).length > 0 ? content : parsed(text) };
  return { action: "accept", content: { answer: text } };
}

const notLetters = /[^a-z]/;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
