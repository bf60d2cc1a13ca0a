import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { openService } from "../../../src/host/service.ts";
import { testFolder } from "../../host/folder.ts";
import { configuration, pay } from "../channel-mcp/service.ts";

describe("a request that follows an active response", () => {
  const folder = testFolder();

  it("waits for it only as long as its client, and starts nothing for one that left", async () => {
    const files = { "venturi.yaml": configuration({ channels: { openai: {} } }), "pay.mjs": pay };
    const service = await openService({ configFile: folder.write(files), log: silentLog });
    const { runs } = service.host;
    const readers = () => Number(Reflect.get(runs, "followers"));
    const post = (body: object, signal?: AbortSignal) =>
      fetch(`${service.url}/openai/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "payer", input: "x", ...body }),
        ...(signal === undefined ? {} : { signal }),
      });
    const { id } = (await (await post({ background: true })).json()) as { id: string };
    const run = id.slice("resp_".length);
    while ((await runs.pending(run)).length === 0) await new Promise(setImmediate);
    const controller = new AbortController();
    const left = post({ previous_response_id: id }, controller.signal).catch((thrown: Error) => thrown.name);
    while (readers() === 0) await new Promise(setImmediate);
    controller.abort();
    expect(await left).to.equal("AbortError");
    while (readers() > 0) await new Promise(setImmediate);
    await runs.cancel(run);
    expect((await runs.list({})).runs).to.have.length(1);
    await service.drain("interrupt");
  });
});
