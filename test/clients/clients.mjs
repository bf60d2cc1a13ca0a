/**
 * Who is tried: the packages to install, the script that uses them, and the agents it is run against. `place`: an
 * environment of its own, for a client whose versions of the others' packages are older. Java, Go and Rust are built from
 * the folders of that name, whose manifests pin the versions; `script` is the class or program. A script also has
 * PARALLEL_MODEL, an agent on the same wire whose model makes two calls at once, their fragments in turns.
 */
import { readFileSync } from "node:fs";

const openai = ["chat", "responses"];
const all = [...openai, "messages"];

/** The version that a manifest pins. */
function pinned(file, name) {
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  const after = text.slice(text.search(new RegExp(`\\b${name}(?![\\w-])`)));
  return /\d+\.\d+\.\d+[\w.-]*/.exec(after)?.[0] ?? "";
}

export const clients = [
  {
    name: "openai-python",
    kind: "python",
    packages: ["openai"],
    script: "openai_python.py",
    env: { EMBED_MODEL: "chat" },
    models: [...openai, "messages"],
  },
  { name: "litellm", kind: "python", packages: ["litellm", "mcp"], script: "litellm_client.py", models: openai },
  {
    name: "langchain-openai",
    kind: "python",
    packages: ["langchain-openai"],
    script: "langchain_openai_client.py",
    models: openai,
  },
  {
    name: "pydantic-ai",
    kind: "python",
    packages: ["pydantic-ai-slim[openai]"],
    script: "pydantic_ai_client.py",
    models: openai,
  },
  {
    name: "openai-agents-python",
    kind: "python",
    packages: ["openai-agents"],
    script: "openai_agents_python.py",
    models: openai,
  },
  { name: "instructor", kind: "python", packages: ["instructor"], script: "instructor_client.py", models: openai },
  {
    name: "@ai-sdk/openai",
    kind: "node",
    packages: ["@ai-sdk/openai", "ai", "zod"],
    script: "ai_sdk_openai.mjs",
    models: openai,
  },
  {
    name: "@openai/agents",
    kind: "node",
    packages: ["@openai/agents", "zod"],
    script: "openai_agents_js.mjs",
    models: openai,
  },
  { name: "codex exec", kind: "node", packages: ["@openai/codex"], script: "codex.mjs", models: ["codex"] },
  {
    name: "anthropic-python",
    kind: "python",
    packages: ["anthropic"],
    script: "anthropic_python.py",
    models: ["messages", "chat"],
  },
  {
    name: "langchain-anthropic",
    kind: "python",
    packages: ["langchain-anthropic"],
    script: "langchain_anthropic_client.py",
    models: ["messages", "chat"],
  },
  {
    name: "claude code -p",
    kind: "node",
    packages: ["@anthropic-ai/claude-code"],
    script: "claude_code.mjs",
    models: ["claude"],
  },
  {
    name: "openai (Node)",
    kind: "node",
    packages: ["openai", "zod"],
    script: "openai_node.mjs",
    env: { EMBED_MODEL: "chat" },
    models: [...openai, "messages"],
  },
  {
    name: "@anthropic-ai/sdk",
    kind: "node",
    packages: ["@anthropic-ai/sdk", "zod"],
    script: "anthropic_node.mjs",
    models: ["messages", "chat"],
  },
  {
    name: "AI SDK, objects and files",
    kind: "node",
    packages: ["@ai-sdk/anthropic", "@ai-sdk/openai", "ai", "zod"],
    script: "ai_sdk_more.mjs",
    env: { EMBED_MODEL: "chat" },
    models: [...openai, "messages"],
  },
  { name: "useChat's transport", kind: "node", packages: ["ai"], script: "use_chat.mjs", models: ["chat", "messages"] },
  {
    name: "langchain (JS)",
    kind: "node",
    packages: ["@langchain/openai", "@langchain/anthropic", "@langchain/core", "langchain", "zod"],
    script: "langchain_js.mjs",
    env: { EMBED_MODEL: "chat" },
    models: [...openai, "messages"],
  },
  {
    name: "llama-index",
    kind: "python",
    place: "frameworks",
    packages: ["llama-index-llms-openai"],
    script: "llama_index_client.py",
    env: { OPENAI_ALIAS: "gpt-4o" },
    models: ["chat"],
  },
  {
    name: "smolagents",
    kind: "python",
    place: "frameworks",
    packages: ["smolagents"],
    script: "smolagents_client.py",
    models: openai,
  },
  {
    name: "semantic-kernel",
    kind: "python",
    place: "frameworks",
    packages: ["semantic-kernel", "anthropic"],
    script: "semantic_kernel_client.py",
    models: ["chat", "messages"],
  },
  {
    name: "autogen",
    kind: "python",
    place: "frameworks",
    packages: ["autogen-agentchat", "autogen-ext[openai]"],
    script: "autogen_client.py",
    models: openai,
  },
  { name: "aider", kind: "python", place: "aider", packages: ["aider-chat"], script: "aider.py", models: ["chat"] },
  {
    name: "LangChain4j",
    kind: "java",
    version: pinned("java/pom.xml", "langchain4j"),
    script: "LangChain4j",
    models: all,
  },
  {
    name: "openai-java",
    kind: "java",
    version: pinned("java/pom.xml", "openai-java"),
    script: "OpenAiJava",
    models: all,
  },
  { name: "openai-go", kind: "go", version: pinned("go/go.mod", "openai-go"), script: "openai", models: all },
  {
    name: "anthropic-sdk-go",
    kind: "go",
    version: pinned("go/go.mod", "anthropic-sdk-go"),
    script: "anthropic",
    models: ["messages", "chat"],
  },
  {
    name: "genai (Rust)",
    kind: "rust",
    version: pinned("rust/Cargo.toml", "genai"),
    script: "genai_client",
    models: all,
  },
  {
    name: "agno",
    kind: "python",
    place: "agents",
    packages: ["agno", "openai", "anthropic"],
    script: "agno_client.py",
    models: all,
  },
  {
    name: "haystack",
    kind: "python",
    place: "agents",
    packages: ["haystack-ai"],
    script: "haystack_client.py",
    models: openai,
  },
  {
    name: "strands",
    kind: "python",
    place: "agents",
    packages: ["strands-agents[openai,anthropic]"],
    script: "strands_client.py",
    models: all,
  },
  {
    name: "google-adk",
    kind: "python",
    place: "adk",
    packages: ["google-adk", "litellm", "mcp"],
    script: "google_adk_client.py",
    models: ["chat", "messages"],
  },
  {
    name: "Mastra",
    kind: "node",
    place: "node-mastra",
    packages: ["@mastra/core", "@ai-sdk/openai", "@ai-sdk/anthropic", "zod"],
    script: "mastra_client.mjs",
    models: all,
  },
  {
    name: "Genkit",
    kind: "node",
    place: "node-genkit",
    packages: ["genkit", "@genkit-ai/compat-oai"],
    script: "genkit_client.mjs",
    models: openai,
  },
  {
    name: "VoltAgent",
    kind: "node",
    place: "node-voltagent",
    packages: ["@voltagent/core", "@ai-sdk/openai@^3", "ai@^6", "zod"],
    script: "voltagent_client.mjs",
    models: openai,
  },
  {
    name: "LangGraph.js",
    kind: "node",
    place: "node-langgraph",
    packages: ["@langchain/langgraph", "@langchain/openai", "@langchain/anthropic", "@langchain/core", "zod"],
    script: "langgraph_client.mjs",
    models: all,
  },
];
