import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { isCode } from "venturi/internal";
import { type Log, messageOf, RichOutput, type ToolContext, VenturiError } from "venturi/plugin";
import { z } from "zod";
import { loadTool } from "./load.ts";
import type { FromThread, Level, PlainContext, ThreadOptions, ToThread } from "./thread-protocol.ts";

/** The thread a tool runs in, one call at a time. Blocking, throwing or exiting affects this thread only. */
async function serve(port: MessagePort, { file, exported }: ThreadOptions): Promise<void> {
  const say = (message: FromThread) => port.postMessage(message);
  const tool = await loadTool(file, exported);
  let controller = new AbortController();

  const call = async (input: Record<string, unknown>, context: PlainContext): Promise<void> => {
    controller = new AbortController();
    try {
      const parsed = tool.parameters instanceof z.ZodType ? tool.parameters.parse(input) : input;
      const full = { ...context, signal: controller.signal, log: logTo(say), ...unavailable } as unknown as ToolContext; // Completed below.
      full.progress = (text: string) => say({ type: "progress", text });
      const returned = tool.call(parsed as Record<string, unknown>, full);
      say(outputOf(isAsyncIterable(returned) ? await drain(returned, full) : await returned));
    } catch (thrown) {
      const code = VenturiError.isInstance(thrown) && isCode(thrown.code) ? thrown.code : "tool_failed";
      say({ type: "failed", code, message: messageOf(thrown) });
    }
  };

  port.on("message", (message: ToThread) => {
    if (message.type === "call") void call(message.input, message.context);
    else controller.abort(new VenturiError("tool.call", "stream_interrupted", message.reason));
  });
  const { description, effect, timeout } = tool;
  say({
    type: "loaded",
    description,
    parameters: schemaOf(tool.parameters),
    ...(effect === undefined ? {} : { effect }),
    ...(timeout === undefined ? {} : { timeout }),
  });
}

/** Available only in the main thread. */
const unavailable = {
  ask: () => Promise.reject(new VenturiError("tool.call", "tool_failed", "an isolated tool cannot ask")),
  budget: () => ({ maxToolCalls: 0 }),
  spent: () => {},
};

function schemaOf(parameters: unknown): Record<string, unknown> {
  if (!(parameters instanceof z.ZodType)) return parameters as Record<string, unknown>; // Checked by `loadTool`.
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input" });
  return schema;
}

function logTo(say: (message: FromThread) => void): Log {
  const at =
    (level: Level) =>
    (message: string, fields: Record<string, unknown> = {}) =>
      say({ type: "log", level, message, fields: JSON.parse(JSON.stringify(fields)) });
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function outputOf(value: unknown): FromThread {
  if (RichOutput.isInstance(value))
    return { type: "done", text: value.text, images: value.images.map((image) => ({ ...image })) };
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
  return { type: "done", text, images: [] };
}

async function drain(stream: AsyncIterable<string, unknown>, context: ToolContext): Promise<unknown> {
  const iterator = stream[Symbol.asyncIterator]();
  let last: unknown;
  for (;;) {
    const step = await iterator.next();
    if (step.done) return step.value ?? last;
    context.signal.throwIfAborted();
    last = step.value;
    context.progress(String(step.value));
  }
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<string, unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

if (parentPort) await serve(parentPort, workerData as ThreadOptions); // Passed by `Threads`.
