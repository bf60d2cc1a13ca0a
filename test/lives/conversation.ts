import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { openVenturi, type Venturi } from "venturi";
import { estimateRequest } from "../../src/agent/model/token-room.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { GenerationRequest, Provider } from "../../src/core/model/provider.ts";
import { silentLog } from "../../src/core/ports/log.ts";

const contextTokens = 8_000;
const turns = 300;
const text = ({ messages }: GenerationRequest): string =>
  messages.flatMap(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : ""))).join("\n");

/** Knows what it is shown: as a summarizer it keeps the facts, as an assistant it looks them up. */
class Scripted implements Provider {
  readonly capabilities = { streaming: true, tools: true, vision: false, reasoning: false };
  summaries = 0;
  largest = 0;
  async *stream(request: GenerationRequest): AsyncIterable<readonly Delta[]> {
    this.largest = Math.max(this.largest, estimateRequest(request));
    const seen = text(request);
    const facts = [...new Set(seen.match(/fact \d+ is [a-z]+/g) ?? [])];
    if (request.model === "small") this.summaries += 1;
    const asked = /what is fact (\d+)\?$/.exec(seen)?.[1];
    const known = facts.find((fact) => fact.startsWith(`fact ${asked} is`)) ?? "I do not know";
    const answer = request.model === "small" ? facts.join("\n") || "nothing" : asked ? known : "all right ".repeat(40);
    yield [
      { type: "text", text: answer },
      { type: "usage", usage: { inputTokens: 1, outputTokens: 1 } },
    ];
    yield [{ type: "done", finish: "stop" }];
  }
}

describe("a conversation of 300 turns under contextTokens: 8000", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-lives-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("still knows turn 3 at its end, over three restarts, and no request is larger than the context", async () => {
    const configFile = join(folder, "venturi.yaml");
    writeFileSync(
      configFile,
      `version: 1
models: { main: { chain: [scripted/main], contextTokens: ${contextTokens} } }
agents: { assistant: { model: main, compaction: { by: summary, keep: 6, model: scripted/small } } }
journal: { type: sqlite, path: ./runs.db }
channels: {}
telemetry: off
`,
    );
    const model = new Scripted();
    const open = () =>
      openVenturi({ configFile, env: {}, log: silentLog, providers: [{ name: "scripted", provider: model }] });
    const say = async (venturi: Venturi, said: string): Promise<string> => {
      const { run } = await venturi.runs.start({ agent: "assistant", input: { text: said }, session: "long" });
      let output = "";
      for await (const batch of venturi.runs.follow(run))
        for (const event of batch) {
          if (event.type === "run.finished") output = event.output;
          if (event.type === "run.failed") throw new Error(`${said.slice(0, 20)}: ${event.error.err}`);
        }
      return output;
    };
    let venturi = await open();
    for (let turn = 1; turn <= turns; turn++) {
      const planted = turn === 3 ? "fact 3 is blue. " : turn === 150 ? "fact 150 is green. " : "";
      await say(venturi, `${planted}turn ${turn}: ${"we talk about this and that ".repeat(10)}`);
      if (turn % 75 !== 0) continue;
      expect(await say(venturi, "what is fact 3?"), `after turn ${turn}`).to.equal("fact 3 is blue");
      await venturi.close();
      venturi = await open();
    }
    const before = model.summaries;
    expect(await say(venturi, "what is fact 3?")).to.equal("fact 3 is blue");
    expect(await say(venturi, "what is fact 150?")).to.equal("fact 150 is green");
    expect(await say(venturi, "what is fact 7?")).to.equal("I do not know");
    await venturi.close();
    expect(model.largest).to.be.below(contextTokens);
    expect(model.summaries - before, "paid again after a restart").to.be.at.most(1);
    expect(model.summaries).to.be.within(5, 40);
    process.stdout.write(
      `      ${turns} turns: ${model.summaries} summaries, largest request about ${model.largest} tokens\n`,
    );
  });
});
