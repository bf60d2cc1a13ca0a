import { Agent, run, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

setDefaultOpenAIClient(new OpenAI({ baseURL: process.env.BASE_URL ?? "https://api.openai.com/v1" }));
setOpenAIAPI("chat_completions");
setTracingDisabled(true);
const weather = tool({
  name: "weather",
  description: "The weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}, 21 °C`,
});
const assistant = new Agent({
  name: "assistant",
  model: "small",
  instructions: "You know the weather.",
  tools: [weather],
});
const stream = await run(assistant, "What is the weather in Paris?", { stream: true });
for await (const text of stream.toTextStream()) process.stdout.write(text);
await stream.completed;
