import { randomUUID } from "node:crypto";
import { type Runs, type ToolSpec, terminalOf, VenturiError } from "venturi/plugin";
import type { MessagesRequest } from "./request.ts";

/** What a request continues: the thread's session and its initial settings. */
export interface Thread {
  readonly session: string;
  /** Calls the last message left to the client, by id. */
  readonly names: Map<string, string>;
  readonly clientTools?: readonly ToolSpec[];
}

export const idOf = (run: string): string => `msg_${run}`;

/**
 * A thread is a session, and each message a run. `create` starts one; `continue` follows the named message, with the thread's
 * tools and the session's system messages.
 */
export async function threadOf(runs: Runs, { thread }: MessagesRequest): Promise<Thread | undefined> {
  if (thread == null) return undefined;
  if (thread.type === "create") return { session: `thread-${randomUUID()}`, names: new Map() };
  const id = String(thread.previous_message_id);
  const row = await runs.get(id.replace(/^msg_/, "")).catch((thrown) => {
    throw VenturiError.isInstance(thrown) && thrown.code !== "not_found" ? thrown : gone(id);
  });
  if (row.session === undefined) throw gone(id);
  const [newest] = (await runs.list({ session: row.session, limit: 1 })).runs;
  if (newest !== undefined && newest.run !== row.run) throw passed(id);
  if (row.state !== "done") throw refusal("conflict", "thread_continue_in_flight", `${id} has not ended yet`);
  const last = await terminalOf(runs.follow(row.run, { after: Math.max(0, row.head - 1), channel: "anthropic" }));
  const calls = last?.type === "run.finished" ? (last.calls ?? []) : [];
  const { clientTools } = row.request;
  return {
    session: row.session,
    names: new Map(calls.map(({ call, name }) => [call, name])),
    ...(clientTools === undefined ? {} : { clientTools }),
  };
}

const gone = (id: string): VenturiError =>
  refusal("not_found", "thread_not_found", `no thread has the message ${id}; send the full conversation`);

const passed = (id: string): VenturiError =>
  refusal("conflict", "thread_already_continued", `the thread has gone on after ${id}; send the full conversation`);

/** `errorCode` is the vendor code that makes its SDKs resend the conversation. */
const refusal = (code: VenturiError["code"], errorCode: string, message: string): VenturiError =>
  new VenturiError("request.thread", code, message, { details: { errorCode } });
