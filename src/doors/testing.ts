// Written by npm run generate.
import { VenturiError } from "../core/errors/errors.ts";
import * as face from "../testing.ts";
import { makeDoors } from "./door.ts";
import { handles } from "./handles.ts";

export * from "../testing.ts";

const { door, doorOfClass } = makeDoors(
  (op, message, cause) => new VenturiError(op, "invalid_input", message, { cause }),
  handles,
);
export const ScriptedModel = doorOfClass(
  "testing.ScriptedModel",
  face.ScriptedModel,
  "script: array, argument 2: object|undefined",
  { assertUsed: "" },
);
export const ScriptedRuns = doorOfClass(
  "testing.ScriptedRuns",
  face.ScriptedRuns,
  "scripts: object, onEdge: object|undefined",
  {
    start: "request: object, options: object|undefined => promise",
    fork: "run: string => promise",
    follow: "run: string, options: object|undefined with signal => stream",
    events: "run: string, argument 2: object|undefined => promise",
    feed: "argument 1: object|undefined with signal => stream",
    get: "run: string => promise",
    totals: "query: object, by: string|undefined => promise",
    usage: " => promise",
    list: "query: object => promise",
    cancel: "run: string, reason: string|undefined, details: object|undefined => promise",
    signal: "run: string, kind: string, body: object, id: string|undefined => promise",
    countInput: "argument 1: object => promise",
    embed: "argument 1: object => promise",
    remove: "run: string => promise",
    giveFeedback: "run: string, given: object => promise",
    feedback: "run: string => promise",
    wires: "run: string => promise",
    contentPieces: "run: string => promise",
    content: "run: string => promise",
    pending: "run: string => promise",
    agents: "",
  },
);
export const VirtualClock = doorOfClass("testing.VirtualClock", face.VirtualClock, "start: number|undefined", {
  now: "",
  monotonic: "",
  after: "ms: number, callback: function",
  turn: "callback: function",
  advance: "ms: number => promise",
  next: " => promise",
});
export const agentContract = door("testing.agentContract", face.agentContract, "name: string, subject: object");
export const boxPlugin = door("testing.boxPlugin", face.boxPlugin, "name: string => promise");
export const callTool = door(
  "testing.callTool",
  face.callTool,
  "tool: object, input: object, given: object|undefined with signal => promise",
);
export const channelContract = door(
  "testing.channelContract",
  face.channelContract,
  "name: string, argument 2: object",
);
export const journalContract = door("testing.journalContract", face.journalContract, "name: string, subject: object");
export const jsonSchemaOf = door("testing.jsonSchemaOf", face.jsonSchemaOf, "tool: object");
export const memoryContract = door("testing.memoryContract", face.memoryContract, "name: string, subject: object");
export const providerContract = door(
  "testing.providerContract",
  face.providerContract,
  "name: string, subject: object",
);
export const schemaOf = door("testing.schemaOf", face.schemaOf, "tool: object");
export const silentToolContext = door("testing.silentToolContext", face.silentToolContext, "");
export const testPluginContext = door("testing.testPluginContext", face.testPluginContext, "given: object|undefined");
export const testVenturi = door("testing.testVenturi", face.testVenturi, "argument 1: object => promise TestVenturi");
export const toolContext = door(
  "testing.toolContext",
  face.toolContext,
  "context: any, more: object|undefined with signal",
);
export const toolContract = door("testing.toolContract", face.toolContract, "name: string, subject: object");
export const toolNamed = door("testing.toolNamed", face.toolNamed, "source: object, name: string");
