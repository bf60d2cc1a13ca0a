import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Journal } from "../../core/journal/journal.ts";
import { demand } from "../access/auth.ts";
import type { KeyHolder } from "../access/key-holder.ts";

const Query = z.object({
  action: z.string().optional().describe("such as approval.given"),
  run: z.string().optional(),
  cursor: z
    .string()
    .regex(/^\d{1,16}$/)
    .optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export interface AuditDeps {
  readonly audit: Pick<Journal, "audits">;
  readonly caller: (request: unknown) => KeyHolder;
}

const example = {
  records: [
    { number: 7, at: 1789000000000, action: "run.cancel", by: "ops", tenant: "acme", run: "run_0mwhvk7jo4056f" },
  ],
};
const response = {
  200: z.object({ records: z.array(z.looseObject({})), cursor: z.string().optional() }).meta({ examples: [example] }),
};

/**
 * `GET /v1/audit`: actions in the caller's tenant. Those without a tenant, such as failed logins, are listed by `venturi
 * audit`.
 */
export function mountAudit(app: FastifyInstance, { audit, caller }: AuditDeps): void {
  const schema = {
    summary: "The audit of the key's tenant, newest first",
    tags: ["operations"],
    querystring: Query,
    response,
  };
  app.get("/v1/audit", { schema }, async (request) => {
    const { tenant, ...holder } = caller(request);
    demand({ tenant, ...holder }, "inspect");
    const { action, run, cursor, limit } = request.query as z.output<typeof Query>; // Checked by the schema.
    return await audit.audits({
      tenant,
      limit,
      ...(action === undefined ? {} : { action }),
      ...(run === undefined ? {} : { run }),
      ...(cursor === undefined ? {} : { cursor }),
    });
  });
}
