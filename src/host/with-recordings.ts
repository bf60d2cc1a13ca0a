import { systemClock } from "../core/ports/clock.ts";
import { silentLog } from "../core/ports/log.ts";
import { noTelemetry } from "../core/ports/telemetry.ts";
import { Instances } from "./build/instances.ts";
import { type Config, type LoadOptions, loadConfig } from "./config/load.ts";
import { hostContainer } from "./container.ts";
import { Recordings } from "./recordings/recordings.ts";

/** Opens only the configured journal: claims no runs, so it can be used beside a running service. */
export async function withRecordings<T>(
  options: LoadOptions,
  use: (recordings: Recordings, config: Config) => Promise<T>,
): Promise<T> {
  const config = await loadConfig(options);
  const quiet = { log: silentLog, telemetry: noTelemetry };
  const container = hostContainer({ ...quiet, config, clock: systemClock, runs: noRuns, shortLived: true });
  const instances = container.resolve(Instances);
  try {
    return await use(new Recordings(await instances.make("journal", config.journal)), config);
  } finally {
    await instances.close();
  }
}

function noRuns(): never {
  throw new Error("no runs are started here");
}
