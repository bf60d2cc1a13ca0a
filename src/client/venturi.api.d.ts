// Generated from the service's OpenAPI document by `npm run generate`. Do not edit.
import type { Digest, ErrorBody, Message, PendingCall, RunEvent, RunInput, Timing, Usage } from "./events.ts";

export type AgentView = {
  name: string;
  description?: string;
  model: string;
  /** models that a call may choose instead */
  models: Array<string>;
  tools: Array<{
    name: string;
    description: string;
    parameters: unknown;
  }>;
  /** JSON Schema of the input variables */
  inputs?: unknown;
  /** its runs wait, since then */
  paused?: {
    since: number;
    by?: string;
    reason?: string;
  };
};

export type Approval = Question & {
  run: string;
  tenant?: string;
  agent: string;
  session?: string;
  /** the run that called this one */
  parent?: {
    run: string;
    call: string;
  };
};

export type EventPage = {
  run: string;
  /** `stranded`: nobody can go on with it, because its agent is not in the configuration any more */
  status: "ready" | "running" | "waiting" | "stranded" | "finished" | "failed" | "cancelled";
  /** seq of its last event */
  head: number;
  events: Array<RunEvent>;
  /** `after` of the next page; absent at the end of what is committed */
  next?: number;
};

export type Failure = {
  error: ErrorBody;
};

export type Feedback = {
  score?: number;
  label?: string;
  comment?: string;
  by: string;
  seq?: number;
  /** ms since the epoch */
  at: number;
  /** id of the key that sent it */
  key?: string;
};

export type ForkRequest = {
  /** seq of the last event taken over: run.started, memory.recalled, generation.finished, tool.finished or round.finished */
  after: number;
  /** another input; only after run.started */
  input?: string | RunInput;
  /** another agent; only after run.started */
  agent?: string;
  /** other results of tool calls among the events taken over */
  edit?: Array<{
    call: string;
    output: string;
    ok?: boolean;
  }>;
  /** a model that the agent lets a call choose */
  model?: string;
  /** in place of the agent's own; needs the scope inspect */
  instructions?: string;
  options?: {
    temperature?: number | null;
    topP?: number | null;
    maxTokens?: number | null;
    stop?: Array<string> | null;
    seed?: number | null;
    reasoning?: {
      /** How much to think. */
      effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
      /** Maximum reasoning tokens. */
      budget?: number;
    } | null;
    [key: string]: unknown;
  };
  tools?: "recorded" | "run" | "ask";
  /** a call that the original never made: ask (default), fail, run, or who answers it */
  unanswered?: "ask" | "fail" | "run" | {
    agent: string;
  } | {
    module: string;
  };
  /** a new conversation; none by default */
  session?: string;
};

export type GivenFeedback = {
  /** on a scale of yours, such as -1 and 1, or 1 to 5 */
  score?: number;
  /** such as good, wrong, unsafe */
  label?: string;
  comment?: string;
  /** who says so; the key's id when absent */
  by?: string;
  /** the event it is about; the whole run when absent */
  seq?: number;
};

export type MeView = {
  id: string;
  tenant: string;
  /** it sees the runs of all tenants */
  tenants?: "all";
  /** it may change, answer, fork and remove them too, as `may` allows */
  act?: "all";
  /** the agents it may use; all when absent */
  agents?: Array<string>;
  may: Array<"start" | "see" | "steer" | "inspect" | "approve" | "metrics" | "schedule">;
};

export type Prompt = {
  round: number;
  attempt: number;
  /** of its round.started */
  seq: number;
  model: string;
  /** false: part of it is as the configuration is now, or a hook may have changed it; see notes */
  exact: boolean;
  /** what is not as it was, and what the model's wire could not express */
  notes: Array<string>;
  /** instructions first; large content by its hash */
  messages: Array<Message>;
  tools: Array<{
    name: string;
    description: string;
    parameters: Record<string, unknown>;
  }>;
  options: Record<string, unknown>;
  toolChoice?: unknown;
  output?: unknown;
};

export type Question = {
  /** approve: whether a call may be made; others: a tool's question */
  kind: "approve" | "input" | "elicit";
  /** what POST /v1/runs/{run}/approvals/{call} and …/questions/{call} take */
  call: string;
  /** the tool */
  name: string;
  /** of the call to be approved */
  arguments: Record<string, unknown>;
  reason?: string;
  /** what the tool's approval.show names */
  show?: Array<{
    name: string;
    value: string;
  }>;
  /** what is asked, when it is not approval */
  message?: string;
  /** JSON Schema of the answer; without one it is a text */
  schema?: Record<string, unknown>;
  choices?: Array<string>;
  /** where the person does what is asked */
  url?: string;
  /** the answer when nobody gives one in time */
  fallback?: unknown;
  since: number;
  /** when it counts as denied, or gets its fallback */
  until?: number;
  /** the called run whose question this is */
  origin?: {
    run: string;
    call: string;
    agent: string;
  };
};

export type RunView = {
  run: string;
  /** `stranded`: nobody can go on with it, because its agent is not in the configuration any more */
  status: "ready" | "running" | "waiting" | "stranded" | "finished" | "failed" | "cancelled";
  tenant?: string;
  agent?: string;
  session?: string;
  createdAt?: number;
  updatedAt?: number;
  /** seq of its last event */
  head?: number;
  metadata?: Record<string, unknown>;
  finish?: string;
  output?: string;
  object?: unknown;
  calls?: Array<PendingCall>;
  usage?: Usage;
  /** USD, of its own generations */
  cost?: number;
  /** with what its tools spent, such as agents they called */
  totalCost?: number;
  rounds?: number;
  timing?: Timing;
  error?: ErrorBody;
  /** first characters of what it was asked, while it has no digest */
  asked?: string;
  /** of an ended run, where the journal keeps digests */
  digest?: Digest;
  /** what it waits for, while its status is waiting */
  pending?: Array<Question>;
};

export type ServiceView = {
  version: string;
  node: string;
  process: number;
  startedAt: number;
  uptimeMs: number;
  ready: boolean;
  reason?: string;
  revision: {
    hash: string;
    file?: string;
    runs: number;
    runsOnOld: number;
  };
  journal: {
    type: string;
    digests: boolean;
    pingMs?: number;
  };
  eventLoop: {
    blockedMs: number;
    longestMs: number;
  };
  runs: {
    active: number;
    followers: number;
  };
  backlog?: {
    ready: number;
    running: number;
    waiting: number;
    unexecutable: Array<{
      agent: string;
      runs: number;
    }>;
  };
  processes: Array<{
    number: number;
    pid: number;
    status: string;
    startedAt: number;
    restarts: number;
    runs?: number;
  }>;
  replicas: {
    known: boolean;
    workers: Array<{
      name: string;
      pid?: number;
      silentMs: number;
      runs: number;
      own: boolean;
      alive: boolean;
    }>;
  };
  agents: Array<string>;
  providers: Array<{
    name: string;
    type: string;
    breaker: "closed" | "open" | "half-open";
    leftMs: number;
    open?: Array<{
      model?: string;
      state: "closed" | "open" | "half-open";
      leftMs: number;
      tenants?: number;
    }>;
    lastError?: {
      at: number;
      code: string;
      err: string;
    };
  }>;
  models: Array<{
    name: string;
    chain: Array<string>;
  }>;
  tools: Array<{
    name: string;
    description: string;
    effect: "pure" | "idempotent" | "effectful";
    approval: string;
    agents: Array<string>;
  }>;
  channels: Array<{
    name: string;
    type: string;
  }>;
  plugins: Array<string>;
  config?: string;
};

export type SessionView = {
  session: string;
  tenant: string;
  updatedAt: number;
  /** its newest run that fits */
  last: RunView;
};

export type StartRequest = {
  /** the agent's name */
  agent: string;
  /** a text, or text, messages and variables */
  input: string | RunInput;
  /** the conversation this run goes on */
  session?: string;
  metadata?: Record<string, unknown>;
  /** tighter limits than the agent's own */
  limits?: Record<string, unknown>;
  /** webhook that is told of this run, at another URL than its own if it allows that host */
  notify?: {
    webhook: string;
    url?: string;
  };
  /** instead of the agent's model, where the agent allows it */
  model?: string;
  /** generation options, merged over the agent's; null takes one back */
  options?: {
    temperature?: number | null;
    topP?: number | null;
    maxTokens?: number | null;
    stop?: Array<string> | null;
    seed?: number | null;
    reasoning?: {
      /** How much to think. */
      effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
      /** Maximum reasoning tokens. */
      budget?: number;
    } | null;
    [key: string]: unknown;
  };
  /** tools of the client: offered, never run here, returned as calls */
  tools?: Array<{
    name: string;
    description?: string;
    /** JSON Schema of the arguments */
    parameters?: Record<string, unknown>;
  }>;
  /** whether the first round has to call a tool, and which */
  toolChoice?: "auto" | "none" | "required" | {
    name: string;
  };
  /** log each step of its tool calls; needs a key that may inspect */
  debug?: boolean;
};

export type TotalsView = {
  all: {
    runs: number;
    failed: number;
    cancelled: number;
    /** ms; of more than 200 runs at most 5 % off */
    p50: number;
    p95: number;
    inputTokens: number;
    outputTokens: number;
    /** USD, where prices are known */
    cost?: number;
  };
  groups: Array<{
    name: string;
    runs: number;
    failed: number;
    cancelled: number;
    /** ms; of more than 200 runs at most 5 % off */
    p50: number;
    p95: number;
    inputTokens: number;
    outputTokens: number;
    /** USD, where prices are known */
    cost?: number;
  }>;
  times: Array<{
    at: number;
    runs: number;
    failed: number;
  }>;
  /** false: only the newest 5,000 that fit were counted */
  complete: boolean;
};

export type TurnView = RunView & {
  input: RunInput;
};

export type UsageReport = {
  by: Array<"day" | "tenant" | "agent" | "model" | "key" | "user">;
  since?: string;
  until?: string;
  rows: Array<{
    day?: string;
    tenant?: string;
    agent?: string;
    model?: string;
    key?: string;
    user?: string;
    /** that succeeded */
    generations: number;
    /** attempts that failed and used something */
    failed: number;
    /** of both, those whose cost is not known; it is not in `cost` */
    unpriced: number;
    /** USD; absent when that of none is known */
    cost?: number;
    inputTokens: number;
    outputTokens: number;
    cacheReadTokens: number;
    cacheWriteTokens: number;
    reasoningTokens: number;
  }>;
  total: {
    /** that succeeded */
    generations: number;
    /** attempts that failed and used something */
    failed: number;
    /** of both, those whose cost is not known; it is not in `cost` */
    unpriced: number;
    /** USD; absent when that of none is known */
    cost?: number;
    inputTokens: number;
    outputTokens: number;
    cacheReadTokens: number;
    cacheWriteTokens: number;
    reasoningTokens: number;
  };
};

export type RunsQuery = {
  agent?: string;
  session?: string;
  status?: "ready" | "running" | "waiting" | "finished" | "failed" | "cancelled";
  /** words of what an ended run was asked or answered */
  q?: string;
  /** created at or after: ms since the epoch, or a date */
  since?: number | string;
  /** created before */
  until?: number | string;
  /** ended runs that called this tool */
  tool?: string;
  /** ended runs that used this model, as provider/model */
  model?: string;
  /** runs that failed with this code */
  code?: string;
  /** ended runs that took at least so many ms */
  min?: number;
  /** runs that this key started, by its id */
  key?: string;
  /** runs with feedback of this label */
  label?: string;
  /** runs with feedback of at least this score */
  minScore?: number;
  /** runs with feedback of at most this score */
  maxScore?: number;
  /** runs with feedback by this person */
  ratedBy?: string;
  /** runs with any feedback */
  rated?: "true";
  cursor?: string;
  limit?: number;
  /** runs of this tenant; for keys that see more than their own */
  tenant?: string;
  /** longest and costliest: ended runs only; costliest: those whose cost is known */
  sort?: "newest" | "oldest" | "longest" | "costliest";
};

export type SessionsQuery = {
  /** words of what was asked or answered in an ended run */
  q?: string;
  agent?: string;
  /** of another tenant; for keys that see more than their own */
  tenant?: string;
  cursor?: string;
  limit?: number;
};

export type TurnsQuery = {
  /** of another tenant; for keys that see more than their own */
  tenant?: string;
  cursor?: string;
  limit?: number;
};

export type ApprovalsQuery = {
  agent?: string;
  cursor?: string;
  limit?: number;
};
