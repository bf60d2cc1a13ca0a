// openai for Node: helpers that its users reach for first: runTools, parse, streams, background responses that are resumed.
import assert from "node:assert/strict";
import OpenAI, { toFile } from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

const client = new OpenAI();
const model = process.env.MODEL;
const messages = [{ role: "user", content: "What is the weather in Oslo?" }];
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const Weather = z.object({ city: z.string(), celsius: z.number() });
const pdf = `data:application/pdf;base64,${Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n%%EOF").toString("base64")}`;
const png =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const runner = client.chat.completions.runTools({
  model,
  messages,
  tools: [
    {
      type: "function",
      function: { name: "get_weather", parameters, function: () => "rain", parse: JSON.parse, description: "Weather" },
    },
  ],
});
assert.match(await runner.finalContent(), /rain/);
const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
let text = "";
stream.on("content", (delta) => (text += delta));
assert.equal((await stream.finalChatCompletion()).choices[0].message.content, text);
assert.ok((await stream.totalUsage()).total_tokens > 0);
const parsed = await client.chat.completions.parse({
  model,
  messages,
  response_format: zodResponseFormat(Weather, "w"),
});
assert.equal(typeof parsed.choices[0].message.parsed.city, "string");
const seen = await client.chat.completions.create({
  model,
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "What is on them?" },
        { type: "image_url", image_url: { url: png } },
        { type: "file", file: { filename: "a.pdf", file_data: pdf } },
      ],
    },
  ],
});
assert.notEqual(seen.choices[0].message.content, "");

const response = await client.responses.parse({ model, input: "Oslo?", text: { format: zodTextFormat(Weather, "w") } });
assert.equal(typeof response.output_parsed.city, "string");
const attached = await client.responses.create({
  model,
  input: [
    {
      role: "user",
      content: [
        { type: "input_file", filename: "a.pdf", file_data: pdf },
        { type: "input_image", image_url: png, detail: "auto" },
        { type: "input_text", text: "What is on them?" },
      ],
    },
  ],
});
assert.notEqual(attached.output_text, "");

// A stream in the background that is left after a few events and taken up where it was left.
const background = await client.responses.create({ model, input: "Tell me a story.", background: true, stream: true });
let id;
let last = -1;
let told = "";
for await (const event of background) {
  if (event.type === "response.created") id = event.response.id;
  if (event.type === "response.output_text.delta") told += event.delta;
  last = event.sequence_number;
  if (last >= 5) break;
}
for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: last })) {
  assert.equal(event.sequence_number, last + 1, "no event is missing and none comes twice");
  last = event.sequence_number;
  if (event.type === "response.output_text.delta") told += event.delta;
}
assert.equal((await client.responses.retrieve(id)).output_text, told);
const cancelled = await client.responses.create({ model, input: "Tell me a story.", background: true });
assert.match((await client.responses.cancel(cancelled.id)).status, /cancelled|completed/);

const tools = [{ type: "function", name: "get_weather", description: "Weather", parameters, strict: false }];
let asked = await client.responses.create({ model, input: messages, tools });
for (let round = 0; round < 3; round++) {
  const results = asked.output
    .filter(({ type }) => type === "function_call")
    .map(({ call_id }) => ({ type: "function_call_output", call_id, output: "rain" }));
  if (results.length === 0) break;
  asked = await client.responses.create({ model, previous_response_id: asked.id, input: results, tools });
}
assert.match(asked.output_text, /rain/);

const vectors = await client.embeddings.create({ model: process.env.EMBED_MODEL ?? model, input: "hello" });
assert.ok(vectors.data[0].embedding.every(Number.isFinite) && vectors.data[0].embedding.length > 8);
const models = [];
for await (const each of client.models.list()) models.push(each.id);
assert.ok(models.includes(model));
const file = await client.files.create({ file: await toFile(Buffer.from("x"), "x.txt"), purpose: "user_data" });
const named = await client.responses.create({
  model,
  input: [{ role: "user", content: [{ type: "input_file", file_id: file.id }] }],
});
assert.equal(named.status, "completed");
assert.ok((await client.files.delete(file.id)).deleted);
// What is not served is refused as the vendor would.
const refused = await client.images.generate({ model, prompt: "x" }).catch((error) => error);
assert.ok(refused instanceof OpenAI.APIError && refused.status >= 400 && refused.status < 500, String(refused));
