import { isAsked, type JsonObject, type RpcId, rpcFailure, rpcSuccess, rpcText } from "venturi/internal";
import { isTerminal } from "venturi/plugin";
import type { SseWriter } from "venturi/plugin/channel";
import { a2aError, asRpcError } from "./errors.ts";
import { type Taken, takeMessage } from "./message.ts";
import { TaskProjection } from "./projection.ts";
import { type Serving, taskRow } from "./serving.ts";
import { artifactsOf, contextOf, taskOf } from "./task.ts";

/** Methods answered with a stream, and the run they stream. */
export const streams: Readonly<Record<string, (serving: Serving, params: JsonObject) => Promise<Taken>>> = {
  SendStreamingMessage: takeMessage,
  /** From the start, so that a returning client gets the whole answer. */
  SubscribeToTask: async (serving, params) => {
    const row = await taskRow(serving, rpcText(params, "id"));
    if (row.state === "done") throw a2aError("UNSUPPORTED_OPERATION", "the task has ended; get it instead");
    return { run: row.run, after: 0 };
  },
};

/** Sends the task's current state, then its updates, until it ends or asks its client for something. */
export async function streamTask(
  serving: Serving,
  { run, after }: Taken,
  { writer, id }: { writer: SseWriter; id: RpcId },
): Promise<void> {
  const { runs, gone, mayAnswer } = serving;
  const send = (result: JsonObject) => writer.write(frame(rpcSuccess(id, result)));
  try {
    const row = await runs.get(run);
    const projection = new TaskProjection(serving, { taskId: run, contextId: contextOf(row) });
    await send({ task: await taskOf(serving, row, { artifacts: false }) });
    for await (const batch of runs.follow(run, { after, signal: gone, channel: "a2a" })) {
      for (const event of batch) {
        if (isTerminal(event)) {
          for (const artifact of await artifactsOf(runs, event)) await send(projection.whole(artifact));
        }
        for (const update of projection.project(event)) await send(update);
      }
      // A question answered meanwhile does not end the stream.
      if (mayAnswer && batch.some(isAsked) && (await runs.pending(run)).length > 0) break;
    }
    writer.end();
  } catch (thrown) {
    if (!gone.aborted) writer.end(frame(rpcFailure(id, asRpcError(thrown))));
  }
}

const frame = (message: JsonObject): string => `data: ${JSON.stringify(message)}\n\n`;
