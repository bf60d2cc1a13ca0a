import type { ErrorBody as ServiceError } from "./events.ts";

type Code = ServiceError["code"];

interface ErrorFacts {
  /** HTTP status; 0 when no response arrived, or the failure is an event of a run. */
  readonly status?: number;
  /** The wait the service asked for, ms. */
  readonly retryAfter?: number | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** Error as in the service's responses and in run events. */
interface ErrorBody {
  readonly op: string;
  readonly code: string;
  readonly err: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

const retryable: readonly string[] = [
  "stream_error",
  "rate_limited",
  "unavailable",
  "timeout",
  "idle_timeout",
  "tool_timeout",
  "journal_failed",
  "shutting_down",
] satisfies Code[];

const unknownError: ErrorBody = { op: "client.call", code: "internal", err: "an unknown error" };

/** The error of every client call, except for an aborted signal, which rejects with its own reason. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly op: string;
  /** One of the service's codes; unknown codes of a newer service are passed on. */
  readonly code: Code;
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(body: ErrorBody, facts: ErrorFacts = {}) {
    // Tolerates a malformed body: failing here would hide the original error.
    const { op, code, err, details } = typeof body === "object" && body !== null ? body : unknownError;
    super(
      typeof err === "string" ? err : unknownError.err,
      facts?.cause === undefined ? undefined : { cause: facts.cause },
    );
    this.op = typeof op === "string" ? op : unknownError.op;
    this.code = code as Code;
    this.status = facts?.status ?? 0;
    this.retryAfter = facts?.retryAfter;
    this.details = details;
  }

  /** Whether repeating the same call may succeed. */
  get retryable(): boolean {
    return retryable.includes(this.code);
  }

  override toString(): string {
    return `${this.op}: ${this.code}: ${this.message}`;
  }
}

const codeOf = (status: number): Code => {
  if (status === 401) return "unauthorized";
  if (status === 403) return "forbidden";
  if (status === 404) return "not_found";
  if (status === 413) return "too_large";
  if (status === 429) return "rate_limited";
  return status >= 500 ? "unavailable" : "invalid_input";
};

/** The error of a response. A proxy's own page has no such body; then the status decides. */
export async function errorOf(response: Response, op: string): Promise<ClientError> {
  const { status } = response;
  const body = (await response.json().catch(() => undefined)) as { error?: ErrorBody } | undefined; // Any JSON.
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const error = body?.error;
  const known = typeof error?.code === "string" && typeof error.err === "string";
  return new ClientError(known ? error : { op, code: codeOf(status), err: `the service answered ${status}` }, {
    status,
    retryAfter: seconds >= 0 ? seconds * 1000 : undefined,
  });
}
