/**
 * What this repository's plugins share with the runtime beyond `venturi/plugin`. Not an API: it changes without notice, and the @venturi
 * packages use it only in the version they were released with.
 */
export { faultOf, readSchema } from "./agent/schema/json-schema.ts";
export { codes, isCode } from "./core/errors/codes.ts";
export { complaintsOf } from "./core/errors/complaints.ts";
export { fromJson, messageOf, reasonsOf, VenturiError, wrap } from "./core/errors/errors.ts";
export { parseUntrusted } from "./core/errors/untrusted-json.ts";
export { Journal, keyMemory, tooManyRuns } from "./core/journal/journal.ts";
export { mostListed } from "./core/journal/key-values.ts";
export { amountOf, sumUsage, UsageSums, usageFigures, usageKeys } from "./core/journal/money.ts";
export {
  endNotifying,
  laneKey,
  type Notified,
  notifiedOf,
  notifyOf,
  notifySpace,
} from "./core/journal/notify-lanes.ts";
export { pruneInSteps } from "./core/journal/prune-steps.ts";
export { toAuditRecord, toClaim, toEvents, toOwnership, toRow, toSignal } from "./core/journal/sql-rows.ts";
export { claimedRequest, listedRequest, storedBody, storedEvents } from "./core/journal/stored.ts";
export { type SumsEngine, totalsFromSums } from "./core/journal/sums-sql.ts";
export { UsageReport, usageCsv, usageQuery, usageReport } from "./core/journal/usage-report.ts";
export {
  argumentsObject,
  argumentsText,
  fileAsText,
  fileText,
  objectIn,
  textMessage,
  textOf,
  textUnlessSame,
} from "./core/model/messages.ts";
export { joinNative, nativeOf, withFields, withNative } from "./core/model/native.ts";
export { efforts, withoutGenerations } from "./core/model/provider.ts";
export { addUsage, mergeUsage, Usage } from "./core/model/usage.ts";
export { budgetLimits } from "./core/ports/budget-limits.ts";
export { Clock, sleep, systemClock } from "./core/ports/clock.ts";
export { Documents, StoredDocument } from "./core/ports/documents.ts";
export { isHandover } from "./core/ports/handover.ts";
export { inputWeight, unlimited } from "./core/ports/held.ts";
export { AddedToDataset, DecodedWire, datasetName, Sample, ServiceView } from "./core/ports/inspect.ts";
export { Log, silentLog } from "./core/ports/log.ts";
export { Note } from "./core/ports/memory.ts";
export { MemoryOwners } from "./core/ports/memory-owners.ts";
export {
  byWords,
  candidates,
  cosine,
  fused,
  mostVectors,
  mostWithTerm,
  queryTerms,
  termsOf,
} from "./core/ports/note-ranking.ts";
export { type NoteRow, noteIn } from "./core/ports/note-row.ts";
export { longestQuery, MemoryRegistry, mostFound, noteOfCall } from "./core/ports/notes.ts";
export { StreamPipelines } from "./core/ports/pipeline.ts";
export { definePlugin } from "./core/ports/plugin.ts";
export { ChannelRegistry, ProviderRegistry, ToolRegistry } from "./core/ports/registries.ts";
export { Runs } from "./core/ports/runs.ts";
export { overlaps, StoredSchedules } from "./core/ports/schedules.ts";
export { scopes } from "./core/ports/scopes.ts";
export { Telemetry } from "./core/ports/telemetry.ts";
export { defineTool, RichOutput } from "./core/ports/tool.ts";
export { fromToolOptions, toolOptions } from "./core/ports/tool-options.ts";
export { callRequest, callSettings } from "./core/run/call-settings.ts";
export { costOfAll, costsOf, withCost } from "./core/run/costs.ts";
export { beginning, Digest, endOfRun, inputText, mostWords, wordsOf } from "./core/run/digest.ts";
export { encodeEvent, forgetEncoding } from "./core/run/encode-event.ts";
export { ErrorBody, PendingCall, RunInput, Timing } from "./core/run/event-fields.ts";
export { isTerminal, outcomeOf, outcomes, RunEvent } from "./core/run/events.ts";
export { FeedItem } from "./core/run/feed.ts";
export { Feedback, GivenFeedback } from "./core/run/feedback.ts";
export { ForkRequest } from "./core/run/fork.ts";
export { applyPatch } from "./core/run/json-patch.ts";
export { joinWires } from "./core/run/kept-wire.ts";
export { isCutShort, isLimitName } from "./core/run/limit-names.ts";
export { arrivalCursor, asksDigests, noDigests, type RunsQuery, sortCursor } from "./core/run/list-query.ts";
export { MemoryScope, PatchOperation } from "./core/run/memory-events.ts";
export { fitPage, pageBytes } from "./core/run/page.ts";
export { shownOutput } from "./core/run/projection.ts";
export { Prompt } from "./core/run/prompt.ts";
export { isAsked, pendingOf, questionsOpened } from "./core/run/questions.ts";
export { rowFits } from "./core/run/row-fits.ts";
export { timeOfRunId } from "./core/run/run-id.ts";
export { shadowTenant } from "./core/run/shadow.ts";
export { Spending } from "./core/run/spending.ts";
export { groupings, percentile, TotalsFold } from "./core/run/totals.ts";
export { dataUrl, parseDataUrl } from "./core/values/data-url.ts";
export { exactJson, textAt, textsAt } from "./core/values/exact-json.ts";
export { atPointer } from "./core/values/json-pointer.ts";
export { audioFormat, isMediaType } from "./core/values/media-type.ts";
export { momentIn } from "./core/values/moment.ts";
export { emptyMap, withEntry, withItem } from "./core/values/no-entries.ts";
export { headerSecrets, redactor } from "./core/values/redact.ts";
export { named } from "./core/values/schema-names.ts";
export { shortKey } from "./core/values/short-key.ts";
export { didYouMean } from "./core/values/suggest.ts";
export { provide } from "./core/values/token.ts";
export { traceHeadersIn, traceHeadersOf } from "./core/values/trace-context.ts";
export { Turns } from "./core/values/turns.ts";
export { Duration, Size } from "./core/values/units.ts";
export type * from "./plugin.ts";
export { answerOf, otherFields, ToldFields } from "./provider/answer-fields.ts";
export { collectWith, generationOf } from "./provider/collect.ts";
export { deltasOf } from "./provider/deltas-of.ts";
export { Egress, egressOptions } from "./provider/egress/egress.ts";
export { egressFetch, namesPrivate } from "./provider/egress/fetch.ts";
export { RepeatedJson, SharedForms } from "./provider/fast-json/repeated-json.ts";
export { JsonScanner } from "./provider/fast-json/scanner.ts";
export { varying } from "./provider/fast-json/template.ts";

export {
  asCount,
  asIndex,
  asList,
  asRecord,
  asText,
  notCounted,
  parseJson,
  separated,
} from "./provider/fast-json/wire-json.ts";
export { framesOf } from "./provider/frames/framing.ts";
export { httpOptions } from "./provider/http/options.ts";
export { httpProvider } from "./provider/http/provider.ts";
export {
  codeInBody,
  errorCode,
  errorText,
  httpFailure,
  statusInBody,
  vendorWords,
} from "./provider/http/response-error.ts";
export { Quirks } from "./provider/quirks.ts";
export { isStrictSchema } from "./provider/strict-schema.ts";
export { hasLateSystem, prefaced } from "./provider/system-place.ts";
export { Transcript } from "./provider/transcript.ts";
export { answerQuestion, questionWords, type Reply, tryAnswer } from "./serve/answering.ts";
export { ArrivalRate, minimumRate } from "./serve/arrival-rate.ts";
export { channelOptions } from "./serve/channel-options.ts";
export { exactTexts } from "./serve/exact-body.ts";
export { Files, NamedFiles, readForm } from "./serve/files.ts";
export { type Gathered, gatheredIn } from "./serve/gathered.ts";
export {
  anthropicRate,
  anthropicRates,
  httpError,
  openaiRate,
  openaiRates,
  retryAfter,
  retryField,
  retryHint,
} from "./serve/http-error.ts";
export {
  isJsonObject,
  type JsonObject,
  jsonRpcCodes,
  RpcError,
  type RpcId,
  rpcFailure,
  rpcSuccess,
  rpcText,
} from "./serve/json-rpc.ts";
export { newestWith } from "./serve/newest-with.ts";
export { mustBeOfOneRun } from "./serve/one-run.ts";
export { Paragraphs, RoundTexts } from "./serve/paragraphs.ts";
export { readerGone, terminalOf } from "./serve/reader.ts";
export { Sentences } from "./serve/sentences.ts";
export { awaitRun, callRetracted, startRun, streamRun } from "./serve/serve-run.ts";
export { dataFrame, eventFrame, heartbeatFrame, SseWriter } from "./serve/sse-writer.ts";
export { StallWatch } from "./serve/stall-watch.ts";
export { joined, VendorAnswer } from "./serve/vendor-answer.ts";
export { durationOf } from "./serve/voice.ts";
export { warningsHeader, warningsText } from "./serve/warnings.ts";
export { sourceOf } from "./serve/why/source.ts";
export { explainRun, Why } from "./serve/why/why.ts";
