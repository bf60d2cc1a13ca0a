import { isAsked, isJsonObject, type JsonObject, rpcText } from "venturi/internal";
import { isTerminal, type RunsQuery, VenturiError } from "venturi/plugin";
import { a2aError, invalidParams } from "./errors.ts";
import { pushStore, type Taken, takeMessage } from "./message.ts";
import { type Serving, steeredRow, taskRow } from "./serving.ts";
import { taskOf } from "./task.ts";

type Method = (serving: Serving, params: JsonObject) => Promise<JsonObject>;

export const methods: Readonly<Record<string, Method>> = {
  SendMessage: async (serving, params) => {
    const configuration = isJsonObject(params.configuration) ? params.configuration : {};
    const view = { history: countIn(configuration, "historyLength") };
    const taken = await takeMessage(serving, params);
    if (configuration.returnImmediately !== true) await endedOrAsking(serving, taken);
    return { task: await taskOf(serving, await serving.runs.get(taken.run), view) };
  },
  GetTask: async (serving, params) => {
    const row = await taskRow(serving, rpcText(params, "id"));
    return await taskOf(serving, row, { history: countIn(params, "historyLength") });
  },
  ListTasks: listTasks,
  CancelTask: async (serving, params) => {
    const row = await taskRow(serving, rpcText(params, "id"));
    if (row.state === "done") throw a2aError("TASK_NOT_CANCELABLE", "the task has ended");
    await serving.runs.cancel(row.run, "cancelled by the client");
    return await taskOf(serving, await serving.runs.get(row.run));
  },
  CreateTaskPushNotificationConfig: async (serving, params) => {
    const { run } = await steeredRow(serving, rpcText(params, "taskId"));
    return await pushStore(serving).set(run, params);
  },
  GetTaskPushNotificationConfig: async (serving, params) => {
    const found = (await pushConfigs(serving, params)).find(({ id }) => id === params.id);
    if (found === undefined) throw a2aError("TASK_NOT_FOUND", "there is no such configuration");
    return found;
  },
  ListTaskPushNotificationConfigs: async (serving, params) => ({ configs: await pushConfigs(serving, params) }),
  DeleteTaskPushNotificationConfig: async (serving, params) => {
    const { run } = await steeredRow(serving, rpcText(params, "taskId"));
    await pushStore(serving).remove(run, rpcText(params, "id"));
    return {};
  },
  GetExtendedAgentCard: async () => {
    throw a2aError("EXTENDED_AGENT_CARD_NOT_CONFIGURED", "the agent's card is all there is");
  },
};

/** The token is what the receiver knows our deliveries by: only who may change it reads it. */
async function pushConfigs(serving: Serving, params: JsonObject): Promise<readonly JsonObject[]> {
  const row = await taskRow(serving, rpcText(params, "taskId"));
  const configs = await pushStore(serving).list(row.run);
  return serving.maySteer(row) ? configs : configs.map(({ token: _, ...config }) => config);
}

/** Waits until the task has ended or asks its client for something. */
async function endedOrAsking({ runs, gone, mayAnswer }: Serving, { run, after }: Taken): Promise<void> {
  try {
    for await (const batch of runs.follow(run, { after, signal: gone, channel: "a2a" })) {
      if (batch.some((event) => isTerminal(event))) return;
      if (mayAnswer && batch.some(isAsked) && (await runs.pending(run)).length > 0) return;
    }
  } catch (thrown) {
    if (!VenturiError.is(thrown, "shutting_down")) throw thrown; // The task as it is: another replica answers for it.
  }
}

const mostListed = 100;

async function listTasks(serving: Serving, params: JsonObject): Promise<JsonObject> {
  const { runs, agent } = serving;
  const { contextId, pageToken, statusTimestampAfter, status } = params;
  const asked = countIn(params, "pageSize") ?? 50;
  if (asked < 1 || asked > mostListed) throw invalidParams(`pageSize is from 1 to ${mostListed}`);
  const state = status ?? "TASK_STATE_UNSPECIFIED";
  if (typeof state !== "string" || !states.has(state)) throw invalidParams("status is no state of a task");
  const after = statusTimestampAfter ?? new Date(0).toISOString();
  const since = typeof after === "string" ? Date.parse(after) : Number.NaN;
  if (Number.isNaN(since)) throw invalidParams("statusTimestampAfter is no time");
  const page = await runs.list({
    agent: agent.name,
    limit: asked,
    ...(typeof contextId === "string" && contextId !== "" ? { session: contextId } : {}),
    ...(typeof pageToken === "string" && pageToken !== "" ? { cursor: pageToken } : {}),
    ...filters[state],
  });
  const view = { history: countIn(params, "historyLength") ?? 0, artifacts: params.includeArtifacts === true };
  const tasks: JsonObject[] = [];
  for (const row of page.runs) {
    if (row.updatedAt < since) continue;
    const task = await taskOf(serving, row, view);
    if (isWanted(status) && (task.status as JsonObject).state !== status) continue;
    tasks.push(task);
  }
  // Journals do not count, so only the number on this page is known.
  return { tasks, nextPageToken: page.cursor ?? "", pageSize: asked, totalSize: tasks.length };
}

const isWanted = (status: unknown): boolean => typeof status === "string" && status !== "TASK_STATE_UNSPECIFIED";

/** Filters the journal supports; the others are applied to its page. */
const filters: Readonly<Record<string, Pick<RunsQuery, "outcome" | "waiting">>> = {
  TASK_STATE_COMPLETED: { outcome: "finished" },
  TASK_STATE_FAILED: { outcome: "failed" },
  TASK_STATE_CANCELED: { outcome: "cancelled" },
  TASK_STATE_INPUT_REQUIRED: { waiting: true },
  TASK_STATE_AUTH_REQUIRED: { waiting: true },
};

const states = new Set(
  "UNSPECIFIED SUBMITTED WORKING COMPLETED FAILED CANCELED INPUT_REQUIRED REJECTED AUTH_REQUIRED"
    .split(" ")
    .map((state) => `TASK_STATE_${state}`),
);

function countIn(params: JsonObject, name: string): number | undefined {
  const value = params[name];
  if (value == null) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw invalidParams(`${name} is a whole number, not below 0`);
}
