import { isAsked, mustBeOfOneRun } from "venturi/internal";
import { type Channel, type ChannelHost, definePlugin, type Runs, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { channelOptions, startRun, streamRun } from "venturi/plugin/channel";
import { z } from "zod";
import { AgUiProjection, failureFrame, parseInterrupt } from "./projection.ts";
import { RunAgentInput, toRunRequest } from "./request.ts";

const Options = channelOptions({ prefix: "/ag-ui", onDisconnect: "cancel", expected: "abortRun() does nothing else" });
type Options = z.output<typeof Options>;

export default definePlugin({
  name: "channel-ag-ui",
  kind: "channel",
  description: "AG-UI: agents as streams of UI events",
  options: Options,
  projection: ({ run, session }) => {
    const { project, heartbeat } = new AgUiProjection({ threadId: session ?? run, runId: run, run });
    return { project, heartbeat, failed: failureFrame, until: isAsked };
  },
  create: (options): Channel<FastifyInstance> => ({ mount: (host) => mountRun(host, options) }),
});

function mountRun(host: ChannelHost<FastifyInstance>, { prefix, onDisconnect, compat }: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = {
    summary: "An AG-UI run of an agent",
    tags: ["ag-ui"],
    params: z.object({ agent: z.string() }),
    body: RunAgentInput,
  };
  server.post(`${prefix}/:agent`, { schema }, async (request, reply) => {
    const { body } = request;
    const opening = { host, request, reply, channel: "ag-ui", onDisconnect, compat };
    const waiting = await answerInterrupts(host.runsFor(request), body.resume ?? [], host.caller(request).id);
    if (waiting !== undefined) reply.header("x-venturi-run", waiting.run);
    const served =
      waiting === undefined
        ? await startRun(opening, toRunRequest(request.params.agent, body))
        : { ...opening, runs: host.runsFor(request), ...waiting };
    const projection = new AgUiProjection({ threadId: body.threadId, runId: body.runId, run: served.run });
    await streamRun({ ...served, until: isAsked }, projection.project, {
      failed: failureFrame,
      heartbeat: projection.heartbeat,
    });
    return reply;
  });
}

/** An interrupt ends an AG-UI run; ours waits, and continues when the answer arrives with the next one. */
async function answerInterrupts(
  runs: Runs,
  resume: NonNullable<z.output<typeof RunAgentInput>["resume"]>,
  by: string,
): Promise<{ run: string; after: number } | undefined> {
  let waiting: { run: string; after: number } | undefined;
  // All are read before the first is answered.
  const answers = resume.map(({ interruptId, ...answer }) => {
    const asked = parseInterrupt(interruptId);
    if (asked === undefined) throw new VenturiError("run.resume", "invalid_input", "this interrupt is not known");
    return { asked, ...answer };
  });
  mustBeOfOneRun(answers.map(({ asked }) => asked));
  for (const { asked, status, payload } of answers) {
    const { call } = asked;
    const question = (await runs.pending(asked.run)).find((open) => open.call === call);
    const isInput = question !== undefined && question.kind !== "approve";
    const refused = !isInput && (payload === false || isRefusal(payload));
    const approved = status === "resolved" && !refused;
    const answer = isInput && approved && payload !== undefined ? { answer: payload } : {};
    await runs.signal(asked.run, "approve", { call, approved, by, ...answer }, `approve:${call}`);
    // The client has seen everything up to the last question it answers.
    waiting = { run: asked.run, after: Math.max(asked.seq, waiting?.after ?? 0) };
  }
  return waiting;
}

const isRefusal = (payload: unknown): boolean =>
  typeof payload === "object" && payload !== null && "approved" in payload && payload.approved === false;
