import { assert } from "chai";
import { dialectOf } from "../../../plugins/openai/dialects.ts";
import openai from "../../../plugins/openai/index.ts";
import { run } from "../../agent/harness.ts";
import { provider, vendor } from "../vendor.ts";

const near = ["http://127.0.0.1:8080/v1", "http://localhost:11434/v1", "http://[::1]:8000/v1", "http://10.0.0.7/v1"];
const names = [
  "http://172.20.1.1:1234/v1",
  "http://ollama:11434/v1",
  "http://gpu.local/v1",
  "http://host.docker.internal/v1",
];

describe("dialects of Chat Completions", () => {
  it("know the vendors by their hosts and local servers by where they are", () => {
    for (const url of [...near, ...names]) assert.equal(dialectOf("auto", url).maxTokens, "max_tokens", url);
    for (const url of ["https://api.openai.com/v1", "https://x.openai.azure.com/openai/deployments/d"]) {
      assert.deepEqual(dialectOf("auto", url), { maxTokens: "max_completion_tokens", cacheKey: true });
    }
    assert.equal(dialectOf("auto", "https://api.mistral.ai/v1").maxTokens, "max_tokens");
    const compatible = dialectOf("auto", "https://openrouter.ai/api/v1");
    assert.deepEqual(compatible, { maxTokens: "max_completion_tokens", cacheKey: false });
    assert.equal(dialectOf("auto", "https://172.example.com/v1").maxTokens, "max_completion_tokens");
    assert.equal(dialectOf("openai", "http://127.0.0.1/v1").maxTokens, "max_completion_tokens");
  });

  it("keep the limit of tokens at a local server, and an explicit name goes over the dialect", async () => {
    const server = await vendor((_, response) => void response.writeHead(500).end());
    const ask = async (settings: object): Promise<Record<string, unknown>> => {
      const model = await provider(openai, { baseUrl: server.url, ...settings });
      await run({ model, chain: { retry: { max: 0 } }, request: { options: { maxTokens: 7 } } });
      await model.close?.();
      return server.received.at(-1)?.body ?? {};
    };
    try {
      assert.deepInclude(await ask({}), { max_tokens: 7 });
      assert.deepInclude(await ask({ dialect: "openai" }), { max_completion_tokens: 7 });
      assert.deepInclude(await ask({ maxTokensKey: "max_completion_tokens" }), { max_completion_tokens: 7 });
    } finally {
      await server.close();
    }
  });

  it("wait for a local server that loads its model, unless the config says how long", async () => {
    const local = await provider(openai, { baseUrl: "http://127.0.0.1:1/v1" });
    const remote = await provider(openai, {});
    assert.deepEqual([local.firstChunk, remote.firstChunk], [300_000, undefined]);
    const waits: number[] = [];
    const slow = (firstChunk: number | undefined) => ({
      capabilities: { streaming: true, tools: true, vision: false, reasoning: false },
      ...(firstChunk === undefined ? {} : { firstChunk }),
      async *stream(_: unknown, { timeouts }: { timeouts: { firstChunk: number } }) {
        waits.push(timeouts.firstChunk);
        yield [{ type: "done" as const, finish: "stop" as const }];
      },
    });
    const timeout = { connect: 1, idle: 1, total: 1 };
    await run({ model: slow(300_000), chain: { timeout } });
    await run({ model: slow(undefined), chain: { timeout } });
    await run({ model: slow(300_000), chain: { timeout: { ...timeout, firstChunk: 9 } } });
    assert.deepEqual(waits, [300_000, 20_000, 9]);
  });
});
