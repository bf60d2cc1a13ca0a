import type { RunEvent as AnyEvent, EventOf as Untyped } from "../core/run/events.ts";
import type { AnyAgent, SpecOf } from "./agent.ts";
import type { Calls, NameOf } from "./hooks.ts";

/** Events that name a tool, with the name and arguments of one tool. */
interface Ready<Name, Input> extends Omit<Untyped<"tool_call.ready">, "name" | "arguments"> {
  readonly name: Name;
  readonly arguments: Input;
}
interface Asked<Name, Input> extends Omit<Untyped<"approval.requested">, "name" | "arguments"> {
  readonly name: Name;
  readonly arguments: Input;
}
interface Started<Name> extends Omit<Untyped<"tool.started">, "name"> {
  readonly name: Name;
}
interface Finished<Name> extends Omit<Untyped<"tool.finished">, "name"> {
  readonly name: Name;
}
interface RunFinished<Output> extends Omit<Untyped<"run.finished">, "object"> {
  readonly object: Output;
}

type OfTools<T extends Calls> = {
  [K in keyof T]: Ready<NameOf<K>, T[K]> | Asked<NameOf<K>, T[K]> | Started<NameOf<K>> | Finished<NameOf<K>>;
}[keyof T];

type Plain = Exclude<
  AnyEvent,
  { type: "tool_call.ready" | "approval.requested" | "tool.started" | "tool.finished" | "run.finished" }
>;

/**
 * A run's events with tool names, arguments and the object typed by the current code. Arguments are as the model writes them, before the
 * schema's defaults and transforms; a run of older code may differ.
 */
export type TypedEvent<Output, T extends Calls> = Plain | RunFinished<Output> | OfTools<T>;

/** `RunEventOf<typeof support>`, for a reducer or a component. */
export type RunEventOf<A extends AnyAgent> = TypedEvent<SpecOf<A>["output"], SpecOf<A>["tools"]>;
