// Written by npm run generate.
import { VenturiError } from "../core/errors/errors.ts";
import * as face from "../plugin-channel.ts";
import { makeDoors } from "./door.ts";

export * from "../plugin-channel.ts";

const { door, doorOfClass } = makeDoors(
  (op, message, cause) => new VenturiError(op, "plugin_failed", message, { cause }),
  {},
);
export const Paragraphs = doorOfClass("plugin.Paragraphs", face.Paragraphs, "", {
  begin: "round: number",
  note: "event: object",
});
export const Sentences = doorOfClass("plugin.Sentences", face.Sentences, "locale: string|undefined", {
  push: "text: string",
  flush: "",
});
export const SseWriter = doorOfClass(
  "plugin.SseWriter",
  face.SseWriter,
  "reply: object, limits: object, argument 3: object|undefined",
  {
    header: "name: string, value: string",
    write: "text: string",
    end: "text: string|undefined",
    refuse: "argument 1: object, events: array",
    note: "event: object",
    destroy: "",
    open: "",
  },
);
export const awaitRun = door("plugin.awaitRun", face.awaitRun, "served: object, watch: function|undefined => promise");
export const channelOptions = door("plugin.channelOptions", face.channelOptions, "argument 1: object");
export const dataFrame = door("plugin.dataFrame", face.dataFrame, "value: any");
export const durationOf = door("plugin.durationOf", face.durationOf, "bytes: number, argument 2: object");
export const eventFrame = door("plugin.eventFrame", face.eventFrame, "event: object");
export const heartbeatFrame = door("plugin.heartbeatFrame", face.heartbeatFrame, "run: string");
export const httpError = door("plugin.httpError", face.httpError, "thrown: any");
export const nativeOf = door(
  "plugin.nativeOf",
  face.nativeOf,
  "wire: string, object: array|object, argument 3: object",
);
export const parseDataUrl = door("plugin.parseDataUrl", face.parseDataUrl, "url: string");
export const startRun = door("plugin.startRun", face.startRun, "opening: object, request: object => promise");
export const streamRun = door(
  "plugin.streamRun",
  face.streamRun,
  "served: object, project: function, argument 3: object|undefined => promise",
);
