import type { IncomingHttpHeaders } from "node:http";
import { anthropicRates, exactJson, exactTexts, readerGone } from "venturi/internal";
import {
  type AgentInfo,
  type Channel,
  type ChannelHost,
  definePlugin,
  VenturiError,
  type ZodRoutes,
} from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { awaitRun, channelOptions, startRun, streamRun } from "venturi/plugin/channel";
import { z } from "zod";
import { failureFrame, failureResponse, replyToFailure, replyWithErrors } from "./errors.ts";
import { mountFiles, withFiles } from "./files.ts";
import { MessageProjection } from "./projection.ts";
import { MessagesRequest, Prompt, toRunRequest } from "./request.ts";
import { threadOf } from "./threads.ts";
import { MessageBlocks } from "./whole-message.ts";

const Options = channelOptions({
  prefix: "/anthropic",
  onDisconnect: "cancel",
  expected: "Anthropic's clients expect cancel",
});
type Options = z.output<typeof Options>;

export default definePlugin({
  name: "channel-anthropic",
  kind: "channel",
  description: "Anthropic's Messages API for its client libraries; `model` is the agent's name",
  options: Options,
  create: (options): Channel<FastifyInstance> => ({
    async mount(host) {
      // Some clients append to a base URL that includes /v1, others to one without: both are served.
      for (const [prefix, hide] of [
        [options.prefix, true],
        [`${options.prefix}/v1`, false],
      ] as const) {
        await host.server.register(
          async (server) => {
            replyWithErrors(server);
            server.addHook("preHandler", async (request, reply) => {
              const rate = host.requestRate?.(request);
              if (rate !== undefined) reply.headers(anthropicRates([rate]));
            });
            server.addHook("onRoute", (route) => {
              if (hide) route.schema = { ...route.schema, hide };
            });
            mountMessages({ ...host, server }, options);
            mountCount({ ...host, server });
            mountModels({ ...host, server });
            mountFiles({ ...host, server });
          },
          { prefix },
        );
      }
    },
  }),
});

/** Path of the arguments in calls that a client sends back. */
const inputs = ["messages", "*", "content", "*", "input"];

function mountMessages(host: ChannelHost<FastifyInstance>, { onDisconnect, compat }: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = { summary: "Messages; model is an agent", tags: ["anthropic"], body: MessagesRequest };
  server.post("/messages", { schema, config: { exact: inputs } }, async (request, reply) => {
    const { body } = request;
    const thread = await threadOf(host.runsFor(request), body);
    const around = { beta: betaOf(request.headers), exact: exactTexts(request) };
    const messages = await withFiles(body.messages, () => host.runsFor(request), host.limits.body);
    const asked = toRunRequest({ ...body, messages }, { ...around, ...(thread && { names: thread.names }) });
    const { names: _, ...goesOn } = thread ?? {};
    const served = await startRun(
      { host, request, reply, channel: "anthropic", onDisconnect, compat, rates: (rates) => anthropicRates(rates) },
      { ...asked, ...goesOn },
    );
    reply.header("request-id", served.run);
    const message = { run: served.run, model: body.model };
    if (body.stream) {
      const { project, heartbeat } = new MessageProjection(message);
      await streamRun(served, project, { failed: failureFrame, refused: failureResponse, heartbeat });
      return reply;
    }
    const blocks = new MessageBlocks();
    const last = await awaitRun(served, blocks.add);
    if (last === undefined) return reply;
    if (last.type === "run.failed") return replyToFailure(reply, last.error);
    return reply.type("application/json; charset=utf-8").send(exactJson(blocks.message(message, last)));
  });
}

function mountCount(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = { summary: "Tokens of a message that is not sent", tags: ["anthropic"], body: Prompt };
  server.post("/messages/count_tokens", { schema }, async (request, reply) => {
    const runs = host.runsFor(request);
    const messages = await withFiles(request.body.messages, () => runs, host.limits.body);
    const asked = toRunRequest({ ...request.body, messages }, { beta: betaOf(request.headers) });
    const counted = await runs.countInput(asked, { signal: readerGone(reply.raw) });
    reply.header("venturi-tokens", counted.source);
    return { input_tokens: counted.tokens, ...(counted.source === "estimated" ? { estimated: true } : {}) };
  });
}

const betaOf = (headers: IncomingHttpHeaders): string | undefined => {
  const beta = headers["anthropic-beta"];
  return Array.isArray(beta) ? beta.join(",") : beta;
};

function mountModels(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = { summary: "The agents, as models", tags: ["anthropic"] };
  server.get("/models", { schema }, async (request) => {
    const data = host
      .runsFor(request)
      .agents()
      .flatMap((agent) => [agent.name, ...agent.aliases].map((id) => modelOf(agent, id)));
    return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  });
  const params = z.object({ "*": z.string() });
  // Agent names may contain slashes.
  server.get(
    "/models/*",
    { schema: { summary: "One agent, as a model", tags: ["anthropic"], params } },
    async (request) => {
      const name = request.params["*"];
      const agent = host
        .runsFor(request)
        .agents()
        .find((each) => each.name === name || each.aliases.includes(name));
      if (agent !== undefined) return modelOf(agent, name);
      throw new VenturiError("request.model", "not_found", `there is no model "${name}"`);
    },
  );
}

const modelOf = ({ name, description }: AgentInfo, id: string) => ({
  type: "model",
  id,
  display_name: description ?? name,
  created_at: "1970-01-01T00:00:00Z",
});
