import { expect } from "chai";
import { z } from "zod";
import { defineTool } from "../../src/core/ports/tool.ts";

describe("defineTool", () => {
  const rest = { name: "add", description: "Adds", call: () => 1 };
  const schema = z.strictObject({ a: z.number() });

  it("calls the schema input, as `tool` does", () => {
    const tool = defineTool({ ...rest, input: schema });
    expect(tool.parameters).to.equal(schema);
    expect(tool).not.to.have.property("input");
  });

  it("takes the old word, and says so", async () => {
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    expect(defineTool({ ...rest, parameters: schema }).parameters).to.equal(schema);
    expect((await warned).message).to.equal("defineTool({ parameters }) is called defineTool({ input })");
  });
});
