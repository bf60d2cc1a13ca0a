import { AddedToDataset, datasetName } from "venturi/internal";
import { type ChannelHost, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** Runs as items of datasets, in the folder `datasets` of the configuration. */
export function mountDatasets(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/datasets", { schema: schemas.list }, async (request) => {
    host.demand(request, "inspect");
    return { datasets: [...(await host.inspect.datasets(host.caller(request).tenant))] };
  });
  server.post("/v1/runs/:run/dataset", { schema: schemas.add }, async (request, reply) => {
    host.demand(request, "inspect");
    host.demand(request, "steer");
    const { run, tenant } = await host.runsFor(request).get(request.params.run);
    const caller = host.caller(request);
    if (tenant !== caller.tenant && caller.act !== "all")
      throw new VenturiError("dataset.add", "forbidden", `${run} is another tenant's; the key needs \`act: all\``);
    const added = await host.inspect.addToDataset({ run, tenant, ...request.body });
    return reply.header("x-venturi-run", run).code(201).send(added);
  });
}

const failures = { "4XX": Failure, "5XX": Failure };
const NewItem = z.strictObject({
  dataset: datasetName.describe("The set: a name, without folder and ending"),
  note: z.string().max(4_000).exactOptional().describe("Why the run is in the set"),
  id: z.string().min(1).max(200).exactOptional().describe("Name of the item; the run's id by default"),
});
const schemas = {
  list: {
    summary: "Names of the datasets",
    description: "In the folder `datasets` of the configuration; 404 without one. Needs the scope inspect.",
    tags: ["runs"],
    response: {
      200: z.object({ datasets: z.array(z.string()) }).meta({ examples: [examples.datasets] }),
      ...failures,
    },
  },
  add: {
    summary: "Add an ended run to a dataset",
    description:
      "Writes what `venturi dataset add` writes: a line of the set, and a copy of the run and its conversation, without keys and " +
      "personal data. 409 if the run is in the set or has not ended, 404 without `datasets` in the configuration. Needs the scopes " +
      "inspect and steer.",
    tags: ["runs"],
    params: z.object({ run: z.string() }),
    body: NewItem.meta({ examples: [examples.newDatasetItem] }),
    response: { 201: AddedToDataset.meta({ examples: [examples.addedToDataset] }), ...failures },
  },
};
