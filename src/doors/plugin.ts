// Written by npm run generate.
import { VenturiError } from "../core/errors/errors.ts";
import * as face from "../plugin.ts";
import { makeDoors } from "./door.ts";

export * from "../plugin.ts";

const { door, doorOfClass } = makeDoors(
  (op, message, cause) => new VenturiError(op, "plugin_failed", message, { cause }),
  {},
);
export const RichOutput = doorOfClass(
  "plugin.RichOutput",
  face.RichOutput,
  "text: string, images: array|undefined, files: array|undefined",
  {},
);
export const definePlugin = door("plugin.definePlugin", face.definePlugin, "definition: object");
export const defineTool = door("plugin.defineTool", face.defineTool, "tool: object");
export const encodeEvent = door("plugin.encodeEvent", face.encodeEvent, "event: object");
export const fromToolOptions = door("plugin.fromToolOptions", face.fromToolOptions, "options: object");
export const isTerminal = door("plugin.isTerminal", face.isTerminal, "event: object");
export const messageOf = door("plugin.messageOf", face.messageOf, "thrown: any");
export const provide = door("plugin.provide", face.provide, "token: symbol, value: any");
export const terminalOf = door("plugin.terminalOf", face.terminalOf, "batches: object => promise");
