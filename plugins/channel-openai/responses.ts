import { randomUUID } from "node:crypto";
import { openaiRates, readerGone } from "venturi/internal";
import {
  type ChannelHost,
  type PendingCall,
  type Runs,
  terminalOf,
  VenturiError,
  type ZodRoutes,
} from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { awaitRun, startRun, streamRun } from "venturi/plugin/channel";
import { invalid } from "./content.ts";
import { failures, replyToFailure } from "./errors.ts";
import { withFiles } from "./files.ts";
import { withHeaders } from "./headers.ts";
import type { Options } from "./options.ts";
import { conversationId } from "./responses-body.ts";
import { responsesWire } from "./responses-content.ts";
import { answered } from "./responses-items.ts";
import { ResponseProjection } from "./responses-projection.ts";
import { inputItems, ResponsesRequest, toRunRequest } from "./responses-request.ts";
import { resolved, rowOf } from "./responses-stored.ts";

/** `POST /responses`. A response id names its run; `previous_response_id` continues that run's session. */
export function mountResponses(host: ChannelHost<FastifyInstance>, { onDisconnect, compat }: Options): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = { summary: "Responses; model is an agent", tags: ["openai"], body: ResponsesRequest };
  server.post("/responses", { schema }, async (request, reply) => {
    const { body } = request;
    const runs = host.runsFor(request);
    const before = await earlier(runs, body, readerGone(reply.raw));
    const items = await resolved(runs, await withFiles(inputItems(body), () => runs, host.limits.body));
    const session = before?.session ?? (body.store === false ? undefined : `responses-${randomUUID()}`);
    const asked = {
      ...withHeaders(
        toRunRequest(body, [...answered(before?.calls ?? [], items), ...items]),
        responsesWire,
        request.headers,
      ),
      ...(session === undefined ? {} : { session }),
    };
    // A background response continues without its client.
    const leaves = body.background ? ("continue" as const) : onDisconnect;
    const served = await startRun(
      { host, request, reply, channel: "openai", onDisconnect: leaves, compat, rates: openaiRates },
      asked,
    );
    const executes = body.stream === true && leaves === "cancel";
    const projection = new ResponseProjection({ run: served.run, request: asked, executes });
    if (body.stream) {
      await streamRun(served, projection.project, {
        ...failures,
        failed: projection.failed,
        heartbeat: projection.heartbeat,
      });
      return reply;
    }
    if (body.background) return reply.send(projection.body);
    const last = await awaitRun(served, projection.project);
    if (last === undefined) return reply;
    return last.type === "run.finished" ? reply.send(projection.body) : replyToFailure(reply, last.error);
  });
}

/** `POST /responses/input_tokens`: counted by the vendor if possible, otherwise estimated; a header says which. */
export function mountInputTokens(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const schema = { summary: "How many tokens a request is", tags: ["openai"], body: ResponsesRequest };
  server.post("/responses/input_tokens", { schema }, async (request, reply) => {
    const { body } = request;
    const runs = host.runsFor(request);
    const before = await earlier(runs, body, readerGone(reply.raw));
    const items = await resolved(runs, await withFiles(inputItems(body), () => runs, host.limits.body));
    const asked = toRunRequest(body, [...answered(before?.calls ?? [], items), ...items]);
    const session = before === undefined ? {} : { session: before.session };
    const { tokens, source } = await runs.countInput({ ...asked, ...session }, { signal: readerGone(reply.raw) });
    reply.header("venturi-tokens", source);
    return { object: "response.input_tokens", input_tokens: tokens };
  });
}

interface Earlier {
  readonly session: string;
  /** Calls left to the client: a session keeps a call only together with its result. */
  readonly calls: readonly PendingCall[];
}

/** Waits for a response that is still active, as long as its client does. */
async function earlier(runs: Runs, body: ResponsesRequest, gone: AbortSignal): Promise<Earlier | undefined> {
  const { previous_response_id: id, conversation } = body;
  if (id != null && conversation != null) throw invalid("previous_response_id and conversation exclude each other");
  if (conversation != null) {
    const session = conversationId(conversation);
    const [row] = (await runs.list({ session, limit: 1 })).runs;
    return { session, calls: row === undefined ? [] : await leftBy(runs, row, gone) };
  }
  if (id == null) return undefined;
  const row = await rowOf(runs, id);
  if (row.session === undefined) throw invalid("that response was not stored, so nothing can follow it");
  return { session: row.session, calls: await leftBy(runs, row, gone) };
}

async function leftBy(
  runs: Runs,
  { run, head }: { readonly run: string; readonly head: number },
  gone: AbortSignal,
): Promise<readonly PendingCall[]> {
  const last = await terminalOf(runs.follow(run, { after: Math.max(0, head - 1), signal: gone, channel: "openai" }));
  if (gone.aborted) throw new VenturiError("response.create", "stream_interrupted", "the client left");
  return last?.type === "run.finished" ? (last.calls ?? []) : [];
}
