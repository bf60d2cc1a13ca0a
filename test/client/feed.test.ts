import { expect } from "chai";
import { type FeedItem, VenturiClient } from "../../src/client/client.ts";
import { CutWire } from "./cut-wire.ts";
import { Restartable } from "./restartable.ts";

const retry = { first: 1, longest: 20 };

describe("venturi/client reads the feed", () => {
  let service: Restartable;

  before(async () => {
    service = await Restartable.start();
  });
  after(() => service.stop());

  for (const transport of ["sse", "websocket"] as const) {
    it(`of all runs (${transport}), and tells when to list them again after a break`, async () => {
      const wire = await CutWire.start(service.url);
      const direct = new VenturiClient({ url: service.url, retry });
      const client = new VenturiClient({ url: wire.url, retry, transport });
      const stop = new AbortController();
      const seen: FeedItem[] = [];
      let runs = 0;
      const start = async (): Promise<void> => {
        runs++;
        await (await direct.start({ agent: "count", input: "go" })).result();
      };
      const watch = async (): Promise<void> => {
        for await (const item of client.feed({ agent: "count", signal: stop.signal })) {
          seen.push(item);
          if (item.type === "feed.opened") void start();
          if (item.type !== "run.finished") continue;
          if (runs === 2) return;
          wire.cut();
        }
      };
      try {
        await watch();
        expect(wire.opened).to.equal(2);
        expect(seen.filter((item) => item.type === "feed.opened").length).to.equal(2);
        const ends = seen.flatMap((item) => (item.type === "run.finished" ? [item.digest.agent] : []));
        expect(ends).to.deep.equal(["count", "count"]);
      } finally {
        stop.abort();
        wire.close();
      }
    });
  }
});
