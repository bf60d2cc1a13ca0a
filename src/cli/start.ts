import type { Command } from "commander";
import { messageOf } from "../core/errors.ts";
import { isTextLog } from "../host/log.ts";
import { writePidFile } from "../host/pid-file.ts";
import { openService, type Service } from "../host/service.ts";
import { notifySystemd } from "../host/systemd.ts";
import { watchUncaught } from "../host/uncaught.ts";
import { example, globalsOf } from "./globals.ts";
import { nextSteps } from "./next-steps.ts";
import { show } from "./screen.ts";

/** `venturi start`: runs the service until a signal. */
export function configure(command: Command): void {
  command
    .option("-q, --quiet", "do not tell what to do next")
    .addHelpText("after", example("venturi start", "venturi start --set server.listen=127.0.0.1:8080"))
    .action(async (options: { quiet?: true }) => {
      const { config, set } = globalsOf(command);
      const service = await openService({ configFile: config, set });
      const { host, url } = service;
      // Installed before readiness is announced, because a signal may follow at once.
      process.on("SIGHUP", () => void reload(service));
      const stopped = firstSignal();
      watchUncaught(host.log, (thrown) => {
        const stack = thrown instanceof Error ? (thrown.stack ?? "") : "";
        show(process.stderr, `an error that nothing caught: ${messageOf(thrown)}\n${stack}\n`);
        process.exit(1);
      });
      const removePidFile = writePidFile(host.config);
      host.log.info("listening", { url, config: host.config.hash, channels: Object.keys(host.config.channels) });
      await notifySystemd("READY=1", `STATUS=listening on ${url}`);
      const steps = options.quiet || !isTextLog(host.config.telemetry.logs) ? "" : nextSteps(host, url);
      show(process.stderr, steps);
      await stopped;
      await notifySystemd("STOPPING=1");
      try {
        await service.drain();
      } finally {
        removePidFile();
      }
    });
}

async function reload({ host }: Service): Promise<void> {
  await notifySystemd("RELOADING=1", `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
  await host.reload(); // logs the outcome
  await notifySystemd("READY=1");
}

/** Resolves at the first stop signal; a second one exits immediately. */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (signal: "SIGINT" | "SIGTERM") => {
      if (stopping) process.exit(signal === "SIGINT" ? 130 : 143);
      stopping = true;
      resolve();
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
  });
}
