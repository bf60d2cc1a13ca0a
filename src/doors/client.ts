// Written by npm run generate.

import * as face from "../client/client.ts";
import { ClientError } from "../client/client-error.ts";
import { makeDoors } from "./door.ts";

export * from "../client/client.ts";

const { door, doorOfClass } = makeDoors(
  (op, err, cause) => new ClientError({ op, code: "invalid_input", err }, { cause }),
  {
    Run: {
      get: "argument 1: object|undefined => promise",
      events: "options: object|undefined => stream",
      batches: "options: object|undefined => stream",
      page: "argument 1: object|undefined => promise",
      result: "options: object|undefined => promise",
      approve: "call: string, answer: object|undefined => promise",
      deny: "call: string, answer: object|undefined => promise",
      steer: "text: string, argument 2: object|undefined => promise",
      cancel: "argument 1: object|undefined => promise",
      fork: "argument 1: object => promise Run",
      remove: "argument 1: object|undefined => promise",
    },
  },
);
export const VenturiClient = doorOfClass("client.VenturiClient", face.VenturiClient, "options: object|undefined", {
  start: "request: object, argument 2: object|undefined => promise Run",
  run: "id: string => Run",
  runs: "argument 1: object|undefined => promise",
  sessions: "argument 1: object|undefined => promise",
  session: "id: string, argument 2: object|undefined => promise",
  removeSession: "id: string, argument 2: object|undefined => promise",
  approvals: "argument 1: object|undefined => promise",
  me: "argument 1: object|undefined => promise",
  agents: "argument 1: object|undefined => promise",
  feed: "options: object|undefined => stream",
  request: "call: object => promise",
  close: "",
});
export const isTerminal = door("client.isTerminal", face.isTerminal, "event: object|undefined");
