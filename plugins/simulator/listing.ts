import { modelNames } from "./models.ts";
import { created } from "./wire.ts";

/** Response to anything that is not a generation: the models, in each wire's format, and a hint. */
export function describe(method: string, path: string): { status: number; body: unknown } {
  if (method === "GET" || method === "HEAD") {
    if (path === "/api/tags")
      return { status: 200, body: { models: modelNames.map((name) => ({ name, model: name })) } };
    if (path.endsWith("/v1beta/models")) return { status: 200, body: { models: modelNames.map(geminiModel) } };
    if (path.endsWith("/models")) return { status: 200, body: { object: "list", data: modelNames.map(openaiModel) } };
    if (path === "/") return { status: 200, body: { simulator: true, models: modelNames, paths } };
  }
  return {
    status: 404,
    body: { error: { message: `no such path: ${method} ${path}`, type: "not_found_error", paths } },
  };
}

const paths = [
  "POST /v1/chat/completions",
  "POST /v1/responses",
  "POST /v1/messages",
  "POST /v1beta/models/{model}:generateContent",
  "POST /v1beta/models/{model}:streamGenerateContent",
  "POST /api/chat",
  "GET /v1/models",
];

const openaiModel = (id: string) => ({
  id,
  object: "model",
  created,
  owned_by: "venturi",
  type: "model",
  display_name: id,
});

const geminiModel = (name: string) => ({
  name: `models/${name}`,
  displayName: name,
  supportedGenerationMethods: ["generateContent", "streamGenerateContent"],
});
