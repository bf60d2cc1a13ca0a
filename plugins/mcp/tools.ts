import type {
  CallToolResult,
  Client,
  InputRequests,
  InputRequiredResult,
  InputResponses,
  Progress,
  Tool as RemoteTool,
} from "@modelcontextprotocol/client";
import { isHandover, traceHeadersIn } from "venturi/internal";
import {
  type Effect,
  fromToolOptions,
  type KeyValues,
  messageOf,
  type Runs,
  type Tool,
  type ToolContext,
  VenturiError,
} from "venturi/plugin";
import { Questions } from "./elicitation.ts";
import type { McpOptions } from "./options.ts";
import type { Vetted } from "./pin.ts";
import { toOutput } from "./result.ts";
import { Sampler } from "./sampling.ts";
import { taskIn } from "./task-wire.ts";
import { TaskNotes, taskResult } from "./tasks.ts";

/** How calls reach the server. */
export interface Access {
  /** What a server that stopped wrote last, as the end of a sentence. */
  lastWords?(): Promise<string>;
  use<T>(context: ToolContext, work: (client: Client) => Promise<T>): Promise<T>;
  readonly spanAttributes: Readonly<Record<string, string | number>>;
}

export interface Offer {
  readonly options: McpOptions;
  readonly prefix: string;
  readonly vetted: Vetted;
  readonly access: Access;
  /** The entry's name in the configuration, for people. */
  readonly server: string;
  readonly runs: () => Runs;
  /** Where tasks are noted; undefined where calls become none. */
  readonly values: (() => KeyValues | undefined) | undefined;
  redact(text: string): string;
}

/** The loop enforces call timeouts; the library's default of a minute would cut long calls short. */
const noTimeout = 24 * 3_600_000;

/** The server's tools as ours. Tools that only run as background tasks are left out. */
export function toTools(
  remote: readonly RemoteTool[],
  offer: Offer,
  leftOut: (remote: string, name: string) => void = () => {},
): Tool[] {
  const tools = new Map<string, Tool>();
  for (const tool of remote) {
    if (tool.execution?.taskSupport === "required") continue;
    const ours = toTool(tool, offer);
    if (tools.has(ours.name)) leftOut(tool.name, ours.name);
    else tools.set(ours.name, ours);
  }
  return [...tools.values()];
}

function toTool(remote: RemoteTool, offer: Offer): Tool {
  const effect = offer.options.effects[remote.name] ?? effectOf(remote);
  return {
    ...fromToolOptions(offer.options),
    ...(offer.vetted.isChanged(remote) ? { approval: "always" as const } : {}),
    name: `${offer.prefix}${remote.name}`.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64),
    description: remote.description ?? remote.title ?? remote.annotations?.title ?? `The tool ${remote.name}`,
    parameters: remote.inputSchema,
    effect,
    // Asks for itself before it makes a call again that may have been made.
    ...(offer.options.tasks ? { resumable: true } : {}),
    spanAttributes: () => offer.access.spanAttributes,
    call: (input, context) => callRemote({ name: remote.name, input, effect }, { offer, context }),
  };
}

function effectOf({ annotations }: RemoteTool): Effect {
  if (annotations?.readOnlyHint === true) return "pure";
  return annotations?.idempotentHint === true ? "idempotent" : "effectful";
}

async function callRemote(
  call: Omit<Call, "questions">,
  { offer, context }: { offer: Offer; context: ToolContext },
): Promise<unknown> {
  const { server, runs } = offer;
  return await explained(offer, context, (client) => {
    const { sampling } = offer.options;
    const sampler = sampling === undefined ? undefined : new Sampler(context, { runs, options: sampling, server });
    const questions = new Questions(context, { server, name: call.name, sampler });
    return questions.during(client, async () => {
      const result = await answered(client, { ...call, questions }, { offer, context });
      return toOutput(result, offer.redact);
    });
  });
}

/** Asks the server, and says in our words what went wrong. */
export async function explained<T>(
  offer: Pick<Offer, "access" | "redact">,
  context: ToolContext,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const op = "tool.call";
  try {
    return await offer.access.use(context, work);
  } catch (thrown) {
    if (context.signal.aborted) throw new VenturiError(op, "stream_interrupted", "the call was cancelled");
    if (VenturiError.isInstance(thrown)) throw thrown;
    const gone = isConnectionClosed(thrown);
    const stopped = "the MCP server stopped during the call; it is being restarted";
    const message = gone ? `${stopped}${(await offer.access.lastWords?.()) ?? ""}` : messageOf(thrown);
    throw new VenturiError(op, gone ? "unavailable" : "tool_failed", offer.redact(message));
  }
}

interface Call {
  readonly name: string;
  readonly input: Record<string, unknown>;
  readonly effect: Effect;
  readonly questions: Questions;
}

/** Rounds of questions in one call. */
const mostRounds = 10;

/** Servers of 2026-07-28 answer a call with questions; the call is made again with what a person said. */
async function answered(
  client: Client,
  call: Call,
  { offer, context }: { offer: Offer; context: ToolContext },
): Promise<CallToolResult> {
  const { name, input, questions } = call;
  const params = { name, arguments: input, _meta: traceHeadersIn(context) };
  const options = {
    signal: context.signal,
    timeout: noTimeout,
    allowInputRequired: true as const,
    onprogress: ({ progress, total, message }: Progress) => {
      context.progress(offer.redact(message ?? (total === undefined ? `${progress}` : `${progress}/${total}`)));
    },
  };
  const awaitTask = (id: string) =>
    taskResult(client, {
      id,
      context,
      replies: (requests) => repliesTo(requests, questions, offer),
      progress: (text) => context.progress(offer.redact(text)),
    });
  const store = offer.values?.();
  const notes = store === undefined ? undefined : new TaskNotes(store, offer.server, context);
  const earlier = await notes?.earlier();
  if (earlier !== undefined && earlier.task === undefined) await mayRepeat(call, context);
  try {
    if (earlier?.task !== undefined) return await awaitTask(earlier.task);
    await notes?.note({});
    let result = await client.callTool(params, options);
    for (let round = 0; isInputRequired(result); round++) {
      if (round === mostRounds) throw new Error(`the server asks on after ${mostRounds} rounds of questions`);
      const { requestState } = result;
      const task = taskIn(requestState);
      if (task !== undefined) {
        await notes?.note({ task });
        return await awaitTask(task);
      }
      const inputResponses = await repliesTo(result.inputRequests ?? {}, questions, offer);
      const again = { ...params, inputResponses, ...(requestState === undefined ? {} : { requestState }) };
      result = await client.callTool(again, options);
    }
    return result;
  } finally {
    // Unless another process goes on with the call. A note too many does no harm.
    if (!context.signal.aborted || !isHandover(context.signal.reason)) await notes?.drop().catch(() => {});
  }
}

/** The process that made the call died before it knew what became of it. */
async function mayRepeat({ name, input, effect }: Call, context: ToolContext): Promise<void> {
  if (effect !== "effectful") return;
  const reason = "it was interrupted, and may have been done; allow it again only if doing it twice is fine";
  const { approved } = await context.ask({ id: "again", name, arguments: input, reason });
  if (!approved) throw new VenturiError("tool.call", "tool_denied", "it was interrupted, and may not be done again");
}

const isInputRequired = (result: object): result is InputRequiredResult =>
  "resultType" in result && result.resultType === "input_required";

async function repliesTo(requests: InputRequests, questions: Questions, { options }: Offer): Promise<InputResponses> {
  const replies: InputResponses = {};
  for (const [key, request] of Object.entries(requests)) {
    const { sampler } = questions;
    if (request.method === "elicitation/create" && options.elicitation) {
      replies[key] = await questions.ask(request.params);
    } else if (request.method === "sampling/createMessage" && sampler !== undefined) {
      replies[key] = await sampler.sample(request.params);
    } else throw new Error(`the server asks for ${request.method}, which it is not given`);
  }
  return replies;
}

/** The library's SdkErrorCode.ConnectionClosed, by value because the library is loaded lazily. */
const connectionClosed = "CONNECTION_CLOSED";
const isConnectionClosed = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === connectionClosed;
