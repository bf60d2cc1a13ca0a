import { expect } from "chai";
import anthropic from "../../plugins/anthropic/index.ts";
import bedrock from "../../plugins/bedrock/index.ts";
import gemini from "../../plugins/gemini/index.ts";
import ollama from "../../plugins/ollama/index.ts";
import openai from "../../plugins/openai/index.ts";
import openaiResponses from "../../plugins/openai-responses/index.ts";
import type { GenerationRequest } from "../../src/plugin.ts";
import { ScriptedModel } from "../../src/testing/model.ts";
import { run, tool } from "../agent/harness.ts";
import { provider, streamed, vendor } from "./vendor.ts";

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = tool("weather", () => "rain", { parameters: city });

/** What the model is asked after it called the tool with this text. */
async function afterCall(text: string, streaming = true): Promise<GenerationRequest> {
  const call = { deltas: [{ type: "tool_call" as const, index: 0, id: "c1", name: "weather", arguments: text }] };
  const model = new ScriptedModel([[call], ["Sorry."]], { streaming });
  const bench = await run({ model, tools: [weather] });
  expect(bench.terminal.type).to.equal("run.finished");
  expect(bench.of("tool_call.rejected")[0]).to.include({ arguments: text });
  const request = model.requests[1];
  if (request === undefined) throw new Error("the model was not asked again");
  return request;
}

const broken = {
  "cut short": '{"city":"Kie',
  "no object": '["Kiel"]',
  "no JSON": "Kiel, please",
  'not "quoted"': "{city:'Kiel'}",
};

const wires = [
  { plugin: openai, base: "/v1", sent: (text: string) => JSON.stringify({ name: "weather", arguments: text }) },
  { plugin: openaiResponses, base: "/v1", sent: (text: string) => `"arguments":${JSON.stringify(text)}` },
  { plugin: anthropic, base: "", sent: (text: string) => `"input":${JSON.stringify({ invalid_json: text })}` },
  { plugin: bedrock, base: "", sent: (text: string) => `"input":${JSON.stringify({ invalid_json: text })}` },
  { plugin: gemini, base: "/v1beta", sent: (text: string) => `"args":${JSON.stringify({ invalid_json: text })}` },
  { plugin: ollama, base: "", sent: (text: string) => `"arguments":${JSON.stringify({ invalid_json: text })}` },
] as const;

describe("a rejected call", () => {
  for (const { plugin, base, sent } of wires) {
    it(`goes back to the model with its own broken arguments, as the wire of ${plugin.name} allows`, async () => {
      const server = await vendor((_, response) => void response.writeHead(500).end());
      const port = await provider(plugin as typeof openai, { baseUrl: server.url + base, apiKey: "x" });
      for (const [what, text] of Object.entries(broken)) {
        await streamed(port, await afterCall(text)).catch(() => {}); // only what was asked counts
        expect(JSON.stringify(server.received.at(-1)?.body), what).to.contain(sent(text));
      }
      const misfit = '{"town":"Kiel"}';
      await streamed(port, await afterCall(misfit)).catch(() => {});
      const asked = JSON.stringify(server.received.at(-1)?.body);
      expect(asked)
        .to.match(/"town\\?":\\?"Kiel/)
        .and.not.contain("invalid_json");
      await port.close?.();
      await server.close();
    });
  }

  it("is not fatal when the provider answers whole, and goes back just the same", async () => {
    for (const text of Object.values(broken)) {
      const [whole, pieces] = [await afterCall(text, false), await afterCall(text)];
      expect(whole.messages).to.deep.equal(pieces.messages);
    }
  });
});
