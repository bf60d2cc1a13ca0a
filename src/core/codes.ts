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

const facts = (status: number, exit: number, retryable: boolean, meaning: string): CodeFacts => ({
  status,
  exit,
  retryable,
  meaning,
});

export const codes = {
  streaming_not_supported: facts(422, 1, false, "the provider can neither stream nor generate what the agent needs"),
  invalid_input: facts(400, 2, false, "the request or its input is not valid"),
  stream_interrupted: facts(499, 130, false, "the run was cancelled before it ended"),
  stream_error: facts(502, 1, true, "the provider's stream was cut or could not be read"),
  llm_error: facts(502, 1, false, "the provider reported an error of its own"),
  rate_limited: facts(429, 1, true, "too many requests; wait and try again"),
  unavailable: facts(503, 1, true, "the service or the provider cannot take the request now"),
  unauthorized: facts(401, 1, false, "the key is missing or wrong"),
  forbidden: facts(403, 1, false, "the key is known but may not do this"),
  not_found: facts(404, 1, false, "no such thing"),
  conflict: facts(409, 1, false, "it conflicts with something that already exists"),
  too_large: facts(413, 1, false, "more than a limit allows"),
  timeout: facts(504, 1, true, "the total timeout expired"),
  idle_timeout: facts(504, 1, true, "nothing arrived for too long"),
  max_rounds_exceeded: facts(422, 1, false, "the run exceeded its limit of tool rounds"),
  budget_exceeded: facts(422, 1, false, "the run used up its tokens, time or tool calls"),
  tool_not_found: facts(422, 1, false, "the model asked for a tool that does not exist"),
  tool_invalid_arguments: facts(422, 1, false, "the arguments are not a JSON object or do not match the tool's schema"),
  tool_failed: facts(502, 1, false, "the tool threw, rejected or reported a failure"),
  tool_timeout: facts(504, 1, true, "the tool exceeded its timeout"),
  tool_denied: facts(403, 1, false, "a person or a policy refused the tool call"),
  config_invalid: facts(500, 78, false, "the configuration is wrong"),
  plugin_failed: facts(500, 1, false, "a plugin could not be loaded, threw or rejected"),
  record_invalid: facts(500, 1, false, "a record of the run cannot be stored, or cannot be read back"),
  journal_failed: facts(503, 1, true, "the journal cannot be read or written"),
  shutting_down: facts(503, 1, true, "the service is shutting down and accepts no new runs"),
  internal: facts(500, 1, false, "a fault of Venturi itself"),
} satisfies Record<string, CodeFacts>;

export type Code = keyof typeof codes;

export const isCode = (value: unknown): value is Code => typeof value === "string" && Object.hasOwn(codes, value);
