import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, streamText, tool } from "ai";
import { z } from "zod";

const openai = createOpenAICompatible({
  name: "openai",
  baseURL: process.env.BASE_URL ?? "https://api.openai.com/v1",
  apiKey: process.env.OPENAI_API_KEY ?? "",
});
const weather = tool({
  description: "The weather in a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}, 21 °C`,
});
const { textStream } = streamText({
  model: openai("small"),
  instructions: "You know the weather.",
  prompt: "What is the weather in Paris?",
  stopWhen: isStepCount(6),
  tools: { weather },
});
for await (const text of textStream) process.stdout.write(text);
