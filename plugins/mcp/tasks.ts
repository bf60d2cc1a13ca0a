import { createHash } from "node:crypto";
import type { CallToolResult, Client, InputRequests, InputResponses } from "@modelcontextprotocol/client";
import { isHandover, isJsonObject, type JsonObject } from "venturi/internal";
import { type KeyValues, type ToolContext, VenturiError } from "venturi/plugin";
import { wireOf } from "./task-wire.ts";

const op = "tool.call";
const space = "mcp-task";
/** Requests in a row that may fail: the server may be started again meanwhile. */
const mostFailures = 10;
const shortest = 100;
const longest = 30_000;

/** What is known of a call that a process before this one made. */
export interface Earlier {
  /** The task that it became. */
  readonly task?: string;
}

/**
 * Where a call's task is noted, so that whoever goes on with the run finds it. Noted before the call is made, too: one that may have
 * been made is not made again unasked.
 */
export class TaskNotes {
  readonly #values: KeyValues;
  readonly #key: string;
  #version = 0;

  constructor(values: KeyValues, server: string, { idempotencyKey }: ToolContext) {
    this.#values = values;
    this.#key = createHash("sha256")
      .update(JSON.stringify([server, idempotencyKey]))
      .digest("hex");
  }

  async earlier(): Promise<Earlier | undefined> {
    const found = await this.#values.get(space, this.#key);
    this.#version = found?.version ?? 0;
    return found === undefined ? undefined : (JSON.parse(found.value) as Earlier); // Written by `note`.
  }

  async note(earlier: Earlier): Promise<void> {
    const entry = { key: this.#key, value: JSON.stringify(earlier), version: this.#version };
    const version = await this.#values.put(space, entry);
    if (version === undefined) throw new VenturiError(op, "conflict", "another process goes on with this call");
    this.#version = version;
  }

  async drop(): Promise<void> {
    await this.#values.remove(space, this.#key, this.#version);
  }
}

export interface Task {
  readonly id: string;
  readonly context: ToolContext;
  replies(requests: InputRequests): Promise<InputResponses>;
  progress(text: string): void;
}

/** Sees a task through: asks for it until it has ended, and answers its questions. A cancelled run cancels it. */
export async function taskResult(client: Client, task: Task): Promise<CallToolResult> {
  const { id, context } = task;
  const { signal } = context;
  const wire = wireOf(client);
  if (wire === undefined) throw new Error("the server answers with a task that it was not asked for");
  const answered = new Set<string>();
  try {
    for (let failures = 0; ; ) {
      signal.throwIfAborted();
      let state: JsonObject;
      try {
        state = await wire.ask("tasks/get", { taskId: id });
        failures = 0;
      } catch (thrown) {
        failures += 1;
        if (failures === mostFailures) throw thrown;
        await pause(shortest * 2 ** failures, signal);
        continue;
      }
      const { status, statusMessage, result, error, inputRequests, pollIntervalMs } = state;
      if (typeof statusMessage === "string" && statusMessage !== "") task.progress(statusMessage);
      if (status === "completed") return resultOf(result);
      if (status === "failed") throw new Error(isJsonObject(error) ? String(error.message) : "the task failed");
      if (status === "cancelled") throw new VenturiError(op, "tool_failed", "the server cancelled the task");
      if (status !== "working" && status !== "input_required") throw new Error(`its task is ${String(status)}`);
      const open = status === "input_required" && isJsonObject(inputRequests) ? Object.entries(inputRequests) : [];
      const news = open.filter(([key]) => !answered.has(key));
      if (news.length > 0) {
        const inputResponses = await task.replies(Object.fromEntries(news) as InputRequests); // checked there
        for (const [key] of news) answered.add(key);
        await wire.ask("tasks/update", { taskId: id, inputResponses });
      } else await pause(typeof pollIntervalMs === "number" ? pollIntervalMs : 1_000, signal);
    }
  } catch (thrown) {
    if (signal.aborted && !isHandover(signal.reason)) await wire.ask("tasks/cancel", { taskId: id }).catch(() => {}); // it ends by itself
    throw thrown;
  }
}

function resultOf(result: unknown): CallToolResult {
  if (!isJsonObject(result) || !Array.isArray(result.content)) throw new Error("its task ended without a result");
  return result as unknown as CallToolResult; // blocks are read one by one
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const done = () => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(done, Math.min(longest, Math.max(shortest, ms)));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
