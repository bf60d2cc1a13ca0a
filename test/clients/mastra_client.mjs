// Mastra: its agent on the AI SDK's models, over OpenAI's two APIs and Anthropic's; whole, streamed, with two calls at once.
import assert from "node:assert/strict";
import { anthropic } from "@ai-sdk/anthropic";
import { openai } from "@ai-sdk/openai";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const cities = [];
const get_weather = createTool({
  id: "get_weather",
  description: "Tells the weather in a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async (input) => {
    cities.push(input.city ?? input.context?.city);
    return "rain";
  },
});
const question = "What is the weather in Oslo?";
const { MODEL, PARALLEL_MODEL } = process.env;
for (const make of [openai.chat, openai.responses, anthropic]) {
  const plain = new Agent({ id: "plain", name: "plain", instructions: "Be brief.", model: make(MODEL) });
  assert.notEqual((await plain.generate("hello")).text, "");
  for (const [name, expected] of [
    [MODEL, ["Oslo"]],
    [PARALLEL_MODEL, ["Bergen", "Oslo"]],
  ]) {
    const agent = new Agent({
      id: "weather",
      name: "weather",
      instructions: "Use the tool.",
      model: make(name),
      tools: { get_weather },
    });
    assert.match((await agent.generate(question)).text, /rain/);
    assert.deepEqual(cities.splice(0).sort(), expected);
    let text = "";
    for await (const piece of (await agent.stream(question)).textStream) text += piece;
    assert.match(text, /rain/);
    assert.deepEqual(cities.splice(0).sort(), expected);
  }
}
