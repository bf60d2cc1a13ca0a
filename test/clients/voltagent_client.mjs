// VoltAgent on the AI SDK's models, over OpenAI's two APIs; whole, streamed, with tools and with two calls at once.
import assert from "node:assert/strict";
import { openai } from "@ai-sdk/openai";
import { Agent, createTool } from "@voltagent/core";
import { z } from "zod";

const cities = [];
const weather = createTool({
  name: "get_weather",
  description: "Tells the weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    cities.push(city);
    return "rain";
  },
});
const question = "What is the weather in Oslo?";
const { MODEL, PARALLEL_MODEL } = process.env;
for (const make of [openai.chat, openai.responses]) {
  const plain = new Agent({ name: "plain", instructions: "Be brief.", model: make(MODEL) });
  assert.notEqual((await plain.generateText("hello")).text, "");
  for (const [name, expected] of [
    [MODEL, ["Oslo"]],
    [PARALLEL_MODEL, ["Bergen", "Oslo"]],
  ]) {
    const agent = new Agent({ name: "weather", instructions: "Use the tool.", model: make(name), tools: [weather] });
    assert.match((await agent.generateText(question)).text, /rain/);
    assert.deepEqual(cities.splice(0).sort(), expected);
    let text = "";
    for await (const piece of (await agent.streamText(question)).textStream) text += piece;
    assert.match(text, /rain/);
    assert.deepEqual(cities.splice(0).sort(), expected);
  }
}
process.exit(0); // it keeps timers
