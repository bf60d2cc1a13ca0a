import { z } from "zod";
import type { Problem } from "../yaml/problem.ts";
import { pathText } from "../yaml/problem.ts";
import { find, keysOf, type MapNode, placeOf } from "../yaml/tree.ts";

export const BudgetSettings = z
  .strictObject({
    of: z
      .enum(["service", "tenant", "key", "user", "agent", "session", "run"])
      .describe("Whose it is: each tenant, key, user, agent, session or run has its own; `service` is one for all."),
    only: z.string().min(1).optional().describe("Only of the tenant, key, user or agent of this name."),
    usd: z.number().positive("a budget must be more than 0").optional().describe("USD that may be spent."),
    tokens: z.number().int().positive("a budget must be more than 0").optional().describe("Tokens, in and out."),
    per: z
      .enum(["run", "session", "minute", "hour", "day", "month"])
      .describe(
        "In what it may be spent; times are in UTC. Per minute it is a rate limit: `rate_limited`, not an end.",
      ),
    onExceed: z
      .enum(["refuse", "finish", "cheaper"])
      .prefault("refuse")
      .describe(
        "The run fails with `budget_exceeded`; it finishes with what it has; or it goes on with the model's `economy`.",
      ),
  })
  .refine(({ usd, tokens }) => usd !== undefined || tokens !== undefined, "a budget needs usd or tokens");
export type BudgetSettings = z.output<typeof BudgetSettings>;

/** Two budgets of the same runs and the same period would be one too many: which holds? */
export function checkBudgets(root: MapNode, problems: Problem[]): void {
  const seen = new Map<string, string>();
  for (const name of keysOf(root, ["budgets"])) {
    const value = (key: string) => {
      const node = find(root, ["budgets", name, key]);
      return node?.kind === "scalar" ? String(node.value) : "";
    };
    const what = JSON.stringify([value("of"), value("only"), value("per")]);
    const other = seen.get(what);
    seen.set(what, other ?? name);
    if (other === undefined) continue;
    const path = ["budgets", name];
    const message = `the budget "${other}" is of the same and per the same; make them one`;
    problems.push({ place: placeOf(root, path), path: pathText(path), message });
  }
}
