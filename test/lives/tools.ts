import { expect } from "chai";
import { agent, tool } from "venturi";
import { z } from "zod";
import { say } from "../../src/testing/model.ts";
import { testVenturi } from "../../src/testing/venturi.ts";

const groups = ["mail", "files", "calendar", "crm", "shop"];
const tools = Array.from({ length: 200 }, (_, index) =>
  tool({
    name: `${groups[index % 5]}_action${index}`,
    description: `Does thing number${index} in ${groups[index % 5]}`,
    input: z.object({ id: z.string() }),
    effect: "pure",
    call: ({ id }) => `${index} did ${id}`,
  }),
);

describe("200 tools, deferred over 20 rounds", () => {
  it("the model gets what it found, and the beginning of the prompt stays the same", async () => {
    const many = agent({
      name: "many",
      model: "anthropic/claude-sonnet-4-5",
      tools,
      toolPolicy: { defer: { above: 40 } },
      limits: { maxToolRounds: 30 },
    });
    const script = Array.from({ length: 20 }, (_, round) =>
      round % 2 === 0
        ? [say.call(0, "find_tools", { query: `number${round * 9}` }, `find-${round}`)]
        : [
            say.call(
              0,
              `${groups[((round - 1) * 9) % 5]}_action${(round - 1) * 9}`,
              { id: `r${round}` },
              `act-${round}`,
            ),
          ],
    );
    await using venturi = await testVenturi({ agents: [many], script: [...script, ["done"]] });
    const run = await venturi.start(many, "Do it");
    const outputs: string[] = [];
    for await (const event of run.events()) {
      if (event.type === "tool.finished" && event.call.startsWith("act-")) outputs.push(String(event.output));
    }
    expect(outputs).to.have.length(10);
    for (const [index, output] of outputs.entries()) expect(output).to.equal(`${index * 18} did r${index * 2 + 1}`);
    const shown = venturi.requests.map(({ tools: specs }) => specs.map((spec) => JSON.stringify(spec)));
    expect(shown).to.have.length(21);
    expect(shown[0]).to.have.length(2); // find_tools and read_result
    expect(shown[0]?.[0]).to.contain("mail (40)");
    for (const [index, specs] of shown.entries()) {
      const before = shown[index - 1] ?? [];
      expect(specs.slice(0, before.length)).to.deep.equal(before);
      const messages = venturi.requests[index]?.messages.map((each) => JSON.stringify(each)) ?? [];
      const earlier = venturi.requests[index - 1]?.messages.map((each) => JSON.stringify(each)) ?? [];
      expect(messages.slice(0, earlier.length)).to.deep.equal(earlier);
    }
    expect(shown.at(-1)?.length).to.be.below(2 + 10 * 8 + 1);
  });
});
