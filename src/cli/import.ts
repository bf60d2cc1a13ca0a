import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { withRecordings } from "../host/with-recordings.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { show, showJson } from "./screen.ts";
import { unreadable } from "./system-error.ts";
import { readInput } from "./terminal.ts";

/** `venturi import FILE`: imports what `venturi export` wrote. */
export function configure(command: Command): void {
  command
    .argument("<file>", "a file written by `venturi export`; - reads standard input")
    .option("--as <run>", "id of the imported run (default: its own)")
    .option("--json", "print what was imported as JSON")
    .addHelpText("after", example("venturi import run.ndjson", "venturi import run.ndjson --as run_copy"))
    .action(async (file: string, options: { as?: string; json?: true }) => {
      const text = await read(file);
      await withRecordings(recordedOptionsOf(command), async (recordings) => {
        const imported = await recordings.import(text, options.as);
        if (options.json) showJson(process.stdout, JSON.stringify(imported));
        else show(process.stdout, `${imported.run}\n`);
        const rest = imported.ended ? "" : "; it has no end, so it waits for a signal";
        show(process.stderr, `took in ${imported.events} events${rest}\n`);
      });
    });
}

async function read(file: string): Promise<string> {
  try {
    return file === "-" ? await readInput() : await readFile(file, "utf8");
  } catch (cause) {
    throw unreadable("cli.import", file, cause);
  }
}
