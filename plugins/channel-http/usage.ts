import { UsageReport, usageCsv, usageKeys, usageQuery, usageReport } from "venturi/internal";
import type { ChannelHost, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** `GET /v1/usage`: usage and cost of generations. */
export function mountUsage(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/usage", { schema }, async (request, reply) => {
    const { by, since, until, format, ...names } = request.query;
    const only = Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined));
    const query = { ...usageQuery({ by, since, until }, Date.now()), only };
    const report = usageReport(query, await host.runsFor(request).usage(query));
    const asCsv = format === "csv" || (format === undefined && request.headers.accept?.startsWith("text/csv") === true);
    if (!asCsv) return report;
    const name = 'attachment; filename="usage.csv"';
    return reply
      .header("content-type", "text/csv; charset=utf-8")
      .header("content-disposition", name)
      .serializer((text: unknown) => String(text))
      .send(usageCsv(report) as never);
  });
}

const name = () => z.string().max(256).optional();
const schema = {
  summary: "What generations used and cost",
  description:
    "Sums over the journal of the caller's tenant, or of all for keys with tenants: all. They outlive the runs they are about. " +
    "Imported runs and what a fork took over are not in it: they were paid for elsewhere.",
  tags: ["operations"],
  querystring: z.object({
    by: z
      .string()
      .optional()
      .describe(`${usageKeys.join(", ")}, separated by commas; day when absent`),
    since: z.string().optional().describe("a day (2026-11-17, UTC), or how long ago (7d, 4w)"),
    until: z.string().optional().describe("a day, inclusive"),
    tenant: name(),
    agent: name(),
    model: name(),
    key: name().describe("id of the key that started the run"),
    user: name().describe("subject of the token, or metadata.user of the run"),
    format: z.enum(["json", "csv"]).optional(),
  }),
  response: { 200: UsageReport.meta({ examples: [examples.usage] }), "4XX": Failure, "5XX": Failure },
};
