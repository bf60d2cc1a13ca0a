import { z } from "zod";
import { didYouMean } from "../../core/values/suggest.ts";
import type { Problem } from "../yaml/problem.ts";
import { pathText } from "../yaml/problem.ts";
import { find, keysOf, type MapNode, type Path, placeOf } from "../yaml/tree.ts";

export const BudgetSettings = z
  .strictObject({
    of: z
      .enum(["service", "tenant", "key", "user", "agent", "session", "run"])
      .describe(
        "Who it applies to: each tenant, key, user, agent, session or run gets its own; `service` is one for all.",
      ),
    only: z.string().min(1).optional().describe("Only the tenant, key, user or agent of this name."),
    usd: z.number().positive("a budget must be more than 0").optional().describe("USD that may be spent."),
    tokens: z.number().int().positive("a budget must be more than 0").optional().describe("Tokens, in and out."),
    per: z
      .enum(["run", "session", "minute", "hour", "day", "month"])
      .describe(
        "Period, in UTC. Per minute it is a rate limit: refused with `rate_limited` instead of ending the run.",
      ),
    onExceed: z
      .enum(["refuse", "finish", "cheaper"])
      .prefault("refuse")
      .describe(
        "The run fails with `budget_exceeded`, finishes with what it has, or continues with the model's `economy`.",
      ),
  })
  .refine(({ usd, tokens }) => usd !== undefined || tokens !== undefined, "a budget needs usd or tokens");
export type BudgetSettings = z.output<typeof BudgetSettings>;

/** Checks what the schema cannot: two budgets for the same runs and period, and budgets that match nobody. */
export function checkBudgets(root: MapNode, problems: Problem[]): void {
  const seen = new Map<string, string>();
  const economy = keysOf(root, ["models"]).some((name) => find(root, ["models", name, "economy"]) !== undefined);
  for (const name of keysOf(root, ["budgets"])) {
    const value = (key: string) => {
      const node = find(root, ["budgets", name, key]);
      return node?.kind === "scalar" ? String(node.value) : "";
    };
    const complain = (path: Path, message: string) =>
      problems.push({ place: placeOf(root, path), path: pathText(path), message });
    const [of, only] = [value("of"), value("only")];
    const what = JSON.stringify([of, only, value("per")]);
    const other = seen.get(what);
    seen.set(what, other ?? name);
    if (other !== undefined)
      complain(["budgets", name], `the budget "${other}" is of the same and per the same; make them one`);
    const nobody = only === "" ? undefined : holdsForNobody(of, only, keysOf(root, ["agents"]));
    if (nobody !== undefined) complain(["budgets", name, "only"], nobody);
    if (value("onExceed") === "cheaper" && !economy)
      complain(["budgets", name, "onExceed"], "no entry of models has an `economy` to go on with");
  }
}

function holdsForNobody(of: string, only: string, agents: readonly string[]): string | undefined {
  if (of === "service" || of === "run")
    return `a budget of ${of === "run" ? "runs" : "the service"} is of no one alone`;
  if ((of === "user" || of === "session") && !only.includes("/"))
    return `write the ${of} with its tenant, such as default/${only}`;
  if (of === "agent" && !agents.includes(only)) return `there is no agent "${only}"${didYouMean(only, agents)}`;
  return undefined;
}
