import type { Runs } from "venturi/plugin";
import type { Published } from "./published.ts";
import type { Client } from "./revision.ts";
import type { Id, Json } from "./rpc.ts";

/** One request in progress, whatever its transport. */
export interface Serving {
  readonly id: Id;
  readonly runs: Runs;
  readonly published: Published;
  readonly client: Client;
  /** Id of the caller's key. */
  readonly by: string;
  /** Whether the caller may answer questions, and see runs that it did not start with this request. */
  readonly may: { readonly approve: boolean; readonly see: boolean };
  /** Identifies this request among its client's; only for older revisions with a session. */
  readonly tag: string | undefined;
  /** A call that takes longer is answered with a task, if the client accepts tasks; ms. */
  readonly taskAfter: number;
  readonly trace: { readonly traceparent?: string; readonly tracestate?: string; readonly baggage?: string };
  /** Aborts when the client has left. */
  readonly gone: AbortSignal;
  /** Sends a message before the response. `seq`: the event it is about, from which a reader can resume. */
  send(message: Json, place: { readonly run: string; readonly seq: number }): Promise<void> | undefined;
  /** Called when the request's run is known, so that a reader can resume. */
  onRun(run: string): void;
}
