import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert } from "chai";
import OpenAI from "openai";
import { silentLog } from "../../src/core/ports/log.ts";
import { noTelemetry } from "../../src/core/ports/telemetry.ts";
import { openService, type Service } from "../../src/host/service.ts";

const wires = ["openai", "gemini", "ollama"];

describe("what OpenAI's clients ask for beyond chats", () => {
  const folder = mkdtempSync(join(tmpdir(), "endpoints-"));
  let service: Service;
  let client: OpenAI;
  before(async () => {
    const configFile = join(folder, "venturi.yaml");
    writeFileSync(
      configFile,
      `
providers:
${["openai-responses", "anthropic", ...wires].map((wire) => `  ${wire}: { type: simulator, wire: ${wire}, pace: 0 }`).join("\n")}
agents:
${["openai-responses", "anthropic", ...wires].map((wire) => `  ${wire}: { model: ${wire}/echo }`).join("\n")}
journal: { type: memory }
channels: { openai: {} }
server: { listen: 0 }
telemetry: { logs: { level: silent } }
`,
    );
    service = await openService({ configFile, log: silentLog, telemetry: noTelemetry });
    client = new OpenAI({ apiKey: "none", baseURL: `${service.url}/openai/v1`, maxRetries: 0 });
  });
  after(async () => {
    await service.drain();
    rmSync(folder, { recursive: true });
  });
  const status = (work: Promise<unknown>) => work.then(() => 200).catch((error: { status: number }) => error.status);

  for (const model of wires) {
    it(`embeddings by ${model}: a vector for each text, in order, as numbers or packed`, async () => {
      const packed = await client.embeddings.create({ model, input: ["a", "b"], dimensions: 12 });
      const plain = await client.embeddings.create({
        model,
        input: ["a", "b"],
        dimensions: 12,
        encoding_format: "float",
      });
      assert.deepEqual(
        packed.data.map(({ index, embedding }) => [index, embedding.length]),
        [
          [0, 12],
          [1, 12],
        ],
      );
      for (const [index, { embedding }] of plain.data.entries()) {
        assert.closeTo(embedding[3] ?? 9, packed.data[index]?.embedding[3] ?? 8, 1e-6);
      }
      assert.notDeepEqual(plain.data[0]?.embedding, plain.data[1]?.embedding);
    });
  }

  it("embeddings of a model that makes none are refused, and a field that another wire lacks is named", async () => {
    assert.equal(await status(client.embeddings.create({ model: "anthropic", input: "a" })), 400);
    const { response } = await client.embeddings.create({ model: "ollama", input: "a", user: "u" }).withResponse();
    assert.equal(response.headers.get("venturi-warnings"), "user");
  });

  it("legacy completions, whole and streamed", async () => {
    const asked = { model: "openai", prompt: "one two three" };
    const whole = await client.completions.create(asked);
    assert.deepInclude(whole.choices[0], { text: "one two three", finish_reason: "stop" });
    let said = "";
    for await (const chunk of await client.completions.create({ ...asked, stream: true })) {
      said += chunk.choices[0]?.text ?? "";
    }
    assert.equal(said, "one two three");
    const { response } = await client.completions.create({ ...asked, suffix: "x" }).withResponse();
    assert.equal(response.headers.get("venturi-warnings"), "suffix");
  });

  it("a conversation keeps items and answers in order, and goes when it is deleted", async () => {
    const { id } = await client.conversations.create({
      items: [{ type: "message", role: "user", content: "first" }],
      metadata: { a: "b" },
    });
    assert.deepEqual((await client.conversations.retrieve(id)).metadata, { a: "b" });
    await client.responses.create({ model: "openai", input: "second", conversation: id });
    const added = await client.conversations.items.create(id, {
      items: [{ type: "message", role: "user", content: "third" }],
    });
    assert.lengthOf(added.data, 1);
    const listed = await client.conversations.items.list(id, { order: "asc" });
    const words = listed.data.map((item) => JSON.stringify(item).match(/first|second|third/)?.[0]);
    assert.deepEqual(words, ["first", "second", "second", "third"]);
    await client.conversations.update(id, { metadata: { c: "d" } });
    assert.deepEqual((await client.conversations.retrieve(id)).metadata, { c: "d" });
    const last = listed.data.at(-1)?.id ?? "";
    await client.conversations.items.delete(last, { conversation_id: id });
    assert.lengthOf((await client.conversations.items.list(id)).data, 3);
    assert.equal(
      await status(client.conversations.items.delete(listed.data[1]?.id ?? "", { conversation_id: id })),
      409,
    );
    await client.conversations.delete(id);
    assert.equal(await status(client.conversations.retrieve(id)), 404);
  });

  it("the model gets what a conversation holds", async () => {
    const { id } = await client.conversations.create({ items: [{ role: "user", content: "My name is Ada." }] });
    const { input_tokens: alone } = await client.responses.inputTokens.count({ model: "openai", input: "hi" });
    const counted = await client.responses.inputTokens.count({ model: "openai", input: "hi", conversation: id });
    assert.isAbove(counted.input_tokens ?? 0, alone ?? 0);
  });

  it("a response that is deleted is gone, with what followed from it left alone", async () => {
    const first = await client.responses.create({ model: "openai", input: "one" });
    await client.responses.delete(first.id);
    assert.equal(await status(client.responses.retrieve(first.id)), 404);
    assert.equal(
      await status(client.responses.create({ model: "openai", input: "two", previous_response_id: first.id })),
      404,
    );
  });

  it("tokens are counted by the vendor where it counts, and the answer says which it was", async () => {
    const counted = async (model: string) => {
      const { data, response } = await client.responses.inputTokens.count({ model, input: "hello" }).withResponse();
      assert.isAbove(data.input_tokens ?? 0, 0);
      return response.headers.get("venturi-tokens");
    };
    assert.deepEqual([await counted("openai-responses"), await counted("openai")], ["reported", "estimated"]);
  });
});
