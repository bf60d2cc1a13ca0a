import { expect } from "chai";
import { RichOutput } from "../../src/core/ports/tool.ts";

describe("RichOutput", () => {
  it("of another copy of the package is one all the same", async () => {
    const copy = (await import(
      `${"../../src/core/ports/tool.js"}?copy`
    )) as typeof import("../../src/core/ports/tool.ts"); // the same module, loaded twice
    const output = new copy.RichOutput("a chart", [{ mediaType: "image/png", data: "AAAA" }]);
    expect(output).not.to.be.instanceOf(RichOutput);
    expect(RichOutput.isInstance(output)).to.equal(true);
    expect(RichOutput.isInstance({ text: "a chart", images: [] })).to.equal(false);
  });
});
