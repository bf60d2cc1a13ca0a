// Written by npm run generate.

import * as face from "../client/client.ts";
import { ClientError } from "../client/client-error.ts";
import { makeDoors } from "./door.ts";

export * from "../client/client.ts";

const { door, doorOfClass } = makeDoors(
  (op, err, cause) => new ClientError({ op, code: "invalid_input", err }, { cause }),
  {
    Run: {
      get: "argument 1: object|undefined with signal => promise",
      events: "options: object|undefined with signal => stream",
      batches: "options: object|undefined with signal => stream",
      page: "argument 1: object|undefined with signal => promise",
      result: "options: object|undefined with signal => promise",
      approve: "call: string, answer: object|undefined with signal => promise",
      deny: "call: string, answer: object|undefined with signal => promise",
      answer: "call: string, answer: any, options: object|undefined with signal => promise",
      decline: "call: string, options: object|undefined with signal => promise",
      steer: "text: string, options: object|undefined with signal => promise",
      pause: "options: object|undefined with signal => promise",
      resume: "options: object|undefined with signal => promise",
      cancel: "argument 1: object|undefined with signal => promise",
      fork: "argument 1: object with signal => promise Run",
      giveFeedback: "argument 1: object with signal => promise",
      feedback: "argument 1: object|undefined with signal => promise",
      remove: "argument 1: object|undefined with signal => promise",
    },
  },
);
export const VenturiClient = doorOfClass("client.VenturiClient", face.VenturiClient, "options: object|undefined", {
  start: "request: object, options: object|undefined with signal => promise Run",
  run: "id: string => Run",
  runs: "argument 1: object|undefined with signal => promise",
  sessions: "argument 1: object|undefined with signal => promise",
  session: "id: string, argument 2: object|undefined with signal => promise",
  removeSession: "id: string, argument 2: object|undefined with signal => promise",
  questions: "argument 1: object|undefined with signal => promise",
  approvals: "argument 1: object|undefined with signal => promise",
  me: "argument 1: object|undefined with signal => promise",
  agents: "argument 1: object|undefined with signal => promise",
  pauseAgent: "agent: string, options: object|undefined with signal => promise",
  resumeAgent: "agent: string, options: object|undefined with signal => promise",
  feed: "options: object|undefined with signal => stream",
  request: "call: object with signal => promise",
  close: "",
});
export const isTerminal = door("client.isTerminal", face.isTerminal, "event: object|undefined");
