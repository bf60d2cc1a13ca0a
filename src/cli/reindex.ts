import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import { endOfRun } from "../core/run/digest.ts";
import { priceBook } from "../host/money/price-book.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { example, loadOptionsOf } from "./globals.ts";
import { show, showJson } from "./screen.ts";

const page = 100;

/** `venturi reindex`: rebuilds the digests of ended runs, with or without a running service. */
export function configure(command: Command): void {
  command
    .option("--missing", "only of runs that have none")
    .option("--json", "say how many as JSON")
    .addHelpText("after", example("venturi reindex --missing"))
    .action((options: { missing?: true; json?: true }) =>
      withRecordings(loadOptionsOf(command), async (recordings, config) => {
        const priceOf = priceBook(config);
        const { journal } = recordings;
        if (journal.keepDigest === undefined) {
          throw new VenturiError("cli.reindex", "invalid_input", "this journal keeps no digests");
        }
        let written = 0;
        let unreadable = 0;
        let cursor: string | undefined;
        do {
          const query = { state: "done" as const, oldestFirst: true, limit: page };
          const listed = await journal.list(cursor === undefined ? query : { ...query, cursor });
          for (const { run, request, digest } of listed.runs) {
            if (options.missing && digest !== undefined) continue;
            // A damaged run keeps what it has; the others must not wait for it.
            const events = await recordings.events(run).catch(() => undefined);
            const end = events === undefined ? undefined : endOfRun({ run, request, priceOf }, events);
            if (end === undefined) unreadable += 1;
            else await journal.keepDigest(run, end);
            if (end !== undefined) written += 1;
          }
          cursor = listed.cursor;
        } while (cursor !== undefined);
        if (options.json) return showJson(process.stdout, JSON.stringify({ written, unreadable }));
        const lost = unreadable === 0 ? "" : `; ${unreadable} could not be read`;
        show(process.stderr, `wrote ${written} ${written === 1 ? "digest" : "digests"}${lost}\n`);
      }),
    );
}
