import type { Cause } from "../../src/serve/why/causes.ts";

/** A problem planted with the simulator, and what `why` has to say about it. */
export interface Planted {
  readonly name: string;
  readonly cause: Cause;
  /** What the paragraph has to name. */
  readonly says: readonly RegExp[];
  /** Scenario turns of the first provider; a plain answer when absent. */
  readonly turns?: readonly Record<string, unknown>[];
  readonly faults?: string;
  /** The second model of the chain answers. */
  readonly backup?: boolean;
  readonly model?: Record<string, unknown>;
  readonly agent?: Record<string, unknown>;
  readonly tools?: readonly string[];
  /** What is done to the run while it goes on. */
  readonly act?: "approve" | "deny" | "cancel" | "queue";
  /** Asked so often before the run that is explained. */
  readonly before?: number;
}

const call = (name: string, input: Record<string, unknown> = {}) => ({ calls: [{ name, arguments: input }] });
const answer = { text: "that is all" };
const broken = (faults: string) => ({ text: "never seen", faults });

export const planted: readonly Planted[] = [
  {
    name: "three 429s with retry-after",
    cause: "backoff",
    says: [/were backoff after three 429s from limited\/m/, /retry-after 300 ms/, /then it answered/],
    turns: [broken("rate-limit=300"), broken("rate-limit=300"), broken("rate-limit=300"), answer],
    model: { retry: { max: 3 } },
  },
  {
    name: "two 503s",
    cause: "backoff",
    says: [/backoff after two 503s/],
    turns: [broken("status=503"), broken("status=503"), answer],
  },
  {
    name: "429s until the backup answers",
    cause: "backoff",
    says: [/backoff after one 429 from/, /then backup\/m answered/],
    turns: [broken("rate-limit=600")],
    backup: true,
    model: { retry: { max: 1 } },
  },
  {
    name: "429s that outlast the retries",
    cause: "rate_limited",
    says: [/failed after .*rate_limited: .*429/, /backoff after one 429/],
    turns: [broken("rate-limit=200")],
    model: { retry: { max: 1 } },
  },
  {
    name: "a wrong key, and the backup answers",
    cause: "failover",
    says: [/failed \(unauthorized\) and backup\/m answered|\(unauthorized: .*then backup\/m answered/],
    turns: [broken("status=401")],
    backup: true,
  },
  { name: "a wrong key", cause: "provider_refused", says: [/answered 401/], turns: [broken("status=401")] },
  {
    name: "a request the provider refuses",
    cause: "provider_error",
    says: [/answered 400/],
    turns: [broken("status=400")],
  },
  {
    name: "a provider that is down",
    cause: "provider_unavailable",
    says: [/unavailable: .*answered 500/],
    turns: [broken("status=500")],
    model: { retry: { max: 0 } },
  },
  {
    name: "a provider that failed five times, so its breaker is open",
    cause: "breaker_open",
    says: [/circuit breaker is open/],
    turns: [broken("status=500")],
    model: { retry: { max: 0 } },
    before: 5,
  },
  {
    name: "an open breaker while the backup answers",
    cause: "breaker_open",
    says: [/was skipped: its provider's circuit breaker was open/],
    turns: [broken("status=500")],
    model: { retry: { max: 0 } },
    backup: true,
    before: 5,
  },
  { name: "a slow first token", cause: "provider_slow", says: [/until the first token of/], faults: "first=1200" },
  { name: "slow headers", cause: "provider_slow", says: [/until the first token of/], faults: "delay=1200" },
  {
    name: "a stream that stalls and goes on",
    cause: "provider_stall",
    says: [/stalled: nothing came for 1\.\d s after delta \d+ of round 1, then it went on/],
    turns: [{ text: ["a ", "b ", "c ", "d ", "e ", "f "], faults: "pause=1200@4" }],
  },
  {
    name: "a slow stream",
    cause: "provider_stream",
    says: [/streamed its answer \(\d+ characters, \d+ a second\)/],
    turns: [{ text: "one two three four five six seven eight nine ten eleven twelve", pace: 120 }],
  },
  {
    name: "a stream that falls silent",
    cause: "provider_silent",
    says: [/idle_timeout/],
    turns: [{ text: "one two three", faults: "stall@2" }],
    model: { timeout: { idle: "300ms" }, retry: { max: 0 } },
  },
  {
    name: "a provider that never begins, and the backup answers",
    cause: "provider_silent",
    says: [/went into one failed attempt at/, /then backup\/m answered/],
    faults: "delay=5000",
    model: { timeout: { firstChunk: "700ms" }, retry: { max: 0 } },
    backup: true,
  },
  {
    name: "a stream that is cut",
    cause: "stream_cut",
    says: [/stream_error/],
    turns: [{ text: "one two three four", faults: "missing-end" }],
    model: { retry: { max: 0 } },
  },
  {
    name: "a reset connection, and the backup answers",
    cause: "failover",
    says: [/failed \(stream_error\) and backup\/m answered|\(stream_error: .*then backup\/m answered/],
    turns: [{ text: "one two", faults: "reset@0" }],
    model: { retry: { max: 0 } },
    backup: true,
  },
  {
    name: "an answer cut by its token limit",
    cause: "answer_cut",
    says: [/cut at the model's token limit/],
    turns: [{ text: "so", finish: "length" }],
  },
  {
    name: "an answer that was filtered",
    cause: "refused",
    says: [/filter stopped/],
    turns: [{ text: "so", finish: "content_filter" }],
  },
  {
    name: "arguments cut by the token limit",
    cause: "arguments_cut",
    says: [/arguments of quick were cut by the model's token limit/],
    turns: [{ calls: [{ name: "quick", fragments: ['{"a": "b'] }], finish: "length" }, answer],
    tools: ["quick"],
  },
  {
    name: "a tool that is not there",
    cause: "bad_arguments",
    says: [/call of nothing was rejected: there is no tool "nothing"/],
    turns: [call("nothing"), answer],
    tools: ["quick"],
  },
  {
    name: "a slow tool",
    cause: "slow_tool",
    says: [/the tool slow ran/],
    turns: [call("slow"), answer],
    tools: ["slow"],
  },
  {
    name: "a tool that takes longer than it may",
    cause: "tool_timeout",
    says: [/the tool stuck ran and failed: stuck took longer than/],
    turns: [call("stuck"), answer],
    tools: ["stuck"],
  },
  {
    name: "a tool that fails, and the model goes on",
    cause: "tool_failed",
    says: [/the tool broken (ran and failed: |failed: tool_failed: )broken: the till is empty/i],
    turns: [call("broken"), answer],
    tools: ["broken"],
  },
  {
    name: "a tool that fails and ends the run",
    cause: "tool_failed",
    says: [/failed after .*tool_failed: broken: the till is empty/],
    turns: [call("broken"), answer],
    tools: ["broken"],
    agent: { toolPolicy: { onError: "abort" } },
  },
  {
    name: "a person who takes long",
    cause: "waited_for_person",
    says: [/waited for approval of paid; ann allowed it/],
    turns: [call("paid"), answer],
    tools: ["paid"],
    act: "approve",
  },
  {
    name: "a person who refuses",
    cause: "denied",
    says: [/ann refused paid: too much/i],
    turns: [call("paid"), answer],
    tools: ["paid"],
    act: "deny",
  },
  {
    name: "nobody who answers",
    cause: "unanswered",
    says: [/nobody answered in time/],
    turns: [call("paid"), answer],
    tools: ["paid"],
    agent: { toolPolicy: { approvalTimeout: "600ms" } },
  },
  {
    name: "a model that never stops calling",
    cause: "limit",
    says: [/limit of tool rounds/],
    turns: [call("quick", { a: "1" }), call("quick", { a: "2" }), call("quick", { a: "3" }), call("quick", { a: "4" })],
    tools: ["quick"],
    agent: { limits: { maxToolRounds: 2 } },
  },
  {
    name: "a run out of time",
    cause: "limit",
    says: [/used up its time/, /the tool slow ran/],
    turns: [call("slow"), answer],
    tools: ["slow"],
    agent: { limits: { time: "500ms" } },
  },
  {
    name: "a run out of tokens",
    cause: "limit",
    says: [/used up its tokens/],
    turns: [{ ...call("quick", { a: "1" }), usage: { inputTokens: 90, outputTokens: 90 } }, answer],
    tools: ["quick"],
    agent: { limits: { tokens: 100 } },
  },
  {
    name: "an answer that does not fit the output schema",
    cause: "output_unfit",
    says: [/does not fit the agent's output schema/],
    turns: [{ text: "no json" }],
    agent: { output: { type: "object", required: ["a"], properties: { a: { type: "string" } } } },
  },
  {
    name: "a called agent that is slow",
    cause: "called_agent",
    says: [/the agent behind helper worked \(run_\w+\): .*the tool slow ran/],
    turns: [call("helper", { task: "be slow" }), answer],
    tools: ["helper"],
  },
  {
    name: "a run that was stopped",
    cause: "cancelled",
    says: [/was cancelled after .*: enough/],
    turns: [{ text: "a b c", faults: "stall@2" }],
    act: "cancel",
  },
  {
    name: "a run in line behind another of its session",
    cause: "queued",
    says: [/before the run began: an earlier run of its session/],
    act: "queue",
  },
];
