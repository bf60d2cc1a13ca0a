// The servers that are tried: how each is installed and started, what speaks to it, and what it can be asked.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const key = `sk-${randomBytes(24).toString("hex")}`;

/** `stream`, `whole`: an answer in pieces and in one. `tool`: a call of the agent's own tool. `limit`: the most tokens are kept. */
export const servers = [
  {
    name: "LiteLLM proxy",
    python: ["litellm[proxy]"],
    async start({ bin, folder, port, simulator, launch }) {
      const config = join(folder, "litellm.yaml");
      writeFileSync(
        config,
        `model_list:
  - model_name: chat
    litellm_params: { model: openai/small, api_base: "${simulator}/v1", api_key: none }
  - model_name: claude
    litellm_params: { model: anthropic/small, api_base: "${simulator}", api_key: none }
`,
      );
      // Without a key it does not start; this one is its own, made up for the test.
      const env = { LITELLM_MASTER_KEY: key };
      return launch(join(bin, "litellm"), ["--config", config, "--port", String(port)], "/health/liveliness", { env });
    },
    providers: (url) => ({
      "openai wire": { provider: `{ type: openai, baseUrl: "${url}/v1", apiKey: ${key} }`, model: "chat" },
      "anthropic wire": { provider: `{ type: anthropic, baseUrl: "${url}", apiKey: ${key} }`, model: "claude" },
      "responses wire": { provider: `{ type: openai-responses, baseUrl: "${url}/v1", apiKey: ${key} }`, model: "chat" },
    }),
    checks: ["stream", "whole", "tool"],
  },
  {
    name: "aimock",
    node: ["@copilotkit/aimock"],
    async start({ node, folder, port, launch }) {
      const script = join(node, "aimock.mjs");
      writeFileSync(
        script,
        `import { LLMock } from "@copilotkit/aimock";
const mock = new LLMock({ port: ${port} });
mock.onToolResult?.(/.*/, { content: "It is 391." });
mock.onMessage(/17/, { toolCalls: [{ name: "calculator", arguments: JSON.stringify({ expression: "17 * 23" }) }] });
mock.onMessage(/.*/, { content: "Hello from a mock." });
await mock.start();
`,
      );
      return launch(process.execPath, [script], "/", { cwd: folder });
    },
    providers: (url) => ({
      "openai wire": { provider: `{ type: openai, baseUrl: "${url}/v1", apiKey: none }`, model: "gpt-4o" },
      "responses wire": { provider: `{ type: openai-responses, baseUrl: "${url}/v1", apiKey: none }`, model: "gpt-4o" },
      "anthropic wire": {
        provider: `{ type: anthropic, baseUrl: "${url}", apiKey: none }`,
        model: "claude-sonnet-4-5",
      },
      "gemini wire": {
        provider: `{ type: gemini, baseUrl: "${url}/v1beta", apiKey: none }`,
        model: "gemini-2.5-flash",
      },
      "ollama wire": { provider: `{ type: ollama, baseUrl: "${url}" }`, model: "llama3" },
    }),
    checks: ["stream", "whole"],
  },
  {
    name: "llama.cpp server",
    python: ["xllamacpp", "gguf", "numpy"],
    async start({ python, root, folder, port, launch }) {
      const model = join(folder, "tiny.gguf");
      const made = spawnSync(python, [join(root, "test/servers/tiny_gguf.py"), model], { encoding: "utf8" });
      if (made.status !== 0) throw new Error(`no model: ${made.stderr.slice(-300)}`);
      return launch(python, [join(root, "test/servers/llama_server.py"), model, String(port)], "/health");
    },
    providers: (url) => ({
      "openai wire": { provider: `{ type: openai, baseUrl: "${url}/v1" }`, model: "tiny" },
    }),
    // A model of random weights calls no tools and never ends by itself: everything is asked with a limit.
    checks: ["stream", "whole", "limit"],
    limit: 24,
  },
  {
    name: "Ollama",
    command: "ollama",
    hint: "node scripts/build-ollama.mjs builds it",
    async start({ python, root, folder, port, launch }) {
      const environment = { OLLAMA_HOST: `127.0.0.1:${port}`, OLLAMA_MODELS: join(folder, "ollama") };
      const server = await launch("ollama", ["serve"], "/api/version", { env: environment });
      const model = join(folder, "ollama.gguf");
      const file = join(folder, "Modelfile");
      writeFileSync(file, `FROM ${model}\n`);
      const made = spawnSync(python ?? "python3", [join(root, "test/servers/tiny_gguf.py"), model], {
        encoding: "utf8",
      });
      if (made.status !== 0 || !existsSync(model)) throw new Error(`no model: ${made.stderr.slice(-300)}`);
      const env = { ...process.env, ...environment };
      const created = spawnSync("ollama", ["create", "tiny", "-f", file], { env, encoding: "utf8" });
      if (created.status !== 0) throw new Error(`ollama create: ${created.stderr.slice(-300)}`);
      return server;
    },
    python: ["gguf", "numpy"],
    providers: (url) => ({
      "its own wire": { provider: `{ type: ollama, baseUrl: "${url}" }`, model: "tiny" },
      "openai wire": { provider: `{ type: openai, baseUrl: "${url}/v1" }`, model: "tiny" },
      // It keeps the limit there, and calls what it has cut complete.
      "responses wire": {
        provider: `{ type: openai-responses, baseUrl: "${url}/v1" }`,
        model: "tiny",
        checks: ["stream", "whole", "bound"],
      },
      "anthropic wire": { provider: `{ type: anthropic, baseUrl: "${url}" }`, model: "tiny" },
    }),
    checks: ["stream", "whole", "limit"],
    embeds: ["its own wire", "openai wire"],
    limit: 24,
  },
];
