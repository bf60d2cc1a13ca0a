import { providerContract, testPluginContext } from "venturi/testing";
import plugin from "./index.ts";

const lines = (...values: unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");

// Bodies as the server sends them: record real ones as soon as you can.
providerContract("my-plugin", {
  create: ({ baseUrl, key }) => plugin.create(plugin.options.parse({ baseUrl, apiKey: key }), testPluginContext()),
  samples: {
    contentType: "application/x-ndjson",
    text: { body: lines({ text: "Hello " }, { text: "there" }, { done: true }), text: "Hello there" },
    toolCall: {
      body: lines({ call: { name: "tool", arguments: { city: "Rome" } } }, { done: true }),
      name: "tool",
      arguments: { city: "Rome" },
    },
    whole: { body: JSON.stringify({ text: "Hello", done: true }), text: "Hello" },
  },
});
