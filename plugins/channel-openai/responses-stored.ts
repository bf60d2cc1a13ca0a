import { type ChannelHost, type RunRow, type Runs, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { streamRun } from "venturi/plugin/channel";
import { asRecord } from "venturi/plugin/provider";
import { z } from "zod";
import { invalid } from "./content.ts";
import { failures } from "./errors.ts";
import { inputItems, itemPage, Page } from "./responses-input.ts";
import { type Item, referenceOf } from "./responses-items.ts";
import { placeOf } from "./responses-output.ts";
import { ResponseProjection } from "./responses-projection.ts";

const prefix = "resp_";
const Id = z.object({ id: z.string() });
const Following = z.object({
  stream: z.enum(["true", "false"]).optional(),
  starting_after: z.coerce.number().int().optional().describe("frames after this sequence number"),
});

/** Operations on a stored response: read, follow, cancel, list its input. */
export function mountStored(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  const tags = ["openai"];
  const get = { summary: "A stored response, or its stream from a place on", tags, params: Id, querystring: Following };
  server.get("/responses/:id", { schema: get }, async (request, reply) => {
    const runs = host.runsFor(request);
    const row = await responseRow(runs, request.params.id);
    reply.header("x-venturi-run", row.run);
    if (request.query.stream !== "true") return (await readResponse(runs, row)).body;
    const after = request.query.starting_after ?? -1;
    const projection = new ResponseProjection({ run: row.run, request: row.request, after });
    const served = { host, runs, run: row.run, reply, channel: "openai", onDisconnect: "continue" as const };
    await streamRun(served, projection.project, {
      ...failures,
      failed: projection.failed,
      heartbeat: projection.heartbeat,
    });
    return reply;
  });
  const cancel = { summary: "Cancels an active response", tags, params: Id };
  server.post("/responses/:id/cancel", { schema: cancel }, async (request, reply) => {
    const runs = host.runsFor(request);
    const row = await responseRow(runs, request.params.id);
    reply.header("x-venturi-run", row.run);
    await runs.cancel(row.run, "the response was cancelled");
    return (await readResponse(runs, await runs.get(row.run))).body;
  });
  const remove = { summary: "Removes a response", tags, params: Id };
  server.delete("/responses/:id", { schema: remove }, async (request) => {
    const runs = host.runsFor(request);
    const row = await responseRow(runs, request.params.id);
    await runs.remove(row.run);
    return { id: request.params.id, object: "response", deleted: true };
  });
  const items = { summary: "What a response was asked", tags, params: Id, querystring: Page };
  server.get("/responses/:id/input_items", { schema: items }, async (request, reply) => {
    const runs = host.runsFor(request);
    const row = await responseRow(runs, request.params.id);
    reply.header("x-venturi-run", row.run);
    return itemPage(await inputItems(runs, row), request.query);
  });
}

/** The run behind a response id. */
export async function rowOf(runs: Runs, id: string): Promise<RunRow> {
  if (!id.startsWith(prefix)) throw invalid(`"${id}" is not the id of a response`);
  return runs.get(id.slice(prefix.length)).catch((thrown: unknown) => {
    throw VenturiError.isInstance(thrown) && thrown.code === "not_found" ? missing(id) : thrown;
  });
}

/** A stored response; one with `store: false` is not found, as with the vendor. */
async function responseRow(runs: Runs, id: string): Promise<RunRow> {
  const row = await rowOf(runs, id);
  const said = asRecord(row.request.channel).responses;
  if (said === undefined || (asRecord(said).store === false && asRecord(said).background !== true)) throw missing(id);
  return row;
}

const missing = (id: string): VenturiError =>
  new VenturiError("response.get", "not_found", `Response with id '${id}' not found.`, { details: { param: "id" } });

/** The response so far. */
export async function readResponse(runs: Runs, row: RunRow): Promise<ResponseProjection> {
  const projection = new ResponseProjection({ run: row.run, request: row.request });
  if (row.head === 0) return projection;
  for await (const batch of runs.follow(row.run, { channel: "openai" })) {
    for (const event of batch) projection.project(event);
    if ((batch.at(-1)?.seq ?? 0) >= row.head) break;
  }
  return projection;
}

/** A run's input and output items. */
const allItems = async (runs: Runs, row: RunRow): Promise<Record<string, unknown>[]> => [
  ...(await inputItems(runs, row)),
  ...(await readResponse(runs, row)).items,
];

/** Resolves items that only reference an item issued here. */
export async function resolved(runs: Runs, items: readonly Item[]): Promise<Item[]> {
  const responses = new Map<string, Promise<Record<string, unknown>[]>>();
  const response = (run: string) => {
    const known = responses.get(run) ?? runs.get(run).then((row) => allItems(runs, row));
    responses.set(run, known);
    return known;
  };
  return Promise.all(
    items.map(async (item) => {
      const id = referenceOf(item);
      const place = placeOf(id);
      if (place === undefined) return item;
      const found = await response(place.run).then(
        (items) => items.find((each) => each.id === id),
        () => undefined,
      );
      if (found !== undefined) return found as Item; // Items issued here are valid input.
      throw new VenturiError("request.parse", "invalid_input", `Item with id '${id}' not found.`, {
        details: { param: "input" },
      });
    }),
  );
}
