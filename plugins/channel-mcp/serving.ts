import type { Runs } from "venturi/plugin";
import type { Published } from "./published.ts";
import type { Client } from "./revision.ts";
import type { Id, Json } from "./rpc.ts";

/** One request under way, whatever it came over. */
export interface Serving {
  readonly id: Id;
  readonly runs: Runs;
  readonly published: Published;
  readonly client: Client;
  /** Id of the caller's key. */
  readonly by: string;
  /** Whether the caller may answer questions, and see runs that it did not start with this request. */
  readonly may: { readonly approve: boolean; readonly see: boolean };
  /** Names this request among all of its client's; of an older revision with a session. */
  readonly tag: string | undefined;
  /** A call that takes longer is answered with its task, where the client takes tasks; ms. */
  readonly taskAfter: number;
  readonly trace: { readonly traceparent?: string; readonly tracestate?: string; readonly baggage?: string };
  /** Aborts when the client has left. */
  readonly gone: AbortSignal;
  /** Sends a message before the answer. `seq`: the event it is about, from where a reader can come back. */
  send(message: Json, place: { readonly run: string; readonly seq: number }): Promise<void> | undefined;
  /** The run of this request is known: a reader can come back to it. */
  onRun(run: string): void;
}
