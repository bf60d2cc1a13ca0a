// LangChain for JavaScript: chat models, tools, structured output and its agent, over OpenAI's two APIs and Anthropic's.
import assert from "node:assert/strict";
import { ChatAnthropic } from "@langchain/anthropic";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const model = process.env.MODEL;
const getWeather = tool(() => "rain", {
  name: "get_weather",
  description: "Tells the weather in a city",
  schema: z.object({ city: z.string() }),
});
const schema = z.object({ city: z.string(), celsius: z.number() });
const anthropicApiUrl = process.env.ANTHROPIC_BASE_URL;
const chats = [
  new ChatOpenAI({ model }),
  new ChatOpenAI({ model, useResponsesApi: true }),
  new ChatAnthropic({ model, anthropicApiUrl }),
];
for (const chat of chats) {
  const label = `${chat.getName()} ${chat.useResponsesApi ?? ""}`;
  assert.notEqual((await chat.invoke("hello")).text, "", label);
  let text = "";
  for await (const chunk of await chat.stream("hello")) text += chunk.text;
  assert.notEqual(text, "", label);
  const structured = await chat.withStructuredOutput(schema).invoke("The weather in Oslo?");
  assert.equal(typeof structured.city, "string", label);
  const question = new HumanMessage("What is the weather in Oslo?");
  const bound = chat.bindTools([getWeather]);
  const first = await bound.invoke([question]);
  assert.equal(first.tool_calls[0]?.name, "get_weather", label);
  const result = await getWeather.invoke(first.tool_calls[0]);
  assert.match((await bound.invoke([question, first, result])).text, /rain/, label);
  const agent = createAgent({ model: chat, tools: [getWeather] });
  const { messages } = await agent.invoke({ messages: [question] });
  assert.match(messages.at(-1).text, /rain/, label);
}
const vectors = await new OpenAIEmbeddings({ model: process.env.EMBED_MODEL ?? model }).embedDocuments(["a", "b"]);
assert.ok(vectors.length === 2 && vectors[0].length > 8);
