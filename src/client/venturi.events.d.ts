// Generated from the service's OpenAPI document by `npm run generate`. Do not edit.

export type AgentChanged = {
  type: "agent.changed";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  agent: string;
  instructions?: string;
  skills?: Array<{
    name: string;
    description: string;
    hash: string;
  }>;
};

export type AgentRevised = {
  type: "agent.revised";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  agent: string;
  revision: string;
};

export type ApprovalRequested = {
  type: "approval.requested";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  name: string;
  arguments: Record<string, unknown>;
  reason?: string;
  show?: Array<{
    name: string;
    value: string;
  }>;
  until?: number;
  origin?: {
    run: string;
    call: string;
    agent: string;
  };
};

export type ApprovalResolved = {
  type: "approval.resolved";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  approved: boolean;
  reason?: string;
  by?: string;
  arguments?: Record<string, unknown>;
  for?: "run";
  signal?: number;
};

export type BudgetExceeded = {
  type: "budget.exceeded";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  budget: string;
  of: string;
  whose: string;
  per: string;
  onExceed: "refuse" | "finish" | "cheaper";
  limit: {
    usd?: number;
    tokens?: number;
  };
  spent: {
    usd: number;
    tokens: number;
  };
};

export type BudgetWarned = {
  type: "budget.warned";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  budget: string;
  of: string;
  whose: string;
  per: string;
  onExceed: "refuse" | "finish" | "cheaper";
  limit: {
    usd?: number;
    tokens?: number;
  };
  spent: {
    usd: number;
    tokens: number;
  };
};

export type ContextCompacted = {
  type: "context.compacted";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  dropped: number;
  summary?: string;
  range?: {
    messages: number;
    session: number;
  };
  results?: Array<string>;
  model?: string;
  usage?: Usage;
  cost?: number;
  error?: ErrorBody;
};

export type Digest = {
  run: string;
  agent: string;
  session?: string;
  status: "finished" | "failed" | "cancelled";
  finish?: string;
  code?: string;
  cancelledBy?: string;
  startedAt: number;
  endedAt: number;
  ms: number;
  timing: Timing;
  usage: Usage;
  inherited?: {
    usage: Usage;
    cost?: number;
  };
  cost?: number;
  totalCost?: number;
  rounds: number;
  calls: number;
  tools: Array<string>;
  models: Array<string>;
  config?: string;
  by?: string;
  parent?: string;
  fork?: {
    run: string;
    after: number;
  };
  input: string;
  output: string;
};

export type ErrorBody = {
  op: string;
  code: "streaming_not_supported" | "invalid_input" | "stream_interrupted" | "stream_error" | "llm_error" | "rate_limited" | "unavailable" | "unauthorized" | "forbidden" | "not_found" | "conflict" | "too_large" | "timeout" | "idle_timeout" | "max_rounds_exceeded" | "budget_exceeded" | "tool_not_found" | "tool_invalid_arguments" | "tool_failed" | "tool_timeout" | "tool_denied" | "content_blocked" | "config_invalid" | "plugin_failed" | "record_invalid" | "journal_failed" | "worker_crashed" | "shutting_down" | "internal";
  err: string;
  details?: Record<string, unknown>;
};

export type FeedApprovalRequested = {
  type: "approval.requested";
  run: string;
  agent: string;
  at: number;
  call: string;
  name: string;
  until?: number;
};

export type FeedApprovalResolved = {
  type: "approval.resolved";
  run: string;
  agent: string;
  at: number;
  call: string;
  approved?: boolean;
};

export type FeedGap = {
  type: "feed.gap";
  at: number;
};

export type FeedItem = FeedOpened | FeedGap | FeedRunStarted | FeedRoundStarted | FeedApprovalRequested | FeedApprovalResolved | FeedQuestionAsked | FeedQuestionAnswered | FeedRunFinished | FeedRunFailed | FeedTick;

export type FeedOpened = {
  type: "feed.opened";
  at: number;
};

export type FeedQuestionAnswered = {
  type: "question.answered";
  run: string;
  agent: string;
  at: number;
  call: string;
  answered?: boolean;
};

export type FeedQuestionAsked = {
  type: "question.asked";
  run: string;
  agent: string;
  at: number;
  call: string;
  name: string;
  until?: number;
};

export type FeedRoundStarted = {
  type: "round.started";
  run: string;
  agent: string;
  at: number;
  round: number;
  model: string;
  attempt: number;
};

export type FeedRunFailed = {
  type: "run.failed";
  run: string;
  agent: string;
  at: number;
  digest: Digest;
};

export type FeedRunFinished = {
  type: "run.finished";
  run: string;
  agent: string;
  at: number;
  digest: Digest;
};

export type FeedRunStarted = {
  type: "run.started";
  run: string;
  agent: string;
  at: number;
  session?: string;
  parent?: string;
  by?: string;
  input: string;
};

export type FeedTick = {
  type: "tick";
  at: number;
  runs: Array<{
    run: string;
    tokens: number;
    part: "providerWait" | "providerStream" | "retryWait" | "tool" | "approval" | "runtime";
  }>;
};

export type FilePart = {
  type: "file";
  mediaType: string;
  data?: string;
  url?: string;
  hash?: string;
  size?: number;
  native?: {
    wire: string;
    fields: Record<string, unknown>;
    translated?: Array<string>;
    unsent?: Array<string>;
    within?: true;
  };
  name?: string;
};

export type GenerationFailed = {
  type: "generation.failed";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  attempt: number;
  model: string;
  error: ErrorBody;
  usage?: Usage;
  cost?: number;
  retryMs?: number;
  hedged?: {
    model: string;
    attempt: number;
    error?: ErrorBody;
    usage?: Usage;
    cost?: number;
  };
};

export type GenerationFinished = {
  type: "generation.finished";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  attempt: number;
  finish: string;
  raw?: string;
  usage: Usage;
  cost?: number;
  hedged?: {
    model: string;
    attempt: number;
    error?: ErrorBody;
    usage?: Usage;
    cost?: number;
  };
  cached?: true;
  responseId?: string;
  responseModel?: string;
  native?: {
    wire: string;
    fields: Record<string, unknown>;
    omitted?: Array<string>;
  };
};

export type GuardDecided = {
  type: "guard.decided";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round?: number;
  call?: string;
  guard: string;
  direction: "input" | "arguments" | "results" | "output";
  action: "block" | "redact" | "ask" | "log" | "pass";
  rule?: string;
  count?: number;
  reason?: string;
};

export type ImagePart = {
  type: "image";
  mediaType: string;
  data?: string;
  url?: string;
  hash?: string;
  size?: number;
  native?: {
    wire: string;
    fields: Record<string, unknown>;
    translated?: Array<string>;
    unsent?: Array<string>;
    within?: true;
  };
};

export type MemoryChanged = {
  type: "memory.changed";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  document: string;
  scope: "session" | "user" | "agent";
  owner: string;
  version: number;
  patch: Array<{
    op: "add" | "remove" | "replace" | "move" | "copy" | "test";
    path: string;
    from?: string;
    value?: unknown;
  }>;
  why?: string;
  by?: string;
};

export type MemoryRecalled = {
  type: "memory.recalled";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round?: number;
  call?: string;
  store: string;
  query: string;
  notes: Array<{
    id: string;
    scope: "session" | "user" | "agent";
    owner: string;
    text?: string;
    at: number;
    score: number;
  }>;
  model?: string;
  usage?: Usage;
  cost?: number;
  error?: ErrorBody;
};

export type Message = {
  role: "system" | "user" | "assistant" | "tool";
  parts: Array<Part>;
  provider?: string;
  native?: {
    wire: string;
    fields: Record<string, unknown>;
    translated?: Array<string>;
    unsent?: Array<string>;
    within?: true;
  };
};

export type MessageAdded = {
  type: "message.added";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  message: Message;
  by?: string;
  signal?: number;
};

export type OpaquePart = {
  type: "opaque";
  wire: string;
  data: unknown;
};

export type Part = TextPart | ImagePart | FilePart | ReasoningPart | ToolCallPart | ToolResultPart | OpaquePart;

export type PendingCall = {
  call: string;
  name: string;
  arguments: Record<string, unknown>;
  raw?: string;
  text?: string;
};

export type ProviderActivity = {
  type: "provider.activity";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  kind: "server_tool" | "citation" | "part" | "response" | "fields";
  wire: string;
  data: unknown;
  keep?: boolean;
  omitted?: Array<string>;
};

export type QuestionAnswered = {
  type: "question.answered";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  answered: boolean;
  answer?: unknown;
  reason?: string;
  by?: string;
  signal?: number;
};

export type QuestionAsked = {
  type: "question.asked";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  kind: "input" | "elicit";
  name: string;
  message: string;
  schema?: Record<string, unknown>;
  choices?: Array<string>;
  url?: string;
  fallback?: unknown;
  until?: number;
  origin?: {
    run: string;
    call: string;
    agent: string;
  };
};

export type ReasoningDelta = {
  type: "reasoning.delta";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  text: string;
  part?: number;
  signature?: string;
  encrypted?: string;
  id?: string;
  native?: {
    wire: string;
    fields: Record<string, unknown>;
    omitted?: Array<string>;
  };
};

export type ReasoningPart = {
  type: "reasoning";
  text: string;
  signature?: string;
  encrypted?: string;
  id?: string;
};

export type RefusalDelta = {
  type: "refusal.delta";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  text: string;
  native?: {
    wire: string;
    fields: Record<string, unknown>;
    omitted?: Array<string>;
  };
};

export type RoundFinished = {
  type: "round.finished";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  finish: string;
  usage: Usage;
};

export type RoundRetracted = {
  type: "round.retracted";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  attempt: number;
  reason: string;
};

export type RoundStarted = {
  type: "round.started";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  model: string;
  provider?: string;
  attempt: number;
  warnings?: Array<string>;
  skipped?: Array<string>;
  reason?: string;
  split?: {
    of: string;
    chose: string;
  };
};

export type RunContinued = {
  type: "run.continued";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  by?: string;
  signal?: number;
  agent?: string;
};

export type RunEvent = RunStarted | RoundStarted | TextDelta | RefusalDelta | ReasoningDelta | ProviderActivity | ToolCallStarted | ToolCallDelta | ToolCallReady | ToolCallRejected | ToolStarted | ToolOutput | ToolFinished | ApprovalRequested | ApprovalResolved | QuestionAsked | QuestionAnswered | ToolsFound | AgentChanged | BudgetWarned | BudgetExceeded | GuardDecided | AgentRevised | MessageAdded | ContextCompacted | MemoryChanged | MemoryRecalled | RunPaused | RunContinued | RunResumed | GenerationFailed | RoundRetracted | GenerationFinished | RoundFinished | RunFinished | RunFailed;

export type RunFailed = {
  type: "run.failed";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  error: ErrorBody;
  output: string;
  usage: Usage;
  cost?: number;
  totalCost?: number;
  spent?: Spent;
  inherited?: {
    usage: Usage;
    spent: Spent;
    cost?: number;
    totalCost?: number;
  };
  rounds: number;
  timing: Timing;
};

export type RunFinished = {
  type: "run.finished";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  finish: string;
  output: string;
  object?: unknown;
  calls?: Array<PendingCall>;
  usage: Usage;
  cost?: number;
  totalCost?: number;
  spent?: Spent;
  inherited?: {
    usage: Usage;
    spent: Spent;
    cost?: number;
    totalCost?: number;
  };
  rounds: number;
  timing: Timing;
};

export type RunInput = {
  text?: string;
  messages?: Array<Message>;
  variables?: Record<string, unknown>;
};

export type RunPaused = {
  type: "run.paused";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  by?: string;
  signal?: number;
  agent?: string;
  reason?: string;
};

export type RunResumed = {
  type: "run.resumed";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  epoch: number;
  trace?: string;
};

export type RunStarted = {
  type: "run.started";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  agent: string;
  session?: string;
  input: RunInput;
  config?: string;
  instructions?: string;
  skills?: Array<{
    name: string;
    description: string;
    hash: string;
  }>;
  trace?: string;
  parent?: {
    run: string;
    call: string;
    depth: number;
  };
  fork?: {
    run: string;
    after: number;
  };
  by?: string;
  metadata?: Record<string, unknown>;
};

export type Spent = Array<{
  by: "generation" | "failed" | "tool" | "compaction" | "recall";
  name: string;
  count: number;
  usage: Usage;
  cost?: number;
}>;

export type TextDelta = {
  type: "text.delta";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  text: string;
  signature?: string;
  native?: {
    wire: string;
    fields: Record<string, unknown>;
    omitted?: Array<string>;
  };
};

export type TextPart = {
  type: "text";
  text: string;
  hash?: string;
  size?: number;
  signature?: string;
  native?: {
    wire: string;
    fields: Record<string, unknown>;
    translated?: Array<string>;
    unsent?: Array<string>;
    within?: true;
  };
};

export type Timing = {
  queue?: number;
  providerWait: number;
  providerStream: number;
  providerStall?: number;
  failedAttempt?: number;
  retryWait?: number;
  tool: number;
  approval: number;
  hook?: number;
  client: number;
  journal?: number;
  stalled?: number;
  gc?: number;
  down?: number;
  paused?: number;
  runtime: number;
};

export type ToolCallDelta = {
  type: "tool_call.delta";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  arguments: string;
};

export type ToolCallPart = {
  type: "tool_call";
  call: string;
  name: string;
  arguments: Record<string, unknown>;
  raw?: string;
  text?: string;
  signature?: string;
  native?: {
    wire: string;
    fields: Record<string, unknown>;
    translated?: Array<string>;
    unsent?: Array<string>;
    within?: true;
  };
};

export type ToolCallReady = {
  type: "tool_call.ready";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  name: string;
  arguments: Record<string, unknown>;
  text?: string;
  signature?: string;
};

export type ToolCallRejected = {
  type: "tool_call.rejected";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  name: string;
  arguments: string;
  error: ErrorBody;
  signature?: string;
};

export type ToolCallStarted = {
  type: "tool_call.started";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  name: string;
  index: number;
  client?: true;
  native?: {
    wire: string;
    fields: Record<string, unknown>;
    omitted?: Array<string>;
  };
};

export type ToolFinished = {
  type: "tool.finished";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  name: string;
  ok: boolean;
  output?: string;
  shown?: number;
  hash?: string;
  size?: number;
  length?: number;
  images?: Array<{
    mediaType: string;
    data?: string;
    hash?: string;
    size?: number;
  }>;
  files?: Array<{
    mediaType: string;
    data?: string;
    hash?: string;
    size?: number;
    name?: string;
  }>;
  error?: ErrorBody;
  ms: number;
  savedMs?: number;
  usage?: Usage;
  cost?: number;
};

export type ToolOutput = {
  type: "tool.output";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  text: string;
};

export type ToolResultPart = {
  type: "tool_result";
  call: string;
  name: string;
  ok: boolean;
  output: string;
  hash?: string;
  size?: number;
  images?: Array<ImagePart>;
  files?: Array<FilePart>;
  native?: {
    wire: string;
    fields: Record<string, unknown>;
    translated?: Array<string>;
    unsent?: Array<string>;
    within?: true;
  };
};

export type ToolStarted = {
  type: "tool.started";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  name: string;
  attempt: number;
  idempotencyKey: string;
};

export type ToolsFound = {
  type: "tools.found";
  run: string;
  seq: number;
  at: number;
  waited?: Array<{
    for: "queue" | "providerWait" | "providerStream" | "providerStall" | "failedAttempt" | "backoff" | "tool" | "approval" | "hook" | "client" | "journal" | "blocked" | "gc" | "down" | "paused" | "runtime";
    name?: string;
    from: number;
    ms: number;
  }>;
  round: number;
  call: string;
  names: Array<string>;
};

export type Usage = {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  cacheWrite1hTokens?: number;
  reasoningTokens?: number;
  imageInputTokens?: number;
  audioInputTokens?: number;
  audioOutputTokens?: number;
  source?: "reported" | "partial" | "estimated";
};
