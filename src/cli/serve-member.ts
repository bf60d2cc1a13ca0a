import { wrap } from "../core/errors/errors.ts";
import { markWith } from "../core/values/doing.ts";
import { Member } from "../host/member.ts";
import { openService, type Service } from "../host/service.ts";
import { isTextLog } from "../host/system/log.ts";
import { markIn, writeHolder } from "../host/watchdog/black-box.ts";
import { startWatchdog } from "../host/watchdog/watchdog.ts";
import { exitOnUncaught } from "./exit-on-uncaught.ts";

/** One process of a multi-process service: serves until its supervisor says otherwise or is gone. */
export async function serve(): Promise<void> {
  const ending = Promise.withResolvers<"release" | undefined>();
  // A terminal sends these to the supervisor as well, which decides.
  for (const signal of ["SIGINT", "SIGHUP", "SIGUSR2"] as const) process.on(signal, () => {});
  // Sent to this process only: its siblings take over.
  process.on("SIGTERM", () => ending.resolve("release"));
  // Without its supervisor it gets no connections: executing runs finish, or are left to the next start.
  process.on("disconnect", () => ending.resolve("release"));
  const member = new Member();
  const { worker, configFile, set, box } = await member.started;
  let service: Service;
  try {
    service = await openService({ configFile, set, worker, siblings: member });
  } catch (thrown) {
    await member.failed(wrap("service.start", thrown));
    process.exit(1);
  }
  const { log, config } = service.host;
  exitOnUncaught(log);
  const { server, telemetry } = config;
  markWith(markIn(box));
  service.host.memory.noteTo((holder) => writeHolder(box, holder));
  await member.ready(service, (afterDrain) => ending.resolve(afterDrain));
  startWatchdog({ wedged: server.wedged, box, textLog: isTextLog(telemetry.logs), log });
  const afterDrain = await ending.promise;
  member.draining();
  await service.drain(afterDrain);
  process.exit();
}
