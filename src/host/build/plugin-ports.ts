import { currentScope } from "../../agent/run/plugin-scope.ts";
import { Journal } from "../../core/journal/journal.ts";
import { Runs } from "../../core/ports/runs.ts";
import { overriding } from "../../core/values/overriding.ts";
import type { Token } from "../../core/values/token.ts";

/** Operations of `Runs` that wait for the journal only; the others wait for a model or the end of a run. */
const storedOperations: readonly (keyof Runs)[] = [
  ...(["start", "fork", "events", "get", "list", "totals", "usage", "signal", "pending", "doing"] as const),
  ...(["pauseAgent", "resumeAgent", "giveFeedback", "feedback", "wires", "content"] as const),
];
const ofRuns: ReadonlySet<PropertyKey> = new Set(storedOperations);

const known = new WeakMap<object, object>();

/** A port as plugins reach it: while a tool or hook waits for the journal, its own time stands still. */
export function forPlugins<T>(token: Token<T>, port: T): T {
  if ((token as unknown) === Journal) return timedApart(port as object, () => true) as T;
  if ((token as unknown) === Runs) return timedApart(port as object, (name) => ofRuns.has(name)) as T;
  return port;
}

function timedApart(port: object, isTimed: (name: PropertyKey) => boolean): object {
  const before = known.get(port);
  if (before !== undefined) return before;
  const made = overriding(port, {}, (name, member) => {
    if (!isTimed(name)) return member;
    if (typeof member === "function") return (...given: unknown[]) => timed(member(...given));
    // Its key values and blobs.
    return typeof member === "object" && member !== null ? timedApart(member, isTimed) : member;
  });
  Object.setPrototypeOf(made, Object.getPrototypeOf(port)); // A plugin may ask which journal it is.
  known.set(port, made);
  return made;
}

function timed(answer: unknown): unknown {
  if (!(answer instanceof Promise)) return answer;
  const end = currentScope()?.waitForJournal?.();
  if (end !== undefined) answer.then(end, end);
  return answer;
}
