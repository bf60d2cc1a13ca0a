// LangGraph.js: its prebuilt agent over OpenAI's two APIs and Anthropic's; whole, streamed, with two calls at once.
import assert from "node:assert/strict";
import { ChatAnthropic } from "@langchain/anthropic";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

const cities = [];
const weather = tool(
  ({ city }) => {
    cities.push(city);
    return "rain";
  },
  { name: "get_weather", description: "Tells the weather in a city", schema: z.object({ city: z.string() }) },
);
const messages = [{ role: "user", content: "What is the weather in Oslo?" }];
const { MODEL, PARALLEL_MODEL, ANTHROPIC_BASE_URL } = process.env;
const makes = [
  (model) => new ChatOpenAI({ model }),
  (model) => new ChatOpenAI({ model, useResponsesApi: true }),
  (model) => new ChatAnthropic({ model, anthropicApiUrl: ANTHROPIC_BASE_URL }),
];
for (const make of makes) {
  for (const [name, expected] of [
    [MODEL, ["Oslo"]],
    [PARALLEL_MODEL, ["Bergen", "Oslo"]],
  ]) {
    const agent = createReactAgent({ llm: make(name), tools: [weather] });
    assert.match((await agent.invoke({ messages })).messages.at(-1).text, /rain/);
    assert.deepEqual(cities.splice(0).sort(), expected);
    let text = "";
    for await (const [piece] of await agent.stream({ messages }, { streamMode: "messages" })) text += piece.text ?? "";
    assert.match(text, /rain/);
    assert.deepEqual(cities.splice(0).sort(), expected);
  }
}
