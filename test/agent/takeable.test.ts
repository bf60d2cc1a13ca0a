import { expect } from "chai";
import { RichOutput } from "../../src/core/ports/tool.ts";
import { ScriptedModel, say } from "../../src/testing/model.ts";
import { run, tool } from "./harness.ts";

const pdf = { mediaType: "application/pdf", data: "JVBERg==", name: "a.pdf" };
const png = { mediaType: "image/png", data: "iVBORw0=" };

describe("what a tool gives beside text", () => {
  const answerTo = async (capabilities: object): Promise<unknown> => {
    const model = new ScriptedModel([[say.call(0, "look", {})], ["ok"]]);
    Object.assign(model, { capabilities: { ...model.capabilities, ...capabilities } });
    await run({ model, tools: [tool("look", () => new RichOutput("seen", [png], [pdf]))] });
    return model.requests[1]?.messages.at(-1)?.parts[0];
  };

  it("reaches a model that takes it", async () => {
    expect(await answerTo({ vision: true, files: ["application/*"] })).to.deep.include({
      output: "seen",
      images: [{ type: "image", ...png }],
      files: [{ type: "file", ...pdf }],
    });
  });

  it("is described by its kind to a model that does not", async () => {
    const part = await answerTo({ vision: false, files: [] });
    expect(part).to.not.have.any.keys("images", "files");
    expect(part).to.have.property(
      "output",
      "seen\n[left out: image of type image/png, which this model does not take]\n" +
        "[left out: file of type application/pdf, a.pdf, which this model does not take]",
    );
  });
});
