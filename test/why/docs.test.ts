import { readFileSync } from "node:fs";
import { expect } from "chai";
import { causes } from "../../src/serve/why/causes.ts";
import { spanFacts } from "../../src/serve/why/spans.ts";
import { planted } from "./planted.ts";

describe("docs/why.md", () => {
  it("lists every cause with its meaning", () => {
    const page = readFileSync("docs/why.md", "utf8");
    const listed = [...page.matchAll(/^\| `([a-z_]+)` +\| (.+?) +\|$/gm)];
    const found = Object.fromEntries(listed.map(([, name = "", meaning = ""]) => [name, meaning]));
    for (const [name, meaning] of Object.entries(causes)) expect(found[name], name).to.equal(meaning);
  });

  it("at least twenty problems are planted, each cause's name a known one", () => {
    expect(planted.length).to.be.at.least(20);
    for (const { cause } of planted) expect(causes).to.have.property(cause);
  });
});

describe("what spans add to why", () => {
  it("commits that took long are the journal's, each moment counted once", () => {
    const span = (name: string, from: number, to: number) => ({
      name,
      startTimeUnixNano: String(BigInt(from) * 1_000_000n),
      endTimeUnixNano: String(BigInt(to) * 1_000_000n),
    });
    const spans = [
      span("venturi.journal.append", 0, 3_000),
      span("venturi.journal.append", 1_000, 3_500),
      span("venturi.journal.append", 4_000, 4_010),
      span("chat m", 0, 9_000),
    ];
    expect(spanFacts({ resourceSpans: [{ scopeSpans: [{ spans }] }] })).to.include({ journalMs: 3_500 });
    expect(spanFacts(undefined)).to.deep.equal({ journalMs: 0, culprit: "", slowest: "" });
  });

  it("the longest stall names its culprit, and the reader that took longest its channel", () => {
    const attribute = (key: string, value: Record<string, unknown>) => ({ key, value });
    const stall = (ms: number, culprit?: string) => ({
      name: "venturi.stalled",
      attributes: [
        attribute("venturi.stalled.ms", { intValue: ms }),
        ...(culprit === undefined ? [] : [attribute("venturi.stalled.culprit", { stringValue: culprit })]),
      ],
    });
    const reader = (channel: string, ms: number) => ({
      name: `venturi.deliver ${channel}`,
      attributes: [attribute("venturi.deliver.stalled_ms", { doubleValue: ms })],
    });
    const spans = [
      {
        name: "invoke_agent a",
        events: [stall(60), stall(900, "tool grind of run r"), stall(70, "tool quick of run r")],
      },
      reader("http", 3.5),
      reader("library", 1_500),
      reader("why", 0),
    ];
    const facts = spanFacts({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
    expect(facts).to.include({ culprit: "tool grind of run r", slowest: "library" });
  });
});
