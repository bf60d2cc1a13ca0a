import { didYouMean } from "venturi/internal";
import type { OptionProblem } from "venturi/plugin";
import { z } from "zod";
import { InboundOptions } from "./inbound-options.ts";
import { timingProblems } from "./occurrences.ts";
import { ScheduleOptions, scheduleName } from "./schedule-options.ts";
import { templateProblem } from "./template.ts";
import { WebhookOptions } from "./webhook-options.ts";

export const Options = z.strictObject({
  schedules: z.record(scheduleName, ScheduleOptions).prefault({}).describe("scheduled runs, by name"),
  webhooks: z.record(scheduleName, WebhookOptions).prefault({}).describe("receivers of webhooks about runs, by name"),
  hooks: z
    .record(scheduleName, InboundOptions)
    .prefault({})
    .describe("webhooks of other systems that start runs, at POST /v1/hooks/NAME"),
});
export type Options = z.output<typeof Options>;

/** Checks what the schema cannot: cron expressions, time zones, templates, and names from elsewhere in the configuration. */
export async function problemsIn(options: Options, agents: readonly string[]): Promise<OptionProblem[]> {
  const problems: OptionProblem[] = [];
  const { schedules, webhooks, hooks } = options;
  for (const [name, schedule] of Object.entries(schedules)) {
    const path = ["schedules", name];
    for (const { key, message } of await timingProblems(schedule)) problems.push({ path: [...path, key], message });
    started(path, schedule);
  }
  for (const [name, { url, hosts, agents: of = [] }] of Object.entries(webhooks)) {
    for (const [index, agent] of of.entries()) known(["webhooks", name, "agents", index], agent);
    if (url === undefined && (hosts ?? []).length === 0) {
      const message = "write url, or the hosts that runs may name with notify";
      problems.push({ path: ["webhooks", name], message });
    }
  }
  for (const [name, hook] of Object.entries(hooks)) {
    const path = ["hooks", name];
    started(path, hook);
    for (const key of ["input", "session"] as const) {
      const message = hook[key] === undefined ? undefined : templateProblem(hook[key]);
      if (message !== undefined) problems.push({ path: [...path, key], message });
    }
  }
  return problems;

  function started(
    path: readonly string[],
    { agent, notify }: { agent: string; notify?: { webhook: string } | undefined },
  ) {
    known([...path, "agent"], agent);
    if (notify === undefined || Object.hasOwn(webhooks, notify.webhook)) return;
    const message = `there is no webhook "${notify.webhook}"${didYouMean(notify.webhook, Object.keys(webhooks))}`;
    problems.push({ path: [...path, "notify", "webhook"], message });
  }

  function known(path: readonly (string | number)[], agent: string) {
    if (agents.includes(agent)) return;
    problems.push({ path, message: `there is no agent "${agent}"${didYouMean(agent, agents)}` });
  }
}
