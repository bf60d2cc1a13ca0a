import { jsonRpcCodes, RpcError } from "venturi/internal";
import { VenturiError } from "venturi/plugin";

/** Error codes of JSON-RPC and A2A. */
const codes = {
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  VERSION_NOT_SUPPORTED: -32009,
} as const;

export function a2aError(reason: keyof typeof codes, message: string): RpcError {
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "a2a-protocol.org" };
  return new RpcError(codes[reason], message, { data: [info] });
}

export const invalidParams = (message: string): RpcError => new RpcError(jsonRpcCodes.invalidParams, message);

export const noTask = (id: string): RpcError => a2aError("TASK_NOT_FOUND", `there is no task "${id.slice(0, 100)}"`);

/** Errors of the service keep their HTTP status: clients react to 401, 403, 429 and 503. */
export function asRpcError(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (!VenturiError.isInstance(thrown)) return new RpcError(jsonRpcCodes.internal, "internal error", { status: 500 });
  const { code, message, status, details } = thrown;
  const isParams = code === "invalid_input";
  const metadata = {
    code,
    ...(details?.retryAfterMs === undefined ? {} : { retryAfterMs: String(details.retryAfterMs) }),
  };
  const info = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: code.toUpperCase(),
    domain: "venturi",
    metadata,
  };
  const rpc = isParams ? jsonRpcCodes.invalidParams : jsonRpcCodes.internal;
  return new RpcError(rpc, message, { data: [info], status: isParams ? 200 : status });
}
