// Written by npm run generate.
import { VenturiError } from "../core/errors/errors.ts";
import * as face from "../index.ts";
import { makeDoors } from "./door.ts";
import { handles } from "./handles.ts";

export * from "../index.ts";

const { door, doorOfClass } = makeDoors(
  (op, message, cause) => new VenturiError(op, "invalid_input", message, { cause }),
  handles,
);
export const Chunks = doorOfClass("venturi.Chunks", face.Chunks, "", { of: "event: object" });
export const a2a = door("venturi.a2a", face.a2a, "given: object");
export const agent = door("venturi.agent", face.agent, "options: object => Agent");
export const anthropic = door("venturi.anthropic", face.anthropic, "given: object|undefined");
export const bedrock = door("venturi.bedrock", face.bedrock, "given: object|undefined");
export const calculator = door("venturi.calculator", face.calculator, "given: object|undefined");
export const chain = door("venturi.chain", face.chain, "models: array, settings: object|undefined");
export const clock = door("venturi.clock", face.clock, "given: object|undefined");
export const context = door("venturi.context", face.context, "argument 1: object");
export const createTelemetry = door(
  "venturi.createTelemetry",
  face.createTelemetry,
  "settings: object, parts: object => promise",
);
export const files = door("venturi.files", face.files, "given: object");
export const gemini = door("venturi.gemini", face.gemini, "given: object|undefined");
export const guardPlugin = door("venturi.guardPlugin", face.guardPlugin, "plugin: string, given: object|undefined");
export const http = door("venturi.http", face.http, "given: object");
export const isWhole = door("venturi.isWhole", face.isWhole, "call: object");
export const jsonSchema = door("venturi.jsonSchema", face.jsonSchema, "schema: object");
export const judge = door("venturi.judge", face.judge, "given: object");
export const mcp = door("venturi.mcp", face.mcp, "given: object");
export const memory = door("venturi.memory", face.memory, "given: object|undefined");
export const nats = door("venturi.nats", face.nats, "options: object");
export const ollama = door("venturi.ollama", face.ollama, "given: object|undefined");
export const openVenturi = door("venturi.openVenturi", face.openVenturi, "app: object => promise Venturi");
export const openai = door("venturi.openai", face.openai, "given: object|undefined");
export const openaiResponses = door("venturi.openaiResponses", face.openaiResponses, "given: object|undefined");
export const postgres = door("venturi.postgres", face.postgres, "options: object");
export const providerPlugin = door(
  "venturi.providerPlugin",
  face.providerPlugin,
  "plugin: string, given: object|undefined",
);
export const rules = door("venturi.rules", face.rules, "given: object");
export const shell = door("venturi.shell", face.shell, "given: object");
export const simulator = door("venturi.simulator", face.simulator, "given: object|undefined");
export const sqlite = door("venturi.sqlite", face.sqlite, "path: object|string|undefined");
export const tool = door("venturi.tool", face.tool, "options: object");
export const toolPlugin = door("venturi.toolPlugin", face.toolPlugin, "plugin: string, given: object|undefined");
