import { randomUUID } from "node:crypto";
import {
  awaitRun,
  type ChannelHost,
  type FastifyInstance,
  type PendingCall,
  type Runs,
  startRun,
  streamRun,
  terminalOf,
  type ZodRoutes,
} from "venturi/plugin";
import { invalid } from "./content.ts";
import { failures, replyToFailure } from "./errors.ts";
import type { Options } from "./index.ts";
import { ResponseProjection, wholeResponse } from "./responses-projection.ts";
import { ResponsesRequest, toRunRequest } from "./responses-request.ts";

/** `POST /responses`. A response's id names its run; `previous_response_id` goes on in that run's session. */
export function mountResponses(host: ChannelHost<FastifyInstance>, { onDisconnect, compat }: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = { summary: "Responses; model is an agent", tags: ["openai"], body: ResponsesRequest };
  server.post("/responses", { schema }, async (request, reply) => {
    const { body } = request;
    const previous = await earlier(host.runsFor(request), body.previous_response_id);
    const session = previous?.session ?? (body.store === false ? undefined : `responses-${randomUUID()}`);
    const served = await startRun(
      { host, request, reply, channel: "openai", onDisconnect, compat },
      { ...toRunRequest(body, previous?.calls ?? []), ...(session === undefined ? {} : { session }) },
    );
    const response = { run: served.run, model: body.model, previous: body.previous_response_id ?? null };
    if (body.stream) {
      const projection = new ResponseProjection(response);
      await streamRun(served, projection.project, { ...failures, heartbeat: projection.heartbeat });
      return reply;
    }
    const last = await awaitRun(served);
    if (last === undefined) return reply;
    return last.type === "run.finished" ? reply.send(wholeResponse(response, last)) : replyToFailure(reply, last.error);
  });
}

/** The session of an earlier response and the calls that it left to the client. */
async function earlier(
  runs: Runs,
  id: string | null | undefined,
): Promise<{ session: string; calls: readonly PendingCall[] } | undefined> {
  if (id == null) return undefined;
  if (!id.startsWith("resp_")) throw invalid("previous_response_id is the id of an earlier response");
  const row = await runs.get(id.slice("resp_".length));
  if (row.session === undefined) throw invalid("that response was not stored, so nothing can follow it");
  const last = await terminalOf(runs.follow(row.run, { after: Math.max(0, row.head - 1), channel: "openai" }));
  return { session: row.session, calls: last?.type === "run.finished" ? (last.calls ?? []) : [] };
}
