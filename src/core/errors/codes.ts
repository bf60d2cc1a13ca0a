/** The single table of error codes; everything a code implies is defined here. */
export interface CodeFacts {
  /** HTTP status of a response with this code. */
  readonly status: number;
  /** Exit status of a command that fails with this code. */
  readonly exit: number;
  /** Whether repeating the same call may succeed. */
  readonly retryable: boolean;
  readonly meaning: string;
}

const facts = (status: number, meaning: string, { exit = 1, retryable = false } = {}): CodeFacts => ({
  status,
  exit,
  retryable,
  meaning,
});

export const codes = {
  streaming_not_supported: facts(422, "the provider can neither stream nor generate what the agent needs"),
  invalid_input: facts(400, "the request or its input is not valid", { exit: 2 }),
  stream_interrupted: facts(499, "the run was cancelled before it ended", { exit: 130 }),
  stream_error: facts(502, "the provider's stream was cut or could not be read", { retryable: true }),
  llm_error: facts(502, "the provider reported an error of its own"),
  rate_limited: facts(429, "too many requests; wait and try again", { retryable: true }),
  unavailable: facts(503, "the service or the provider cannot take the request now", { retryable: true }),
  unauthorized: facts(401, "the key is missing or wrong"),
  forbidden: facts(403, "the key is known but may not do this"),
  not_found: facts(404, "what was asked for does not exist"),
  conflict: facts(409, "it conflicts with the current state"),
  too_large: facts(413, "more than a limit allows"),
  timeout: facts(504, "the total timeout expired", { retryable: true }),
  idle_timeout: facts(504, "nothing arrived for too long", { retryable: true }),
  max_rounds_exceeded: facts(422, "the run exceeded its limit of tool rounds"),
  budget_exceeded: facts(422, "the run used up its tokens, time or tool calls"),
  tool_not_found: facts(422, "the model asked for a tool that does not exist"),
  tool_invalid_arguments: facts(422, "the arguments are not a JSON object or do not match the tool's schema"),
  tool_failed: facts(502, "the tool threw, rejected or reported a failure"),
  tool_timeout: facts(504, "the tool exceeded its timeout", { retryable: true }),
  tool_denied: facts(403, "a person or a policy refused the tool call"),
  content_blocked: facts(422, "a guard refused what was said, or a person whom it asked"),
  config_invalid: facts(500, "the configuration is wrong", { exit: 78 }),
  plugin_failed: facts(500, "a plugin could not be loaded, threw or rejected"),
  record_invalid: facts(500, "a record of the run cannot be stored, or cannot be read back"),
  journal_failed: facts(503, "the journal cannot be read or written", { retryable: true }),
  worker_crashed: facts(500, "the run took two processes down, or five ended before it did a step"),
  shutting_down: facts(503, "the service is shutting down and accepts no new runs", { retryable: true }),
  internal: facts(500, "a fault of Venturi itself"),
} satisfies Record<string, CodeFacts>;

export type Code = keyof typeof codes;

export const isCode = (value: unknown): value is Code => typeof value === "string" && Object.hasOwn(codes, value);
