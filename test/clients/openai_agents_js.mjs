// @openai/agents in its default: Responses, with a tool, whole and streamed.
import assert from "node:assert/strict";
import { Agent, run, tool } from "@openai/agents";
import { z } from "zod";

const weather = tool({
  name: "get_weather",
  description: "Tells the weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: async () => "rain",
});
const agent = new Agent({ name: "Forecaster", instructions: "Help.", tools: [weather], model: process.env.MODEL });
const result = await run(agent, "What is the weather in Oslo?");
assert.match(result.finalOutput, /rain/);
const again = await run(agent, [...result.history, { role: "user", content: "hello" }]);
assert.notEqual(again.finalOutput, "");
const streamed = await run(agent, "What is the weather in Oslo?", { stream: true });
for await (const _ of streamed);
await streamed.completed;
assert.match(streamed.finalOutput, /rain/);
