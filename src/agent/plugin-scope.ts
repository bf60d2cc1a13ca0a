import { AsyncLocalStorage } from "node:async_hooks";
import type { VenturiError } from "../core/errors.ts";

/** A tool or hook at work, and the run it works for. */
export interface PluginScope {
  readonly what: string;
  readonly run: string;
  /** Ends the run with this error; without effect when the run has ended. */
  fail(error: VenturiError): void;
}

const scopes = new AsyncLocalStorage<PluginScope>();

/** Calls into a plugin. What it starts, timers and promises included, is known to be its own wherever it comes up. */
export const inScope = <T>(scope: PluginScope, work: () => T): T => scopes.run(scope, work);

/** Whose code runs now, if it is a plugin's; also in a handler of the errors that nothing caught. */
export const currentScope = (): PluginScope | undefined => scopes.getStore();
