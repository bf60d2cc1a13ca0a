import { expect } from "chai";
import { toOutput } from "../../../plugins/mcp/result.ts";
import { RichOutput, type VenturiError } from "../../../src/plugin.ts";

const redact = (text: string) => text.replaceAll("s3cret", "[KEY]");
const output = (answer: object) => toOutput(answer, redact);
const text = (words: string) => ({ type: "text", text: words });
const failureOf = (answer: object): VenturiError => {
  try {
    return expect.fail(`it answered ${JSON.stringify(output(answer))}`);
  } catch (thrown) {
    return thrown as VenturiError;
  }
};

describe("an MCP result", () => {
  it("is the text of its blocks, line by line, without secrets", () => {
    expect(output({ content: [text("one s3cret"), text("two")] })).to.equal("one [KEY]\ntwo");
    expect(output({})).to.equal("");
    expect(output({ content: [] })).to.equal("");
  });

  it("is its structured content only where there is no text", () => {
    expect(output({ content: [], structuredContent: { a: "s3cret" } })).to.equal('{"a":"[KEY]"}');
    expect(output({ content: [text(""), text(" ")], structuredContent: { a: 1 } })).to.equal('{"a":1}');
    expect(output({ content: [text("said")], structuredContent: { a: 1 } })).to.equal("said");
  });

  it("names what is neither text nor image", () => {
    const content = [
      { type: "audio", mimeType: "audio/wav", data: "" },
      { type: "resource_link", name: "notes", uri: "file:///notes.md" },
      { type: "resource", resource: { uri: "file:///a.txt", text: "inside" } },
      { type: "resource", resource: { uri: "file:///a.bin", mimeType: "application/zip", blob: "eA==" } },
      { type: "resource", resource: { uri: "file:///b.bin", blob: "eA==" } },
    ];
    expect(output({ content })).to.equal(
      "[audio, audio/wav]\n[notes](file:///notes.md)\ninside\n[application/zip: file:///a.bin]\n[data: file:///b.bin]",
    );
  });

  it("brings images and PDFs along", () => {
    const pdf = { uri: "file:///folder/a.pdf", mimeType: "application/pdf", blob: "eA==" };
    const content = [
      text("see"),
      { type: "image", mimeType: "image/png", data: "aW1n" },
      { type: "resource", resource: pdf },
    ];
    const rich = output({ content }) as RichOutput;
    expect(rich).to.be.instanceOf(RichOutput);
    expect(rich.text).to.equal("see\n[application/pdf: file:///folder/a.pdf]");
    expect(rich.images).to.deep.equal([{ mediaType: "image/png", data: "aW1n" }]);
    expect(rich.files).to.deep.equal([{ mediaType: "application/pdf", data: "eA==", name: "a.pdf" }]);
    const alone = output({ content: [{ type: "image", mimeType: "image/png", data: "aW1n" }] }) as RichOutput;
    expect([alone.text, alone.images.length, alone.files]).to.deep.equal(["", 1, []]);
  });

  it("that is an error fails the call with its text", () => {
    const failed = failureOf({ isError: true, content: [text("no s3cret")] });
    expect(failed).to.include({ op: "tool.call", code: "tool_failed", message: "no [KEY]" });
    expect(failureOf({ isError: true, content: [] }).message).to.equal("the tool reported an error");
    expect(output({ isError: "true", content: [text("fine")] })).to.equal("fine");
  });
});
