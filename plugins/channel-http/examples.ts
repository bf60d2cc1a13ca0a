/** One example per endpoint, for the OpenAPI document. */
const run = "run_0mwhvk7jo4056f0176783f1dd06eb";
const row = { run, agent: "assistant", session: "s-17", createdAt: 1789000000000, updatedAt: 1789000003400, head: 42 };
const usage = { inputTokens: 25, outputTokens: 9 };
const timing = { providerWait: 120, providerStream: 310.5, tool: 2.1, approval: 0, client: 0, runtime: 1.4 };
const ended = { ...row, status: "finished", finish: "stop", output: "17 * 23 is 391.", usage, rounds: 2, timing };
const used = {
  generations: 120,
  failed: 2,
  unpriced: 0,
  cost: 0.84,
  inputTokens: 310_000,
  outputTokens: 24_000,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};
const question = {
  kind: "approve",
  call: "call_1",
  name: "refund",
  arguments: { order: "4711", amount: 120 },
  since: 1789000003000,
  until: 1789086403000,
};

export const examples = {
  memory: {
    document: "profile",
    scope: "user" as const,
    owner: "ana",
    version: 2,
    value: { name: "Ana", language: "de" },
    changes: [{ version: 2, at: 1789000000000, by: "support", why: "corrected by phone" }],
  },
  start: { agent: "assistant", input: "What is 17 * 23?", session: "s-17" },
  startWithMessages: {
    agent: "assistant",
    input: {
      messages: [
        { role: "user", parts: [{ type: "text", text: "My order 4711 is broken." }] },
        { role: "assistant", parts: [{ type: "text", text: "I am sorry. Do you want a refund?" }] },
        { role: "user", parts: [{ type: "text", text: "Yes." }] },
      ],
      variables: { customer: "Ada" },
    },
  },
  ended,
  waiting: { ...row, status: "waiting", pending: [question] },
  accepted: { run },
  list: { runs: [{ ...row, status: "finished" }] },
  events: 'id: 1\nevent: run.started\ndata: {"type":"run.started","agent":"assistant", …}\n\n',
  eventPage: {
    run,
    status: "finished",
    head: 42,
    events: [{ type: "round.started", run, seq: 2, at: 1789000000004, round: 1, model: "demo/small", attempt: 1 }],
    next: 2,
  },
  feed: {
    type: "tick",
    at: 1789000001000,
    runs: [{ run, tokens: 120, part: "providerStream" }],
  },
  forks: [
    { after: 1, input: "What is 17 * 24?" },
    { after: 31, edit: [{ call: "call_1", output: "392" }], model: "small", tools: "recorded" },
  ],
  givenFeedback: [
    { score: 1 },
    { score: -1, label: "wrong", comment: "the order was shipped", by: "customer-17", seq: 31 },
  ],
  feedback: { score: -1, label: "wrong", by: "customer-17", at: 1789000060000, key: "shop" },
  me: { id: "ada", tenant: "acme", agents: ["assistant"], may: ["start", "see", "steer"] },
  removed: { removed: [run] },
  sessions: {
    sessions: [{ session: "s-17", tenant: "default", updatedAt: 1789000003400, last: { ...row, status: "finished" } }],
  },
  service: {
    version: "0.2.0",
    node: "24.21.0",
    process: 4711,
    startedAt: 1789000000000,
    uptimeMs: 3600000,
    ready: true,
    revision: { hash: "1a42cbbda518", runs: 3, runsOnOld: 0 },
    journal: { type: "sqlite", digests: true, pingMs: 0.4 },
    eventLoop: { blockedMs: 0, longestMs: 0 },
    runs: { active: 3, followers: 2 },
    processes: [{ number: 1, pid: 4711, status: "ready", startedAt: 1789000000000, restarts: 0, runs: 3 }],
    replicas: {
      known: true,
      workers: [{ name: "4711-0b1c", pid: 4711, silentMs: 900, runs: 3, own: true, alive: true }],
    },
    agents: ["assistant"],
    providers: [{ name: "gpt", type: "openai", breaker: "closed", leftMs: 0 }],
    models: [{ name: "main", chain: ["gpt/gpt-5-mini"] }],
    tools: [{ name: "clock", description: "Tells the time", effect: "pure", approval: "never", agents: ["assistant"] }],
    channels: [{ name: "http", type: "channel-http" }],
    plugins: ["channel-http", "clock", "openai", "sqlite"],
  },
  series: {
    every: 5000,
    samples: [
      {
        at: 1789000005000,
        ended: 12,
        failed: 1,
        active: 3,
        followers: 2,
        p50: 840,
        p95: 2100,
        firstToken: 310,
        inputTokens: 5200,
        outputTokens: 1900,
        retried: 1,
        failedOver: 0,
        commits: 240,
        commitMs: 0.8,
        longestCommitMs: 4.1,
        blockedMs: 0,
        heapBytes: 48000000,
      },
    ],
  },
  wires: { run, wires: [{ round: 1, attempt: 1, wire: "openai-chat", size: 2048 }] },
  decoded: {
    wire: "openai-chat",
    size: 22,
    chunks: [{ offset: 0, text: 'data: {"choices":…}', deltas: [{ type: "text", text: "Hel" }] }],
    quirks: { done_missing: 1 },
    notes: { done_missing: "The stream ended after its finish reason without [DONE]; taken as complete." },
    cut: false,
  },
  session: { session: "s-17", runs: [{ ...ended, input: { text: "What is 17 * 23?" } }] },
  usage: { by: ["agent"], since: "2026-11-10", rows: [{ agent: "assistant", ...used }], total: used },
  approvals: { approvals: [{ run, agent: "assistant", ...question }] },
  questions: {
    questions: [
      {
        run,
        agent: "assistant",
        kind: "input",
        call: "call_2.1",
        name: "ask",
        arguments: {},
        message: "Which day suits you?",
        choices: ["Monday", "Tuesday"],
        since: 1789000003000,
      },
    ],
  },
  trace: { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: "venturi" }, spans: [] }] }] },
  fixture: "name: run_17\nadvance: round\nturns:\n  - text: [Hel, lo]\n    finish: stop\n    pace: 20\n",
  content: "the bytes",
  agents: {
    agents: [{ name: "assistant", description: "Answers customers", model: "main", tools: [] }],
  },
  why: {
    run,
    agent: "assistant",
    cause: "backoff",
    meaning: "the provider refused for a while and Venturi waited before it asked again",
    summary:
      "3.0 s of 3.4 s were backoff after three 429s from openai/gpt-5 (retry-after 1.0 s); then it answered in 400 ms.",
    ms: 3400,
    parts: [{ part: "backoff", name: "openai/gpt-5", ms: 3000, share: 0.882, count: 3 }],
  },
} as const;
