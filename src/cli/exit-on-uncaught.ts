import { messageOf } from "../core/errors/errors.ts";
import type { Log } from "../core/ports/log.ts";
import { watchUncaught } from "../host/system/uncaught.ts";
import { show } from "./screen.ts";

/** An uncaught error that does not belong to a run ends the process, whose state is unknown. */
export function exitOnUncaught(log: Log): void {
  watchUncaught(log, (thrown) => {
    const stack = thrown instanceof Error ? (thrown.stack ?? "") : "";
    show(process.stderr, `an error that nothing caught: ${messageOf(thrown)}\n${stack}\n`);
    process.exit(1);
  });
}
