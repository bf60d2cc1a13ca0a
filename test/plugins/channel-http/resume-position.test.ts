import { expect } from "chai";
import channelHttp from "../../../plugins/channel-http/index.ts";
import { hello, serve, type TestService } from "../../service.ts";
import { readSse } from "../../sse.ts";

describe("where a stream of events goes on", () => {
  let service: TestService;
  let run = "";
  before(async () => {
    service = await serve({ scripts: { assistant: hello }, channels: [{ plugin: channelHttp }] });
    const response = await fetch(`${service.url}/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ agent: "assistant", input: "hello" }),
    });
    ({ run } = (await response.json()) as { run: string });
  });
  after(() => service.close());

  const first = async (query: string, headers: Record<string, string>): Promise<number> => {
    const { body } = await fetch(`${service.url}/v1/runs/${run}/events${query}`, { headers });
    for await (const { data } of readSse(body)) return (JSON.parse(data) as { seq: number }).seq;
    return 0;
  };
  const firstOfPage = async (query: string, headers: Record<string, string>): Promise<number> => {
    const asked = { headers: { ...headers, accept: "application/json" } };
    const response = await fetch(`${service.url}/v1/runs/${run}/events${query}`, asked);
    const { events } = (await response.json()) as { events: { seq: number }[] };
    return events[0]?.seq ?? 0;
  };

  // A browser repeats the URL it was opened with, `?after` included; only the header says how far it came since.
  const cases: [string, string, Record<string, string>, number][] = [
    ["is the start without either", "", {}, 1],
    ["is what ?after says", "?after=2", {}, 3],
    ["is what Last-Event-ID says", "", { "last-event-id": "3" }, 4],
    ["is Last-Event-ID when it is past ?after", "?after=1", { "last-event-id": "3" }, 4],
    ["is Last-Event-ID when it is before ?after", "?after=3", { "last-event-id": "1" }, 2],
    ["is Last-Event-ID 0, too", "?after=3", { "last-event-id": "0" }, 1],
    ["is ?after when Last-Event-ID is empty", "?after=2", { "last-event-id": "" }, 3],
  ];
  for (const [fact, query, headers, seq] of cases) {
    it(fact, async () => {
      expect(await first(query, headers)).to.equal(seq);
      expect(await firstOfPage(query, headers)).to.equal(seq);
    });
  }
});
