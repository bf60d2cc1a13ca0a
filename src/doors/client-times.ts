// Written by npm run generate.

import * as face from "../client/times.ts";
import { VenturiError } from "../core/errors/errors.ts";
import { makeDoors } from "./door.ts";

export * from "../client/times.ts";

const { door, doorOfClass } = makeDoors(
  (op, message, cause) => new VenturiError(op, "invalid_input", message, { cause }),
  {},
);
export const RunTimes = doorOfClass("client.RunTimes", face.RunTimes, "createdAt: number|undefined", {
  take: "event: object",
  until: "now: number",
  totals: "until: number|undefined",
  copy: "",
  carve: "argument 1: object",
  move: "from: array, argument 2: object, ms: number",
});
export const isPiece = door("client.isPiece", face.isPiece, "argument 1: object");
export const pausedName = door("client.pausedName", face.pausedName, "agent: string|undefined");
export const timingKey = door("client.timingKey", face.timingKey, "part: string");
