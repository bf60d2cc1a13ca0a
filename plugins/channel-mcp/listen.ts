import type { ChannelHost } from "venturi/plugin";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "venturi/plugin/channel";
import { SseWriter } from "venturi/plugin/channel";
import { runOf } from "./resources.ts";
import { metaKeys } from "./revision.ts";
import { isObject, type Json, type RpcRequest } from "./rpc.ts";

/** Maximum runs watched per stream. */
const mostWatched = 32;

interface Listening {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly message: RpcRequest;
}

/** `subscriptions/listen`: a stream that reports when a watched run has changed. */
export async function serveListen(host: ChannelHost<FastifyInstance>, listening: Listening): Promise<FastifyReply> {
  const { request, reply, message } = listening;
  const runs = host.runsFor(request);
  const wanted = isObject(message.params.notifications) ? message.params.notifications : {};
  const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions : [];
  const watched = new Map<string, number>();
  for (const uri of uris.slice(0, mostWatched)) {
    const row = await runs.get(runOf(String(uri)) ?? "").catch(() => undefined); // Runs it may not see appear not to exist.
    if (row !== undefined) watched.set(String(uri), row.head);
  }
  const writer = new SseWriter(reply, host.limits, { hold: 0 });
  const _meta = { [metaKeys.subscription]: message.id };
  const send = (method: string, params: Json) =>
    writer.write(
      `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", method, params: { ...params, _meta } })}\n\n`,
    );
  const honoured = watched.size === 0 ? {} : { resourceSubscriptions: [...watched.keys()] };
  await send("notifications/subscriptions/acknowledged", { notifications: honoured });
  const { gone } = writer;
  const watching = [...watched].map(async ([uri, after]) => {
    for await (const _ of runs.follow(runOf(uri) ?? "", { after, signal: gone, passive: true, channel: "mcp" })) {
      await send("notifications/resources/updated", { uri });
    }
  });
  const left = new Promise<void>((resolve) => {
    if (gone.aborted) resolve();
    gone.addEventListener("abort", () => resolve(), { once: true });
  });
  await Promise.all([left, ...watching.map((one) => one.catch(() => {}))]);
  return reply;
}
