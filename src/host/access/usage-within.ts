import { inOrder, type UsageQuery, type UsageRow, UsageSums } from "../../core/journal/money.ts";
import type { Runs } from "../../core/ports/runs.ts";
import type { KeyHolder } from "./key-holder.ts";

/** Usage of the tenant and agents that the key may see. */
export async function usageWithin(
  runs: Pick<Runs, "usage">,
  { agents, tenant, tenants }: Pick<KeyHolder, "agents" | "tenant" | "tenants">,
  query: UsageQuery,
): Promise<UsageRow[]> {
  const only = tenants === "all" ? query.only : { ...query.only, tenant };
  if (only?.tenant !== query.only?.tenant && query.only?.tenant !== undefined) return [];
  if (agents === undefined) return await runs.usage({ ...query, ...(only === undefined ? {} : { only }) });
  const by = query.by.includes("agent") ? query.by : [...query.by, "agent" as const];
  const sums = new UsageSums(query.by);
  for (const row of await runs.usage({ ...query, by, ...(only === undefined ? {} : { only }) }))
    if (agents.includes(row.agent ?? "")) sums.add(row);
  return inOrder(sums.rows, query.by);
}
