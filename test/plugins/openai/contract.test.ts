import plugin from "../../../plugins/openai/index.ts";
import { providerContract } from "../../../src/testing/provider.ts";
import { createPlugin } from "../create-plugin.ts";
import { calls, done, event, fragment, text } from "./streams.ts";

const finish = '"finish_reason":"stop"}]}';

providerContract("openai", {
  create: ({ baseUrl, key }) => createPlugin(plugin, { baseUrl, apiKey: key }),
  samples: {
    contentType: "text/event-stream",
    // From the finish reason on the end of the bytes is as good as [DONE].
    text: { body: text, text: "Grüße aus 東京 🌊", complete: Buffer.from(text).indexOf(finish) + finish.length },
    toolCall: {
      body:
        fragment('"index":0,"id":"a","function":{"name":"weather","arguments":"{\\"city\\":"}') +
        fragment('"index":0,"function":{"arguments":"\\"Oslo\\"}"}') +
        calls +
        done,
      name: "weather",
      arguments: { city: "Oslo" },
    },
    failure: {
      body: `${event('{"content":"a"}')}data: {"error":{"code":503,"message":"busy"}}\n\n`,
      code: "unavailable",
    },
    whole: {
      body: '{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}',
      text: "Hello",
    },
  },
});
