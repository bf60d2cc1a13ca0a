import { type JsonObject, jsonRpcCodes, RpcError, type RpcId, rpcFailure } from "venturi/internal";
import { VenturiError } from "venturi/plugin";

export { isJsonObject as isObject, RpcError, rpcSuccess as success, rpcText as textParam } from "venturi/internal";

export type Id = RpcId;
export type Json = JsonObject;

export interface RpcRequest {
  readonly id: Id;
  readonly method: string;
  readonly params: Json;
}

/** Error codes of JSON-RPC and MCP. */
export const rpcCodes = {
  ...jsonRpcCodes,
  /** Before 2026-07-28; since then it is `invalidParams`. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

export const failure = (id: Id | null, thrown: unknown): Json => rpcFailure(id, asRpcError(thrown));

/** Errors of the service keep their HTTP status: clients react to 401, 403, 429 and 503. */
export function asRpcError(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (!VenturiError.isInstance(thrown)) return new RpcError(rpcCodes.internal, "internal error", { status: 500 });
  const { op: _, ...data } = thrown.toJSON();
  const isParams = thrown.code === "invalid_input" || thrown.code === "not_found";
  const code = isParams ? rpcCodes.invalidParams : rpcCodes.internal;
  return new RpcError(code, thrown.message, { data, status: isParams ? 200 : thrown.status });
}

export const invalidParams = (message: string): RpcError => new RpcError(rpcCodes.invalidParams, message);
