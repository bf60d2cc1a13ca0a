// Genkit with its plugin for OpenAI-compatible services; whole, streamed, with tools and with two calls at once.
import assert from "node:assert/strict";
import { openAICompatible } from "@genkit-ai/compat-oai";
import { genkit, z } from "genkit";

const { MODEL, PARALLEL_MODEL, OPENAI_BASE_URL } = process.env;
const ai = genkit({ plugins: [openAICompatible({ name: "venturi", apiKey: "none", baseURL: OPENAI_BASE_URL })] });
const cities = [];
const getWeather = ai.defineTool(
  {
    name: "get_weather",
    description: "Tells the weather in a city",
    inputSchema: z.object({ city: z.string() }),
    outputSchema: z.string(),
  },
  async ({ city }) => {
    cities.push(city);
    return "rain";
  },
);
const prompt = "What is the weather in Oslo?";
assert.notEqual((await ai.generate({ model: `venturi/${MODEL}`, prompt: "hello" })).text, "");
for (const [name, expected] of [
  [MODEL, ["Oslo"]],
  [PARALLEL_MODEL, ["Bergen", "Oslo"]],
]) {
  const model = `venturi/${name}`;
  assert.match((await ai.generate({ model, prompt, tools: [getWeather] })).text, /rain/);
  assert.deepEqual(cities.splice(0).sort(), expected);
  const { stream, response } = ai.generateStream({ model, prompt, tools: [getWeather] });
  let text = "";
  for await (const chunk of stream) text += chunk.text;
  assert.match(text, /rain/);
  assert.match((await response).text, /rain/);
  assert.deepEqual(cities.splice(0).sort(), expected);
}
process.exit(0); // it keeps a server for its developer tools
