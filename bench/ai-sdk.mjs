// The AI SDK as a subject of `npm run bench -- --subjects floor,venturi-off,venturi,ai-sdk`: the same agent, the same upstream.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, streamText, tool } from "ai";
import { z } from "zod";

export default async function aiSdk({ baseURL }) {
  const provider = createOpenAICompatible({ name: "upstream", baseURL, apiKey: "none", includeUsage: true });
  const inputSchema = z.looseObject({ city: z.string() });
  return {
    async run(model, hooks) {
      const lookup = tool({ description: "Looks up", inputSchema, execute: async (input) => hooks.tool(input) });
      const { fullStream } = streamText({
        model: provider(model),
        prompt: "go",
        maxRetries: 0,
        stopWhen: isStepCount(5),
        tools: { lookup },
      });
      for await (const part of fullStream) {
        if (part.type === "text-delta") hooks.text(part.text);
        else if (part.type === "error" || part.type === "tool-error") throw part.error;
      }
    },
  };
}
