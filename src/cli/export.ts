import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { wrap } from "../core/errors/errors.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { showData } from "./screen.ts";
import { codeOf } from "./system-error.ts";

/** `venturi export RUN`: the run as JSON Lines. */
export function configure(command: Command): void {
  command
    .argument("<run>", "the run's id")
    .option("-o, --output <file>", "write to this file instead of standard output")
    .addHelpText("after", example("venturi export run_0m5x… > run.ndjson"))
    .action((run: string, options: { output?: string }) =>
      withRecordings(recordedOptionsOf(command), async (recordings) => {
        const lines = Readable.from(recordings.export(run));
        try {
          if (options.output === undefined) await printed(lines);
          else await pipeline(lines, createWriteStream(options.output));
        } catch (thrown) {
          throw wrap("cli.export", thrown, codeOf(thrown));
        }
      }),
    );
}

/** Written unmodified into a pipe. */
async function printed(lines: Readable): Promise<void> {
  if (process.stdout.isTTY !== true) return await pipeline(lines, process.stdout, { end: false });
  for await (const line of lines) showData(process.stdout, String(line));
}
