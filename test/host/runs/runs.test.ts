import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { silentLog } from "../../../src/core/ports/log.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import type { Chunk } from "../../../src/library/chunk.ts";
import { NamedAgent } from "../../../src/library/named-agent.ts";

const yaml = `
version: 1
providers:
  demo: { type: simulator, pace: 0 }
tools:
  clock: { type: clock }
  calculator: { type: calculator }
agents:
  assistant: { model: demo/small, instructions: "You help.", tools: [clock, calculator] }
journal: { type: memory }
channels: {}
telemetry: off
`;

describe("runs over a real provider, the memory journal and the loop", () => {
  let folder: string;
  let host: Host;
  let agent: NamedAgent;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "venturi-"));
    const configFile = join(folder, "venturi.yaml");
    await writeFile(configFile, yaml);
    host = await openHost({ configFile, env: {}, log: silentLog });
    agent = new NamedAgent("assistant", host.runs);
  });

  after(async () => {
    await host.close();
    await rm(folder, { recursive: true });
  });

  it("streams chunks, the last one with finish", async () => {
    const chunks: Chunk[] = [];
    for await (const chunk of agent.streamExecute("What is 12 * 12?")) chunks.push(chunk);
    expect(chunks.at(-1)).to.have.nested.property("finish.reason", "stop");
    expect(chunks.filter((chunk) => chunk.finish !== undefined || chunk.err)).to.have.length(1);
    expect(chunks.map((chunk) => chunk.content ?? "").join("")).to.contain("144");
    expect(chunks.flatMap((chunk) => chunk.toolCalls ?? [])[0]).to.include({ name: "calculator" });
  });

  it("of a burst start in turns of the event loop, in order, so that open streams are not held up", async () => {
    const begun: number[] = [];
    const asked = Array.from({ length: 40 }, async (_, index) => {
      const { run } = await host.runs.start({ agent: "assistant", input: { text: "hi" } });
      begun.push(index);
      return run;
    });
    const turns: number[] = [];
    for (let before = 0; begun.length < 40; before = begun.length) {
      await nextTurn();
      turns.push(begun.length - before);
    }
    // The first eight, and those of the first turn.
    expect(turns.shift()).to.be.at.most(16);
    expect(Math.max(...turns)).to.be.at.most(8);
    expect(begun).to.deep.equal([...begun.keys()]);
    for (const run of await Promise.all(asked)) {
      const types: string[] = [];
      for await (const batch of host.runs.follow(run)) types.push(...batch.map(({ type }) => type));
      expect(types.at(-1)).to.equal("run.finished");
    }
  });

  it("keeps a session's conversation", async () => {
    await agent.execute("My name is Ada.", { session: "s1" });
    const { run } = await agent.execute("Hello again", { session: "s1" });
    expect((await host.runs.get(run)).session).to.equal("s1");
  });

  it("refuses an unknown agent, an empty input and an unknown variable before anything streams", async () => {
    for (const [name, input, code] of [
      ["nobody", "x", "not_found"],
      ["assistant", "", "invalid_input"],
      ["assistant", { text: "x", variables: { nope: 1 } }, "invalid_input"],
    ] as const) {
      const error = await new NamedAgent(name, host.runs).execute(input).then(
        () => undefined,
        (thrown) => thrown,
      );
      expect(error, String(name)).to.have.property("code", code);
    }
  });

  it("keeps 100 concurrent runs apart", async () => {
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) => agent.execute(`What is ${index} + 1000?`)),
    );
    results.forEach((result, index) => {
      expect(result.output).to.contain(String(index + 1000));
    });
  });
});
