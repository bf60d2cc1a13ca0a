import { systemClock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Telemetry } from "../../core/ports/telemetry.ts";
import { EventLoopMonitor } from "./event-loop.ts";

/** Shorter stalls are measured but not logged, ms. */
const longStall = 250;

/** Loading modules blocks the loop during startup; not worth a warning, ms. */
const startUp = 10_000;

/** Measures stalls of the event loop, and logs the long ones. */
export function watchEventLoop(telemetry: Telemetry, log: Log): EventLoopMonitor {
  const opened = systemClock.monotonic();
  let quietUntil = 0;
  return new EventLoopMonitor(systemClock, ({ part, ms, culprit, busy }) => {
    if (part === "blocked") telemetry.stalled(ms, culprit);
    const isNews = culprit !== undefined || (busy && systemClock.monotonic() - opened > startUp);
    if (ms < longStall || !isNews) return;
    // Garbage collections are frequent during startup.
    if (part === "gc" && systemClock.monotonic() < quietUntil) return;
    if (part === "gc") quietUntil = systemClock.monotonic() + startUp;
    const what =
      part === "gc"
        ? "garbage collection takes much of the process's time; memory is filled faster than it can be freed"
        : "the event loop was blocked; work that takes long belongs in a worker thread";
    log.warn(what, {
      ms: Math.round(ms),
      ...(culprit === undefined ? {} : { culprit }),
    });
  }).start();
}
