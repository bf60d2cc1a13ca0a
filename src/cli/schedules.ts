import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { example } from "./globals.ts";
import { forOneLine, show, showJson } from "./screen.ts";
import { addServiceOptions, askService, type ServiceOptions } from "./service-client.ts";

interface Options extends ServiceOptions {
  readonly json?: true;
  readonly remove?: true;
}

interface View {
  readonly name: string;
  readonly source: string;
  readonly agent: string;
  readonly cron?: string;
  readonly at?: string;
  readonly timezone: string;
  readonly next: readonly string[];
  readonly last: readonly { time: string; run?: string; skipped?: string; error?: string }[];
}

/** `venturi schedules`: lists schedules; with a name, lists its last runs or removes it. */
export function configure(command: Command): void {
  addServiceOptions(command.argument("[name]", "show one schedule with its last runs"))
    .option("--remove", "remove it; its runs stay")
    .option("--json", "print one JSON line per schedule")
    .addHelpText(
      "after",
      example("venturi schedules", "venturi schedules nightly", "venturi schedules nightly --remove"),
    )
    .action(async (name: string | undefined, options: Options) => {
      if (name === undefined) {
        if (options.remove) throw new VenturiError("cli.schedules", "invalid_input", "name the schedule to remove");
        const { schedules } = await askService<{ schedules: View[] }>(command, { ...options, path: "/v1/schedules" });
        if (schedules.length === 0 && !options.json) show(process.stderr, "no schedules\n");
        for (const schedule of schedules) print(schedule, options);
        return;
      }
      const path = `/v1/schedules/${encodeURIComponent(name)}`;
      if (options.remove) {
        await askService(command, { ...options, path, method: "DELETE" });
        return show(process.stdout, `${name} removed\n`);
      }
      const schedule = await askService<View>(command, { ...options, path });
      print(schedule, options);
      if (options.json) return;
      for (const { time, run, skipped, error } of schedule.last) {
        show(
          process.stdout,
          `  ${forOneLine(`${time}  ${run ?? (skipped === undefined ? error : `skipped: ${skipped}`)}`)}\n`,
        );
      }
    });
}

function print(schedule: View, { json }: Options): void {
  if (json) return showJson(process.stdout, JSON.stringify(schedule));
  const { name, agent, cron, at, timezone, next, last } = schedule;
  const when = cron === undefined ? `at ${at}` : `${cron} ${timezone}`;
  const [latest] = last;
  const before =
    latest === undefined ? "never yet" : `last ${latest.time}${latest.run === undefined ? " without a run" : ""}`;
  show(process.stdout, `${forOneLine(`${name}  ${agent}  ${when}  next ${next[0] ?? "never"}  (${before})`)}\n`);
}
