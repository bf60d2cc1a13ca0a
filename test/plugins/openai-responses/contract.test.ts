import plugin from "../../../plugins/openai-responses/index.ts";
import { providerContract } from "../../../src/testing/provider.ts";
import { createPlugin } from "../create-plugin.ts";
import { added, argumentsDelta, call, completed, created, event, finished, message, text } from "./streams.ts";

providerContract("openai-responses", {
  create: ({ baseUrl, key }) => createPlugin(plugin, { baseUrl, apiKey: key }),
  samples: {
    contentType: "text/event-stream",
    text: { body: text, text: "Grüße aus 東京 🌊" },
    toolCall: {
      body:
        created +
        added(0, call("a", "weather", "")) +
        argumentsDelta(0, '{"city":"Oslo"}') +
        finished(0, call("a", "weather", '{"city":"Oslo"}')) +
        completed(),
      name: "weather",
      arguments: { city: "Oslo" },
    },
    failure: { body: created + event("error", '"code":"server_error","message":"busy"'), code: "unavailable" },
    whole: {
      body: `{"object":"response","id":"r","model":"m","status":"completed","output":[{${message("Hello")}}],"usage":{"input_tokens":1,"output_tokens":1}}`,
      text: "Hello",
    },
  },
});
