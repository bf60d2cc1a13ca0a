import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isJsonObject, type JsonObject } from "venturi/internal";
import { type ToolContext, VenturiError } from "venturi/plugin";
import type { Options } from "./options.ts";
import { type Remote, strange } from "./remote.ts";
import { partsOf, RemoteTask, wordsOf } from "./task.ts";

const pollMs = 1_000;
/** Consecutive polls that may fail, and questions one call may ask. */
const mostFailures = 10;
const mostQuestions = 20;

export interface Input {
  readonly task: string;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** Gives the agent a task and follows it to its end, through questions, broken streams and a cancelled run. */
export async function callAgent(remote: Remote, { task: text, data }: Input, call: Call): Promise<unknown> {
  const { context } = call;
  const task = new RemoteTask();
  // The same id after a crash: a service that knows it answers with the task it began.
  const messageId = hashOf(context.idempotencyKey);
  const parts = [{ text }, ...(data === undefined ? [] : [{ data, mediaType: "application/json" }])];
  try {
    await say(remote, task, { messageId, parts }, call);
    for (let asked = 0; !task.isOver; asked++) {
      if (!task.isAsking) throw strange("it ended without an end of its task");
      if (asked === mostQuestions) throw strange(`it asks on after ${mostQuestions} questions`);
      const reply = { messageId: hashOf(`${messageId}/${asked}`), parts: [await answerTo(task, asked, call)] };
      await say(remote, task, reply, call);
    }
    return task.output();
  } catch (thrown) {
    if (task.id !== "" && !task.isOver) await abandon(remote, task.id);
    if (context.signal.aborted) throw new VenturiError("tool.call", "stream_interrupted", "the call was cancelled");
    throw thrown;
  }
}

export interface Call {
  readonly context: ToolContext;
  readonly name: string;
  readonly options: Options;
}

/** Sends a message and follows the task until it ends or asks. After a broken stream it polls the task. */
async function say(remote: Remote, task: RemoteTask, said: JsonObject, { context }: Call): Promise<void> {
  const { signal } = context;
  const about = task.id === "" ? {} : { taskId: task.id, ...(task.context === "" ? {} : { contextId: task.context }) };
  const params = { message: { ...said, ...about, role: "ROLE_USER" } };
  const { streams } = await remote.card(signal);
  task.state = "";
  const known = onceKnown(task, signal);
  try {
    if (!streams) {
      task.take(await remote.ask("SendMessage", { ...params, configuration: { returnImmediately: true } }, known));
    } else {
      for await (const update of remote.stream("SendStreamingMessage", params, known)) {
        const added = task.take(update);
        if (added !== "") context.progress(added);
        signal.throwIfAborted();
      }
    }
  } catch (thrown) {
    if (task.id === "" || signal.aborted || isRefusal(thrown)) throw thrown;
  }
  for (let failures = 0; !task.isOver && !task.isAsking; ) {
    if (task.id === "") throw strange("its answer is neither a task nor a message");
    await sleep(pollMs, undefined, { signal });
    try {
      task.take(await remote.ask("GetTask", { id: task.id }, signal));
      failures = 0;
    } catch (thrown) {
      failures += 1;
      if (signal.aborted || isRefusal(thrown) || failures === mostFailures) throw thrown;
    }
  }
}

/** How long to wait for the task's id: without it, nobody could cancel the task. */
const grace = 3_000;

/** Aborts with the signal, but before the task's id is known only after a delay. */
function onceKnown(task: RemoteTask, signal: AbortSignal): AbortSignal {
  const own = new AbortController();
  const stop = () => own.abort(signal.reason);
  const begin = () => (task.id === "" ? void setTimeout(stop, grace).unref() : stop());
  if (signal.aborted) stop();
  else signal.addEventListener("abort", begin, { once: true });
  return own.signal;
}

/** The service understood and refused: asking again does not help. */
const isRefusal = (thrown: unknown): boolean => VenturiError.isInstance(thrown) && thrown.code === "tool_failed";

/** Asks the task's question in the run; returns the message part with the answer. */
async function answerTo(task: RemoteTask, index: number, { context, name, options }: Call): Promise<JsonObject> {
  const parts = partsOf(task.status.message);
  const words = wordsOf(parts.filter(({ text }) => typeof text === "string")) || "It needs something to go on.";
  if (!options.questions)
    throw new VenturiError(
      "tool.call",
      "tool_failed",
      `the agent asks, which it may not here: ${words.slice(0, 1_000)}`,
    );
  const about = parts.map(({ data }) => data).find(isJsonObject) ?? {};
  const { call, kind, schema, choices, url } = about;
  const isApproval = kind === "approve";
  const { approved, answer, reason } = await context.ask({
    kind: "elicit",
    id: `${hashOf(words).slice(0, 12)}-${index}`,
    name,
    message: `The agent "${name}" asks: ${words}`.slice(0, 4_000),
    ...(isApproval ? { choices: [yes, no] } : isJsonObject(schema) ? { schema } : {}),
    ...(!isApproval && Array.isArray(choices) && choices.every((each) => typeof each === "string") ? { choices } : {}),
    ...(typeof url === "string" && URL.canParse(url) ? { url } : {}),
  });
  const which = typeof call === "string" ? { call } : {};
  if (!approved || (isApproval && answer !== yes)) {
    return { data: { ...which, approved: false, ...(reason === undefined ? {} : { reason }) } };
  }
  if (isApproval) return { data: { ...which, approved: true } };
  return isJsonObject(answer) ? { data: answer } : { text: answer === undefined ? "done" : String(answer) };
}

const yes = "yes";
const no = "no";

/** Cancels a task that nobody waits for any more. */
async function abandon(remote: Remote, id: string): Promise<void> {
  await remote.ask("CancelTask", { id }, AbortSignal.timeout(5_000)).catch(() => {}); // It ends by itself, or is not ours to cancel.
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);
