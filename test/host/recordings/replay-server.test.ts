import { expect } from "chai";
import { Recordings } from "../../../src/host/recordings/recordings.ts";
import { serveReplay } from "../../../src/host/recordings/replay-server.ts";
import { Committer } from "../../../src/journal/committer.ts";
import { claimed, delta, finished, memory, started } from "../../journal/setup.ts";

describe("serveReplay", () => {
  it("serves a recorded run's events as SSE, from where the client was", async () => {
    const journal = memory();
    const { ownership } = await claimed(journal);
    const log = new Committer({ journal }).openLog(ownership);
    log.write(started());
    log.write(delta("a"));
    await log.step(finished("a"));
    const speed = Number.POSITIVE_INFINITY;
    const server = await serveReplay(new Recordings(journal), ownership.run, { port: 0, speed });
    const ids = async (headers: Record<string, string>) =>
      [...(await (await fetch(server.url, { headers })).text()).matchAll(/^id: (\d+)\nevent: (.+)$/gm)].map(
        ([, id, type]) => `${id} ${type}`,
      );
    expect(await ids({})).to.deep.equal(["1 run.started", "2 text.delta", "3 run.finished"]);
    expect(await ids({ "last-event-id": "2" })).to.deep.equal(["3 run.finished"]);
    expect((await fetch(server.url.replace("/events", "/other"))).status).to.equal(404);
    await server.close();
  });
});
