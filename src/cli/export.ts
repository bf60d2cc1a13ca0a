import { createWriteStream } from "node:fs";
import { access, constants, copyFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
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
          else await written(lines, options.output);
        } catch (thrown) {
          throw wrap("cli.export", thrown, codeOf(thrown));
        }
      }),
    );
}

/** Under another name until it is whole: half a run can be imported, and an earlier export must outlive one that fails. */
async function written(lines: Readable, output: string): Promise<void> {
  const known = await stat(output).catch(() => undefined);
  const file = known === undefined ? output : await realpath(output);
  const hasRoom = await access(dirname(file), constants.W_OK).then(
    () => true,
    () => false,
  );
  // A pipe, say, or a file in a folder that takes no other.
  if (known?.isFile() === false || !hasRoom) return await pipeline(lines, createWriteStream(output));
  const part = `${file}.${process.pid}.part`;
  try {
    await pipeline(lines, createWriteStream(part, { flush: true, ...(known && { mode: known.mode }) }));
    await rename(part, file).catch(() => copyFile(part, file)); // A mounted file cannot be replaced.
  } finally {
    await rm(part, { force: true });
  }
}

/** Written unmodified into a pipe. */
async function printed(lines: Readable): Promise<void> {
  if (process.stdout.isTTY !== true) return await pipeline(lines, process.stdout, { end: false });
  for await (const line of lines) showData(process.stdout, String(line));
}
