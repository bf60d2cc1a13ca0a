import { AsyncLocalStorage } from "node:async_hooks";
import type { VenturiError } from "../../core/errors/errors.ts";
import { markedAs } from "../../core/values/doing.ts";

/** A tool or hook that is executing, and its run. */
export interface PluginScope {
  readonly what: string;
  readonly run: string;
  /** Fails the run with this error; no effect once it has ended. */
  fail(error: VenturiError): void;
  /** The plugin begins to wait for the journal, which is not its own time. Returns a function that ends the wait. */
  waitForJournal?(): () => void;
}

const scopes = new AsyncLocalStorage<PluginScope>();

/** Calls into a plugin. Everything it starts, timers and promises included, is attributed to it. */
export const inScope = <T>(scope: PluginScope, work: () => T): T => markedAs(scope.run, () => scopes.run(scope, work));

/** The plugin whose code is executing, if any; also works in uncaught error handlers. */
export const currentScope = (): PluginScope | undefined => scopes.getStore();
