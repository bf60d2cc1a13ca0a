import type { Command } from "commander";
import { loadConfig } from "../host/config/load.ts";
import { isTextLog } from "../host/log.ts";
import { writePidFile } from "../host/pid-file.ts";
import { openService, type Service } from "../host/service.ts";
import { keepWatchdog, notifySystemd } from "../host/systemd.ts";
import { exitOnUncaught } from "./exit-on-uncaught.ts";
import { example, type Globals, globalsOf } from "./globals.ts";
import { nextSteps } from "./next-steps.ts";
import { show } from "./screen.ts";
import { stopSignal } from "./stop-signal.ts";

/** `venturi start`: runs the service until a signal. */
export function configure(command: Command): void {
  command
    .option("-q, --quiet", "do not tell what to do next")
    .addHelpText(
      "after",
      example(
        "venturi start",
        "venturi start --set server.listen=127.0.0.1:8080",
        "venturi start --set server.processes=auto",
      ),
    )
    .action(async (options: { quiet?: true }) => {
      const globals = globalsOf(command);
      const config = await loadConfig({ file: globals.config, set: globals.set });
      if (config.server.processes === 1) return await startAlone(globals, { config, quiet: options.quiet === true });
      await (await import("./start-processes.ts")).startProcesses(globals, config);
    });
}

interface Given {
  readonly config: Awaited<ReturnType<typeof loadConfig>>;
  readonly quiet: boolean;
}

async function startAlone({ config: configFile, set }: Globals, { config, quiet }: Given): Promise<void> {
  const service = await openService({ configFile, set, config });
  const { host, url } = service;
  // Installed before readiness is announced, because a signal may follow at once.
  process.on("SIGHUP", () => void reload(service));
  const stopped = stopSignal();
  exitOnUncaught(host.log);
  const removePidFile = writePidFile(host.config);
  host.log.info("listening", { url, config: host.config.hash, channels: Object.keys(host.config.channels) });
  await notifySystemd("READY=1", `STATUS=listening on ${url}`);
  keepWatchdog();
  show(process.stderr, quiet || !isTextLog(host.config.telemetry.logs) ? "" : nextSteps(host, url));
  await stopped;
  await notifySystemd("STOPPING=1");
  try {
    await service.drain();
  } finally {
    removePidFile();
  }
}

async function reload({ host }: Service): Promise<void> {
  await notifySystemd("RELOADING=1", `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
  await host.reload(); // logs the outcome
  await notifySystemd("READY=1");
}
