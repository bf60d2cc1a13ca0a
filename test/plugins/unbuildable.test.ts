import { expect } from "chai";
import anthropic from "../../plugins/anthropic/index.ts";
import bedrock from "../../plugins/bedrock/index.ts";
import gemini from "../../plugins/gemini/index.ts";
import ollama from "../../plugins/ollama/index.ts";
import openai from "../../plugins/openai/index.ts";
import responses from "../../plugins/openai-responses/index.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { GenerationContext, GenerationRequest, Plugin } from "../../src/plugin.ts";
import { provider, vendor } from "./vendor.ts";

const wires = { anthropic, bedrock, gemini, ollama, openai, responses } as unknown as Record<
  string,
  Plugin<"provider", object>
>;

const context = (): GenerationContext => ({
  run: "run_1",
  round: 1,
  attempt: 1,
  agent: "test",
  signal: new AbortController().signal,
  timeouts: { connect: 60_000, firstChunk: 60_000, idle: 60_000, total: 120_000 },
});

const hi: GenerationRequest = {
  model: "m",
  messages: [{ role: "user", parts: [{ type: "text", text: "hi" }] }],
  tools: [],
  options: {},
};
const loop: Record<string, unknown> = {};
loop.loop = loop;

/** Requests no plugin can put on its wire: mistakes of a hook, of a channel, or of ours. */
const broken: Record<string, GenerationRequest> = {
  "a message without parts": { ...hi, messages: [{ role: "user" } as never] },
  "a part that is none": { ...hi, messages: [{ role: "user", parts: [null as never] }] },
  "a value that is no JSON": { ...hi, options: { more: 1n } },
  "a value that contains itself": { ...hi, options: { more: loop } },
  "no messages": { ...hi, messages: undefined as never },
  "a tool that is none": { ...hi, tools: [undefined as never] },
};

describe("a request that cannot be built", () => {
  for (const [wire, plugin] of Object.entries(wires)) {
    it(`on the wire of ${wire} is our fault, and the provider is not asked`, async () => {
      const { url, received, close } = await vendor((_, response) => response.writeHead(500).end());
      const port = await provider(plugin, { baseUrl: url, apiKey: "key" });
      for (const [what, request] of Object.entries(broken)) {
        const asked = {
          stream: async () => {
            for await (const _ of port.stream?.(request, context()) ?? []);
          },
          generate: async () => await port.generate?.(request, context()),
          ...(port.countTokens && what !== "a value that is no JSON" && what !== "a value that contains itself"
            ? { count: async () => await port.countTokens?.(request, context()) }
            : {}),
        };
        for (const [how, ask] of Object.entries(asked)) {
          const error = await ask().then(
            () => expect.fail(`${how}: ${what} was sent`),
            (thrown: unknown) => thrown,
          );
          expect(VenturiError.isInstance(error) && error.code, `${how}: ${what}`).to.equal("internal");
          expect(error, `${how}: ${what}`).to.have.property("retryable", false);
        }
      }
      expect(received).to.have.length(0);
      await port.close?.();
      await close();
    });
  }

  it("for a header it cannot have is our fault too", async () => {
    const { url, received, close } = await vendor((_, response) => response.writeHead(500).end());
    const port = await provider(wires.anthropic as Plugin<"provider", object>, { baseUrl: url, beta: ["a\nb: c"] });
    const error = await port.generate?.(hi, context()).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: "internal" });
    expect(received).to.have.length(0);
    await port.close?.();
    await close();
  });

  it("for embeddings rejects, and is our fault", async () => {
    for (const name of ["openai", "gemini", "ollama"]) {
      const { url, received, close } = await vendor((_, response) => response.writeHead(500).end());
      const port = await provider(wires[name] as Plugin<"provider", object>, { baseUrl: url, apiKey: "key" });
      const request = {
        model: "m",
        get input(): never {
          throw new TypeError("no input");
        },
      };
      const error = await port.embed?.(request, context()).catch((thrown: unknown) => thrown);
      expect(error, name).to.include({ code: "internal" });
      expect(received).to.have.length(0);
      await port.close?.();
      await close();
    }
  });
});
