import type { Client, JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject } from "venturi/internal";
import { throughMessages } from "./unanswered.ts";

export const tasksExtension = "io.modelcontextprotocol/tasks";
const mark = "venturi-task:";
const askTimeout = 30_000;

const wires = new WeakMap<Client, TaskWire>();
export const wireOf = (client: Client): TaskWire | undefined => wires.get(client);

/**
 * Tasks of 2026-07-28, which the library does not know: it refuses an answer that is a task, and to ask for one. Here such an answer
 * becomes one that the library hands out as it is, and requests about tasks go beside it over the same transport.
 */
export class TaskWire {
  readonly #transport: Transport;
  readonly #meta: JsonObject;
  readonly #asked = new Map<string, (message: JsonObject) => void>();
  #count = 0;

  constructor(transport: Transport, meta: JsonObject) {
    this.#transport = transport;
    this.#meta = meta;
    throughMessages(transport, (message) => this.#shown(message));
  }

  serve(client: Client): void {
    wires.set(client, this);
  }

  /** The result of a request about a task. */
  async ask(method: string, params: JsonObject): Promise<JsonObject> {
    const id = `venturi-${++this.#count}`;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`no answer to ${method}`)), askTimeout);
    const answer = new Promise<JsonObject>((resolve) => this.#asked.set(id, resolve));
    try {
      const message = { jsonrpc: "2.0" as const, id, method, params: { ...params, _meta: { ...this.#meta } } };
      await Promise.race([this.#transport.send(message), late.promise]);
      const { result, error } = await Promise.race([answer, late.promise]);
      if (isJsonObject(result)) return result;
      throw new Error(isJsonObject(error) ? String(error.message) : `${method} was answered with nothing`);
    } finally {
      clearTimeout(timer);
      this.#asked.delete(id);
      late.promise.catch(() => {});
    }
  }

  #shown(message: JSONRPCMessage): JSONRPCMessage | undefined {
    if (!("id" in message) || "method" in message) return message;
    const waiting = typeof message.id === "string" ? this.#asked.get(message.id) : undefined;
    if (waiting !== undefined) {
      waiting(message);
      return undefined;
    }
    if (!("result" in message) || !isJsonObject(message.result) || message.result.resultType !== "task") return message;
    const { taskId } = message.result;
    if (typeof taskId !== "string" || taskId === "") return message;
    const result = { resultType: "input_required", requestState: `${mark}${taskId}` };
    return { jsonrpc: "2.0", id: message.id, result } as JSONRPCMessage; // as the library would have read it
  }
}

/** The handle of the task that an answer stands for. */
export const taskIn = (requestState: string | undefined): string | undefined =>
  requestState?.startsWith(mark) ? requestState.slice(mark.length) : undefined;
