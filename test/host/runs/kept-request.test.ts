import { expect } from "chai";
import { MemoryBlobs } from "../../../plugins/memory/blobs.ts";
import { ContentStore } from "../../../src/agent/run/content.ts";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import type { RunRequest } from "../../../src/core/run/run-request.ts";
import { keptRequest } from "../../../src/host/runs/kept-request.ts";

const large = "lorem ipsum ".repeat(800_000); // 9.6 MB
const requests: Readonly<Record<string, RunRequest["input"]>> = {
  variables: { text: "go", variables: { large } },
  "short texts": {
    messages: [
      { role: "user", parts: Array.from({ length: 3_000 }, () => ({ type: "text", text: large.slice(0, 4_000) })) },
    ],
  },
  "a call's arguments": {
    messages: [{ role: "assistant", parts: [{ type: "tool_call", call: "c", name: "t", arguments: { large } }] }],
  },
};

describe("a request as it is stored", () => {
  const blobs = new MemoryBlobs();
  const kept = (input: RunRequest["input"], content = new ContentStore(blobs)) =>
    keptRequest(content, "r", { agent: "a", input });

  for (const [what, input] of Object.entries(requests)) {
    it(`is refused when too much of it stays in the journal: ${what}`, async () => {
      const thrown = await kept(input).catch((reason: unknown) => reason);
      expect(VenturiError.isInstance(thrown) && thrown.code).to.equal("too_large");
    });
  }

  it("may be of any size where that stands beside it, or the journal keeps nothing apart", async () => {
    expect(JSON.stringify(await kept({ text: large }))).to.have.length.below(5_000);
    expect(await kept({ text: large }, new ContentStore(undefined))).to.have.nested.property("input.text", large);
  });
});
