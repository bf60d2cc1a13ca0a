// @anthropic-ai/sdk: the stream helper, the beta tool runner, documents, parse, thinking, caching, counting.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";

const client = new Anthropic();
const model = process.env.MODEL;
const messages = [{ role: "user", content: "What is the weather in Oslo?" }];
const textOf = ({ content }) => content.map((block) => block.text ?? "").join("");

const stream = client.messages.stream({ model, max_tokens: 500, messages });
let text = "";
stream.on("text", (delta) => (text += delta));
assert.equal(textOf(await stream.finalMessage()), text);
const tool = betaZodTool({
  name: "get_weather",
  description: "Tells the weather in a city",
  inputSchema: z.object({ city: z.string() }),
  run: () => "rain",
});
for (const streamed of [false, true]) {
  const runner = client.beta.messages.toolRunner({ model, max_tokens: 500, messages, tools: [tool], stream: streamed });
  let last;
  for await (const each of runner) last = streamed ? await each.finalMessage() : each;
  assert.match(textOf(last), /rain/);
}
const parsed = await client.messages.parse({
  model,
  max_tokens: 500,
  messages,
  output_config: { format: zodOutputFormat(z.object({ city: z.string(), celsius: z.number() })) },
});
assert.equal(typeof parsed.parsed_output.city, "string");
const data = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n%%EOF").toString("base64");
const read = await client.messages.create({
  model,
  max_tokens: 500,
  system: [{ type: "text", text: "You read documents.", cache_control: { type: "ephemeral" } }],
  thinking: { type: "enabled", budget_tokens: 1_024 },
  metadata: { user_id: "u1" },
  messages: [
    {
      role: "user",
      content: [
        {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data },
          citations: { enabled: true },
        },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "Plain." }, title: "a" },
        { type: "text", text: "Read.", cache_control: { type: "ephemeral", ttl: "1h" } },
      ],
    },
  ],
});
assert.equal(read.type, "message");
assert.ok(read.usage.input_tokens > 0);
assert.ok((await client.messages.countTokens({ model, messages })).input_tokens > 0);
assert.ok((await client.beta.messages.countTokens({ model, messages })).input_tokens > 0);
assert.equal((await client.models.retrieve(model)).id, model);
const listed = [];
for await (const each of client.models.list()) listed.push(each.id);
assert.ok(listed.includes(model));
const refused = await client.messages.create({ model, max_tokens: 5, messages: [] }).catch((error) => error);
assert.ok(refused instanceof Anthropic.BadRequestError, String(refused));
assert.equal(refused.error.error.type, "invalid_request_error");
