// Written by npm run generate.
import { VenturiError } from "../core/errors/errors.ts";
import * as face from "../plugin.ts";
import { makeDoors } from "./door.ts";

export * from "../plugin.ts";

const { door, doorOfClass } = makeDoors(
  (op, message, cause) => new VenturiError(op, "plugin_failed", message, { cause }),
  {},
);
export const Accumulator = doorOfClass("plugin.Accumulator", face.Accumulator, "settings: object|undefined", {
  push: "delta: object",
  finish: "finish: string",
});
export const Billing = doorOfClass("plugin.Billing", face.Billing, "payer: object", {
  useAccounts: "",
  held: "holds: array",
  add: "event: object",
  take: "",
  forEnd: "",
});
export const DigestFold = doorOfClass(
  "plugin.DigestFold",
  face.DigestFold,
  "run: string, request: object, priceOf: function|undefined",
  { add: "event: object", end: "last: object" },
);
export const Egress = doorOfClass("plugin.Egress", face.Egress, "options: object", {
  check: "url: object",
  mayBePrivate: "url: object",
  lookup: "allowed: array",
});
export const ExactJson = doorOfClass("plugin.ExactJson", face.ExactJson, "text: string", { toJSON: "" });
export const Files = doorOfClass("plugin.Files", face.Files, "runs: object", {
  add: "argument 1: object => promise",
  get: "id: string => promise",
  data: "id: string => promise",
  remove: "id: string => promise",
  list: " => promise",
});
export const JsonScanner = doorOfClass("plugin.JsonScanner", face.JsonScanner, "", { push: "text: string" });
export const NamedFiles = doorOfClass("plugin.NamedFiles", face.NamedFiles, "runs: object, most: number", {
  load: "id: any => promise",
});
export const Paragraphs = doorOfClass("plugin.Paragraphs", face.Paragraphs, "", {
  begin: "round: number",
  note: "event: object",
});
export const Pipeline = doorOfClass(
  "plugin.Pipeline",
  face.Pipeline,
  "op: string, wire: object, settings: object|undefined",
  { push: "read: array|object, out: array", end: "out: array" },
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
export const RepeatedJson = doorOfClass(
  "plugin.RepeatedJson",
  face.RepeatedJson,
  "varying: array, shared: object|undefined",
  { parse: "text: string" },
);
export const RichOutput = doorOfClass(
  "plugin.RichOutput",
  face.RichOutput,
  "text: string, images: array|undefined, files: array|undefined",
  {},
);
export const RoundTexts = doorOfClass("plugin.RoundTexts", face.RoundTexts, "", { add: "event: object" });
export const Sentences = doorOfClass("plugin.Sentences", face.Sentences, "locale: string|undefined", {
  push: "text: string",
  flush: "",
});
export const SharedForms = doorOfClass("plugin.SharedForms", face.SharedForms, "", {
  find: "text: string",
  add: "template: object",
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
export const StallWatch = doorOfClass(
  "plugin.StallWatch",
  face.StallWatch,
  "socket: array|object, limit: number, stalled: function",
  { stop: "" },
);
export const StoredSchedules = doorOfClass("plugin.StoredSchedules", face.StoredSchedules, "values: object", {
  version: " => promise",
  add: "schedule: object => promise",
  get: "tenant: string, name: string => promise",
  finish: "schedule: object => promise",
  remove: "tenant: string, name: string => promise",
  all: "of: object|undefined => stream",
});
export const ToldFields = doorOfClass("plugin.ToldFields", face.ToldFields, "", {
  news: "fields: array|object|undefined",
});
export const Transcript = doorOfClass("plugin.Transcript", face.Transcript, "", { push: "deltas: array" });
export const UsageSums = doorOfClass("plugin.UsageSums", face.UsageSums, "keys: array|undefined", {
  add: "entry: object",
});
export const VendorAnswer = doorOfClass("plugin.VendorAnswer", face.VendorAnswer, "wire: string", {
  add: "event: object",
  usage: "own: array|object, total: object",
});
export const addUsage = door("plugin.addUsage", face.addUsage, "left: object, right: object");
export const answerOf = door("plugin.answerOf", face.answerOf, "wire: string, fields: array|object|undefined");
export const argumentsObject = door("plugin.argumentsObject", face.argumentsObject, "call: object");
export const argumentsText = door("plugin.argumentsText", face.argumentsText, "call: object");
export const asksDigests = door("plugin.asksDigests", face.asksDigests, "argument 1: object");
export const atPointer = door("plugin.atPointer", face.atPointer, "value: any, pointer: string");
export const audioFormat = door("plugin.audioFormat", face.audioFormat, "mediaType: string");
export const awaitRun = door("plugin.awaitRun", face.awaitRun, "served: object, watch: function|undefined => promise");
export const beginning = door("plugin.beginning", face.beginning, "text: string, length: number");
export const callRequest = door("plugin.callRequest", face.callRequest, "settings: object");
export const callerTrace = door("plugin.callerTrace", face.callerTrace, "argument 1: object");
export const channelOptions = door("plugin.channelOptions", face.channelOptions, "argument 1: object");
export const checkedUsage = door("plugin.checkedUsage", face.checkedUsage, "usage: object");
export const chunkKind = door("plugin.chunkKind", face.chunkKind, "out: array, from: number|undefined");
export const claimedRequest = door("plugin.claimedRequest", face.claimedRequest, "json: string, agent: string");
export const codeInBody = door("plugin.codeInBody", face.codeInBody, "body: any");
export const codeOfStatus = door("plugin.codeOfStatus", face.codeOfStatus, "status: number");
export const collectWith = door(
  "plugin.collectWith",
  face.collectWith,
  "decoder: object, json: any, text: string|undefined",
);
export const complaintsOf = door(
  "plugin.complaintsOf",
  face.complaintsOf,
  "schema: function|object, value: any, error: object",
);
export const costOf = door("plugin.costOf", face.costOf, "usage: object, price: object|undefined");
export const costOfAll = door("plugin.costOfAll", face.costOfAll, "argument 1: object");
export const count = door("plugin.count", face.count, "value: any");
export const dataFrame = door("plugin.dataFrame", face.dataFrame, "value: any");
export const dataUrl = door("plugin.dataUrl", face.dataUrl, "argument 1: object");
export const dayOf = door("plugin.dayOf", face.dayOf, "at: number");
export const decodedFrom = door("plugin.decodedFrom", face.decodedFrom, "generation: object");
export const definePlugin = door("plugin.definePlugin", face.definePlugin, "definition: object");
export const defineTool = door("plugin.defineTool", face.defineTool, "tool: object");
export const deltasOf = door("plugin.deltasOf", face.deltasOf, "generation: object");
export const didYouMean = door("plugin.didYouMean", face.didYouMean, "word: string, candidates: array|object|string");
export const durationOf = door("plugin.durationOf", face.durationOf, "bytes: number, argument 2: object");
export const egressFetch = door("plugin.egressFetch", face.egressFetch, "egress: object");
export const encodeEvent = door("plugin.encodeEvent", face.encodeEvent, "event: object");
export const encodedSize = door("plugin.encodedSize", face.encodedSize, "event: object");
export const endOfRun = door("plugin.endOfRun", face.endOfRun, "recorded: object, events: array|object");
export const errorCode = door("plugin.errorCode", face.errorCode, "body: any");
export const errorText = door("plugin.errorText", face.errorText, "body: any");
export const eventFrame = door("plugin.eventFrame", face.eventFrame, "event: object");
export const exactJson = door("plugin.exactJson", face.exactJson, "value: any");
export const exactTexts = door("plugin.exactTexts", face.exactTexts, "request: array|function|object");
export const excessOf = door("plugin.excessOf", face.excessOf, "value: any, limits: object|undefined");
export const excessOfJson = door("plugin.excessOfJson", face.excessOfJson, "text: string, limits: object|undefined");
export const explainRun = door(
  "plugin.explainRun",
  face.explainRun,
  "source: object, run: string, depth: number|undefined => promise",
);
export const fileAsText = door("plugin.fileAsText", face.fileAsText, "file: object");
export const fileText = door("plugin.fileText", face.fileText, "argument 1: object");
export const fitPage = door("plugin.fitPage", face.fitPage, "items: array|object, sizeOf: function");
export const forgetEncoding = door("plugin.forgetEncoding", face.forgetEncoding, "event: object");
export const framesOf = door("plugin.framesOf", face.framesOf, "framing: string, limit: number|undefined");
export const fromJson = door("plugin.fromJson", face.fromJson, "json: object");
export const fromToolOptions = door("plugin.fromToolOptions", face.fromToolOptions, "options: object");
export const generationOf = door("plugin.generationOf", face.generationOf, "deltas: array");
export const hasLateSystem = door(
  "plugin.hasLateSystem",
  face.hasLateSystem,
  "messages: array, keeps: function|undefined",
);
export const header = door("plugin.header", face.header, "headers: array|object, name: string");
export const heartbeatFrame = door("plugin.heartbeatFrame", face.heartbeatFrame, "run: string");
export const hookName = door("plugin.hookName", face.hookName, "op: string, hooks: object");
export const httpError = door("plugin.httpError", face.httpError, "thrown: any");
export const httpFailure = door("plugin.httpFailure", face.httpFailure, "op: string, failure: object");
export const httpProvider = door("plugin.httpProvider", face.httpProvider, "provider: object");
export const inOrder = door("plugin.inOrder", face.inOrder, "rows: array, by: array");
export const inputText = door("plugin.inputText", face.inputText, "argument 1: object");
export const isAnswered = door("plugin.isAnswered", face.isAnswered, "event: object");
export const isAsked = door("plugin.isAsked", face.isAsked, "event: object");
export const isCode = door("plugin.isCode", face.isCode, "value: any");
export const isMediaType = door("plugin.isMediaType", face.isMediaType, "text: string");
export const isSchema = door("plugin.isSchema", face.isSchema, "value: any");
export const isSignalKind = door("plugin.isSignalKind", face.isSignalKind, "kind: any");
export const isStep = door("plugin.isStep", face.isStep, "event: object");
export const isStrictSchema = door("plugin.isStrictSchema", face.isStrictSchema, "schema: any");
export const isTerminal = door("plugin.isTerminal", face.isTerminal, "event: object");
export const isText = door("plugin.isText", face.isText, "mediaType: string");
export const isToolSource = door("plugin.isToolSource", face.isToolSource, "value: object");
export const isWhole = door("plugin.isWhole", face.isWhole, "argument 1: object");
export const joinNative = door("plugin.joinNative", face.joinNative, "...all: any");
export const joinWires = door("plugin.joinWires", face.joinWires, "pieces: array");
export const joined = door("plugin.joined", face.joined, "one: array|object, other: array|object, how: string");
export const jsonAround = door("plugin.jsonAround", face.jsonAround, "value: any, long: number");
export const list = door("plugin.list", face.list, "value: any");
export const listedRequest = door("plugin.listedRequest", face.listedRequest, "json: string, agent: string");
export const mayBeCut = door("plugin.mayBeCut", face.mayBeCut, "events: array");
export const mergeUsage = door("plugin.mergeUsage", face.mergeUsage, "earlier: object|undefined, later: object");
export const messageOf = door("plugin.messageOf", face.messageOf, "thrown: any");
export const metadataText = door("plugin.metadataText", face.metadataText, "value: any");
export const nameHooks = door("plugin.nameHooks", face.nameHooks, "hooks: object, name: string");
export const nameRun = door("plugin.nameRun", face.nameRun, "reply: object, run: string");
export const named = door("plugin.named", face.named, "name: string, schema: function|object");
export const namesPrivate = door("plugin.namesPrivate", face.namesPrivate, "url: object");
export const nativeOf = door(
  "plugin.nativeOf",
  face.nativeOf,
  "wire: string, object: array|object, argument 3: object",
);
export const nextTurn = door("plugin.nextTurn", face.nextTurn, "clock: object => promise");
export const noDigests = door("plugin.noDigests", face.noDigests, "why: string");
export const notCounted = door("plugin.notCounted", face.notCounted, "");
export const objectIn = door("plugin.objectIn", face.objectIn, "text: string");
export const otherFields = door(
  "plugin.otherFields",
  face.otherFields,
  "object: array|object, known: array|object, at: string|undefined",
);
export const parseDataUrl = door("plugin.parseDataUrl", face.parseDataUrl, "url: string");
export const parseJson = door("plugin.parseJson", face.parseJson, "text: string");
export const parseUntrusted = door(
  "plugin.parseUntrusted",
  face.parseUntrusted,
  "text: string, limits: object|undefined",
);
export const pendingOf = door("plugin.pendingOf", face.pendingOf, "argument 1: object");
export const portOf = door("plugin.portOf", face.portOf, "url: object");
export const prefaced = door("plugin.prefaced", face.prefaced, "messages: array, keeps: function|undefined");
export const provide = door("plugin.provide", face.provide, "token: symbol, value: any");
export const pruneInSteps = door(
  "plugin.pruneInSteps",
  face.pruneInSteps,
  "argument 1: object with signal, step: function => promise",
);
export const questionsOpened = door("plugin.questionsOpened", face.questionsOpened, "events: array");
export const readForm = door("plugin.readForm", face.readForm, "body: any, contentType: string|undefined => promise");
export const readerGone = door("plugin.readerGone", face.readerGone, "response: object");
export const reasonsOf = door("plugin.reasonsOf", face.reasonsOf, "thrown: any");
export const record = door("plugin.record", face.record, "value: any");
export const redactor = door("plugin.redactor", face.redactor, "secrets: array|object");
export const retryAfter = door("plugin.retryAfter", face.retryAfter, "error: object");
export const retryField = door("plugin.retryField", face.retryField, "error: object");
export const retryHint = door("plugin.retryHint", face.retryHint, "error: object");
export const retryHints = door(
  "plugin.retryHints",
  face.retryHints,
  "status: number, headers: array|object, body: any",
);
export const separated = door("plugin.separated", face.separated, "frame: object");
export const shownOutput = door("plugin.shownOutput", face.shownOutput, "argument 1: object");
export const sleep = door("plugin.sleep", face.sleep, "clock: object, ms: number, signal: object|undefined => promise");
export const sortCursor = door("plugin.sortCursor", face.sortCursor, "cursor: string");
export const sourceOf = door("plugin.sourceOf", face.sourceOf, "runs: object");
export const startRun = door("plugin.startRun", face.startRun, "opening: object, request: object => promise");
export const statusInBody = door("plugin.statusInBody", face.statusInBody, "body: any");
export const storedBody = door("plugin.storedBody", face.storedBody, "json: string");
export const storedDigest = door("plugin.storedDigest", face.storedDigest, "json: null|string|undefined");
export const storedEvents = door("plugin.storedEvents", face.storedEvents, "lines: array");
export const streamRun = door(
  "plugin.streamRun",
  face.streamRun,
  "served: object, project: function, argument 3: object|undefined => promise",
);
export const sumUsage = door("plugin.sumUsage", face.sumUsage, "entries: array|object, argument 2: object");
export const terminalOf = door("plugin.terminalOf", face.terminalOf, "batches: object => promise");
export const textAt = door("plugin.textAt", face.textAt, "text: string, place: array");
export const textMessage = door("plugin.textMessage", face.textMessage, "role: string, text: string");
export const textOf = door("plugin.textOf", face.textOf, "message: object");
export const textOnly = door("plugin.textOnly", face.textOnly, "type: string");
export const textUnlessSame = door("plugin.textUnlessSame", face.textUnlessSame, "text: string, value: array|object");
export const textsAt = door("plugin.textsAt", face.textsAt, "text: string, place: array");
export const timingOf = door("plugin.timingOf", face.timingOf, "times: object, now: number|undefined");
export const toAuditRecord = door("plugin.toAuditRecord", face.toAuditRecord, "argument 1: object");
export const toClaim = door("plugin.toClaim", face.toClaim, "row: object, worker: string");
export const toEvents = door("plugin.toEvents", face.toEvents, "records: array, after: number, limit: number");
export const toOwnership = door("plugin.toOwnership", face.toOwnership, "row: object, worker: string");
export const toRow = door("plugin.toRow", face.toRow, "row: object");
export const toSignal = door("plugin.toSignal", face.toSignal, "row: object");
export const tooManyRuns = door("plugin.tooManyRuns", face.tooManyRuns, "most: number");
export const traceHeadersIn = door("plugin.traceHeadersIn", face.traceHeadersIn, "argument 1: object");
export const traceHeadersOf = door("plugin.traceHeadersOf", face.traceHeadersOf, "headers: array|object");
export const traceparentOf = door("plugin.traceparentOf", face.traceparentOf, "header: array|string|undefined");
export const untranslated = door("plugin.untranslated", face.untranslated, "argument 1: object");
export const usageCsv = door("plugin.usageCsv", face.usageCsv, "argument 1: object");
export const usageEntry = door(
  "plugin.usageEntry",
  face.usageEntry,
  "event: object, model: string, argument 3: object",
);
export const usageQuery = door("plugin.usageQuery", face.usageQuery, "asked: object, now: number");
export const usageReport = door("plugin.usageReport", face.usageReport, "argument 1: object, rows: array");
export const usdOf = door("plugin.usdOf", face.usdOf, "argument 1: object");
export const varying = door("plugin.varying", face.varying, "read: array, skipped: array|undefined");
export const vendorWords = door("plugin.vendorWords", face.vendorWords, "body: any");
export const warningsText = door("plugin.warningsText", face.warningsText, "fields: array|object|string");
export const withCost = door("plugin.withCost", face.withCost, "usage: array|function|object, bill: object");
export const withFields = door("plugin.withFields", face.withFields, "element: array|object, native: object|undefined");
export const withNative = door("plugin.withNative", face.withNative, "element: array|object, native: object|undefined");
export const withoutGenerations = door("plugin.withoutGenerations", face.withoutGenerations, "provider: object");
export const word = door("plugin.word", face.word, "value: any");
export const wordsOf = door("plugin.wordsOf", face.wordsOf, "text: string");
export const wrap = door("plugin.wrap", face.wrap, "op: string, thrown: any, fallback: string|undefined");
export const writeBatches = door(
  "plugin.writeBatches",
  face.writeBatches,
  "batches: object, writer: object, project: function => promise",
);
