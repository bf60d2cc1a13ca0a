import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { VenturiError } from "../core/errors/errors.ts";
import type { Recordings } from "../host/recordings/recordings.ts";
import { withRecordings } from "../host/with-recordings.ts";
import { example, recordedOptionsOf } from "./globals.ts";
import { show, showData } from "./screen.ts";
import { openPrinter } from "./terminal.ts";

interface Options {
  readonly fast?: true;
  readonly speed: string;
  readonly json?: true;
  readonly asFixture?: true;
  readonly wire?: string;
  readonly serve?: string;
}

/** `venturi replay RUN`: replays a recorded run. */
export function configure(command: Command): void {
  command
    .argument("<run>", "the run's id")
    .option("--fast", "replay without pauses")
    .option("--speed <times>", "speed factor", "1")
    .option("--json", "print its events, one JSON line each")
    .option("--serve <port>", "serve its events over HTTP instead of printing them, until Ctrl-C")
    .option("--as-fixture", "print a scenario for the simulator that reproduces its model")
    .option("--wire <folder>", "write its recorded provider streams (journal.keepWire) into this folder")
    .addHelpText(
      "after",
      example(
        "venturi replay run_0m5x… --fast",
        "venturi replay run_0m5x… --as-fixture > bug.yaml && venturi simulate --scenario bug.yaml",
      ),
    )
    .action((run: string, options: Options) =>
      withRecordings(recordedOptionsOf(command), async (recordings) => {
        if ((await recordings.journal.get(run)) === undefined) {
          throw new VenturiError("cli.replay", "not_found", `there is no run ${run}`);
        }
        if (options.asFixture) await printFixture(recordings, run);
        else if (options.wire !== undefined) await writeWire(recordings, run, options.wire);
        else if (options.serve !== undefined) await serve(recordings, run, options);
        else await print(recordings, run, options);
      }),
    );
}

async function print(recordings: Recordings, run: string, options: Options): Promise<void> {
  const speed = speedOf(options);
  const printer = openPrinter({ json: options.json === true });
  for await (const event of recordings.replay(run, speed)) printer.print(event);
}

async function serve(recordings: Recordings, run: string, options: Options): Promise<void> {
  const port = Number(options.serve);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new VenturiError("cli.replay", "invalid_input", "--serve: expected a port");
  }
  const { serveReplay } = await import("../host/recordings/replay-server.ts");
  const server = await serveReplay(recordings, run, { port, speed: speedOf(options) });
  show(process.stdout, `${server.url}\n`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  await server.close();
}

function speedOf(options: Options): number {
  const speed = options.fast ? Number.POSITIVE_INFINITY : Number(options.speed);
  if (speed > 0) return speed;
  throw new VenturiError("cli.replay", "invalid_input", "--speed: expected a number above 0");
}

async function printFixture(recordings: Recordings, run: string): Promise<void> {
  const { stringify } = await import("yaml");
  showData(process.stdout, stringify(await recordings.fixture(run), { lineWidth: 0 }));
}

async function writeWire({ journal }: Recordings, run: string, folder: string): Promise<void> {
  const kept = (await journal.wire?.(run)) ?? [];
  if (kept.length === 0) {
    throw new VenturiError("cli.replay", "not_found", "no raw streams were kept with it; set journal.keepWire");
  }
  await mkdir(folder, { recursive: true });
  for (const { round, attempt, wire, bytes } of kept) {
    const file = join(folder, `${run}-${round}-${attempt}.${wire}`);
    await writeFile(file, bytes);
    show(process.stdout, `${file}\n`);
  }
}
