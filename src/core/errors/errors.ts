import { detailLimits, excessOf } from "../values/value-limits.ts";
import { type Code, codes, isCode } from "./codes.ts";

export interface ErrorJson {
  readonly op: string;
  readonly code: Code;
  readonly err: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** In the global symbol registry, because `instanceof` fails across copies of this package. */
const brand = Symbol.for("venturi.error");

export interface ErrorContext {
  readonly cause?: unknown;
  /** Machine-readable facts that are safe to show a client: no secrets, no stacks. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * The only error class. `op` names the operation that failed, `code` the kind of failure, and the message says what to do next.
 * `cause` never leaves the process; clients see `toJSON`.
 */
export class VenturiError extends Error {
  /** Whether `value` is a VenturiError, including one from a plugin's own copy of this package. */
  static isInstance(value: unknown): value is VenturiError {
    return typeof value === "object" && value !== null && brand in value && isCode((value as VenturiError).code);
  }

  /** `isInstance`, with one of these codes. */
  static is<C extends Code>(value: unknown, ...codes: readonly C[]): value is VenturiError & { readonly code: C } {
    return VenturiError.isInstance(value) && (codes.length === 0 || (codes as readonly Code[]).includes(value.code));
  }

  override readonly name = "VenturiError";
  readonly op: string;
  readonly code: Code;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(op: string, code: Code, message: string, context: ErrorContext = {}) {
    super(
      typeof message === "string" ? message : messageOf(message),
      context?.cause === undefined ? undefined : { cause: context.cause },
    );
    this.op = op;
    this.code = isCode(code) ? code : "internal";
    this.details = context?.details;
  }

  get [brand](): true {
    return true;
  }

  /** The chain of operations, outermost first, without duplicates. */
  get ops(): string[] {
    const ops: string[] = [];
    for (let error: unknown = this; VenturiError.isInstance(error); error = error.cause) {
      if (!ops.includes(error.op)) ops.push(error.op);
    }
    return ops;
  }

  get status(): number {
    return codes[this.code].status;
  }

  get exit(): number {
    return codes[this.code].exit;
  }

  get retryable(): boolean {
    return codes[this.code].retryable;
  }

  override toString(): string {
    return `${this.ops.join(": ")}: ${this.code}: ${this.message}`;
  }

  toJSON(): ErrorJson {
    const base = { op: this.ops.join(": "), code: this.code, err: clipped(this.message) };
    if (this.details === undefined) return base;
    // Details may hold arbitrary values from tools and servers; oversized ones must not prevent the error from being reported.
    const excess = excessOf(this.details, detailLimits);
    return {
      ...base,
      details: excess === undefined ? this.details : { omitted: `the details are not shown: the value ${excess}` },
    };
  }
}

const longestMessage = 16_384;

const clipped = (message: string): string =>
  message.length > longestMessage ? `${message.slice(0, longestMessage)} …` : message;

/**
 * Wraps whatever was thrown in `op`. A VenturiError keeps its code, message and details; anything else becomes `fallback`.
 * Wrapping again with the same op adds nothing.
 */
export function wrap(op: string, thrown: unknown, fallback: Code = "internal"): VenturiError {
  if (VenturiError.isInstance(thrown)) {
    if (thrown.op === op) return thrown;
    const details = thrown.details === undefined ? {} : { details: thrown.details };
    return new VenturiError(op, thrown.code, thrown.message, { cause: thrown, ...details });
  }
  return new VenturiError(op, fallback, messageOf(thrown), { cause: thrown });
}

/** Restores an error from JSON (an event, another process). */
export function fromJson(json: ErrorJson): VenturiError {
  const ops = json.op.split(": ");
  const code = isCode(json.code) ? json.code : "internal";
  const context = json.details === undefined ? {} : { details: json.details };
  let error: VenturiError | undefined;
  for (const op of ops.reverse()) {
    error = new VenturiError(op, code, json.err, error === undefined ? context : { ...context, cause: error });
  }
  return error ?? new VenturiError(json.op, code, json.err, context);
}

/** The message of each error in the cause chain, outermost first, without repetitions. */
export function reasonsOf(thrown: unknown): string[] {
  const reasons: string[] = [];
  const seen = new Set<unknown>();
  for (let error = thrown; error !== undefined && error !== null && !seen.has(error); ) {
    seen.add(error);
    const text = describe(error);
    if (!reasons.some((known) => known.includes(text))) reasons.push(text);
    error = error instanceof Error ? error.cause : undefined;
  }
  return reasons;
}

function describe(error: unknown): string {
  // Of several addresses, each has its own reason.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(describe).join("; ");
  if (!(error instanceof Error) || VenturiError.isInstance(error)) return messageOf(error);
  const { code } = error as NodeJS.ErrnoException;
  const message = error.message === "" ? error.name : error.message;
  const named = error.name === "Error" || message === error.name ? message : `${error.name}: ${message}`;
  return typeof code === "string" && !named.includes(code) ? `${named} (${code})` : named;
}

export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return typeof thrown === "string" ? thrown : "an unknown value was thrown";
}
