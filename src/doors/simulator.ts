// Written by npm run generate.

import * as face from "../../plugins/simulator/server.ts";
import { VenturiError } from "../core/errors/errors.ts";
import { makeDoors } from "./door.ts";

export * from "../../plugins/simulator/server.ts";

const { door } = makeDoors((op, message, cause) => new VenturiError(op, "invalid_input", message, { cause }), {});
export const startSimulator = door(
  "simulator.startSimulator",
  face.startSimulator,
  "options: object|undefined => promise",
);
