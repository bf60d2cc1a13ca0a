import { type ChannelHost, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { endingOf } from "./state.ts";
import { Failure, overview, RunView } from "./view.ts";

/** Signals to a running run: cancel, pause, resume, approve or refuse a tool call, answer a question, add a message. */
export function mountSignals(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.post("/v1/runs/:run/cancel", { schema: schemas.cancel }, async (request, reply) => {
    const { run } = request.params;
    const runs = host.runsFor(request);
    await runs.cancel(run, request.body?.reason ?? "cancelled by the client");
    reply.header("x-venturi-run", run);
    const row = await runs.get(run);
    return { ...overview(row), ...(await endingOf(runs, row)) };
  });
  server.post("/v1/runs/:run/approvals/:call", { schema: schemas.approve }, async (request, reply) => {
    const { run, call } = request.params;
    const runs = host.runsFor(request);
    tellOrConflict(run, await runs.signal(run, "approve", { call, ...request.body }, `approve:${call}`));
    return reply.header("x-venturi-run", run).code(202).send({ run });
  });
  server.post("/v1/runs/:run/questions/:call", { schema: schemas.answer }, async (request, reply) => {
    const { run, call } = request.params;
    const { decline = false, ...body } = request.body;
    const runs = host.runsFor(request);
    tellOrConflict(run, await runs.signal(run, "approve", { call, approved: !decline, ...body }, `approve:${call}`));
    return reply.header("x-venturi-run", run).code(202).send({ run });
  });
  server.post("/v1/runs/:run/pause", { schema: schemas.pause }, async (request, reply) => {
    const { run } = request.params;
    const { reason } = request.body ?? {};
    const body = reason === undefined ? {} : { reason };
    tellOrConflict(run, await host.runsFor(request).signal(run, "pause", body));
    return reply.header("x-venturi-run", run).code(202).send({ run });
  });
  server.post("/v1/runs/:run/resume", { schema: schemas.resume }, async (request, reply) => {
    const { run } = request.params;
    tellOrConflict(run, await host.runsFor(request).signal(run, "resume", {}));
    return reply.header("x-venturi-run", run).code(202).send({ run });
  });
  server.post("/v1/runs/:run/messages", { schema: schemas.message }, async (request, reply) => {
    const { run } = request.params;
    tellOrConflict(run, await host.runsFor(request).signal(run, "message", { text: request.body.text }));
    return reply.header("x-venturi-run", run).code(202).send({ run });
  });
}

function tellOrConflict(run: string, taken: boolean): void {
  if (taken) return;
  throw new VenturiError("run.signal", "conflict", "the run has ended, or this was answered before", {
    details: { run },
  });
}

const Accepted = z.object({ run: z.string() }).meta({ examples: [examples.accepted] });
const failures = { "4XX": Failure, "5XX": Failure };
const params = z.object({ run: z.string() });
const since = z
  .number()
  .exactOptional()
  .describe("that of the question; 409 when the call has been asked about again since then");
const schemas = {
  cancel: {
    summary: "Stop a run; answers when its last event is written",
    tags: ["runs"],
    params,
    body: z
      .strictObject({ reason: z.string().max(1000).optional() })
      .nullish()
      .meta({ examples: [{ reason: "the customer left" }] }),
    response: { 200: RunView.meta({ examples: [examples.ended] }), ...failures },
  },
  approve: {
    summary: "Approve or refuse a tool call",
    tags: ["runs"],
    params: z.object({ run: z.string(), call: z.string() }),
    body: z
      .strictObject({
        approved: z.boolean(),
        reason: z.string().max(4000).exactOptional(),
        arguments: z
          .record(z.string(), z.unknown())
          .exactOptional()
          .describe("what the tool is called with instead; they have to fit its schema"),
        for: z.literal("run").exactOptional().describe("allow all further calls of this tool in this run too"),
        since,
      })
      .meta({
        examples: [
          { approved: true },
          { approved: true, for: "run" },
          { approved: true, arguments: { order: "4711", amount: 60 } },
          { approved: false, reason: "too expensive" },
        ],
      }),
    response: { 202: Accepted, ...failures },
  },
  answer: {
    summary: "Answer a tool's question, or decline it",
    tags: ["runs"],
    params: z.object({ run: z.string(), call: z.string() }),
    body: z
      .strictObject({
        answer: z.unknown().exactOptional().describe("has to fit the question's schema and choices; else a text"),
        decline: z.boolean().exactOptional(),
        since,
        reason: z.string().max(4000).exactOptional(),
      })
      .meta({ examples: [{ answer: "Tuesday" }, { answer: { day: "Tuesday", seats: 2 } }, { decline: true }] }),
    response: { 202: Accepted, ...failures },
  },
  pause: {
    summary: "Pause a run: it finishes its round and waits, over restarts, until it is resumed",
    tags: ["runs"],
    params,
    body: z
      .strictObject({ reason: z.string().max(4000).optional() })
      .nullish()
      .meta({ examples: [{ reason: "until the morning" }] }),
    response: { 202: Accepted, ...failures },
  },
  resume: {
    summary: "Let a paused run go on",
    tags: ["runs"],
    params,
    body: z
      .strictObject({})
      .nullish()
      .meta({ examples: [{}] }),
    response: { 202: Accepted, ...failures },
  },
  message: {
    summary: "Send a message into a run; its next round sees it",
    tags: ["runs"],
    params,
    body: z.strictObject({ text: z.string().min(1) }).meta({ examples: [{ text: "and in euros, please" }] }),
    response: { 202: Accepted, ...failures },
  },
};
