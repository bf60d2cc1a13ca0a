import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { example } from "./globals.ts";
import { show } from "./screen.ts";
import { addServiceOptions, askService, type ServiceOptions } from "./service-client.ts";

interface Options extends ServiceOptions {
  readonly resume?: true;
  readonly reason?: string;
  readonly agent?: string;
}

/** `venturi pause RUN`: the run finishes its round and waits; `--resume` continues it. `--agent NAME`: all runs of an agent. */
export function configure(command: Command): void {
  addServiceOptions(command.argument("[run]", "the run's id"))
    .option("--agent <name>", "all runs of this agent, including later ones")
    .option("--resume", "resume what was paused")
    .option("--reason <text>", "why it is paused")
    .addHelpText(
      "after",
      example("venturi pause run_0m5x…", "venturi pause run_0m5x… --resume", "venturi pause --agent assistant"),
    )
    .action(async (run: string | undefined, options: Options) => {
      const { resume, reason, agent } = options;
      if ((run === undefined) === (agent === undefined)) {
        throw new VenturiError("cli.pause", "invalid_input", "name a run, or an agent with --agent");
      }
      const what =
        agent === undefined ? `runs/${encodeURIComponent(run ?? "")}` : `agents/${encodeURIComponent(agent)}`;
      const path = `/v1/${what}/${resume ? "resume" : "pause"}`;
      const body = reason === undefined || resume ? {} : { reason };
      const { changed = true } = await askService<{ changed?: boolean }>(command, { ...options, path, body });
      show(process.stdout, `${agent ?? run} ${said({ resume, changed, isAgent: agent !== undefined })}\n`);
    });
}

function said({ resume, changed, isAgent }: { resume: true | undefined; changed: boolean; isAgent: boolean }): string {
  if (!changed) return resume ? "is not paused" : "is paused already";
  if (resume) return "goes on";
  return isAgent ? "is paused: its runs finish their round and wait" : "is paused after its round";
}
