// The AI SDK beyond text: objects whole and streamed, files, embeddings, over @ai-sdk/openai and @ai-sdk/anthropic.
import assert from "node:assert/strict";
import { anthropic, createAnthropic } from "@ai-sdk/anthropic";
import { openai } from "@ai-sdk/openai";
import { embed, generateObject, generateText, Output, stepCountIs, streamObject, streamText, tool } from "ai";
import { z } from "zod";

const name = process.env.MODEL;
// Its base address has the version in it, unlike the one of Anthropic's own libraries.
const claude = process.env.ANTHROPIC_BASE_URL.endsWith("/v1")
  ? anthropic
  : createAnthropic({ baseURL: `${process.env.ANTHROPIC_BASE_URL}/v1` });
const schema = z.object({ city: z.string(), celsius: z.number() });
const tools = {
  get_weather: tool({
    description: "Tells the weather in a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async () => "rain",
  }),
};
const pdf = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n%%EOF");
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

for (const model of [openai(name), openai.chat(name), claude(name)]) {
  const label = `${model.provider} ${model.modelId}`;
  const { object } = await generateObject({ model, schema, prompt: "The weather in Oslo?" });
  assert.equal(typeof object.city, "string", label);
  const streamed = streamObject({ model, schema, prompt: "The weather in Oslo?" });
  let partial;
  for await (partial of streamed.partialObjectStream);
  assert.deepEqual(await streamed.object, partial, label);
  const { output } = await generateText({ model, prompt: "The weather in Oslo?", output: Output.object({ schema }) });
  assert.equal(typeof output.city, "string", label);

  const messages = [
    {
      role: "user",
      content: [
        { type: "text", text: "What is the weather in Oslo? The files do not matter." },
        { type: "file", data: pdf, mediaType: "application/pdf", filename: "a.pdf" },
        { type: "file", data: png, mediaType: "image/png" },
      ],
    },
  ];
  for (let turn = 0; turn < 3; turn++) {
    const result = streamText({ model, tools, messages, stopWhen: stepCountIs(5) });
    assert.match(await result.text, /rain/, label);
    const usage = await result.totalUsage;
    assert.ok(usage.inputTokens > 0 && usage.outputTokens > 0, label);
    messages.push(...(await result.response).messages, { role: "user", content: "And the weather in Paris?" });
  }
}
const { embedding } = await embed({ model: openai.embedding(process.env.EMBED_MODEL ?? name), value: "hello" });
assert.ok(embedding.length > 8);
