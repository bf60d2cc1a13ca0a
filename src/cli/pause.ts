import type { Command } from "commander";
import { example } from "./globals.ts";
import { show } from "./screen.ts";
import { addServiceOptions, askService, type ServiceOptions } from "./service-client.ts";

interface Options extends ServiceOptions {
  readonly resume?: true;
  readonly reason?: string;
}

/** `venturi pause RUN`: the run finishes its round and waits; `--resume` lets it go on. */
export function configure(command: Command): void {
  addServiceOptions(command.argument("<run>", "the run's id"))
    .option("--resume", "let a paused run go on")
    .option("--reason <text>", "why it waits")
    .addHelpText("after", example("venturi pause run_0m5x…", "venturi pause run_0m5x… --resume"))
    .action(async (run: string, options: Options) => {
      const { resume, reason } = options;
      const path = `/v1/runs/${encodeURIComponent(run)}/${resume ? "resume" : "pause"}`;
      await askService(command, { ...options, path, body: reason === undefined || resume ? {} : { reason } });
      show(process.stdout, `${run} ${resume ? "goes on" : "is paused after its round"}\n`);
    });
}
