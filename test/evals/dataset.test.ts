import { expect } from "chai";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { RunRow } from "../../src/core/run/run-row.ts";
import { casesOf, type RunSource } from "../../src/evals/dataset/cases.ts";
import { importCases } from "../../src/evals/dataset/import.ts";
import { readDataset } from "../../src/evals/dataset/read.ts";
import { redactedExport } from "../../src/host/recordings/redacted-export.ts";

const problems = (thrown: unknown): string =>
  thrown instanceof VenturiError ? thrown.message : expect.fail(String(thrown));
function refusal(file: string, text: string): string {
  try {
    readDataset(file, text);
  } catch (thrown) {
    return problems(thrown);
  }
  return expect.fail("it was taken");
}

const row = (run: string, state: RunRow["state"] = "done"): RunRow =>
  ({ run, state, tenant: "default", request: { agent: "a", input: {} } }) as unknown as RunRow;
const source: RunSource = {
  now: 0,
  get: async (run) => (run.startsWith("run_") ? row(run, run === "run_open" ? "running" : "done") : undefined),
  list: async () => ({ runs: [] }),
  export: async (run) => `{"venturi":"run","run":"${run}"}\n`,
};

describe("a dataset", () => {
  it("without scorers has those of what it expects, also when it was imported, so that nothing is left unchecked", () => {
    const typesOf = (file: string, text: string) => readDataset(file, text).scorers.map(({ type }) => type);
    expect(typesOf("a.yaml", "agent: a\nitems: [{ input: hi }]")).to.deep.equal(["exact"]);
    const items = "[{ input: hi, expect: { regex: x } }, { input: ho, expect: { calls: [], json: {} } }]";
    expect(typesOf("a.yaml", `agent: a\nitems: ${items}`)).to.deep.equal(["exact", "json", "regex", "calls"]);
    expect(typesOf("a.yaml", `agent: a\nscorers: [calls]\nitems: ${items}`)).to.deep.equal(["calls"]);
    const tests = "prompts: [Hello.]\ntests: [{ assert: [{ type: contains, value: hi }] }]\n";
    const lines = importCases("promptfooconfig.yaml", tests).items.map((item) => JSON.stringify(item));
    expect(typesOf("b.jsonl", ['{"venturi":"dataset","agent":"a"}', ...lines].join("\n"))).to.include("regex");
  });

  it("is refused with the line and column of every mistake", () => {
    const text =
      "name: x\nscorers: [exat]\nitems:\n  - run: run_1\n    nots: hm\n  - { input: hello, run: run_2 }\n  - input: 5\n";
    const lines = refusal("set.yaml", text).split("\n");
    expect(lines.some((line) => line.startsWith("set.yaml:2:11: scorers.0"))).to.equal(true);
    expect(lines.some((line) => line.startsWith("set.yaml:5:") || line.includes("nots: unknown key"))).to.equal(true);
    expect(lines).to.include("set.yaml:6:5: an item has exactly one of run, runs, file, input");
    expect(lines.some((line) => line.startsWith("set.yaml:7:12: input"))).to.equal(true);
  });

  it("of JSON lines is refused in the same way", () => {
    const text = '{"venturi":"dataset","agent":"a"}\n{"input":"hello"}\n{"input": }\n\n{"run":7}\n';
    const found = refusal("set.jsonl", text);
    expect(found).to.match(/set\.jsonl:3:\d+: /);
    expect(found).to.match(/set\.jsonl:5:8: run: /);
    expect(refusal("set.jsonl", "")).to.equal("set.jsonl:1:1: the set has no items");
    expect(refusal("set.yaml", "items: [")).to.match(/^set\.yaml:1:\d+: /);
    expect(refusal("set.yaml", "scorers: [exact, exact]\nitems: [{input: x}]")).to.include(
      "two scorers are called exact",
    );
    expect(refusal("set.yaml", "thresholds: {exakt: {min: 1}}\nitems: [{input: x}]")).to.include("no scorer exakt");
  });

  it("is refused for runs that are unknown, pruned, unfinished or there twice, before anything runs", async () => {
    const text =
      "items:\n  - run: gone\n  - run: run_open\n  - run: run_1\n  - run: run_1\n  - input: no agent\n  - runs: { agent: nobody }\n  - file: missing/*.jsonl\n";
    const found = problems(await casesOf(readDataset("set.yaml", text), source).catch((thrown: unknown) => thrown));
    expect(found.split("\n").map((line) => line.split(": ")[0])).to.deep.equal([
      "set.yaml:2:5",
      "set.yaml:3:5",
      "set.yaml:6:5",
      "set.yaml:7:5",
      "set.yaml:8:5",
      "set.yaml:5:5",
    ]);
    expect(found).to.include("there is no run gone; it never was in this journal, or it was pruned");
    expect(found).to.include("the run run_1 is in the set already, at set.yaml:4:5");
  });

  it("takes recorded runs, inputs and settings of both forms", async () => {
    const yaml =
      "agent: a\nscorers: [exact, { type: latency, max: 2s }]\nitems: [{ run: run_1, note: why }, { input: hi, id: greet, expect: { output: hello } }]";
    const cases = await casesOf(readDataset("set.yaml", yaml), source);
    expect(cases.map(({ id, agent, run }) => [id, agent, run])).to.deep.equal([
      ["run_1", undefined, "run_1"],
      ["greet", "a", undefined],
    ]);
    const lines = '{"input":"hi","id":"greet","expect":{"output":"hello"}}\n{"venturi":"dataset","agent":"a"}\n';
    expect((await casesOf(readDataset("set.jsonl", lines), source))[0]).to.deep.include({ id: "greet", agent: "a" });
  });

  it("that is exported has no secrets and no addresses, also where they were spread over pieces", () => {
    const event = (seq: number, text: string) =>
      JSON.stringify({ event: { type: "text.delta", run: "r", seq, at: 1, round: 1, text } });
    const text = [
      JSON.stringify({ venturi: "run", run: "r", request: { input: { text: "mail ada@example.com" } } }),
      JSON.stringify({ wire: { bytes: "c2stbGl2ZQ==" } }),
      event(1, "the key is sk-live-01234567"),
      event(2, "89abcdef0123, bye"),
    ].join("\n");
    const clean = redactedExport(text, []);
    expect(clean).not.to.include("ada@example.com").and.not.to.include("89abcdef0123").and.not.to.include("wire");
    expect(clean.trim().split("\n")).to.have.length(3);
    // Both pass the check of a card's number; one of them is a time.
    const card = 4_111_111_111_111_111;
    const paid = { event: { type: "tool_call.ready", seq: 1, at: card, arguments: { card } } };
    expect(JSON.parse(redactedExport(JSON.stringify(paid), []))).to.deep.equal({
      event: { ...paid.event, arguments: { card: "[redacted]" } },
    });
  });

  it("is made of promptfoo's tests and Inspect's samples; what has no counterpart is named", () => {
    const promptfoo = `prompts: ["Translate {{ text }} to {{language}}"]
tests:
  - { description: hello, vars: { text: hello, language: French }, assert: [{ type: contains, value: "bon(jour)" }, { type: llm-rubric, value: kind }] }
  - { vars: { text: bye, language: German }, assert: [{ type: equals, value: tschüss }] }
`;
    const { items, leftOut } = importCases("promptfooconfig.yaml", promptfoo);
    expect(items).to.deep.equal([
      { input: "Translate hello to French", note: "hello", expect: { regex: "bon\\(jour\\)" } },
      { input: "Translate bye to German", expect: { output: "tschüss" } },
    ]);
    expect(leftOut).to.deep.equal(["test 1: the assertion llm-rubric"]);
    const samples =
      '{"input":"2+2","target":"4","id":7}\n\n{"input":[],"target":"x"}\n{"input":"a or b","target":["a","b"]}\n';
    const inspect = importCases("samples.jsonl", samples);
    expect(inspect.items).to.deep.equal([{ input: "2+2", id: "7", expect: { output: "4" } }, { input: "a or b" }]);
    expect(inspect.leftOut).to.deep.equal(["line 3: its input is no text", "line 4: several targets"]);
    const lines = [{ venturi: "dataset", agent: "a" }, ...items].map((line) => JSON.stringify(line)).join("\n");
    expect(readDataset("set.jsonl", lines).items).to.have.length(2);
    expect(() => importCases("x.yaml", "a: 1")).to.throw("neither a promptfoo configuration");
    expect(() => importCases("x.yaml", 'prompts: ["{{a}}"]\ntests: [{ vars: {} }]')).to.throw("no such variable");
    expect(() => importCases("x.jsonl", "{")).to.throw("x.jsonl");
  });
});
