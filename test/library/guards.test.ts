import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type AnyAgent, agent, judge, rules, sqlite, tool } from "venturi";
import { z } from "zod";
import type { RunEvent } from "../../src/core/run/events.ts";
import { type Generation, say } from "../../src/testing/model.ts";
import { testVenturi } from "../../src/testing/venturi.ts";

const model = "anthropic/claude-sonnet-4-5";
const find = ["email", "card", "key"] as const;
const secret = "alice@example.com";

const note = tool({
  name: "note",
  description: "Notes",
  input: z.object({ text: z.string() }),
  async *call({ text }) {
    yield "seen al";
    yield "ice@example.com now";
    return `noted ${text} for bob@example.com`;
  },
});

async function played(asked: AnyAgent, script: readonly Generation[], input = "Hello") {
  await using venturi = await testVenturi({ agents: [asked], script });
  const run = await venturi.start(asked, input);
  const events: RunEvent[] = [];
  for await (const event of run.events()) {
    events.push(event as RunEvent);
    if (event.type === "approval.requested") await run.approve(event.call);
  }
  return { events, requests: venturi.requests, text: JSON.stringify(events) };
}

async function all(events: AsyncIterable<unknown>): Promise<RunEvent[]> {
  const list: RunEvent[] = [];
  for await (const event of events) list.push(event as RunEvent);
  return list;
}

const decided = (events: readonly RunEvent[]) =>
  events.flatMap((event) =>
    event.type === "guard.decided" ? [`${event.direction} ${event.action} ${event.rule}`] : [],
  );
const answer = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === "text.delta" ? [event.text] : [])).join("");
const ending = (events: readonly RunEvent[]) => {
  const last = events.at(-1);
  return last?.type === "run.failed" ? last.error.code : last?.type;
};

describe("guards of an agent", () => {
  it("mask what the model says in no event, wherever its text is cut", async () => {
    const said = `Write to ${secret} today.`;
    const guarded = agent({ name: "a", model, guards: [rules({ find, output: "redact" })] });
    for (let cut = 1; cut < said.length; cut++) {
      const pieces = [say.text(said.slice(0, cut)), say.reasoning("hm"), say.text(said.slice(cut))];
      const { events, text } = await played(guarded, [pieces]);
      expect(answer(events)).to.equal("Write to [email] today.");
      expect(text).not.to.contain("alice").and.not.to.contain("example.com");
      expect(decided(events)).to.deep.equal(["output redact email"]);
    }
  });

  it("let nothing that they find become whole around a call: what was said before it is remembered", async () => {
    const said = `Write to ${secret} today.`;
    const made = (output: "redact" | "block") =>
      agent({ name: "a", model, tools: [note], guards: [rules({ find, output })] });
    for (let cut = 1; cut < said.length; cut++) {
      const pieces = [say.text(said.slice(0, cut)), say.call(note, { text: "x" }), say.text(said.slice(cut))];
      const { events } = await played(made("redact"), [pieces, ["Done"]]);
      expect(answer(events)).not.to.contain(secret);
      expect(answer(events)).to.match(/ today\.Done$/);
      expect(decided(events)).to.deep.equal(["output redact email"]);
      expect(ending((await played(made("block"), [pieces, ["Done"]])).events)).to.equal("content_blocked");
    }
  });

  it("keep what people send out of the journal: its events, its requests, its files", async () => {
    const folder = mkdtempSync(join(tmpdir(), "venturi-guards-"));
    const guarded = agent({ name: "a", model, guards: [rules({ find, input: "redact" })] });
    const venturi = await testVenturi({
      agents: [guarded],
      journal: sqlite(join(folder, "runs.db")),
      script: [["Thanks"]],
    });
    const run = await venturi.start(guarded, `I am ${secret}`);
    await run.result();
    expect(JSON.stringify(venturi.requests)).to.contain("I am [email]").and.not.to.contain("alice");
    expect(decided(await all(run.events()))).to.deep.equal(["input redact email"]);
    await venturi.close();
    for (const file of readdirSync(folder)) expect(readFileSync(join(folder, file)).includes("alice@")).to.equal(false);
    rmSync(folder, { recursive: true });
  });

  it("mask arguments before they are shown, stored or executed, and results before the model gets them", async () => {
    const guarded = agent({
      name: "a",
      model,
      tools: [note],
      guards: [rules({ find, arguments: "redact", results: "redact" })],
    });
    const call = say.fragments({
      name: "note",
      input: { text: `4111111111111111 and al\u0069ce@example.com` },
      size: 3,
    });
    const { events, requests, text } = await played(guarded, [call, ["ok"]]);
    expect(text).not.to.contain("411111").and.not.to.contain("example.com");
    expect(JSON.stringify(requests[1]))
      .to.contain("noted [card] and [email] for [email]")
      .and.not.to.contain("example.com");
    const progress = events.flatMap((event) => (event.type === "tool.output" ? [event.text] : [])).join("");
    expect(progress).to.equal("seen [email] now");
    expect(ending(events)).to.equal("run.finished");
  });

  for (const [direction, script, code] of [
    ["input", [["never said"]], "content_blocked"],
    ["output", [["Write to ", "alice@exa", "mple.com "]], "content_blocked"],
    ["arguments", [[say.call(0, "note", { text: secret })], ["ok"]], "run.finished"],
    ["results", [[say.call(0, "note", { text: "x" })], ["ok"]], "run.finished"],
  ] as const) {
    it(`block ${direction}`, async () => {
      const guarded = agent({ name: "a", model, tools: [note], guards: [rules({ find, [direction]: "block" })] });
      const { events, text } = await played(guarded, script, direction === "input" ? `I am ${secret}` : "Hello");
      expect(ending(events)).to.equal(code);
      expect(decided(events)).to.include(`${direction} block email`);
      expect(text).to.contain("content_blocked");
      if (direction !== "results") expect(text).not.to.contain("alice@");
    });

    it(`ask a person about ${direction}`, async () => {
      const guarded = agent({ name: "a", model, tools: [note], guards: [rules({ find, [direction]: "ask" })] });
      const { events } = await played(guarded, script, direction === "input" ? `I am ${secret}` : "Hello");
      expect(ending(events)).to.equal("run.finished");
      expect(events.filter(({ type }) => type === "approval.requested")).to.have.length(1);
      expect(decided(events)).to.include(`${direction} ask email`);
      if (direction === "output") expect(answer(events)).to.equal(`Write to ${secret} `);
    });

    it(`only note what they find in ${direction}`, async () => {
      const guarded = agent({ name: "a", model, tools: [note], guards: [rules({ find, [direction]: "log" })] });
      const { events, text } = await played(guarded, script, direction === "input" ? `I am ${secret}` : "Hello");
      expect(ending(events)).to.equal("run.finished");
      expect(decided(events)).to.include(`${direction} log email`);
      expect(text).to.contain("example.com");
    });
  }

  it("a judge that refuses ends the run; one that allows is noted", async () => {
    const moderator = agent({ name: "moderator", model: "openai/gpt-5-mini" });
    const judged = agent({
      name: "a",
      model,
      guards: [judge({ agent: "moderator", output: "block" })],
    });
    for (const [said, code] of [
      ["allow", "run.finished"],
      ["Block: it names a share", "content_blocked"],
    ] as const) {
      await using venturi = await testVenturi({ agents: [judged, moderator], script: [["Buy ACME."], [said]] });
      const run = await venturi.start(judged, "Which share?");
      const events = await all(run.events());
      expect(ending(events)).to.equal(code);
      expect(decided(events)).to.deep.equal([`output ${code === "run.finished" ? "pass" : "block"} undefined`]);
    }
  });

  it("a signed thought loses its signature when something in it is masked, and keeps it otherwise", async () => {
    const guarded = agent({ name: "a", model, guards: [rules({ find, output: "redact" })] });
    for (const thought of ["He is nice.", `He is ${secret}.`]) {
      const script = [[say.reasoning(thought), say.reasoning("", { signature: "sig" }), "ok"]];
      const { text } = await played(guarded, script);
      expect(text.includes('"signature":"sig"')).to.equal(!thought.includes("@"));
      expect(text).not.to.contain("alice");
    }
  });
});
