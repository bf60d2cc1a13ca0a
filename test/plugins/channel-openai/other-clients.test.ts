import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { expect } from "chai";
import channelOpenai from "../../../plugins/channel-openai/index.ts";
import { serve, type TestService } from "../../service.ts";
import { scripts } from "../channel-scripts.ts";

describe("channel-openai", () => {
  let service: TestService;
  before(async () => {
    service = await serve({ scripts, channels: [{ plugin: channelOpenai }] });
  });
  after(() => service.close());

  describe("with @ai-sdk/openai-compatible", () => {
    const model = (name: string) =>
      createOpenAICompatible({
        name: "venturi",
        baseURL: `${service.url}/openai/v1`,
        apiKey: "none",
        includeUsage: true,
      })(name);
    const weather = tool({
      description: "the weather",
      inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
      execute: async ({ city }) => `fine in ${city}`,
    });

    it("streams text, reasoning and usage", async () => {
      const result = streamText({ model: model("clockwork"), prompt: "hi" });
      let said = "";
      for await (const part of result.textStream) said += part;
      expect(said).to.equal("Let me look. \n\nIt is noon.");
      expect(await result.reasoningText).to.equal("Need the time.");
      expect((await result.usage).totalTokens).to.equal(17);
    });

    it("runs its own tools from the calls it gets", async () => {
      for (const run of [generateText, streamText]) {
        const result = await run({
          model: model("delegating"),
          prompt: "weather?",
          tools: { weather },
          stopWhen: stepCountIs(3),
        });
        expect(await result.text).to.include("fine in Oslo");
      }
    });

    it("reports a failed run as an error", async () => {
      const failure = await generateText({ model: model("broken"), prompt: "hi", maxRetries: 0 }).catch(
        (error) => error,
      );
      expect(failure).to.be.instanceOf(Error).with.property("message", "the model broke");
    });
  });

  describe("with LangChain's ChatOpenAI", () => {
    const model = (name: string) =>
      new ChatOpenAI({
        model: name,
        apiKey: "none",
        maxRetries: 0,
        configuration: { baseURL: `${service.url}/openai/v1` },
      });

    it("invokes and streams", async () => {
      const whole = await model("hello").invoke("hi");
      expect(whole.content).to.equal("Hello world.");
      expect(whole.usage_metadata).to.include({ total_tokens: 8 });
      let said = "";
      for await (const chunk of await model("hello").stream("hi")) said += chunk.content;
      expect(said).to.equal("Hello world.");
    });

    it("gets calls of bound tools", async () => {
      const bound = model("delegating").bindTools([
        { type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } },
      ]);
      const answer = await bound.invoke("weather?");
      expect(answer.tool_calls?.[0]).to.deep.include({ name: "weather", args: { city: "Oslo" }, id: "call_1" });
    });
  });
});
