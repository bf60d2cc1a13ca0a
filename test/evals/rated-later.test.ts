import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { openHost } from "../../src/host/open.ts";
import { Place } from "./place.ts";

describe("an eval of recorded runs", () => {
  const place = new Place(2);
  before(() => place.record(2));
  after(() => place.remove());

  it("sees what people said about them after an earlier eval", async () => {
    place.write("set.yaml", "name: rated\nitems:\n  - runs: { agent: buyer }\n");
    const ratings = async () => {
      const { out, err } = await place.venturi("eval", "set.yaml", "--json");
      expect(out, err).not.to.equal("");
      const { found } = JSON.parse(out) as { found: { items: { id: string; rating?: number }[] } };
      return Object.fromEntries(found.items.map(({ id, rating }) => [id, rating]));
    };
    const [first = "", second = ""] = place.runs;
    expect(await ratings()).to.deep.equal({ [first]: undefined, [second]: undefined });
    const host = await openHost({ configFile: place.file("venturi.yaml"), env: {}, log: silentLog });
    await host.runs.giveFeedback(first, { score: 4 });
    await host.close();
    expect(await ratings()).to.deep.equal({ [first]: 4, [second]: undefined });
  });
});
