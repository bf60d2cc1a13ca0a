import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { readScenarios } from "../../../plugins/simulator/scenario-files.ts";
import { type Simulator, startSimulator } from "../../../plugins/simulator/server.ts";
import { events, post, prompt } from "./client.ts";

const refund = `
scenarios:
  - name: refund
    match: { text: "refund .*order" }
    turns:
      - reasoning: "An order is named."
        text: "Let me look."
        calls:
          - { name: find_order, id: call_a, arguments: { order: A-17 }, fragments: 4 }
          - { name: find_customer, id: call_b, fragments: ['{"customer"', ': 7}'] }
        interleave: true
        usage: { inputTokens: 11, outputTokens: 5 }
      - text: ["Found: ", "{{results}}"]
        usage: none
  - name: unlucky
    advance: request
    turns:
      - error: { status: 503, message: "try again", headers: { retry-after: "1" } }
      - text: "{{prompt}}!"
        faults: [crlf]
  - name: measured
    match: { model: "measured-*" }
    turns: [{ text: "one two", stamp: true }]
`;

describe("the simulator's scenarios", () => {
  let folder: string;
  let simulator: Simulator;
  let url: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "venturi-scenarios-"));
    const file = join(folder, "refund.yaml");
    await writeFile(file, refund);
    simulator = await startSimulator({ scenarios: [file, { name: "inline", turns: [{ text: "from code" }] }] });
    url = `${simulator.url}/v1/chat/completions`;
  });
  after(async () => {
    await simulator.close();
    await rm(folder, { recursive: true });
  });

  const deltas = async (body: object, headers?: Record<string, string>) =>
    events((await post(url, body, headers)).text.replaceAll("\r", ""))
      .filter((event) => event !== "[DONE]")
      .flatMap((event): Record<string, unknown>[] => {
        const chunk = JSON.parse(event);
        return chunk.choices.length === 0 ? [{ usage: chunk.usage }] : [chunk.choices[0].delta];
      });
  const text = async (body: object, headers?: Record<string, string>) =>
    (await deltas(body, headers)).map((delta) => delta.content ?? "").join("");

  it("a turn says reasoning, text and calls in the configured fragments, taking turns", async () => {
    const said = await deltas(prompt("I want a refund for my order", { stream_options: { include_usage: true } }));
    expect(said.map((delta) => delta.reasoning_content ?? "").join("")).to.equal("An order is named.");
    const calls = said
      .flatMap((delta) => (delta.tool_calls ?? []) as { index: number; id?: string; function: { arguments: string } }[])
      .map((call) => [call.index, call.id ?? call.function.arguments]);
    expect(calls).to.deep.equal([
      [0, "call_a"],
      [1, "call_b"],
      [0, '{"or'],
      [1, '{"customer"'],
      [0, 'der"'],
      [1, ": 7}"],
      [0, ':"A-'],
      [0, '17"}'],
    ]);
    expect(said.at(-1)?.usage).to.include({ prompt_tokens: 11, completion_tokens: 5 });
  });

  it("the next round is the next turn, with the tools' results at hand", async () => {
    const messages = [
      { role: "user", content: "refund my order" },
      { role: "assistant", tool_calls: [{ id: "call_a", type: "function", function: { name: "f", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "call_a", content: "12 EUR" },
    ];
    expect(await text({ model: "any", stream: true, messages })).to.equal("Found: 12 EUR");
  });

  it("a scenario that advances by request gives an error first and goes well when it is asked again", async () => {
    const named = { "x-simulate-scenario": "unlucky" };
    const failed = await post(url, prompt("again"), named);
    expect(failed.status).to.equal(503);
    expect(failed.headers["retry-after"]).to.equal("1");
    expect(failed.text).to.contain("try again");
    const good = await post(url, prompt("again"), named);
    expect(good.text).to.contain("\r\n");
    expect(await text(prompt("again"), named)).to.equal("again!");
  });

  it("a scenario is chosen by its name as the model too, and given as an object", async () => {
    expect(await text(prompt("x", { model: "inline" }))).to.equal("from code");
  });

  it("the same words get the next turn of a scenario that advances by request", async () => {
    const steps = {
      name: "steps",
      advance: "request" as const,
      turns: [{ text: "one" }, { text: "two" }, { text: "three" }],
    };
    const stepping = await startSimulator({ scenarios: [steps] });
    const said: string[] = [];
    for (let count = 0; count < 4; count++) {
      const answer = await post(`${stepping.url}/api/chat`, prompt("x", { model: "steps", stream: false }));
      said.push(JSON.parse(answer.text).message.content);
    }
    await stepping.close();
    expect(said).to.deep.equal(["one", "two", "three", "three"]);
  });

  it("stamped pieces begin with the time they were written", async () => {
    const before = Date.now() * 1000;
    const stamps = (await text(prompt("x", { model: "measured-1" }))).match(/\d{16}/g) ?? [];
    expect(stamps).to.have.length(2);
    for (const stamp of stamps) expect(Number(stamp)).to.be.within(before - 1e6, Date.now() * 1000 + 1e6);
  });

  it("a scenario nobody wrote is a 400 that names those there are", async () => {
    const answer = await post(url, prompt("x"), { "x-simulate-scenario": "refnud" });
    expect(answer.status).to.equal(400);
    expect(answer.text).to.contain("refund, unlucky, measured");
  });

  it("the example in docs/simulator.md is a scenario", async () => {
    const page = await readFile("docs/simulator.md", "utf8");
    const [, example = ""] = /## Scenarios[\s\S]*?```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const file = join(folder, "example.yaml");
    await writeFile(file, example);
    const [scenario] = await readScenarios([file]);
    expect([scenario?.name, scenario?.turns.length]).to.deep.equal(["refund", 2]);
  });

  it("a wrong file is reported with every problem's line and column", async () => {
    const file = join(folder, "wrong.yaml");
    await writeFile(
      file,
      'name: wrong\nturns:\n  - text: "a"\n    fautls: [x]\n  - faults: [stal@5]\n    pace: fast\n',
    );
    const failed = await readScenarios([file]).then(
      () => "",
      (error: unknown) => String(error),
    );
    expect(failed).to.match(/wrong\.yaml:3:5 turns\.0: .*fautls/);
    expect(failed).to.match(/wrong\.yaml:5:13 turns\.1\.faults: "stal@5" is not a fault/);
    expect(failed).to.match(/wrong\.yaml:6:11 turns\.1\.pace: /);
  });
});
