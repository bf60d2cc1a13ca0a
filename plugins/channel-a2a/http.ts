import {
  isJsonObject,
  jsonRpcCodes,
  RpcError,
  readerGone,
  rpcFailure,
  rpcSuccess,
  traceHeadersOf,
} from "venturi/internal";
import { type AgentInfo, type ChannelHost, type PluginContext, VenturiError } from "venturi/plugin";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "venturi/plugin/channel";
import { SseWriter } from "venturi/plugin/channel";
import { Cards } from "./cards.ts";
import { a2aError, asRpcError } from "./errors.ts";
import { methods } from "./methods.ts";
import type { Options } from "./options.ts";
import { pushStoreOf } from "./push.ts";
import type { Serving } from "./serving.ts";
import { streams, streamTask } from "./stream.ts";

type Host = ChannelHost<FastifyInstance>;

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A2A 1.0 over JSON-RPC: each agent has its own address and card. */
export async function mountA2a(host: Host, options: Options, context: PluginContext): Promise<void> {
  const { server } = host;
  const { prefix } = options;
  const cards = await Cards.open(options);
  const tags = ["a2a"];
  const config = { open: options.publicCards };
  const card = async (request: FastifyRequest, reply: FastifyReply, name: string | undefined) => {
    const { agents, isLocked } = visible(host, options, { request, context });
    const agent =
      agents.find((each) => each.name === name) ?? (name === undefined && agents.length === 1 ? agents[0] : undefined);
    if (agent === undefined) throw new VenturiError("a2a.card", "not_found", "there is no such agent");
    const own = await cards.of(agent, { base: options.url ?? `${request.protocol}://${request.host}`, isLocked });
    return await reply.header("cache-control", "private, max-age=60").send(own);
  };
  server.get(
    "/.well-known/agent-card.json",
    { config, schema: { summary: "The card of the agent that stands for all", tags } },
    (request, reply) => card(request, reply, options.agent),
  );
  server.get(
    `${prefix}/:agent/.well-known/agent-card.json`,
    { config, schema: { summary: "An agent's card", tags } },
    (request, reply) => card(request, reply, nameIn(request)),
  );
  server.get(
    `${prefix}/jwks.json`,
    { config: { open: true }, schema: { summary: "Keys that cards are signed with", tags } },
    (_, reply) => reply.send(cards.jwks),
  );
  server.post(
    `${prefix}/:agent`,
    { schema: { summary: "Agent2Agent: messages to an agent, and its tasks", tags } },
    (request, reply) => receive(host, options, { request, reply, context }),
  );
}

const nameIn = ({ params }: FastifyRequest): string => (params as { agent: string }).agent; // From the route.

/** Agents the caller may use; all of them if cards are public, since the caller is then unknown. */
function visible(
  host: Host,
  options: Options,
  { request, context }: { request: FastifyRequest; context: PluginContext },
) {
  if (options.publicCards) return { agents: offered(options, context.runs().agents()), isLocked: true };
  const isLocked = host.caller(request).keyless !== true;
  return { agents: offered(options, host.runsFor(request).agents()), isLocked };
}

const offered = ({ agents }: Options, all: readonly AgentInfo[]): readonly AgentInfo[] =>
  agents === undefined ? all : all.filter(({ name }) => agents.includes(name));

async function receive(
  host: Host,
  options: Options,
  { request, reply, context }: Exchange & { context: PluginContext },
) {
  const caller = host.caller(request); // First: an unknown caller learns nothing, whatever it sent.
  const { body } = request;
  if (!isJsonObject(body) || body.jsonrpc !== "2.0" || typeof body.method !== "string" || !isId(body.id)) {
    const error = new RpcError(jsonRpcCodes.invalidRequest, "this is no request of JSON-RPC 2.0");
    return await reply.code(400).send(rpcFailure(isJsonObject(body) && isId(body.id) ? body.id : null, error));
  }
  const { id, method } = body;
  const params = isJsonObject(body.params) ? body.params : {};
  try {
    demandVersion(request.headers["a2a-version"]);
    const runs = host.runsFor(request);
    const agent = offered(options, runs.agents()).find(({ name }) => name === nameIn(request));
    if (agent === undefined) throw new VenturiError("a2a.agent", "not_found", "there is no such agent");
    const serving = (gone: AbortSignal): Serving => ({
      runs,
      agent,
      by: caller.id,
      mayAnswer: host.scopes(request).includes("approve"),
      maySteer: ({ tenant }) =>
        host.scopes(request).includes("steer") && (tenant === caller.tenant || caller.act === "all"),
      trace: traceHeadersOf(request.headers),
      gone,
      push: pushStoreOf(options, context),
    });
    const stream = Object.hasOwn(streams, method) ? streams[method] : undefined;
    if (stream !== undefined) {
      const taken = await stream(serving(readerGone(reply.raw)), params);
      const writer = new SseWriter(reply, host.limits, {});
      writer.open();
      await streamTask(serving(writer.gone), taken, { writer, id });
      return reply;
    }
    const found = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (found === undefined)
      throw new RpcError(jsonRpcCodes.methodNotFound, `there is no method ${method.slice(0, 100)}`);
    return await reply.send(rpcSuccess(id, await found(serving(readerGone(reply.raw)), params)));
  } catch (thrown) {
    const error = asRpcError(thrown);
    if (error.status >= 500) host.log.warn("an A2A request failed", { method, error: String(thrown) });
    return await reply.code(error.status).send(rpcFailure(id, error));
  }
}

const isId = (id: unknown): id is string | number => typeof id === "string" || typeof id === "number";

/** By the specification, a client that names no version speaks 0.3, whose methods are not supported; the error says so. */
function demandVersion(given: string | readonly string[] | undefined): void {
  if (given === undefined || given === "" || String(given).split(".")[0] === "1") return;
  throw a2aError("VERSION_NOT_SUPPORTED", `version ${String(given).slice(0, 20)} is not spoken here; 1.0 is`);
}
