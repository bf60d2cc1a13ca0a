import type { Log } from "../../core/ports/log.ts";
import type { Child } from "./child.ts";

/** How long a process has to end itself and report why, ms. */
const grace = 5_000;

/**
 * Pings the processes and kills those silent for longer than `wedged`. A process normally ends itself when its event loop is blocked; this
 * catches one that is stopped as a whole.
 */
export function watchSilent(children: Iterable<Child>, wedged: number, log: Log): void {
  for (const child of children) {
    if (child.status === "starting") continue;
    child.link.ask("alive", undefined, wedged).then(
      () => {
        child.seenAt = performance.now();
      },
      () => {}, // It has ended or is silent.
    );
    const silentMs = performance.now() - Math.max(child.seenAt, child.readyAt ?? 0);
    if (silentMs < wedged + grace) continue;
    log.error("a process is silent; it is killed", { process: child.number, child: child.pid, silentMs });
    child.kill();
  }
}
