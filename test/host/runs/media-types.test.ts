import { expect } from "chai";
import { contentParts } from "../../../plugins/channel-ag-ui/content.ts";
import { toMessages } from "../../../plugins/channel-ai-sdk/messages.ts";
import { filePart, imagePart } from "../../../plugins/channel-openai/content.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import type { Part } from "../../../src/core/model/messages.ts";
import { checkBounds } from "../../../src/host/runs/request-bounds.ts";

const long = 1024 * 1024;
const codeOf = (action: () => unknown): string => {
  try {
    action();
    return "";
  } catch (thrown) {
    return VenturiError.isInstance(thrown) ? thrown.code : String(thrown);
  }
};
const bounds = (part: Part) =>
  codeOf(() =>
    checkBounds({ agent: "a", input: { messages: [{ role: "user", parts: [part] }] } }, { metadata: 1_000 }),
  );

describe("what a caller says about a file", () => {
  it("is refused when its media type is none, wherever it stands", () => {
    const odd = [`audio/${";".repeat(long)}\n`, "audio/\n", "", "x"];
    for (const mediaType of odd) {
      const file: Part = { type: "file", mediaType, data: "AAAA" };
      expect(bounds(file)).to.equal("invalid_input");
      expect(bounds({ type: "tool_result", call: "c", name: "t", ok: true, output: "", files: [file] })).to.equal(
        "invalid_input",
      );
    }
    expect(bounds({ type: "image", mediaType: "image/*", url: "https://x.test/a.png" })).to.equal("");
  });

  it("is read in one pass when it is a data: URL, on every channel", () => {
    const urls = [`data:${"e".repeat(long)}`, `data:${";".repeat(long)},`, `data:image/png${";a=b".repeat(long / 4)}`];
    for (const url of urls) {
      expect(codeOf(() => contentParts([{ type: "image", source: { type: "url", value: url } }], new Set()))).to.equal(
        "invalid_input",
      );
      expect(codeOf(() => toMessages([{ role: "user", parts: [{ type: "file", url }] }]))).to.equal("invalid_input");
      expect(codeOf(() => imagePart(url))).to.equal("invalid_input");
      expect(codeOf(() => filePart(url, "a"))).to.equal("invalid_input");
    }
  });
});
