import { currentScope } from "../../agent/run/plugin-scope.ts";
import { messageOf, VenturiError } from "../../core/errors/errors.ts";
import type { Log } from "../../core/ports/log.ts";

/**
 * Uncaught errors. One left behind by a tool or hook (thrown in a timer, an unhandled rejection, an emitter without a listener)
 * fails the run it worked for; the service continues. Any other leaves the service in an unknown state and calls `fatal`.
 */
export function watchUncaught(log: Log, fatal: (thrown: unknown) => void): () => void {
  const onError = (thrown: unknown): void => {
    const scope = currentScope();
    if (scope === undefined) return fatal(thrown);
    const { what, run } = scope;
    log.error("uncaught error in a plugin; run ended as failed", { what, run, error: messageOf(thrown) });
    const message = `${what} threw outside its call: ${messageOf(thrown)}`;
    scope.fail(new VenturiError("tool.call", "plugin_failed", message, { cause: thrown }));
  };
  process.on("uncaughtException", onError);
  process.on("unhandledRejection", onError);
  return () => {
    process.removeListener("uncaughtException", onError);
    process.removeListener("unhandledRejection", onError);
  };
}
