import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { openHost } from "../../src/host/open.ts";
import { testFolder } from "./folder.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void; // there since the flag is set

const config = `
version: 1
providers: { demo: { type: simulator, pace: 0, scenarios: [{ name: short, turns: [{ text: "Yes." }] }] } }
agents: { a: { model: demo/short } }
journal: { type: sqlite, path: ./runs.db }
channels: {}
telemetry: off
`;

/** What is alive, after what is no longer needed has had some turns to go: each takes as long as this worker's heap is large. */
async function heap(enough = 0): Promise<number> {
  for (let turn = 0; turn < 4; turn++) {
    await new Promise(setImmediate);
    collect();
    if (process.memoryUsage().heapUsed < enough) break;
  }
  return process.memoryUsage().heapUsed;
}

describe("a run with a large request", () => {
  const folder = testFolder();

  /** The host is no variable of the test, so that it can go. */
  async function opened(words: number): Promise<void> {
    const host = await openHost({ configFile: folder.write({ "venturi.yaml": config }), env: {}, log: silentLog });
    const { run } = await host.runs.start({ agent: "a", input: { text: "word ".repeat(words) } });
    for await (const _ of host.runs.follow(run));
    await host.close();
  }

  it("leaves nothing of it in memory once its host has closed", async () => {
    for (let warm = 0; warm < 2; warm++) await opened(1);
    const before = await heap();
    await opened(1_000_000);
    const most = before + 3_000_000; // a text of one byte per character, kept once, would be 5 MB
    expect(await heap(most)).to.be.below(most);
  });
});
