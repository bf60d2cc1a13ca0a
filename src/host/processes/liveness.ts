import type { Log } from "../../core/ports/log.ts";
import type { Child } from "./child.ts";

/** A process is given this long to end itself, and to tell why, ms. */
const grace = 5_000;

/**
 * Asks the processes for a sign of life, and kills those that are silent for `wedged` and a little more. They end themselves when
 * their event loop stands still; this is for one that cannot, because it is stopped as a whole.
 */
export function watchSilent(children: Iterable<Child>, wedged: number, log: Log): void {
  for (const child of children) {
    if (child.status === "starting") continue;
    child.link.ask("alive", undefined, wedged).then(
      () => {
        child.seenAt = performance.now();
      },
      () => {}, // it has ended, or is silent
    );
    const silentMs = performance.now() - Math.max(child.seenAt, child.readyAt ?? 0);
    if (silentMs < wedged + grace) continue;
    log.error("a process is silent; it is killed", { process: child.number, child: child.pid, silentMs });
    child.kill();
  }
}
