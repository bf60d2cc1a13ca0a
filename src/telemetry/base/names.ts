/** Every telemetry name. GenAI semantic conventions first, `venturi.*` where they define nothing. */
export const scope = "venturi";

/** Version of the conventions used below; the GenAI ones come from the repository that continues them. */
export const schemaUrl = "https://opentelemetry.io/schemas/1.45.0";

/** The instrumentation scope of our spans. */
export const scopeOf = (version: string | undefined): { name: string; version?: string; schemaUrl: string } => ({
  name: scope,
  schemaUrl,
  ...(version === undefined ? {} : { version }),
});

export const spans = {
  agent: "invoke_agent",
  round: "venturi.round",
  chat: "chat",
  chunk: "venturi.chunk",
  accumulate: "venturi.accumulate",
  tool: "execute_tool",
  stream: "venturi.stream",
  backoff: "venturi.backoff",
  wait: "venturi.wait",
  deliver: "venturi.deliver",
  append: "venturi.journal.append",
  memory: "venturi.memory",
} as const;

export const attributes = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agent: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
  errorType: "error.type",
  serverAddress: "server.address",
  serverPort: "server.port",

  requestModel: "gen_ai.request.model",
  requestStream: "gen_ai.request.stream",
  requestTemperature: "gen_ai.request.temperature",
  requestTopP: "gen_ai.request.top_p",
  requestMaxTokens: "gen_ai.request.max_tokens",
  requestSeed: "gen_ai.request.seed",
  requestStop: "gen_ai.request.stop_sequences",
  requestReasoning: "gen_ai.request.reasoning.level",
  responseId: "gen_ai.response.id",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_write.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  tokenType: "gen_ai.token.type",

  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCall: "gen_ai.tool.call.id",
  toolDescription: "gen_ai.tool.description",
  toolEffect: "venturi.tool.effect",
  toolEager: "venturi.tool.eager",
  toolSaved: "venturi.tool.saved_ms",
  toolAttempt: "venturi.tool.attempt",

  systemInstructions: "gen_ai.system_instructions",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  inputText: "input.value",
  outputText: "output.value",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",

  run: "venturi.run.id",
  parked: "venturi.run.parked",
  abandoned: "venturi.run.abandoned",
  resumed: "venturi.run.resumed",
  rounds: "venturi.run.rounds",
  finish: "venturi.run.finish",
  config: "venturi.config.hash",
  cancelled: "venturi.cancelled",
  timing: "venturi.timing",
  providerKey: "venturi.provider.key",
  roundIndex: "venturi.round.index",
  roundAttempt: "venturi.round.attempt",
  retracted: "venturi.round.retracted",
  rejectedCalls: "venturi.round.rejected_calls",
  statusCode: "http.response.status_code",
  backoffMs: "venturi.backoff.ms",
  retryAfterMs: "venturi.backoff.retry_after_ms",
  waitFor: "venturi.wait.for",
  waitName: "venturi.wait.name",
  stalledMs: "venturi.stalled.ms",
  culprit: "venturi.stalled.culprit",
  retries: "venturi.run.retries",
  failovers: "venturi.run.failovers",
  toolCalls: "venturi.run.tool_calls",
  toolFailures: "venturi.run.tool_failures",
  tenant: "venturi.tenant",
  cost: "venturi.run.cost",
  totalCost: "venturi.run.total_cost",

  chunks: "venturi.chunks.total",
  suppressed: "venturi.chunks.suppressed",
  maxGap: "venturi.chunks.max_gap_ms",
  maxGapIndex: "venturi.chunks.max_gap_index",
  chunkIndex: "venturi.chunk.index",
  chunkKind: "venturi.chunk.kind",
  chunkBytes: "venturi.chunk.bytes",
  chunkGap: "venturi.chunk.gap_ms",
  accumulateCall: "venturi.accumulate.call",
  accumulateBytes: "venturi.accumulate.bytes",
  accumulateSealed: "venturi.accumulate.sealed",

  channel: "venturi.deliver.channel",
  deliverEvents: "venturi.deliver.events",
  deliverBytes: "venturi.deliver.bytes",
  deliverStalled: "venturi.deliver.stalled_ms",
  appendEvents: "venturi.journal.events",
  appendRuns: "venturi.journal.runs",
  appendsSuppressed: "venturi.journal.suppressed",
  appendTry: "venturi.journal.try",
  memoryStore: "venturi.memory.store",
  memoryNotes: "venturi.memory.notes",
  leftOut: "venturi.ring.left_out",
} as const;

export const metrics = {
  operationDuration: "gen_ai.client.operation.duration",
  timeToFirstChunk: "gen_ai.client.operation.time_to_first_chunk",
  timePerOutputChunk: "gen_ai.client.operation.time_per_output_chunk",
  tokenUsage: "gen_ai.client.token.usage",
  agentDuration: "gen_ai.invoke_agent.duration",
  agentGenerations: "gen_ai.invoke_agent.inference_calls",
  agentToolCalls: "gen_ai.invoke_agent.tool_calls",
  toolDuration: "gen_ai.execute_tool.duration",
  chunks: "venturi.chunks",
  chunkBytes: "venturi.chunk.bytes",
  accumulateDuration: "venturi.accumulate.duration",
  appendDuration: "venturi.journal.append.duration",
  deliverDuration: "venturi.deliver.duration",
  memoryDuration: "venturi.memory.duration",
  toolCalls: "venturi.tool.calls",
  eagerSaved: "venturi.tool.eager.saved",
  quirks: "venturi.wire.quirks",
  unsentFields: "venturi.request.unsent_fields",
  cost: "venturi.cost.usd",
  retries: "venturi.retries",
  failovers: "venturi.failovers",
  retractions: "venturi.retractions",
  runsActive: "venturi.runs.active",
  followersActive: "venturi.followers.active",
  runTiming: "venturi.run.timing",
  stalls: "venturi.eventloop.stall",
  dropped: "venturi.telemetry.dropped",
} as const;

/** Metrics of the process, and the attributes of their series. */
export const processMetrics = {
  delay: {
    min: "nodejs.eventloop.delay.min",
    max: "nodejs.eventloop.delay.max",
    mean: "nodejs.eventloop.delay.mean",
    stddev: "nodejs.eventloop.delay.stddev",
    p50: "nodejs.eventloop.delay.p50",
    p90: "nodejs.eventloop.delay.p90",
    p99: "nodejs.eventloop.delay.p99",
  },
  utilization: "nodejs.eventloop.utilization",
  loopTime: "nodejs.eventloop.time",
  loopState: "nodejs.eventloop.state",
  gc: "v8js.gc.duration",
  gcType: "v8js.gc.type",
  heapUsed: "v8js.memory.heap.used",
  heapSize: "v8js.memory.heap.space.size",
  heapSpace: "v8js.heap.space.name",
  resources: "v8js.resource.active",
  resourceType: "v8js.resource.type",
  cpu: "process.cpu.time",
  cpuMode: "cpu.mode",
  memory: "process.memory.usage",
  uptime: "process.uptime",
  files: "process.open_file_descriptor.count",
  threads: "process.thread.count",
} as const;

/** Attribute keys used by metrics only. */
export const labels = {
  kind: "kind",
  operation: "operation",
  outcome: "outcome",
  quirk: "quirk",
  code: "code",
  part: "part",
  what: "what",
  reason: "reason",
} as const;

/** The conventions' bucket boundaries, and finer ones for operations in the microsecond range. */
export const buckets = {
  duration: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  /** For runs, which may wait for a person. */
  run: [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 900, 3_600, 14_400,
    86_400,
  ],
  /** The conventions' buckets for requests, extended for streams. */
  request: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300, 1_800],
  firstChunk: [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  perChunk: [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5],
  tokens: [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864],
  micro: [0.000_001, 0.000_005, 0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1],
  append: [0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900],
  calls: [0, 1, 2, 4, 8, 16, 32, 64, 128, 256],
  collection: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
  stall: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
} as const;

const providerNames: Readonly<Record<string, string>> = {
  "openai-responses": "openai",
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
};

/** The conventions' name of a provider, by plugin type; unknown types keep their own name. */
export const providerName = (type: string): string => providerNames[type] ?? type;
