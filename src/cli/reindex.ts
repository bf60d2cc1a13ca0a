import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { priceBook } from "../host/money/price-book.ts";
import { reindex } from "../host/recordings/reindex.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { show, showJson } from "./screen.ts";

/** `venturi reindex`: rebuilds the digests of ended runs, with or without a running service. */
export function configure(command: Command): void {
  command
    .option("--missing", "only for runs that have none")
    .option("--json", "print the count as JSON")
    .addHelpText("after", example("venturi reindex --missing"))
    .action((options: { missing?: true; json?: true }) =>
      withRecordings(recordedOptionsOf(command), async ({ journal }, config) => {
        if (journal.keepDigest === undefined) {
          throw new VenturiError("cli.reindex", "invalid_input", "this journal keeps no digests");
        }
        const which = options.missing ? "missing" : "all";
        const { written, unreadable } = await reindex({ journal, priceOf: priceBook(config), which });
        if (options.json) return showJson(process.stdout, JSON.stringify({ written, unreadable }));
        const lost = unreadable === 0 ? "" : `; ${unreadable} could not be read`;
        show(process.stderr, `wrote ${written} ${written === 1 ? "digest" : "digests"}${lost}\n`);
      }),
    );
}
