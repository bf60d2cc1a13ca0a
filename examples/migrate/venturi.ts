import { agent, openai, openVenturi, tool } from "venturi";
import { z } from "zod";

const model = openai({ baseUrl: process.env.BASE_URL ?? "https://api.openai.com/v1" });
const weather = tool({
  name: "weather",
  description: "The weather in a city",
  input: z.object({ city: z.string() }),
  call: ({ city }) => `sunny in ${city}, 21 °C`,
});
const assistant = agent({
  name: "assistant",
  model: model("small"),
  instructions: "You know the weather.",
  tools: [weather],
});
await using venturi = await openVenturi({ agents: [assistant] });
const run = await venturi.start(assistant, "What is the weather in Paris?");
for await (const text of run.text()) process.stdout.write(text);
