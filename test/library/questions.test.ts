import { expect } from "chai";
import { agent, type RunEvent, tool } from "venturi";
import { z } from "zod";
import { silentLog } from "../../src/core/ports/log.ts";
import { say } from "../../src/testing/model.ts";
import { testVenturi } from "../../src/testing/venturi.ts";

const question = { id: "1", kind: "input", name: "book", message: "Which day?" } as const;

describe("a question in a program's own route", () => {
  it("ends the page's stream, which continues after it once it is answered", async () => {
    const book = tool({
      name: "book",
      description: "Books a table",
      input: z.object({}),
      call: async (_, { ask }) => String((await ask({ ...question, choices: ["Mon", "Tue"] })).answer),
    });
    const host = agent({ name: "host", model: "anthropic/claude-sonnet-4-5", tools: [book] });
    const script = [[say.call(book, {})], ["Booked."]];
    await using venturi = await testVenturi({ agents: [host], script, log: silentLog });
    const run = await venturi.start(host, "A table, please");
    const frames = async (response: Response) =>
      (await response.text())
        .split("\n\n")
        .flatMap((frame) => (frame.startsWith("data: {") ? [JSON.parse(frame.slice(6))] : []));
    const asked = (await frames(run.response({ as: "ai-sdk" }))).find(({ type }) => type === "data-question");
    expect(asked.data).to.deep.include({ message: "Which day?", choices: ["Mon", "Tue"] });
    expect(await run.answer(asked.data.call, "Tue")).to.equal(true);
    const rest = await frames(run.response({ as: "ai-sdk", after: asked.data.seq }));
    expect(rest.find(({ type }) => type === "data-question").data).to.include({ answered: true, answer: "Tue" });
    expect(
      rest
        .filter(({ type }) => type === "text-delta")
        .map(({ delta }) => delta)
        .join(""),
    ).to.equal("Booked.");
  });
});

describe("a question that no answer fits", () => {
  const cases = {
    "a schema that cannot be read": [{ schema: { type: "objekt" } }, /JSON Schema/],
    "a schema with a reference to nothing": [{ schema: { properties: { a: { $ref: "#/b" } } } }, /\$ref/],
    "no choices": [{ choices: [] }, /choices: there are none/],
    "a fallback beside the choices": [{ choices: ["Mon"], fallback: "Tue" }, /fallback: must be one of: Mon/],
    "a fallback beside the schema": [{ schema: { type: "number" }, fallback: "Tue" }, /fallback: must be number/],
    "a fallback that is no text": [{ fallback: 3 }, /fallback: must be a text/],
  } as const;
  for (const [name, [asks, told]] of Object.entries(cases)) {
    it(`is refused before anyone is asked: ${name}`, async () => {
      const book = tool({
        name: "book",
        description: "Books a table",
        input: z.object({}),
        call: async (_, { ask }) => (await ask({ ...question, ...asks })).approved,
      });
      const host = agent({ name: "host", model: "anthropic/claude-sonnet-4-5", tools: [book] });
      const script = [[say.call(book, {})], ["Sorry."]];
      await using venturi = await testVenturi({ agents: [host], script, log: silentLog });
      const run = await venturi.start(host, "A table, please");
      const events: RunEvent[] = [];
      for await (const event of run.events()) events.push(event as RunEvent); // the tools' types do not matter here
      expect(events.map(({ type }) => type)).not.to.include("question.asked");
      const failed = events.find((event) => event.type === "tool.finished");
      expect(failed?.error?.err).to.match(told);
      expect(events.at(-1)?.type).to.equal("run.finished");
    });
  }
});
