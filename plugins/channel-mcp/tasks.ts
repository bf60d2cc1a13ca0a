import { type RunRow, terminalOf, VenturiError } from "venturi/plugin";
import { answer, inputRequests, openQuestions } from "./questions.ts";
import { callResult } from "./result.ts";
import { tasksExtension } from "./revision.ts";
import { isObject, type Json, RpcError, rpcCodes, textParam } from "./rpc.ts";
import type { Serving } from "./serving.ts";

/** A task is a run with the same id, so any replica can answer for it, even after the one that started it is gone. */

const pollMs = 1_000;

/** For 2026-07-28: the response to a call that continues as a task. */
export const createdTask = (row: RunRow): Json => ({ resultType: "task", ...stateOf(row) });

const stateOf = (row: RunRow): Json => ({
  taskId: row.run,
  status: row.state === "done" ? "completed" : "working",
  createdAt: new Date(row.createdAt).toISOString(),
  lastUpdatedAt: new Date(row.updatedAt).toISOString(),
  ttlMs: null,
  pollIntervalMs: pollMs,
});

/** Throws unless the client supports tasks. */
export function demandTasks({ client }: Serving): void {
  if (client.takesTasks) return;
  throw new RpcError(rpcCodes.missingCapability, `the client does not declare ${tasksExtension}`, {
    status: 400,
    data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
  });
}

export async function getTask(serving: Serving, params: Json): Promise<Json> {
  const row = await serving.runs.get(textParam(params, "taskId"));
  const state = stateOf(row);
  if (row.state !== "done") {
    const open = row.asking > 0 ? await openQuestions(serving, row.run) : undefined;
    return open === undefined
      ? state
      : { ...state, status: "input_required", inputRequests: inputRequests(open.forms) };
  }
  const last = await endOf(serving, row);
  if (last.type === "run.failed" && isCancelled(last.error.code)) return { ...state, status: "cancelled" };
  if (last.type === "run.failed" && isOurs(last.error.code)) {
    return { ...state, status: "failed", error: { code: rpcCodes.internal, message: last.error.err } };
  }
  return { ...state, result: await callResult(serving.runs, last) };
}

export async function updateTask({ runs, by }: Serving, params: Json): Promise<Json> {
  const { run } = await runs.get(textParam(params, "taskId"));
  const replies = isObject(params.inputResponses) ? params.inputResponses : {};
  for (const [call, reply] of Object.entries(replies)) await answer(runs, run, { call, reply, by });
  return {};
}

export async function cancelTask({ runs }: Serving, params: Json): Promise<Json> {
  const row = await runs.get(textParam(params, "taskId"));
  if (row.state !== "done") await runs.cancel(row.run, "cancelled by the client");
  return {};
}

/** For 2025-11-25. */
export function legacyTask(row: RunRow, status?: string): Json {
  const { ttlMs, pollIntervalMs, ...rest } = stateOf(row);
  return { ...rest, ...(status === undefined ? {} : { status }), ttl: ttlMs, pollInterval: pollIntervalMs };
}

export async function getLegacyTask(serving: Serving, params: Json): Promise<Json> {
  const row = await serving.runs.get(textParam(params, "taskId"));
  return legacyTask(row, await legacyStatus(serving, row));
}

async function legacyStatus(serving: Serving, row: RunRow): Promise<string> {
  if (row.state !== "done") return row.asking > 0 ? "input_required" : "working";
  const last = await endOf(serving, row);
  if (last.type === "run.finished") return "completed";
  return isCancelled(last.error.code) ? "cancelled" : "failed";
}

/** Waits for the end, as that revision requires. */
export async function legacyResult(serving: Serving, params: Json): Promise<Json> {
  const row = await serving.runs.get(textParam(params, "taskId"));
  const { _meta, ...result } = await callResult(serving.runs, await endOf(serving, row));
  return { ...result, _meta: { ...(_meta as Json), "io.modelcontextprotocol/related-task": { taskId: row.run } } };
}

export async function listLegacyTasks(serving: Serving, { cursor }: Json): Promise<Json> {
  const page = await serving.runs.list({ limit: 50, ...(typeof cursor === "string" ? { cursor } : {}) });
  const tasks: Json[] = [];
  for (const row of page.runs) tasks.push(legacyTask(row, await legacyStatus(serving, row)));
  return { tasks, ...(page.cursor === undefined ? {} : { nextCursor: page.cursor }) };
}

export async function cancelLegacyTask(serving: Serving, params: Json): Promise<Json> {
  const row = await serving.runs.get(textParam(params, "taskId"));
  if (row.state === "done") throw new RpcError(rpcCodes.invalidParams, `the task ${row.run} has ended`);
  await serving.runs.cancel(row.run, "cancelled by the client");
  return legacyTask(await serving.runs.get(row.run), "cancelled");
}

async function endOf({ runs, gone }: Serving, { run, head, state }: RunRow) {
  const after = state === "done" ? Math.max(0, head - 1) : head;
  const last = await terminalOf(runs.follow(run, { after, signal: gone, channel: "mcp" }));
  if (last === undefined) throw new VenturiError("run.follow", "stream_interrupted", "the client left");
  return last;
}

const isCancelled = (code: string): boolean => code === "stream_interrupted";
/** Whether the run ended because of the service, not because of anything the agent said or did. */
const isOurs = (code: string): boolean =>
  ["internal", "plugin_failed", "journal_failed", "record_invalid", "worker_crashed", "shutting_down"].includes(code);
