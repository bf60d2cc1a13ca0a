import type { Config } from "../host/config/load.ts";
import { Supervisor } from "../host/processes/supervisor.ts";
import { isTextLog, openLog } from "../host/system/log.ts";
import { writePidFile } from "../host/system/pid-file.ts";
import { writeReply } from "../host/system/reload-reply.ts";
import { keepWatchdog, notifySystemd, setMainPid } from "../host/system/systemd.ts";
import type { Globals } from "./globals.ts";
import { isKept, onServiceSignal, servicePid } from "./kept.ts";
import { show } from "./screen.ts";
import { stopSignal } from "./stop-signal.ts";

/** Runs the service in several processes; this one supervises them. */
export async function startProcesses({ config: configFile, set }: Globals, config: Config): Promise<void> {
  const { processes: count, placement, listen, wedged } = config.server;
  const { logs } = config.telemetry;
  const log = await openLog({ ...logs, level: logs.level ?? "info" });
  const program = new URL("./member.js", import.meta.url);
  const { drain } = config.limits;
  const supervisor = new Supervisor({ count, program, configFile, set, listen, drain, wedged, placement, log });
  if (isKept()) {
    setMainPid(servicePid());
    process.channel?.unref();
    process.on("disconnect", () => {
      supervisor.kill();
      process.exit(1);
    });
  }
  const stopped = stopSignal(() => supervisor.kill());
  const url = await Promise.race([supervisor.start(), stopped]);
  if (url === undefined) return await supervisor.stop();
  const reload = async () => writeReply(config, servicePid(), await supervisor.reload());
  onServiceSignal("SIGHUP", () => void announced(reload));
  onServiceSignal("SIGUSR2", () => void announced(() => supervisor.restart()));
  const removePidFile = writePidFile(config, servicePid());
  log.info("listening", { url, config: config.hash, processes: count, channels: Object.keys(config.channels) });
  await notifySystemd("READY=1", `STATUS=listening on ${url} with ${count} processes`);
  keepWatchdog();
  if (isTextLog(logs)) show(process.stderr, `\nVenturi is listening on ${url}\n`);
  await stopped;
  await notifySystemd("STOPPING=1");
  try {
    await supervisor.stop();
  } finally {
    removePidFile();
  }
}

async function announced(change: () => Promise<void>): Promise<void> {
  await notifySystemd("RELOADING=1", `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
  await change(); // Logs the outcome.
  await notifySystemd("READY=1");
}
