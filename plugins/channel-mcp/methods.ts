import { toolsOf } from "./agents.ts";
import { callTool } from "./call.ts";
import { complete, getPrompt, promptsOf } from "./prompts.ts";
import { listResources, readResource, resourceTemplates } from "./resources.ts";
import { metaKeys, modern, negotiated, tasksExtension } from "./revision.ts";
import { type Json, RpcError, type RpcRequest, rpcCodes } from "./rpc.ts";
import type { Serving } from "./serving.ts";
import * as tasks from "./tasks.ts";

type Method = (serving: Serving, params: Json) => Json | Promise<Json>;

/** Lists differ by key and change over time, so clients may cache them briefly and privately. */
const cached = { ttlMs: 10_000, cacheScope: "private" };
const fresh = { ttlMs: 0, cacheScope: "private" };

const serverInfo = { name: "venturi", version: "0.1.0" };
const shared = { tools: {}, resources: {}, prompts: {}, completions: {} };

/** Methods of both revisions. */
const common: Readonly<Record<string, Method>> = {
  "tools/list": ({ runs, client }) => ({ tools: toolsOf(runs, { isLegacy: client.era === "legacy" }), ...cached }),
  "tools/call": callTool,
  "prompts/list": (serving) => ({ prompts: promptsOf(serving), ...cached }),
  "prompts/get": getPrompt,
  "resources/list": async (serving, params) => ({ ...(await listResources(serving, params)), ...fresh }),
  "resources/templates/list": ({ published }) => ({
    resourceTemplates: [...published.templates, ...resourceTemplates],
    ...cached,
  }),
  "resources/read": async (serving, params) => ({ ...(await readResource(serving, params)), ...fresh }),
  "completion/complete": ({ runs }, params) => complete(runs, params),
};

const withTasks =
  (method: Method): Method =>
  (serving, params) => {
    tasks.demandTasks(serving);
    return method(serving, params);
  };

const modernOnly: Readonly<Record<string, Method>> = {
  "server/discover": () => ({
    supportedVersions: [modern],
    capabilities: { ...shared, extensions: { [tasksExtension]: {} } },
    _meta: { [metaKeys.serverInfo]: serverInfo },
    ...cached,
  }),
  "tasks/get": withTasks(tasks.getTask),
  "tasks/update": withTasks(tasks.updateTask),
  "tasks/cancel": withTasks(tasks.cancelTask),
};

const legacyOnly: Readonly<Record<string, Method>> = {
  initialize: (_, { protocolVersion }) => ({
    protocolVersion: negotiated(protocolVersion),
    capabilities: { ...shared, logging: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    serverInfo,
  }),
  ping: () => ({}),
  // Log lines come with the calls they belong to, and are few.
  "logging/setLevel": () => ({}),
  "tasks/get": tasks.getLegacyTask,
  "tasks/result": tasks.legacyResult,
  "tasks/list": tasks.listLegacyTasks,
  "tasks/cancel": tasks.cancelLegacyTask,
};

export async function dispatch(serving: Serving, { method, params }: RpcRequest): Promise<Json> {
  const isModern = serving.client.era === "modern";
  const own = isModern ? modernOnly : legacyOnly;
  const found = Object.hasOwn(own, method) ? own[method] : Object.hasOwn(common, method) ? common[method] : undefined;
  if (found === undefined) {
    throw new RpcError(rpcCodes.methodNotFound, `there is no method ${method}`, { status: isModern ? 404 : 200 });
  }
  const result = await found(serving, params);
  if (!isModern) {
    const { ttlMs: _, cacheScope: __, ...plain } = result;
    return plain;
  }
  return { resultType: "complete", ...result, _meta: { ...(result._meta as Json), [metaKeys.serverInfo]: serverInfo } };
}
