import { VenturiError } from "venturi/plugin";

export type Id = string | number;
export type Json = Readonly<Record<string, unknown>>;

export interface RpcRequest {
  readonly id: Id;
  readonly method: string;
  readonly params: Json;
}

/** Codes of JSON-RPC and of the Model Context Protocol. */
export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Before 2026-07-28; since then it is `invalidParams`. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** An answer of the protocol, other than a failed call: that is a result with `isError`. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  /** HTTP status of the reply in the stateless revision. */
  readonly status: number;

  constructor(code: number, message: string, { data, status = 200 }: { data?: unknown; status?: number } = {}) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const success = (id: Id, result: Json): Json => ({ jsonrpc: "2.0", id, result });

export function failure(id: Id | null, thrown: unknown): Json {
  const error = asRpcError(thrown);
  const { code, message, data } = error;
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** Refusals of the service keep their HTTP status: clients react to 401, 403, 429 and 503. */
export function asRpcError(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (!VenturiError.isInstance(thrown)) return new RpcError(rpcCodes.internal, "internal error", { status: 500 });
  const { op: _, ...data } = thrown.toJSON();
  const isParams = thrown.code === "invalid_input" || thrown.code === "not_found";
  const code = isParams ? rpcCodes.invalidParams : rpcCodes.internal;
  return new RpcError(code, thrown.message, { data, status: isParams ? 200 : thrown.status });
}

export const invalidParams = (message: string): RpcError => new RpcError(rpcCodes.invalidParams, message);

/** A text among the parameters. */
export function textParam(params: Json, name: string): string {
  const value = params[name];
  if (typeof value !== "string" || value === "") throw invalidParams(`${name} is missing`);
  return value;
}
