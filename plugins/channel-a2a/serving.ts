import { type JsonObject, RpcError } from "venturi/internal";
import { type AgentInfo, type RunRow, type Runs, VenturiError } from "venturi/plugin";
import { noTask } from "./errors.ts";

/** One request in progress. */
export interface Serving {
  readonly runs: Runs;
  readonly agent: AgentInfo;
  /** Id of the caller's key. */
  readonly by: string;
  /** Whether the caller may answer questions. */
  readonly mayAnswer: boolean;
  /** Whether the caller may change this task, which it sees. */
  readonly maySteer: (row: Pick<RunRow, "tenant">) => boolean;
  readonly trace: { readonly traceparent?: string; readonly tracestate?: string; readonly baggage?: string };
  /** Aborts when the client has left. */
  readonly gone: AbortSignal;
  readonly push: PushStore | undefined;
}

/** Stores where a task's notifications are sent. */
export interface PushStore {
  /** Throws what `set` would throw about the configuration itself. */
  check(config: JsonObject): void;
  set(run: string, config: JsonObject): Promise<JsonObject>;
  list(run: string): Promise<readonly JsonObject[]>;
  remove(run: string, id: string): Promise<void>;
}

/** A task is a run with the same id, so any replica can answer for it, even after the one that started it is gone. */
export async function taskRow({ runs, agent }: Serving, id: string): Promise<RunRow> {
  try {
    const row = await runs.get(id);
    if (row.agent === agent.name) return row;
  } catch (thrown) {
    if (!VenturiError.is(thrown, "not_found") && !(thrown instanceof RpcError)) throw thrown;
  }
  throw noTask(id);
}

/** A task that the caller may change. */
export async function steeredRow(serving: Serving, id: string): Promise<RunRow> {
  const row = await taskRow(serving, id);
  if (serving.maySteer(row)) return row;
  throw new VenturiError("a2a.push", "forbidden", "this key may not steer this task or change its push notifications");
}
