/** Who is tried: the packages to install, the script that uses them, and the agents it is run against. */
const openai = ["chat", "responses"];

export const clients = [
  {
    name: "openai-python",
    kind: "python",
    packages: ["openai"],
    script: "openai_python.py",
    env: { EMBED_MODEL: "chat" },
    models: [...openai, "messages"],
  },
  { name: "litellm", kind: "python", packages: ["litellm"], script: "litellm_client.py", models: openai },
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
];
