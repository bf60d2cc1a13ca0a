import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert } from "chai";
import { parallel, text } from "../plugins/openai/streams.ts";
import { text as responses } from "../plugins/openai-responses/streams.ts";
import { venturi } from "./venturi.ts";

describe("venturi decode", () => {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "decode-"));
  });
  after(() => rm(folder, { recursive: true }));

  const file = async (name: string, body: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, body);
    return path;
  };

  const decode = async (wire: string, ...files: string[]): Promise<Record<string, unknown>[]> => {
    const { exit, out, err } = await venturi(["decode", "--wire", wire, ...files]);
    if (exit !== 0) throw Object.assign(new Error(err), { code: exit, stderr: err });
    return out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  };

  it("prints one JSON line a file, and a failed stream as an error in its line", async () => {
    const [said, called, cut] = await decode(
      "openai-chat",
      await file("text.sse", text),
      await file("calls.sse", parallel),
      await file("cut.sse", text.slice(0, 400)),
    );
    assert.deepInclude(said, {
      file: join(folder, "text.sse"),
      text: "Grüße aus 東京 🌊",
      reasoning: "",
      refusal: "",
      toolCalls: [],
      finish: "stop",
      usage: { inputTokens: 9, outputTokens: 4, cacheReadTokens: 3, reasoningTokens: 0 },
      quirks: [],
    });
    assert.deepEqual(called?.toolCalls, [
      { id: "a", name: "weather", arguments: { city: "Oslo" } },
      { id: "b", name: "time", arguments: { zone: "CET" } },
    ]);
    assert.deepInclude(cut?.error, { op: "provider.stream", code: "stream_error" });
  });

  it("finds each wire among the plugins of the box", async () => {
    const [said] = await decode("openai-responses", await file("r.sse", responses));
    assert.equal(said?.text, "Grüße aus 東京 🌊");
  });

  it("names the wires there are when it does not know one", async () => {
    const failed = await decode("morse", await file("x", "")).catch(
      (thrown: { code: number; stderr: string }) => thrown,
    );
    assert.propertyVal(failed, "code", 2);
    assert.match((failed as { stderr: string }).stderr, /no plugin speaks the wire "morse".*openai-chat/);
  });
});
