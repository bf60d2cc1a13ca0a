// @ai-sdk/openai in its default (Responses): two turns with a tool, the second turn with everything of the first.
import assert from "node:assert/strict";
import { openai } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const model = openai(process.env.MODEL);
const tools = {
  get_weather: tool({
    description: "Tells the weather in a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async () => "rain",
  }),
};
const messages = [{ role: "user", content: "What is the weather in Oslo?" }];
const first = await generateText({ model, tools, messages, stopWhen: stepCountIs(5) });
assert.match(first.text, /rain/);
messages.push(...first.response.messages, { role: "user", content: "And the weather in Paris?" });
const second = streamText({ model, tools, messages, stopWhen: stepCountIs(5) });
assert.match(await second.text, /rain/);
messages.push(...(await second.response).messages, { role: "user", content: "hello" });
const third = await generateText({ model, tools, messages });
assert.notEqual(third.text, "");
assert.notEqual((await generateText({ model: openai.chat(process.env.MODEL), prompt: "hello" })).text, "");
