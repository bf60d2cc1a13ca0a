import { FeedItem } from "venturi/internal";
import type { ChannelHost, ZodRoutes } from "venturi/plugin";
import type { FastifyInstance } from "venturi/plugin/channel";
import { SseWriter } from "venturi/plugin/channel";
import { z } from "zod";
import { examples } from "./examples.ts";
import { Failure } from "./view.ts";

/** `GET /v1/feed`: a live feed of all runs the key may see. */
export function mountFeed(host: ChannelHost<FastifyInstance>): void {
  const server = host.server.withTypeProvider<ZodRoutes>();
  server.get("/v1/feed", { schema }, async (request, reply) => {
    const { agent } = request.query;
    const gone = new AbortController();
    const feed = host.runsFor(request).feed({ signal: gone.signal, ...(agent === undefined ? {} : { agent }) });
    const writer = new SseWriter(reply, host.limits);
    writer.open();
    writer.gone.addEventListener("abort", () => gone.abort(), { once: true });
    try {
      for await (const items of feed) await writer.write(items.map(frame).join(""));
      writer.end();
    } catch (thrown) {
      host.log.warn("a feed was cut", { error: String(thrown) });
      writer.destroy();
    }
    return reply;
  });
}

const frame = (item: FeedItem): string => `event: ${item.type}\ndata: ${JSON.stringify(item)}\n\n`;

const schema = {
  summary: "Watch all runs",
  description:
    "Server-sent events: runs that start and end (with their digest), rounds, approvals, and a tick a second of the runs under " +
    "way. Nothing is repeated after a reconnect: list the runs when feed.opened or feed.gap comes. Rounds and ticks are of runs " +
    "that execute in the replica that answers; the others are reported within a second or two.",
  tags: ["runs"],
  querystring: z.object({ agent: z.string().optional() }),
  response: {
    200: {
      description: "`data` of each event",
      content: { "text/event-stream": { schema: FeedItem, example: examples.feed } },
    },
    "4XX": Failure,
    "5XX": Failure,
  },
};
