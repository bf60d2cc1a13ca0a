import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const weather = createTool({
  id: "weather",
  description: "The weather in a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}, 21 °C`,
});
const assistant = new Agent({
  id: "assistant",
  name: "Assistant",
  model: {
    id: "openai/small",
    url: process.env.BASE_URL ?? "https://api.openai.com/v1",
    apiKey: process.env.OPENAI_API_KEY ?? "",
  },
  instructions: "You know the weather.",
  tools: { weather },
});
const stream = await assistant.stream("What is the weather in Paris?");
for await (const text of stream.textStream) process.stdout.write(text);
