// Written by npm run generate.
import { VenturiError } from "../core/errors/errors.ts";
import * as face from "../plugin-provider.ts";
import { makeDoors } from "./door.ts";

export * from "../plugin-provider.ts";

const { door, doorOfClass } = makeDoors(
  (op, message, cause) => new VenturiError(op, "plugin_failed", message, { cause }),
  {},
);
export const Quirks = doorOfClass("plugin.Quirks", face.Quirks, "entries: array|null|undefined", {
  count: "name: string",
  clear: "",
  delete: "key: string",
  forEach: "callbackfn: function, thisArg: any",
  get: "key: string",
  has: "key: string",
  set: "key: string, value: number",
  entries: "",
  keys: "",
  values: "",
});
export const Transcript = doorOfClass("plugin.Transcript", face.Transcript, "", { push: "deltas: array" });
export const argumentsObject = door("plugin.argumentsObject", face.argumentsObject, "call: object");
export const argumentsText = door("plugin.argumentsText", face.argumentsText, "call: object");
export const asCount = door("plugin.asCount", face.asCount, "value: any");
export const asList = door("plugin.asList", face.asList, "value: any");
export const asRecord = door("plugin.asRecord", face.asRecord, "value: any");
export const asText = door("plugin.asText", face.asText, "value: any");
export const codeInBody = door("plugin.codeInBody", face.codeInBody, "body: any");
export const collectWith = door(
  "plugin.collectWith",
  face.collectWith,
  "decoder: object, json: any, text: string|undefined",
);
export const dataUrl = door("plugin.dataUrl", face.dataUrl, "argument 1: object");
export const framesOf = door("plugin.framesOf", face.framesOf, "framing: string, limit: number|undefined");
export const httpProvider = door("plugin.httpProvider", face.httpProvider, "provider: object");
export const parseJson = door("plugin.parseJson", face.parseJson, "text: string");
export const textOf = door("plugin.textOf", face.textOf, "message: object");
export const withNative = door("plugin.withNative", face.withNative, "element: array|object, native: object|undefined");
