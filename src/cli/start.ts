import type { Command } from "commander";
import { markWith } from "../core/values/doing.ts";
import { loadConfig } from "../host/config/load.ts";
import { openService, type Service } from "../host/service.ts";
import { isTextLog } from "../host/system/log.ts";
import { writePidFile } from "../host/system/pid-file.ts";
import { replyOf, writeReply } from "../host/system/reload-reply.ts";
import { keepWatchdog, notifySystemd, setMainPid } from "../host/system/systemd.ts";
import { markIn, writeHolder } from "../host/watchdog/black-box.ts";
import { refuse } from "../host/watchdog/strikes.ts";
import { startWatchdog } from "../host/watchdog/watchdog.ts";
import { exitOnUncaught } from "./exit-on-uncaught.ts";
import { example, type Globals, globalsOf } from "./globals.ts";
import {
  isKeeperGone,
  isKept,
  type KeeperSays,
  type Kept,
  onServiceSignal,
  ownKept,
  servicePid,
  tellKeeper,
} from "./kept.ts";
import { nextSteps } from "./next-steps.ts";
import { show } from "./screen.ts";
import { stopSignal } from "./stop-signal.ts";

/** `venturi start`: runs the service until a signal. */
export function configure(command: Command): void {
  command
    .option("-q, --quiet", "do not print next steps")
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
      if (config.server.processes === 1) {
        if (config.server.wedged > 0 && !isKept() && !isDebugged()) return await startKept();
        return await startAlone(globals, { config, quiet: options.quiet === true });
      }
      await (await import("./start-processes.ts")).startProcesses(globals, config);
    });
}

interface Given {
  readonly config: Awaited<ReturnType<typeof loadConfig>>;
  readonly quiet: boolean;
}

async function startAlone({ config: configFile, set }: Globals, { config, quiet }: Given): Promise<void> {
  const kept = ownKept();
  if (kept !== undefined) beKept();
  const { socket, before, refused = [] } = kept ?? {};
  refuse(refused);
  const service = await openService({
    configFile,
    set,
    config,
    ...(socket === undefined ? {} : { socket }),
    ...(before === undefined ? {} : { before }),
  });
  const { host, url } = service;
  host.telemetry.count("venturi.process.restarts", {}, kept?.restarts ?? 0);
  // Installed before readiness is announced, because a signal may follow at once.
  onServiceSignal("SIGHUP", () => void reload(service));
  const stopped = stopSignal();
  exitOnUncaught(host.log);
  const removePidFile = writePidFile(host.config, servicePid());
  host.log.info("listening", { url, config: host.config.hash, channels: Object.keys(host.config.channels) });
  await notifySystemd("READY=1", `STATUS=listening on ${url}`);
  keepWatchdog();
  show(
    process.stderr,
    quiet || before !== undefined || !isTextLog(host.config.telemetry.logs) ? "" : nextSteps(host, url),
  );
  if (kept !== undefined) watchKept(service, kept);
  await stopped;
  await notifySystemd("STOPPING=1");
  try {
    await service.drain();
  } finally {
    removePidFile();
    if (kept !== undefined) process.exit();
  }
}

/** Called when the keeper could not tell from the command line that one was needed. */
async function startKept(): Promise<void> {
  const { keep } = await import("./keeper.ts");
  process.exit(await keep(new URL("./bin.js", import.meta.url), process.argv.slice(2)));
}

const isDebugged = (): boolean => process.execArgv.some((word) => word.startsWith("--inspect"));

/** Ends the process when its keeper is gone, since nobody else could stop it. */
function beKept(): void {
  setMainPid(servicePid());
  process.channel?.unref(); // Otherwise a failed start would not end.
  const end = () => process.kill(process.pid, "SIGKILL");
  process.on("disconnect", end);
  setInterval(() => isKeeperGone() && end(), 1_000).unref();
  process.on("message", ({ ask }: KeeperSays) => ask === "alive" && tellKeeper({ alive: true }));
}

function watchKept({ host, url, handle }: Service, { box }: Kept): void {
  const { wedged } = host.config.server;
  const textLog = isTextLog(host.config.telemetry.logs);
  markWith(markIn(box));
  host.memory.noteTo((holder) => writeHolder(box, holder));
  startWatchdog({ wedged, box, textLog, log: host.log });
  tellKeeper({ listening: { url, worker: host.worker, wedged, textLog } }, handle);
}

async function reload({ host }: Service): Promise<void> {
  await notifySystemd("RELOADING=1", `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
  const outcome = await host.reload(); // Logs it too.
  writeReply(host.config, servicePid(), replyOf(outcome));
  await notifySystemd("READY=1");
}
