import { DecodedWire } from "venturi/internal";
import { type ChannelHost, type EventPage, type RunEvent, VenturiError, type ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** Raw provider bytes recorded by `journal.keepWire`, and their decoded deltas. */
export function mountWires(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/runs/:run/wires", { schema: schemas.list }, async (request) => {
    const kept = await host.runsFor(request).wires(request.params.run);
    const wires = kept.map(({ round, attempt, wire, bytes }) => ({ round, attempt, wire, size: bytes.length }));
    return { run: request.params.run, wires };
  });
  server.get("/v1/runs/:run/wires/:round/:attempt", { schema: schemas.one }, async (request, reply) => {
    const { run, round, attempt } = request.params;
    const all = await host.runsFor(request).wires(run);
    const kept = all.find((wire) => wire.round === round && wire.attempt === attempt);
    if (kept === undefined) {
      const message = `no bytes were kept of attempt ${attempt} in round ${round} of ${run}; \`journal.keepWire: true\` keeps them`;
      throw new VenturiError("run.wires", "not_found", message);
    }
    if (request.query.decoded !== undefined) return await host.inspect.decode(kept);
    // Must never render as a page of this origin, whatever a provider sent.
    return reply
      .headers({
        "content-disposition": "attachment",
        "x-content-type-options": "nosniff",
        "x-venturi-wire": kept.wire,
        "x-venturi-run": run,
      })
      .type("application/octet-stream")
      .send(Buffer.from(host.inspect.mask(kept).bytes));
  });
  server.get("/v1/runs/:run/fixture", { schema: schemas.fixture }, async (request, reply) => {
    const { run } = request.params;
    const runs = host.runsFor(request);
    const events: RunEvent[] = [];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page: EventPage = await runs.events(run, { after, limit: 1000 });
      events.push(...page.events);
      after = page.next;
    }
    return reply
      .headers({
        "content-disposition": `attachment; filename="${run}.yaml"`,
        "x-content-type-options": "nosniff",
        "x-venturi-run": run,
      })
      .type("application/yaml; charset=utf-8")
      .send(await host.inspect.fixture(events));
  });
}

const failures = { "4XX": Failure, "5XX": Failure };
const params = z.object({ run: z.string() });
const number = z.coerce.number().int().positive();
const schemas = {
  list: {
    summary: "Kept provider streams of a run",
    description: "Empty unless `journal.keepWire` was on. Needs the scope inspect.",
    tags: ["runs"],
    params,
    response: {
      200: z
        .object({
          run: z.string(),
          wires: z.array(z.object({ round: z.number(), attempt: z.number(), wire: z.string(), size: z.number() })),
        })
        .meta({ examples: [examples.wires] }),
      ...failures,
    },
  },
  fixture: {
    summary: "A run's model as a scenario of the simulator",
    description:
      "YAML that answers as the run's model did, in the same pieces and at about the same pace: for `venturi simulate --scenario`, " +
      "`scenarios` of a simulator in the configuration, and tests. As `venturi replay --as-fixture` prints it.",
    tags: ["runs"],
    params,
    response: {
      200: {
        description: "A scenario",
        content: { "application/yaml": { schema: z.string().meta({ examples: [examples.fixture] }) } },
      },
      ...failures,
    },
  },
  one: {
    summary: "A kept provider stream: its bytes, or with ?decoded the deltas they decode to",
    description: "Keys in it are masked by as many asterisks. Needs the scope inspect.",
    tags: ["runs"],
    params: params.extend({ round: number, attempt: number }),
    querystring: z.object({ decoded: z.string().optional() }),
    response: {
      200: z.union([DecodedWire, z.string()]).meta({ examples: [examples.decoded] }),
      ...failures,
    },
  },
};
